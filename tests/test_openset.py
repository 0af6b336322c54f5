"""Rejection of rows that are novel to every class."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from flybloom import FlyBloomClassifier, OpenSetClassifier


@pytest.fixture(scope="module")
def known(digits):
    """Rows of 0 to 7, in two halves, and rows of 8 and 9."""
    X, y = digits
    rows, labels = X[y < 8], y[y < 8]
    return rows[::2], labels[::2], rows[1::2], labels[1::2], X[y >= 8]


def base():
    """A small classifier."""
    return FlyBloomClassifier(4096, n_winners=64, random_state=0)


@pytest.mark.parametrize("per_class", [False, True])
def test_classes_never_met_are_rejected_more_often(known, per_class):
    """And known ones about as often as asked for."""
    X, y, X_new, y_new, X_other = known
    model = OpenSetClassifier(base(), quantile=0.9, per_class=per_class).fit(X, y)
    rejected = (model.predict(X_new) == -1).mean()
    assert 0.04 < rejected < 0.16
    assert (model.predict(X_other) == -1).mean() > 0.5
    accepted = model.predict(X_new) != -1
    assert (model.predict(X_new)[accepted] == y_new[accepted]).mean() > 0.95


def test_the_threshold_is_a_quantile_of_rows_left_out(known):
    """And the label of what is accepted is that of the classifier."""
    X, y, X_new, *_ = known
    model = OpenSetClassifier(base(), quantile=0.8).fit(X, y)
    alone = base().fit(X, y)
    assert (
        model.threshold_ == np.quantile(alone.leave_one_out_novelty(X, y, shared_encoding=True).min(axis=1), 0.8)
    ).all()
    is_new = alone.novelty(X_new).min(axis=1) > model.threshold_[0]
    assert_array_equal(model.predict(X_new), np.where(is_new, -1, alone.predict(X_new)))
    assert_array_equal(model.acceptance(X_new) < 0, is_new)


def test_strings_are_rejected_as_unknown(known):
    """In full, however short the labels are."""
    X, y, _, _, X_other = known
    model = OpenSetClassifier(base()).fit(X, np.array(list("abcdefgh"))[y])
    assert set(model.predict(X_other)) <= {*"abcdefgh", "unknown"}
    assert "unknown" in set(model.predict(X_other))
    assert OpenSetClassifier(base(), unknown="?").fit(X, y.astype(str)).unknown_ == "?"


@pytest.mark.parametrize("unknown", [3, "no number"])
def test_an_unknown_label_must_be_new_and_of_the_same_kind(known, unknown):
    """One sentence says so."""
    with pytest.raises(ValueError, match=r"The 'unknown' parameter of OpenSetClassifier must be a label"):
        OpenSetClassifier(base(), unknown=unknown).fit(known[0], known[1])
