"""Audits of training rows: wrong labels and targets are found, influences are exact, groups and repeats are told."""

from copy import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, make_friedman1
from sklearn.metrics import roc_auc_score

from flybloom import (
    FlyBloomClassifier,
    FlyBloomNovelty,
    FlyRidgeClassifier,
    FlyRidgeMultiOutputClassifier,
    FlyRidgeRegressor,
)
from flybloom.audit import facts, influence, label_errors, render, repeats, target_errors, value
from flybloom.core.readout.left_out import LeftOut
from flybloom.estimators.access import nearly_left_out, reading_learned, scoring
from forgetting import after_forgetting

DIGITS, LABELS = load_digits(return_X_y=True)
WRONG = np.random.default_rng(0).permutation(len(LABELS))[:90]
GIVEN = LABELS.copy()
GIVEN[WRONG] = (GIVEN[WRONG] + 3) % 10


@pytest.mark.parametrize("kind", [FlyRidgeClassifier, FlyBloomClassifier])
def test_flipped_labels_come_first(kind):
    """Nearly all of them, and the right label is suggested."""
    found = label_errors(kind(random_state=0).fit(DIGITS, GIVEN), DIGITS, GIVEN)
    is_wrong = np.isin(np.arange(len(LABELS)), WRONG)
    assert roc_auc_score(is_wrong, -found.quality) > 0.98
    assert np.isin(found.ranked[:90], WRONG).mean() > 0.75
    assert (found.suggested[WRONG] == LABELS[WRONG]).mean() > 0.9
    assert_array_equal(np.sort(found.ranked), np.arange(len(LABELS)))
    assert_allclose(found.probabilities.sum(axis=1), 1.0)


def test_scores_are_nearly_those_of_leaving_rows_out():
    """From the factor in single precision that predictions were solved with, for many rows and for few."""
    for n in (900, 1797):
        model = FlyRidgeClassifier(2048, encoding="rotation", random_state=0).fit(DIGITS[:n], GIVEN[:n])
        exact = model.leave_one_out_decision(DIGITS[:n], GIVEN[:n])
        assert_allclose(nearly_left_out(model, DIGITS[:n], GIVEN[:n]), exact, rtol=0, atol=1e-5)


def test_cleanlab_takes_the_probabilities():
    """And ranks by them as we do."""
    rank = pytest.importorskip("cleanlab.rank")
    found = label_errors(FlyRidgeClassifier(random_state=0).fit(DIGITS, GIVEN), DIGITS, GIVEN)
    theirs = rank.get_label_quality_scores(GIVEN, found.probabilities, method="self_confidence")
    assert_allclose(found.quality, theirs, atol=1e-12)


def test_wrong_targets_come_first():
    """Of one output or of two."""
    X, y = make_friedman1(400, noise=0.5, random_state=0)
    for targets in (y, np.column_stack([y, 2 * y])):
        given = targets.copy()
        given[[5, 250]] += 25
        found = target_errors(FlyRidgeRegressor(random_state=0).fit(X, given), X, given)
        assert {*found.ranked[:2].tolist()} == {5, 250}


def test_influence_is_what_forgetting_does():
    """To 1e-9 of the model without the row, of classes and of targets."""
    X, y = make_friedman1(200, noise=0.5, random_state=0)
    labels = np.column_stack([y > 14, X[:, 0] > 0.5]).astype(int)
    settings = {"n_components": 96, "n_winners": 12, "encoding": "none", "alpha": 0.1, "random_state": 0}
    for model, targets in (
        (FlyRidgeRegressor(**settings).fit(X[1:], y[1:]), y[1:]),
        (FlyRidgeClassifier(**settings).fit(X[1:], (y > y.mean())[1:]), (y > y.mean())[1:]),
        (FlyRidgeMultiOutputClassifier(**settings).fit(X[1:], labels[1:]), labels[1:]),
    ):
        found = influence(model, X[1:], targets, X[:1])
        assert found.without.shape == (199, len(found.now))
        for row in found.ranked[:3]:
            left = after_forgetting(copy(model), X[1:][row : row + 1], targets[row : row + 1])
            with scoring(left, X[:1]) as (rows, learned), reading_learned(model) as before:
                winners = learned.hasher.winners(rows)
                alpha = 0.1 * eigenvalue(before.counts) / eigenvalue(learned.counts)
                scores = LeftOut(learned.counts, alpha).scores(winners)[0]
                expected = scores if hasattr(model, "classes_") else learned.counts.right.grid.targets(scores)
            assert_allclose(found.without[row], expected, rtol=0, atol=1e-9)


