"""Fractional weights are whole numbers of a unit: they add up, can be taken away, and read as fractions of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.estimators.access import n_rows_learned
from laws.kinds import assert_same_state
from laws.strategies import block_cuts, labelled_rows

CLASSIFIERS = (FlyBloomClassifier, FlyRidgeClassifier)


def small(estimator, **settings):
    """A classifier with few components."""
    return estimator(**{"n_components": 48, "n_winners": 6, "random_state": 3, **settings})


def drawn_weights(data, n):
    """Fractions, two of which are above zero."""
    weights = np.array(data.draw(st.lists(st.floats(0, 4, allow_subnormal=False), min_size=n, max_size=n)))
    weights[:2] += 0.3
    return weights


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@given(rows=labelled_rows(), data=st.data(), unit=st.sampled_from([1.0, 0.7, 0.01]))
def test_a_weight_is_a_number_of_copies_of_the_unit(estimator, data, rows, unit):
    """The counts are those of so many copies as the weight has units."""
    weights = drawn_weights(data, len(rows.y))
    model = small(estimator, encoding="none", weight_unit=unit).partial_fit(*rows, sample_weight=weights)
    copies = reference.counted_weights(weights, unit)
    copied = small(estimator, encoding="none").partial_fit(*rows, sample_weight=copies)
    np.testing.assert_array_equal(model.counts_, copied.counts_)
    np.testing.assert_array_equal(model.class_count_ * 1024, copied.class_count_)
    if estimator is FlyRidgeClassifier:
        np.testing.assert_array_equal(model.pair_counts_, copied.pair_counts_)


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@given(rows=labelled_rows(least=4), data=st.data())
def test_blocks_order_merging_and_forgetting_change_nothing(estimator, data, rows):
    """All ways to the same weights lead to the same model, and back."""
    weights = drawn_weights(data, len(rows.y)) + 0.01  # so that no block weighs nothing
    settings = {"encoding": "none", "weight_unit": 0.5}
    whole = small(estimator, **settings).partial_fit(*rows, sample_weight=weights)
    cuts = data.draw(st.permutations(data.draw(block_cuts(len(rows.y)))))
    blocks, parts = small(estimator, **settings), []
    for cut in cuts:
        blocks.partial_fit(rows.X[cut], rows.y[cut], sample_weight=weights[cut])
        parts.append(small(estimator, **settings).partial_fit(rows.X[cut], rows.y[cut], sample_weight=weights[cut]))
    assert_same_state(blocks, whole)
    assert_same_state(sum(parts), whole)
    blocks.partial_fit(*rows, sample_weight=3 * weights).forget(*rows, sample_weight=3 * weights)
    assert_same_state(blocks, whole)


@given(rows=labelled_rows(), data=st.data(), decay=st.sampled_from([0.1, 0.6, 1.0]))
def test_filters_are_powers_of_fractions_of_rows(data, rows, decay):
    """As the slow truth has them."""
    weights = drawn_weights(data, len(rows.y))
    model = small(FlyBloomClassifier, encoding="none", decay=decay).partial_fit(*rows, sample_weight=weights)
    expected = (reference.filters if model.counts_per_row_ == 1 else reference.fractional_filters)(model.counts_, decay)
    np.testing.assert_array_equal(model.filters_, expected)
    winners = reference.winners(rows.X, model.connections_, model.signs_, 6)
    np.testing.assert_array_equal(model.novelty(rows.X), reference.novelty(expected, winners))


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@given(rows=labelled_rows(least=6))
def test_weights_of_one_row_each_read_as_no_weights(estimator, rows):
    """Whatever the unit: encoding, decay, predictions and scores."""
    plain = small(estimator).fit(*rows)
    for unit, weights in ((1.0, None), ("auto", np.full(len(rows.y), 0.037))):
        model = small(estimator, weight_unit=unit).fit(*rows, sample_weight=weights)
        np.testing.assert_array_equal(model.counts_, 1024 * plain.counts_)
        np.testing.assert_array_equal(model.class_count_, plain.class_count_)
        assert n_rows_learned(model) == n_rows_learned(plain)
        assert model.encoder_ == plain.encoder_
        if estimator is FlyBloomClassifier:
            assert model.decay_ == plain.decay_
            np.testing.assert_allclose(model.novelty(rows.X), plain.novelty(rows.X), rtol=1e-9)
        else:
            np.testing.assert_array_equal(model._decision_scores(rows.X), plain._decision_scores(rows.X))
            assert model.temperature_ == plain.temperature_
