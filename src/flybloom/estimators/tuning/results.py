"""Scores of settings, and `cv_results_`."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, TypeAlias

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring

from flybloom._internal.scores import mean_recall
from flybloom._internal.typing import Array, Features, Novelty, Weights
from flybloom.estimators.classifier import FlyBloomClassifier
from flybloom.estimators.scores import LinearScores, probabilities
from flybloom.estimators.tuning.held_out import Held

Scorer: TypeAlias = Callable[[Held, float], float]  # of the test rows of a split, for a decay

USUAL_TEMPERATURE = FlyBloomClassifier().temperature


class HeldOutAnswers(LinearScores, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier with precomputed predictions for the test rows.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels.
    novelties : callable
        Computes the novelty of each row to each class when needed.
    labels : callable or None, default=None
        Computes the label of each row.
    temperature : float, default=0.1
        Temperature of the softmax.
    """

    def __init__(
        self,
        classes: Array,
        novelties: Callable[[], Novelty],
        labels: Callable[[], Array] | None = None,
        temperature: float = USUAL_TEMPERATURE,
    ) -> None:
        self.classes_, self.novelties, self.labels, self.temperature = classes, novelties, labels, temperature

    def novelty(self, X: Any) -> Novelty:  # noqa: ARG002
        """Return the novelties."""
        return self.novelties()

    def _decision_scores(self, X: Any) -> Array:  # noqa: ARG002
        """Return minus the novelties."""
        return -self.novelties()

    def predict_proba(self, X: Any) -> Array:
        """Return the softmax of these over the temperature."""
        return probabilities(self._decision_scores(X), self.temperature)

    def predict(self, X: Any) -> Array:  # noqa: ARG002
        """Return the labels."""
        assert self.labels is not None  # noqa: S101 - asked by scorers only, who give them
        return self.labels()


def make_scorer(scoring: Any, X: Features, y: Array, classes: Array, weights: Weights) -> Scorer:
    """Return a function that scores the test rows of a split for a decay; they have their sample weights."""
    if scoring is None or scoring == "accuracy":
        return _accuracy
    if scoring == "balanced_accuracy":
        return _balanced_accuracy
    scorer = check_scoring(FlyBloomClassifier(), scoring=scoring)
    takes_weights = (weights != 1).any() and _takes_weights(scorer)

    def score(held: Held, decay: float) -> float:
        test, known = held.split.test, held.counts.classes
        rows, labels = (X, y) if held.split.leaves_itself else (X[test], y[test])
        weighed = {"sample_weight": held.weights} if takes_weights else {}
        answers = HeldOutAnswers(
            classes[known],
            lambda: held.novelty(decay, classes.size)[:, known],
            lambda: np.asarray(classes[held.predict(decay)]),
        )
        return float(scorer(answers, rows, labels, **weighed))

    return score


def _accuracy(held: Held, decay: float) -> float:
    """Return the accuracy."""
    weights = held.weights
    return int((held.predict(decay) == held.codes) @ weights) / max(1, int(weights.sum()))


def _balanced_accuracy(held: Held, decay: float) -> float:
    """Return the balanced accuracy."""
    codes, weights = held.codes, held.weights
    return mean_recall(np.bincount(codes, (held.predict(decay) == codes) * weights), np.bincount(codes, weights))


def _takes_weights(scorer: Any) -> bool:
    """Return whether a scorer accepts sample weights."""
    parameters = signature(scorer).parameters
    return "sample_weight" in parameters or any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())


def mean_scores(scores: Array) -> Array:
    """Return the mean score of each setting."""
    means: Array = np.average(scores, axis=1)
    return means


def best_index(scores: Array) -> int:
    """Return the first setting with the best mean score, ignoring NaN."""
    means = mean_scores(scores)
    return int(np.argmax(np.where(np.isnan(means), -np.inf, means)))


def cv_results(params: list[dict[str, Any]], scores: Array, fit_times: Array, score_times: Array) -> dict[str, Any]:
    """Return the table of all settings.

    Parameters
    ----------
    params : list of dict
        The settings.
    scores : ndarray of shape (n_settings, n_splits)
        Their scores.
    fit_times, score_times : ndarray of shape (n_settings,)
        Seconds per split, with shares of common work.
    """
    nothing = np.zeros(len(params))
    means = mean_scores(scores)
    lowest = np.nanmin(means, initial=0.0) - 1
    return {
        "mean_fit_time": fit_times,
        "std_fit_time": nothing,
        "mean_score_time": score_times,
        "std_score_time": nothing.copy(),
        **{f"param_{name}": _column([setting[name] for setting in params]) for name in params[0]},
        "params": params,
        **{f"split{i}_test_score": scores[:, i].copy() for i in range(scores.shape[1])},
        "mean_test_score": means,
        "std_test_score": np.sqrt(np.average((scores - means[:, None]) ** 2, axis=1)),
        "rank_test_score": rankdata(-np.where(np.isnan(means), lowest, means), method="min").astype(np.int32),
    }


def best_settings(results: dict[str, Any], most: int = 10) -> list[dict[str, Any]]:
    """Return the best settings as rows of a table, the best first.

    Parameters
    ----------
    results : dict
        ``cv_results_`` of a search.
    most : int, default=10
        Maximum number of rows.

    Returns
    -------
    list of dict
        Dicts with ``rank``, the parameters, and ``mean`` and ``std`` of the score.
    """
    order = np.argsort(results["rank_test_score"], kind="stable")[:most]
    order = order[~np.isnan(results["mean_test_score"][order])]
    return [
        {
            "rank": int(results["rank_test_score"][at]),
            **results["params"][at],
            "mean": float(results["mean_test_score"][at]),
            "std": float(results["std_test_score"][at]),
        }
        for at in order
    ]


def _column(values: list[Any]) -> Any:
    """Return the values of one parameter as GridSearchCV does: a masked array with nothing masked."""
    array = np.array(values)
    return np.ma.MaskedArray(array if array.dtype.kind != "U" else np.array(values, dtype=object), mask=False)
