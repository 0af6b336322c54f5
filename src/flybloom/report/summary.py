"""Everything a report says, as a dictionary of plain Python values that json can write."""

from __future__ import annotations

import math
import time
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import log_loss
from sklearn.utils.validation import check_is_fitted

from flybloom import theory
from flybloom._internal.sklearn_compat import safe_indexing
from flybloom._internal.typing import Array
from flybloom._internal.validation import NamedRows, check_labels
from flybloom.core.counts.columns import unite

FORMAT = 1
"""Version of the dictionary's layout."""

N_BINS = 20
N_PAIRS = 5
N_IMAGES = 8
N_ROWS = 4
N_FEATURES = 3


def facts(
    model: Any, X: Any, y: Any, *, title: str | None = None, image_shape: tuple[int, int] | None = None
) -> dict[str, Any]:
    """Return what there is to say about a classifier on test rows.

    Parameters
    ----------
    model : FlyBloomClassifier
        A fitted classifier.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Test rows.
    y : array-like of shape (n_samples,)
        Their labels. Labels that were never learned count as mistakes.
    title : str, default=None
        Title of the page.
    image_shape : tuple of int, default=None
        Height and width where rows are images: rows that were mistaken are then part of the facts.

    Returns
    -------
    dict
        Scores, classes, confusion, similarity, hardest pairs, calibration, novelty, sizes, parameters and timings.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.report import facts
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyBloomClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> found = facts(model, X[1000:], y[1000:])
    >>> found["scores"]["accuracy"]
    0.932
    >>> [(pair["a"], pair["b"], pair["mistakes"]) for pair in found["pairs"]][:2]
    [('3', '8', 6), ('2', '8', 5)]
    """
    if not (is_classifier(model) and hasattr(model, "class_similarity")):
        msg = f"The 'model' parameter must be a FlyBloomClassifier. Got {type(model).__name__} instead."
        raise TypeError(msg)
    check_is_fitted(model)
    start = time.perf_counter()
    predicted = model.predict(X)
    seconds = time.perf_counter() - start
    y = check_labels(y, len(predicted))
    rows = _as_array(X)
    if image_shape is not None and math.prod(image_shape) != rows.shape[1]:
        msg = (
            f"The 'image_shape' parameter must multiply to the {rows.shape[1]} features of X. "
            f"Got {image_shape} instead."
        )
        raise ValueError(msg)
    novelty, probability = model.novelty(X), model.predict_proba(X)
    labels = unite(model.classes_, y)
    confusion = np.zeros((labels.size, labels.size), np.int64)
    np.add.at(confusion, (np.searchsorted(labels, y), np.searchsorted(labels, predicted)), 1)
    similarity = {of: model.class_similarity(kind=of) for of in ("filters", "familiarity")}
    return {
        "format": FORMAT,
        "title": title or "Report on a FlyBloomClassifier",
        "scores": _scores(model, y, predicted, probability, confusion),
        "labels": [str(label) for label in labels],
        "classes": _classes(model, labels, confusion),
        "confusion": confusion.tolist(),
        "similarity": {
            "labels": [str(label) for label in model.classes_],
            **{of: values.round(6).tolist() for of, values in similarity.items()},
        },
        "pairs": _pairs(model, rows, X, y, predicted, similarity["familiarity"], image_shape),
        "calibration": _calibration(model, y, predicted, probability),
        "novelty": _novelty(novelty, y == predicted),
        "data": {"rows": len(y), "features": int(rows.shape[1]), "classes": len(np.unique(y))},
        "sizes": _sizes(model),
        "parameters": {name: _plain(value) for name, value in sorted(model.get_params().items())},
        "timings": {"predict_seconds": seconds, "rows_per_second": len(y) / max(seconds, 1e-9)},
    }


def _as_array(X: Any) -> Array:
    """Return rows of any kind as an array."""
    if isinstance(X, NamedRows):
        return X.array
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


def _scores(model: Any, y: Array, predicted: Array, probability: Array, confusion: Array) -> dict[str, Any]:
    """Return how good the labels and the probabilities are."""
    n_rows = confusion.sum(axis=1)
    recalls = np.diag(confusion)[n_rows > 0] / n_rows[n_rows > 0]
    is_known = np.isin(y, model.classes_)
    known_loss = None
    if is_known.any() and model.classes_.size > 1:
        known_loss = float(log_loss(y[is_known], probability[is_known], labels=model.classes_))
    return {
        "accuracy": float((y == predicted).mean()),
        "balanced_accuracy": float(recalls.mean()),
        "log_loss": known_loss,
        "mistakes": int((y != predicted).sum()),
        "unlearned_rows": int((~is_known).sum()),
    }


