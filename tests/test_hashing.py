"""FlyHash as a transformer: sizes, names, containers, and what it refuses."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from flybloom import FlyBloomClassifier, FlyBloomNovelty, FlyHash


def test_sizes_are_resolved(digits):
    """Ints are taken as they are, floats as multiples or shares."""
    hasher = FlyHash(20.0, n_connections=0.1, n_winners=0.05, encoding="standard", random_state=0).fit(digits[0])
    assert (hasher.n_components_, hasher.n_connections_, hasher.n_winners_) == (1280, 6, 64)
    hasher = FlyHash(100, n_connections=3, n_winners=7).fit(digits[0])
    assert (hasher.n_components_, hasher.n_connections_, hasher.n_winners_) == (100, 3, 7)


def test_transform_has_a_one_for_each_winner(digits):
    """CSR, sorted, and nothing but ones."""
    X = digits[0][:50]
    hasher = FlyHash(300, n_winners=9, random_state=0).fit(X)
    H, winners = hasher.transform(X), hasher.winners(X)
    assert sparse.issparse(H)
    assert H.shape == (50, 300)
    assert H.has_canonical_format
    assert_array_equal(H.toarray(), (np.arange(300)[None, None] == winners[..., None]).any(axis=1))


def test_frames_equal_arrays(digits):
    """Pandas and polars frames, with feature names kept."""
    X = digits[0][:40]
    names = [f"pixel{i}" for i in range(64)]
    expected = FlyHash(random_state=0).fit(X).winners(X)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        hasher = FlyHash(random_state=0).fit(frame)
        assert hasher.feature_names_in_.tolist() == names
        assert_array_equal(hasher.winners(frame), expected)


def test_features_out_have_names(digits):
    """One for each component."""
    names = FlyHash(5, n_winners=2).fit(digits[0]).get_feature_names_out()
    assert names.tolist() == ["flyhash0", "flyhash1", "flyhash2", "flyhash3", "flyhash4"]


def test_the_first_block_fixes_the_scaling(digits):
    """Later blocks are checked, and change nothing."""
    X = digits[0]
    hasher = FlyHash(100, random_state=0).partial_fit(X[:100])
    once = FlyHash(100, random_state=0).fit(X[:100])
    assert_array_equal(hasher.partial_fit(X[100:]).winners(X), once.winners(X))
    with pytest.raises(ValueError, match="X has 3 features, but FlyHash is expecting 64"):
        hasher.partial_fit(X[:, :3])


def test_seeds_are_taken_as_they_are_or_drawn(digits):
    """An int is the seed; None and a RandomState give one."""
    X = digits[0]
    assert FlyHash(random_state=2**32 - 1).fit(X).seed_ == 2**32 - 1
    drawn = FlyHash(random_state=np.random.RandomState(0)).fit(X).seed_
    assert FlyHash(random_state=np.random.RandomState(0)).fit(X).seed_ == drawn
    assert FlyHash(random_state=None).fit(X).seed_ != FlyHash(random_state=None).fit(X).seed_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "The 'n_components' parameter of FlyHash must be"),
        ({"n_connections": 1.5}, "The 'n_connections' parameter of FlyHash must be"),
        ({"n_connections": 65, "encoding": "standard"}, r"n_connections=65 exceeds the 64 feature\(s\) of X"),
        ({"n_winners": 0}, "The 'n_winners' parameter of FlyHash must be"),
        ({"n_components": 40, "n_winners": 41}, "n_winners=41 exceeds n_components_=40"),
        ({"scaling": "minmax"}, "The 'scaling' parameter of FlyHash must be"),
        ({"signed": "yes"}, "The 'signed' parameter of FlyHash must be"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(digits, parameters, message):
    """What was expected, what was got."""
    with pytest.raises(ValueError, match=message):
        FlyHash(**parameters).fit(digits[0])


def test_sparse_rows_cannot_be_centred(digits):
    """In the words scikit-learn's users know."""
    X = sparse.csr_matrix(digits[0])
    for scaling in ("center", "standard"):
        with pytest.raises(ValueError, match="Cannot center sparse matrices"):
            FlyHash(encoding=scaling).fit(X)


@pytest.mark.parametrize("estimator", [FlyHash, FlyBloomClassifier, FlyBloomNovelty])
def test_what_was_centred_stays_centred(digits, estimator):
    """A scaling that is set after fit is one for the next fit; until then sparse rows are refused in words."""
    X, y = digits
    model = estimator(50, random_state=0).fit(X, y).set_params(encoding="none")
    ask = model.winners if estimator is FlyHash else model.predict
    with pytest.raises(ValueError, match="Cannot center sparse matrices"):
        ask(sparse.csr_matrix(X))
    assert_array_equal(ask(X), ask(X.copy()))


def test_huge_values_are_standardised(rng):
    """Up to the largest float, on the grid of scales."""
    X = rng.standard_normal((60, 5))
    for factor in (2.0**1000, 2.0**-1000):
        hasher = FlyHash(90, random_state=0).fit(X * factor)
        steps = 4 * np.log2(X.std(axis=0))
        np.testing.assert_allclose(4 * np.log2(hasher.scale_ / factor), np.rint(steps), atol=1e-9)
        assert_array_equal(hasher.winners(X * factor), FlyHash(90, random_state=0).fit(X).winners(X))
    X[3, 2] = 1e300
    assert FlyHash(90, random_state=0).fit(X).scale_[2] == pytest.approx(1e300 * np.sqrt(59) / 60, rel=2 ** (1 / 8) - 1)


def test_duplicate_entries_are_added_up():
    """A CSR matrix that names an element twice means their sum, and is left as it was."""
    twice = sparse.csr_matrix((np.array([1.0, 2.0, 5.0]), np.array([4, 4, 1]), np.array([0, 3])), shape=(1, 400))
    hasher = FlyHash(60, n_connections=20, n_winners=9, encoding="none", random_state=0).fit(twice.toarray())
    assert_array_equal(hasher.winners(twice), hasher.winners(twice.toarray()))
    assert twice.nnz == 3


def test_unfitted_says_so(digits):
    """With scikit-learn's error."""
    with pytest.raises(NotFittedError, match="This FlyHash instance is not fitted yet"):
        FlyHash().winners(digits[0])