def eigenvalue(counts):
    """The mean eigenvalue, of which penalties are multiples."""
    won = counts.won.astype(float)
    return float((won - won**2 / counts.n_rows).sum() / len(won))


def test_groups_are_worth_what_forgetting_them_costs():
    """A source with wrong labels is worth less than nothing; the model stays as it was."""
    source = np.where(np.arange(1200) % 4 == 0, "careless", "good")
    given = np.where(source == "careless", (LABELS[:1200] + 1) % 10, LABELS[:1200])
    model = FlyRidgeClassifier(256, encoding="standard", random_state=0).fit(DIGITS[:1200], given)
    before = model.counts_
    good, careless = value(model, DIGITS[:1200], given, source, DIGITS[1200:], LABELS[1200:])
    assert_array_equal(model.counts_, before)
    assert (good.group, good.n_rows, careless.group, careless.n_rows) == ("good", 900, "careless", 300)
    assert careless.value < 0 < good.value
    assert careless.score_on_group < 0.2
    assert careless.score_without == pytest.approx(model.score(DIGITS[1200:], LABELS[1200:]) - careless.value)


def test_repeats_and_contradictions():
    """Equal rows, of which some have other labels."""
    X, y = np.vstack([DIGITS, DIGITS[:3], DIGITS[:1]]), np.concatenate([LABELS, LABELS[:3], [9]])
    found = repeats(FlyBloomClassifier(random_state=0).fit(X, y), X, y)
    assert found.groups[0].tolist() == [0, 1797, 1800]
    assert {(1, 1798), (2, 1799)} <= {tuple(group.tolist()) for group in found.groups}
    assert [group.tolist() for group in found.contradictions] == [[0, 1797, 1800]]


def test_pages_show_what_facts_say():
    """Of classes and of targets, escaped."""
    model = FlyRidgeClassifier(random_state=0).fit(DIGITS, GIVEN)
    found = facts(model, DIGITS, GIVEN, title="<Digits>")
    page = render(found)
    assert "&lt;Digits&gt;" in page
    assert found["rows"] == sum(part["rows"] for part in found["histogram"]) == len(GIVEN)
    assert f'<th scope="row">{found["suspicious"][0]["position"]}</th>' in page
    assert sum(one["disputed"] for one in found["classes"]) == found["disputed"] > 80
    first, suggested = found["confused"][0], label_errors(model, DIGITS, GIVEN).suggested
    assert first["rows"] == ((suggested == first["suggested"]) & (first["label"] == GIVEN)).sum()
    X, y = make_friedman1(200, random_state=0)
    found = facts(FlyRidgeRegressor(random_state=0).fit(X, y), X, y)
    assert sum(part["rows"] for part in found["histogram"]) == 200
    assert "typical distances" in render(found)
    assert_array_equal(np.array(found["points"])[:, 1], y)
    assert render(found).count("<circle") == 200


def test_other_models_are_refused():
    """With a word on what to use."""
    model = FlyBloomNovelty(random_state=0).fit(DIGITS)
    several = FlyRidgeMultiOutputClassifier(64, encoding="none").fit(DIGITS, np.eye(10, dtype=int)[LABELS])
    with pytest.raises(TypeError, match="one label a row"):
        label_errors(several, DIGITS, np.eye(10, dtype=int)[LABELS])
    for refused in (label_errors, target_errors):
        with pytest.raises(TypeError, match="Got FlyBloomNovelty instead"):
            refused(model, DIGITS, LABELS)
    with pytest.raises(TypeError, match="Expected a FlyRidgeClassifier or a FlyRidgeRegressor"):
        influence(model, DIGITS, LABELS, DIGITS[:1])
    ridge = FlyRidgeClassifier(128, encoding="none", random_state=0).fit(DIGITS, LABELS)
    with pytest.raises(ValueError, match="Got 2 instead"):
        influence(ridge, DIGITS, LABELS, DIGITS[:2])
