"""A plain grid search over the settings of a baseline, on given splits, with both measures of accuracy."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from flybloom._internal.scores import accuracy, balanced_accuracy
from flybloom._internal.typing import Array
from flybloom.paper.baselines.grids import Baseline, Params
from flybloom.paper.baselines.neighbours import predictions_for_each_k
from flybloom.paper.baselines.nested_simhash import Split, predictions_for_each_size
from flybloom.paper.baselines.simhash import resolve_size

Outcome = list[Array] | ValueError  # the predictions of each split, or why the setting is not valid
PredictAll = Callable[[Sequence[Params], Array, Array, list[Split], int], list[Outcome]]


@dataclass(frozen=True)
class Record:
    """What one setting reached.

    Parameters
    ----------
    params : dict
        The setting.
    accuracy : tuple of float
        Share of test rows that are right, for each split.
    balanced_accuracy : tuple of float
        The mean over classes of that share, for each split; what the authors call accuracy.
    seconds : float
        Time for all splits; settings that share their work share the time equally.

    Examples
    --------
    >>> from flybloom.paper.baselines import Record
    >>> Record({"n_neighbors": 1}, accuracy=(0.5, 1.0), balanced_accuracy=(0.5, 1.0), seconds=0.1).params
    {'n_neighbors': 1}
    """

    params: Params
    accuracy: tuple[float, ...]
    balanced_accuracy: tuple[float, ...]
    seconds: float


@dataclass(frozen=True)
class Search:
    """What all settings reached.

    Parameters
    ----------
    records : tuple of Record
        The valid settings, in the order of the grid.
    skipped : tuple of (dict, str)
        The settings that are not valid for this data, with the reason.

    Examples
    --------
    >>> from flybloom.paper.baselines import Record, Search
    >>> records = [Record({"n_neighbors": k}, (score,), (score,), 0.1) for k, score in [(1, 0.8), (2, 0.9)]]
    >>> Search(tuple(records), skipped=()).best().params
    {'n_neighbors': 2}
    """

    records: tuple[Record, ...]
    skipped: tuple[tuple[Params, str], ...]

    def best(self, measure: str = "balanced_accuracy") -> Record:
        """Return the setting with the largest mean over the splits, the first of several.

        Parameters
        ----------
        measure : {"accuracy", "balanced_accuracy"}, default="balanced_accuracy"
            What to compare.

        Returns
        -------
        Record
            The best one.
        """
        if not self.records:
            msg = f"No setting was valid. The first of {len(self.skipped)} failed with: {self.skipped[0][1]}"
            raise ValueError(msg)
        return max(self.records, key=lambda record: float(np.mean(getattr(record, measure))))


def best_of(baseline: Baseline, profile: str, X: Any, y: Any, splits: Sequence[Split], seed: int) -> Search:
    """Try every setting of a baseline on every split.

    Settings of kNNC share one search of neighbours for each split, and those of SBFC one hash of all rows; the
    predictions are the same as one by one. A setting that is not valid for any split is left out, as the authors did.

    Parameters
    ----------
    baseline : Baseline
        One of `BASELINES`.
    profile : {"quick", "standard", "full"}
        Which of its grids.
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels.
    splits : sequence of (train, test)
        Pairs of arrays of row numbers: folds, or a single hold-out.
    seed : int
        Seed of all that is random.

    Returns
    -------
    Search
        Records of the valid settings, and the others with the reason.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import StratifiedKFold
    >>> from flybloom.paper.baselines import BASELINES, best_of
    >>> X, y = load_digits(return_X_y=True)
    >>> folds = list(StratifiedKFold(2, shuffle=True, random_state=5489).split(X, y))
    >>> search = best_of(BASELINES["kNNC"], "quick", X, y, folds, seed=0)
    >>> [record.params["n_neighbors"] for record in search.records]
    [1, 4, 16, 64]
    >>> best = search.best("accuracy")
    >>> best.params, len(best.accuracy), len(search.skipped)
    ({'n_neighbors': 1}, 2, 0)
    """
    if profile not in baseline.grids:
        msg = f"The 'profile' parameter of best_of must be one of {list(baseline.grids)}. Got {profile!r} instead."
        raise ValueError(msg)
    X, y = np.asarray(X), np.asarray(y)
    pairs = [(np.asarray(train), np.asarray(test)) for train, test in splits]
    settings = baseline.grids[profile]
    records, skipped = [], []
    together = TOGETHER.get(baseline.name)
    for group in [settings] if together else [(params,) for params in settings]:
        start = time.perf_counter()
        outcomes = (
            together(group, X, y, pairs, seed) if together else [_one_by_one(baseline, group[0], X, y, pairs, seed)]
        )
        seconds = (time.perf_counter() - start) / len(group)
        for params, outcome in zip(group, outcomes, strict=True):
            if isinstance(outcome, ValueError):
                skipped.append((params, str(outcome)))
            else:
                records.append(_record(params, outcome, y, pairs, seconds))
    return Search(tuple(records), tuple(skipped))


def _one_by_one(baseline: Baseline, params: Params, X: Array, y: Array, splits: list[Split], seed: int) -> Outcome:
    """Fit and predict again for each split."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", ConvergenceWarning)  # one epoch is what the paper asks for
            warnings.filterwarnings("ignore", "Got `batch_size` less than 1 or larger than sample size", UserWarning)
            warnings.simplefilter("ignore", RuntimeWarning)  # steps that are too long overflow: a bad setting
            return [baseline.make(params, seed).fit(X[train], y[train]).predict(X[test]) for train, test in splits]
    except ValueError as error:
        return error


def _neighbours(settings: Sequence[Params], X: Array, y: Array, splits: list[Split], seed: int) -> list[Outcome]:  # noqa: ARG001
    """Predict for all k from one search of each split."""
    ks = [params["n_neighbors"] for params in settings]
    by_split = [predictions_for_each_k(X[train], y[train], X[test], ks) for train, test in splits]
    outcomes: list[Outcome] = []
    for k in ks:
        results = [predictions[k] for predictions in by_split]
        errors = [result for result in results if isinstance(result, ValueError)]
        outcomes.append(errors[0] if errors else [result for result in results if not isinstance(result, ValueError)])
    return outcomes


def _simhashes(settings: Sequence[Params], X: Array, y: Array, splits: list[Split], seed: int) -> list[Outcome]:
    """Predict for all sizes from one hash."""
    sizes = [resolve_size(params["n_components"], X.shape[1]) for params in settings]
    predictions = predictions_for_each_size(X, y, splits, sizes, seed)
    return [predictions[size] for size in sizes]


TOGETHER: dict[str, PredictAll] = {"kNNC": _neighbours, "1NNC": _neighbours, "SBFC": _simhashes}


def _record(params: Params, predictions: list[Array], y: Array, splits: list[Split], seconds: float) -> Record:
    """Measure the predictions of each split."""
    truths = [y[test] for _, test in splits]
    return Record(
        dict(params),
        tuple(accuracy(truth, predicted) for truth, predicted in zip(truths, predictions, strict=True)),
        tuple(balanced_accuracy(truth, predicted) for truth, predicted in zip(truths, predictions, strict=True)),
        seconds,
    )
