"""What the detector must obey: blocks, order, forgetting and fading, against the definition, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

import reference
from flybloom import FlyBloomClassifier, FlyBloomNovelty, FlyHash
from flybloom.exceptions import NeverLearnedError
from forgetting import after_forgetting
from laws.strategies import block_cuts, labelled_rows

SIZES = {"n_components": 48, "n_winners": 6, "random_state": 3, "encoding": "none"}


def detector(**parameters):
    """A small detector, unscaled."""
    return FlyBloomNovelty(**{**SIZES, **parameters})


def assert_same(a, b):
    """All that is learned is equal; the threshold is set by the first block and may differ."""
    assert_array_equal(a.counts_, b.counts_)
    assert (a.n_rows_, a.clock_) == (b.n_rows_, b.clock_)


@given(st.data(), labelled_rows(), st.sampled_from([None, 1, 8, 20, 64]))
def test_blocks_of_any_size_lead_to_the_same_counts(data, rows, forget_after):
    """Time passes with rows, not with blocks."""
    model = detector(forget_after=forget_after)
    for block in data.draw(block_cuts(len(rows.y))):
        model.partial_fit(rows.X[block])
    assert_same(model, detector(forget_after=forget_after, n_jobs=2).fit(rows.X))


@given(st.data(), labelled_rows())
def test_without_recovery_order_is_irrelevant(data, rows):
    """Counts add."""
    order = np.array(data.draw(st.permutations(range(len(rows.y)))))
    assert_same(detector().fit(rows.X), detector().fit(rows.X[order]))


@given(labelled_rows(), st.floats(0.01, 1.0))
def test_novelty_is_that_of_a_classifier_with_one_class(rows, decay):
    """The same filter, bit for bit."""
    alone = FlyBloomClassifier(**SIZES, decay=decay).partial_fit(rows.X, np.zeros(len(rows.y), int))
    assert_array_equal(detector(readout="filter", decay=decay).fit(rows.X).novelty(rows.X), alone.novelty(rows.X)[:, 0])


@given(labelled_rows(integers=True), st.floats(0.01, 1.0), st.integers(1, 40))
def test_fading_follows_its_definition(rows, decay, forget_after):
    """Each win fades in eight steps with the rows met since."""
    model = detector(decay=decay, forget_after=forget_after).fit(rows.X)
    winners = FlyHash(**SIZES).fit(rows.X).winners(rows.X)
    n, epoch = len(rows.y), -(-forget_after // 8)
    expected = reference.recovering_novelty(winners, winners, range(n), n, decay, epoch, 8)
    assert_array_equal(model.novelty(rows.X), expected)


@given(st.data(), labelled_rows(), st.sampled_from([None, 8, 24, 1000]))
def test_forgotten_rows_were_never_met(data, rows, forget_after):
    """What is left are the counts of the other rows, at the ages they have."""
    n = len(rows.y)
    gone = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1), max_size=n - 1))), int)
    model = detector(forget_after=forget_after).fit(rows.X)
    if gone.size:
        model.forget(rows.X[gone], positions=gone if forget_after else None)
    others = np.setdiff1d(np.arange(n), gone)
    if forget_after is None:
        assert_same(model, detector().fit(rows.X[others]))
        return
    winners = FlyHash(**SIZES).fit(rows.X).winners(rows.X)
    expected = reference.recovering_novelty(winners, winners[others], others, n, model.decay, model.epoch_, 8)
    np.testing.assert_allclose(model.novelty(rows.X), expected, rtol=1e-13)


@given(labelled_rows(integers=True, least=3), st.floats(0.05, 1.0))
def test_fit_predict_judges_each_row_without_itself(rows, decay):
    """As a detector would that learned all rows but one."""
    model = detector(readout="filter", decay=decay, contamination=0.3)
    labels = model.fit_predict(rows.X)
    for i in range(len(rows.y)):
        without = detector(readout="filter", decay=decay).fit(rows.X[np.arange(len(rows.y)) != i])
        score = without.score_samples(rows.X[i : i + 1])[0]
        assert labels[i] == (-1 if score < model.offset_ else 1)


@given(labelled_rows(integers=True, least=3), st.floats(0.1, 100.0))
def test_novelty_is_the_leverage_of_the_winners(rows, alpha):
    """That the row would have if it were learned, as plain numpy computes it from the winners of all rows."""
    known, new = rows.X[:-1], rows.X[-1:]
    model = detector(alpha=alpha).fit(known)
    hashing = FlyHash(**SIZES).fit(known)
    expected = reference.leverage(hashing.winners(known), hashing.winners(new), 48, alpha)
    np.testing.assert_allclose(model.novelty(new), expected, atol=1e-6)


@given(labelled_rows(integers=True, least=3), st.floats(0.1, 100.0))
def test_leaving_one_row_out_is_forgetting_it(rows, alpha):
    """One rank less gives what a detector of the other rows says, and fit_predict goes by it."""
    model = detector(alpha=alpha, contamination=0.3)
    labels = model.fit_predict(rows.X)
    left_out = model.leave_one_out_novelty(rows.X)
    assert_array_equal(labels, np.where(-left_out < model.offset_, -1, 1))
    for i in range(len(rows.y)):
        without = detector(alpha=alpha).fit(rows.X[np.arange(len(rows.y)) != i])
        np.testing.assert_allclose(left_out[i], without.novelty(rows.X[i : i + 1])[0], atol=1e-6)


@given(labelled_rows(integers=True), st.floats(0.1, 100.0))
def test_the_usual_threshold_follows_from_the_counts(rows, alpha):
    """The odds of an outlier are 1.5 times those of the mean of the learned rows, each left out."""
    model = detector(alpha=alpha).fit(rows.X)
    mean = model.leave_one_out_novelty(rows.X).mean()
    np.testing.assert_allclose(model.offset_, -3 * mean / (2 + mean), atol=1e-6)


@given(st.data(), labelled_rows(integers=True, least=3))
def test_no_order_and_no_blocks_change_a_bit_of_leverage(data, rows):
    """Equal counts give equal novelties, and so does any division of the rows that are scored."""
    order = np.array(data.draw(st.permutations(range(len(rows.y)))))
    model, other = detector().fit(rows.X), detector(n_jobs=2)
    for block in data.draw(block_cuts(len(rows.y))):
        other.partial_fit(rows.X[order][block])
    novelty = model.novelty(rows.X)
    assert_array_equal(novelty, other.novelty(rows.X))
    assert_array_equal(novelty, [model.novelty(row[None])[0] for row in rows.X])


@given(labelled_rows(integers=True), st.floats(0, 1))
def test_bias_columns_are_constant_columns(rows, anchors):
    """Beside the standardised ones, and nothing else."""
    model = detector(encoding="standard+clip=inf", bias_columns=anchors).fit(rows.X)
    scaled = reference.standardise(rows.X)
    ones = np.ones((len(scaled), int(np.ceil(anchors * scaled.shape[1]))), np.float32)
    plain = detector(n_connections=model.n_connections_).fit(np.hstack([scaled, ones]))
    assert_array_equal(model.counts_, plain.counts_)


@given(labelled_rows(integers=True))
def test_sparse_rows_score_as_dense_ones(rows):
    """Learning, scoring and forgetting."""
    model, other = detector().fit(rows.X), detector().fit(sparse.csr_matrix(rows.X))
    assert_same(model, other)
    assert_array_equal(model.novelty(rows.X), other.novelty(sparse.csc_matrix(rows.X)))
    assert after_forgetting(other, sparse.csr_matrix(rows.X)).counts_.sum() == 0


@given(labelled_rows())
def test_scores_agree_with_each_other(rows):
    """Scores are minus the novelty, decisions are scores above the threshold, labels follow decisions."""
    model = detector(contamination=0.2).fit(rows.X)
    assert_array_equal(model.score_samples(rows.X), -model.novelty(rows.X))
    assert_array_equal(model.decision_function(rows.X), model.score_samples(rows.X) - model.offset_)
    assert_array_equal(model.predict(rows.X), np.where(model.decision_function(rows.X) < 0, -1, 1))


@given(labelled_rows(integers=True), st.sampled_from(["leverage", "filter"]))
def test_rows_that_were_not_learned_cannot_be_forgotten(rows, readout):
    """And nothing changes."""
    model = detector(readout=readout).fit(rows.X)
    before = model.counts_.copy()
    with pytest.raises(NeverLearnedError):
        model.forget(np.vstack([rows.X, rows.X]))
    assert_array_equal(model.counts_, before)
