"""The kernels of certificates, against the reference: every set of winners, one by one."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import reference
from flybloom.core._kernels.certify import holds, interval_sums
from flybloom.core.hashing.projection import Projection


def run(kernel, compiled):
    """The kernel, or the Python function it was made of."""
    return kernel if compiled else getattr(kernel, "py_func", kernel)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_label_holds_if_it_does_for_every_set_of_winners(rng, compiled):
    """No row is certified that should not be; and of those that could be, most are."""
    n_held, n_true = 0, 0
    for _ in range(120 if compiled else 20):
        m, n_classes, rho = int(rng.integers(2, 9)), int(rng.integers(2, 4)), 1
        rho = int(rng.integers(1, m + 1))
        middle, width = rng.integers(0, 12, m), rng.integers(0, 4, m)
        low, high = (middle - width).astype(float), (middle + width).astype(float)
        weights = -rng.integers(0, 20, (m, n_classes), np.int32)
        weights[:, 1:] -= rng.integers(0, 12, dtype=np.int32)
        intercept = -rng.integers(0, 3, n_classes).astype(float)
        n_ferns, n_cells = int(rng.integers(0, 3)), 2
        possible = rng.random((n_ferns, n_cells)) < 0.6
        possible[:, 0] |= ~possible.any(axis=1)
        weights = np.vstack([weights, rng.integers(-9, 9, (n_ferns * n_cells, n_classes), np.int32)])
        out = np.zeros(1, bool)
        arguments = low[None], high[None], weights, intercept, np.array([0]), rho
        run(holds, compiled)(*arguments, possible.reshape(1, -1), n_cells, out)
        ferns = [[m + n_cells * fern + cell for cell in np.flatnonzero(possible[fern])] for fern in range(n_ferns)]
        truth = reference.certified(low, high, weights, intercept, 0, rho, ferns)
        assert not out[0] or truth
        n_held, n_true = n_held + int(out[0]), n_true + int(truth)
    assert n_held >= 0.8 * n_true > 0


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_bounds_of_sums_are_the_sums_at_the_ends(rng, signed, dtype):
    """Each column at the end that its sign asks for, added as the reference adds, bit for bit."""
    projection = Projection(5, 7, 19, 4, signed)
    low = (rng.normal(size=(3, 7)) * 9).astype(dtype)
    high = low + (rng.random((3, 7)) * 5).astype(dtype)
    connections, signs = projection.connections()
    out = np.empty((3, 19), dtype), np.empty((3, 19), dtype)
    interval_sums(np.hstack([low, -high]), np.hstack([high, -low]), projection.packed_connections, *out)
    for j in range(19):
        at_low = np.where(signs[j] > 0, low[:, connections[j]], high[:, connections[j]])
        at_high = np.where(signs[j] > 0, high[:, connections[j]], low[:, connections[j]])
        for ends, found in ((at_low, out[0]), (at_high, out[1])):
            places, sign = np.arange(4)[None], signs[j][None]
            assert_array_equal(found[:, j], reference.sums(ends, places, sign)[:, 0].astype(dtype))
