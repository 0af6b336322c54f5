"""What merging and forgetting must obey: models add up as their rows do, and can be taken apart again."""

import pickle
from copy import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from flybloom.exceptions import NeverLearnedError
from laws.strategies import labelled_rows
from laws.test_learning import assert_same_model, classifier


@st.composite
def parts_of_rows(draw, n_parts):
    """Labelled rows, and for each part which rows belong to it; none of the parts is empty."""
    rows = draw(labelled_rows(least=2 * n_parts))
    part = np.array(draw(st.lists(st.integers(0, n_parts - 1), min_size=len(rows.y), max_size=len(rows.y))))
    part[:n_parts] = range(n_parts)
    return rows, [part == i for i in range(n_parts)]


def learned(rows, chosen):
    """A model of some of the rows."""
    return classifier().partial_fit(rows.X[chosen], rows.y[chosen])


@given(parts_of_rows(2))
def test_a_sum_has_learned_what_both_have(drawn):
    """As one model that met all rows; and the order of the two is irrelevant."""
    rows, (one, two) = drawn
    a, b = learned(rows, one), learned(rows, two)
    whole = classifier().fit(*rows)
    assert_same_model(a + b, whole)
    assert_same_model(b + a, whole)
    assert_same_model(a, learned(rows, one))
    assert_array_equal((a + b).predict(rows.X), whole.predict(rows.X))
    assert_same_model(a.merge(b), whole)


@given(parts_of_rows(3))
def test_sums_are_associative(drawn):
    """However three models are grouped; sum() included."""
    rows, parts = drawn
    a, b, c = (learned(rows, part) for part in parts)
    whole = classifier().fit(*rows)
    assert_same_model((a + b) + c, whole)
    assert_same_model(a + (b + c), whole)
    assert_same_model(sum([a, b, c]), whole)


@given(labelled_rows())
def test_a_model_of_no_rows_is_the_empty_element(rows):
    """It comes from forgetting everything, and adds nothing on either side."""
    model = classifier().fit(*rows)
    empty = model - model
    assert empty.classes_.size == 0
    assert_same_model(model + empty, model)
    assert_same_model(empty + model, model)
    assert_same_model(model - empty, model)
    assert_same_model(copy(empty).partial_fit(*rows), model)


@given(parts_of_rows(2))
def test_adding_then_subtracting_restores(drawn):
    """Counts, rows and classes."""
    rows, (one, two) = drawn
    a, b = learned(rows, one), learned(rows, two)
    assert_same_model((a + b) - b, a)
    assert_same_model((a + b) - a, b)


@given(parts_of_rows(2), st.booleans())
def test_what_is_forgotten_was_never_learned(drawn, as_table):
    """All at once, which subtracts a table, or row after row, which subtracts winners."""
    rows, (one, two) = drawn
    model = classifier().fit(*rows)
    copies = 48 if as_table else 1
    model = classifier().partial_fit(*rows).partial_fit(np.tile(rows.X, (copies, 1)), np.tile(rows.y, copies))
    model.forget(np.tile(rows.X, (copies, 1)), np.tile(rows.y, copies))
    for i in np.flatnonzero(two):
        model.forget(rows.X[i : i + 1], rows.y[i : i + 1])
    assert_same_model(model, learned(rows, one))


@given(labelled_rows(), st.data())
def test_a_weight_is_forgotten_as_so_many_copies(rows, data):
    """And those of weight zero stay."""
    n = len(rows.y)
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    weights[0] += 1
    model = classifier().partial_fit(*rows, sample_weight=np.full(n, 5))
    model.forget(*rows, sample_weight=weights)
    assert_same_model(model, classifier().partial_fit(*rows, sample_weight=5 - weights))


@given(parts_of_rows(2), st.integers(1, 30))
def test_rows_that_cannot_have_been_learned_are_refused_unchanged(drawn, copies):
    """Whatever is refused changes nothing; whatever is accepted leaves counts that rows could have made."""
    rows, (one, two) = drawn
    model = learned(rows, one)
    before = pickle.dumps(model)
    X, y = np.tile(rows.X[two], (copies, 1)), np.tile(rows.y[two], copies)
    try:
        model.forget(X, y)
    except NeverLearnedError:
        assert pickle.dumps(model) == before
    else:
        assert (model.counts_ >= 0).all()
        assert (model.counts_ <= model.class_count_[:, None]).all()
        assert_array_equal(model.counts_.sum(axis=1), 6 * model.class_count_)


@given(labelled_rows())
def test_the_last_copy_cannot_be_forgotten_twice(rows):
    """One time more than it was learned is refused."""
    model = classifier().fit(*rows)
    same = rows.y == rows.y[0]
    with pytest.raises(NeverLearnedError, match="only"):
        model.forget(np.tile(rows.X[same], (2, 1)), np.tile(rows.y[same], 2))
