"""From held-out counts to scores: fast for accuracies, any scikit-learn scorer otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from inspect import Parameter, signature
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.metrics import check_scoring

from flybloom._internal.scores import mean_recall
from flybloom._internal.typing import Array, Codes, Features, Novelty, Weights
from flybloom.core.readout.class_weight import ClassWeight
from flybloom.estimators.classifier import FlyBloomClassifier
from flybloom.estimators.scores import probabilities
from flybloom.estimators.tuning.held_out import HeldOutCounts, Split

Scores: TypeAlias = list[float]  # one for each decay
Scorer: TypeAlias = Callable[[HeldOutCounts, Split, Sequence[float]], Scores]


class _PrecomputedClassifier(FlyBloomClassifier):
    """A classifier that has its answers from elsewhere, for the rows in question and no others."""

    def answering(self, classes: Array, novelty: Callable[[], Novelty], labels: Callable[[], Array]) -> Self:
        """Set what it answers; nothing is computed before it is asked."""
        self._classes, self._novelty, self._labels = classes, novelty, labels
        return self

    @property
    def classes_(self) -> Array:
        """The labels."""
        return self._classes

    def novelty(self, X: Any) -> Novelty:  # noqa: ARG002
        """Return the novelties."""
        return self._novelty()

    def decision_scores(self, X: Any) -> Array:  # noqa: ARG002
        """Return minus the novelties."""
        return -self._novelty()

    def predict_proba(self, X: Any) -> Array:
        """Return the softmax of these over the temperature."""
        return probabilities(self.decision_scores(X), self.temperature)

    def predict(self, X: Any) -> Array:  # noqa: ARG002
        """Return the labels."""
        return self._labels()


def known_novelty(novelty: Novelty, classes: Array) -> _PrecomputedClassifier:
    """Return a classifier that answers with these novelties, from which all other outputs follow."""
    return _PrecomputedClassifier(readout="filter").answering(
        classes, lambda: novelty, lambda: classes[novelty.argmin(axis=1)]
    )


def make_scorer(
    scoring: Any,
    X: Features,
    y: Array,
    classes: Array,
    class_weight: ClassWeight = None,
    weights: Weights | None = None,
) -> Scorer:
    """Return what scores the test rows of a split for several decays; call it inside `HeldOutCounts.without`.

    With weights, a test row counts as much as it would if it were learned.
    """
    if scoring is None or scoring == "accuracy":
        return partial(_accuracy, class_weight=class_weight)
    if scoring == "balanced_accuracy":
        return partial(_balanced_accuracy, class_weight=class_weight)
    scorer = check_scoring(FlyBloomClassifier(), scoring=scoring)
    takes_weights = weights is not None and _takes_weights(scorer)

    def score(held_out: HeldOutCounts, split: Split, decays: Sequence[float]) -> Scores:
        rows, labels = (X, y) if split.leaves_itself else (X[split.test], y[split.test])
        answers = _answers(held_out, split, decays, classes, class_weight)
        weighed = {"sample_weight": weights[split.test]} if takes_weights and weights is not None else {}
        return [float(scorer(of_decay, rows, labels, **weighed)) for of_decay in answers]

    return score


def _answers(
    held_out: HeldOutCounts, split: Split, decays: Sequence[float], classes: Array, class_weight: ClassWeight
) -> Iterator[_PrecomputedClassifier]:
    """Yield the classifier of the split for each decay; the labels of all decays are computed together."""
    is_known = split.class_count > 0

    @cache
    def labels() -> Array:
        predicted: Array = classes[held_out.predict(split, decays, class_weight)]
        return predicted

    for at, decay in enumerate(decays):
        yield _PrecomputedClassifier(readout="filter").answering(
            classes[is_known],
            partial(_known_novelty, held_out, split, decay, is_known, class_weight),
            partial(lambda at: labels()[at], at),
        )


def _known_novelty(
    held_out: HeldOutCounts, split: Split, decay: float, is_known: Array, class_weight: ClassWeight
) -> Novelty:
    """Return the novelties to the classes that the split has rows of."""
    return np.compress(is_known, held_out.novelty(split, decay, class_weight), axis=1)


def _accuracy(held_out: HeldOutCounts, split: Split, decays: Sequence[float], *, class_weight: ClassWeight) -> Scores:
    """Return the share of the rows that are right."""
    is_right = held_out.predict(split, decays, class_weight) == held_out.codes[split.test]
    if held_out.weights is None:
        return [int(n_right) / split.test.size for n_right in is_right.sum(axis=1)]
    weights = held_out.weights[split.test]
    return [int(weight) / max(1, int(weights.sum())) for weight in is_right @ weights]


def _balanced_accuracy(
    held_out: HeldOutCounts, split: Split, decays: Sequence[float], *, class_weight: ClassWeight
) -> Scores:
    """Return the mean over the classes of the share of their rows that are right."""
    codes: Codes = held_out.codes[split.test]
    weights = None if held_out.weights is None else held_out.weights[split.test]
    n_rows = np.bincount(codes, weights)
    return [
        mean_recall(np.bincount(codes, (predicted == codes) * (1 if weights is None else weights)), n_rows)
        for predicted in held_out.predict(split, decays, class_weight)
    ]


def _takes_weights(scorer: Any) -> bool:
    """Return whether a scorer weighs rows; a function of three arguments counts each once."""
    parameters = signature(scorer).parameters
    return "sample_weight" in parameters or any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())
