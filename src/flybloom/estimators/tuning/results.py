"""What a search found, in the form that users of scikit-learn's GridSearchCV know."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from flybloom._internal.typing import Array
from flybloom.estimators.tuning.grids import Candidate


def mean_scores(scores: Array) -> Array:
    """Return the mean over the splits of each setting."""
    means: Array = np.average(scores, axis=1)
    return means


def best_index(scores: Array) -> int:
    """Return the setting with the best mean, the first of them if several tie; those not scored are NaN."""
    means = mean_scores(scores)
    return int(np.argmax(np.where(np.isnan(means), -np.inf, means)))


def cv_results(candidates: list[Candidate], scores: Array, fit_times: Array, score_times: Array) -> dict[str, Any]:
    """Return the table of all settings.

    Parameters
    ----------
    candidates : list of Candidate
        The settings.
    scores : ndarray of shape (n_candidates, n_splits)
        Their scores.
    fit_times, score_times : ndarray of shape (n_candidates,)
        Seconds for each split; a share of what settings have in common.
    """
    params = [candidate.params for candidate in candidates]
    nothing = np.zeros(len(candidates))
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
        How many rows at most.

    Returns
    -------
    list of dict
        Each with ``rank``, the parameters, and ``mean`` and ``std`` of the score; none that was not tried.
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
