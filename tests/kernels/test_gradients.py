"""Histograms of gradients: compiled loops and plain ones give the same bits."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from flybloom.core import _kernels
from flybloom.core._kernels import _plain
from flybloom.core.encoding.gradients import DIRECTION_VECTORS, LEAST, Gradients, grey

PIXELS = st.one_of(st.integers(0, 255).map(float), st.floats(-1e3, 1e3, width=32), st.just(np.nan))


@given(
    shape=st.sampled_from([(8, 8), (2, 3), (9, 14), (1, 1), (20, 13)]),
    n=st.integers(0, 3),
    data=st.data(),
)
@settings(max_examples=30, deadline=None)
def test_compiled_loops_and_plain_ones_give_the_same_bits(shape, n, data):
    """Whichever come first."""
    rows = data.draw(arrays(np.float32, (n, shape[0] * shape[1]), elements=PIXELS, fill=PIXELS))
    step, made = Gradients(shape), []
    assert step.apply(rows).shape == (n, step.n_outputs(0))
    images = step.images(rows)
    for kernels in (_kernels.gradients, _plain):
        histograms, brightness = step._empty(len(rows))
        kernels.histograms(grey(images), DIRECTION_VECTORS, LEAST, *step.cells, histograms)
        kernels.brightness(np.ascontiguousarray(images[..., 0]), *step.patches, brightness[:, 0])
        made.append((histograms, brightness))
    for one, other in zip(*made, strict=True):
        assert_array_equal(one, other)
