"""Certificates as users meet them: figures, refusals, kinds of rows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.audit import certify
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.step import Step
from flybloom.core.hashing.bounds import SumBounds
from flybloom.core.hashing.hasher import Hasher


@pytest.fixture(scope="module")
def model(digits):
    """A classifier of 1000 digits."""
    X, y = digits
    return FlyBloomClassifier(1024, n_connections=8, encoding="standard", random_state=0).fit(X[:1000], y[:1000])


def test_most_rows_are_certified_at_small_radii(model, digits):
    """And none at a radius that makes any digit of any other."""
    rows = digits[0][1000:1200]
    assert certify(model, rows, 1e-4).mean() > 0.9
    assert not certify(model, rows, 16.0).any()


def test_the_ball_of_a_larger_norm_holds_that_of_a_smaller_one(model, digits):
    """l1 within l2 within l-infinity: so radii can only grow."""
    rows = digits[0][1000:1100]
    linf, l2, l1 = (certify(model, rows, norm=norm) for norm in ("linf", "l2", "l1"))
    assert (linf <= l2 * (1 + 1e-3)).all()
    assert (l2 <= l1 * (1 + 1e-3)).all()


def test_threads_and_sparse_rows_change_nothing(digits):
    """The same radii, bit for bit."""
    X, y = digits
    model = FlyBloomClassifier(512, encoding="none", random_state=0).fit(X[:500], y[:500])
    radius = certify(model, X[500:700])
    assert_array_equal(certify(model.set_params(n_jobs=2), X[500:700]), radius)
    assert_array_equal(certify(model, sparse.csr_matrix(X[500:700])), radius)


def test_missing_values_stay_missing(model, digits):
    """They add nothing, so they cannot be moved."""
    rows = digits[0][1000:1020].copy()
    rows[:, 10] = np.nan
    assert np.isfinite(certify(model, rows)).all()


def test_weights_of_classes_are_those_of_predict(digits):
    """A class that counts more is certified as it is predicted."""
    X, y = digits
    for kind in (FlyBloomClassifier, FlyRidgeClassifier):
        model = kind(512, encoding="standard", class_weight={3: 30.0}, random_state=0).fit(X[:500], y[:500])
        held = certify(model, X[500:600], 1e-3)
        assert held.any()
        moved = X[500:600] + np.random.default_rng(0).uniform(-1e-3, 1e-3, (100, 64))
        assert (model.predict(moved) == model.predict(X[500:600]))[held].all()


@pytest.mark.parametrize("radius", [-1, np.nan, np.inf, "1"])
def test_a_radius_that_is_none_is_refused(model, digits, radius):
    """With what is expected."""
    with pytest.raises(ValueError, match="a number from 0 on"):
        certify(model, digits[0][:2], radius)


def test_other_norms_are_refused(model, digits):
    """With a list."""
    with pytest.raises(ValueError, match=r"must be one of .*'linf'.* Got 'l3'"):
        certify(model, digits[0][:2], 0.1, norm="l3")


def test_an_encoding_without_bounds_is_refused():
    """A step of somebody else's may do anything to a column."""

    class Sines(Step):
        kind = "sines"

        def apply(self, rows):
            return np.sin(1000 * rows).astype(np.float32)

        def to_dict(self):
            raise NotImplementedError

        @classmethod
        def from_dict(cls, stored, n_inputs):
            raise NotImplementedError

    hasher = Hasher.of(Encoder(3, None, (Sines(),)), 0, (16, 2, 3), signed=True)
    with pytest.raises(ValueError, match="'sines' of the encoding has no bounds"):
        SumBounds(hasher, "linf").of(np.zeros((1, 3)), np.ones(1))