def _classes(model: Any, labels: Array, confusion: Array) -> list[dict[str, Any]]:
    """Return for each label how many rows it has, how well it is told, and how full its filter is."""
    positions = {label: i for i, label in enumerate(model.classes_.tolist())}
    occupancy, background = theory.occupancy(model.counts_), model.filters_.mean(axis=1)
    records = []
    for i, label in enumerate(labels.tolist()):
        at = positions.get(label)
        tested, given = int(confusion[i].sum()), int(confusion[:, i].sum())
        learned = 0 if at is None else int(model.class_count_[at])
        records.append(
            {
                "label": str(label),
                "learned": learned,
                "tested": tested,
                "recall": float(confusion[i, i] / tested) if tested else None,
                "precision": float(confusion[i, i] / given) if given else None,
                "occupancy": None if at is None else float(occupancy[at]),
                "background": None if at is None else float(background[at]),
                "load": theory.load(learned, model.n_components_, model.n_winners_),
            }
        )
    return records


def _pairs(
    model: Any, rows: Array, X: Any, y: Array, predicted: Array, similarity: Array, image_shape: tuple[int, int] | None
) -> list[dict[str, Any]]:
    """Return the pairs of classes that are mistaken for each other most often, then the most similar, with examples."""
    classes = model.classes_
    mistaken = {
        (i, j): np.flatnonzero(
            ((y == classes[i]) & (predicted == classes[j])) | ((y == classes[j]) & (predicted == classes[i]))
        )
        for i, j in combinations(range(classes.size), 2)
    }
    hardest = sorted(mistaken, key=lambda pair: (-mistaken[pair].size, -similarity[pair], pair))[:N_PAIRS]
    n_examples = N_ROWS if image_shape is None else N_IMAGES
    return [
        {
            "a": str(classes[i]),
            "b": str(classes[j]),
            "similarity": float(similarity[i, j]),
            "mistakes": int(mistaken[i, j].size),
            "examples": _examples(model, rows, X, y, predicted, mistaken[i, j][:n_examples], image_shape),
        }
        for i, j in hardest
    ]


def _examples(
    model: Any, rows: Array, X: Any, y: Array, predicted: Array, at: Array, image_shape: tuple[int, int] | None
) -> list[dict[str, Any]]:
    """Return rows that were mistaken: as images, or with the features that spoke most for the mistake."""
    if at.size == 0:
        return []
    taken = NamedRows(X.array[at], X.names) if isinstance(X, NamedRows) else safe_indexing(X, at)
    for_mistake = model.explain(taken, predicted[at], kind="familiarity")
    for_truth = model.explain(taken, y[at], kind="familiarity")
    names = getattr(model, "feature_names_in_", [f"feature {f}" for f in range(rows.shape[1])])
    examples = []
    for row, difference in zip(at, for_mistake - for_truth, strict=True):
        example: dict[str, Any] = {"row": int(row), "label": str(y[row]), "predicted": str(predicted[row])}
        if image_shape is not None:
            example["image"] = np.asarray(rows[row], np.float64).reshape(image_shape).tolist()
        else:
            largest = np.argsort(-difference, kind="stable")[:N_FEATURES]
            example["features"] = [
                {"name": str(names[f]), "value": float(rows[row, f]), "share": float(difference[f])} for f in largest
            ]
        examples.append(example)
    return examples


def _calibration(model: Any, y: Array, predicted: Array, probability: Array) -> dict[str, Any]:
    """Return in ten bins of confidence how often the label is right; and the mean gap between the two."""
    confidence = probability.max(axis=1)
    is_right = (y == predicted).astype(float)
    edges = np.linspace(0, 1, 11)
    bins = np.clip(np.digitize(confidence, edges) - 1, 0, 9)
    n = np.bincount(bins, minlength=10)
    sums = np.bincount(bins, confidence, 10), np.bincount(bins, is_right, 10)
    used = n > 0
    gap = float(np.abs(sums[0][used] - sums[1][used]).sum() / len(y))
    return {
        "rows": n.tolist(),
        "confidence": [float(sums[0][i] / n[i]) if used[i] else None for i in range(10)],
        "accuracy": [float(sums[1][i] / n[i]) if used[i] else None for i in range(10)],
        "expected_error": gap,
        "mean_confidence": float(confidence.mean()),
        "temperature": float(model.temperature),
    }


def _novelty(novelty: Array, is_right: Array) -> dict[str, Any]:
    """Return histograms of the least novelty, for rows that were told right and wrong."""
    least = novelty.min(axis=1)
    edges = np.linspace(0, 1, N_BINS + 1)
    return {
        "edges": edges.tolist(),
        "right": np.histogram(least[is_right], edges)[0].tolist(),
        "wrong": np.histogram(least[~is_right], edges)[0].tolist(),
        "quantiles": {str(q): float(np.quantile(least, q)) for q in (0.05, 0.5, 0.95)},
    }


def _sizes(model: Any) -> dict[str, Any]:
    """Return how large the model is."""
    return {
        "features": int(model.n_features_in_),
        "components": int(model.n_components_),
        "connections": int(model.n_connections_),
        "winners": int(model.n_winners_),
        "classes": int(model.classes_.size),
        "rows_learned": int(model.class_count_.sum()),
        "bytes": int(model.counts_.nbytes),
        "seed": int(model.seed_),
    }


def _plain(value: Any) -> Any:
    """Return a parameter as json can write it."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
