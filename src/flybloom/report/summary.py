"""The content of a report as a JSON-compatible dictionary."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from flybloom._internal.scores import accuracy, mean_recall, reliability
from flybloom._internal.typing import Array, Codes
from flybloom._internal.validation import NamedRows, check_labels, taken
from flybloom.core.counts.columns import codes_of, unite
from flybloom.paper import theory
from flybloom.report.answers import Answers, Confusion, answers, as_array
from flybloom.report.readings import ClassFilters, PairWeights

FORMAT = 3
"""Version of the dictionary's layout."""

MAX_CLASSES = 100  # of which pairs are shown: what is said of all pairs would grow with the square of the classes
N_BINS = 20
N_PAIRS = 5
N_IMAGES = 8
N_ROWS = 4
N_FEATURES = 3


def facts(
    model: Any, X: Any, y: Any, *, title: str | None = None, image_shape: tuple[int, int] | None = None
) -> dict[str, Any]:
    """Return facts about a classifier and test rows.

    Parameters
    ----------
    model : FlyBloomClassifier or FlyRidgeClassifier
        A fitted classifier.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Test rows.
    y : array-like of shape (n_samples,)
        Their labels. Unknown labels count as errors.
    title : str, default=None
        Title of the page.
    image_shape : tuple of int, default=None
        Height and width if rows are images, to include wrong predictions as images.

    Returns
    -------
    dict
        Scores, classes, confusion, similarity, hardest pairs, calibration, novelty, penalty, sizes, parameters and
        timings. Novelty is None for ridge models, the penalty for others. Confusion and similarity are limited to the
        100 classes most often confused.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.report import facts
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyBloomClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> found = facts(model, X[1000:], y[1000:])
    >>> found["scores"]["accuracy"]
    0.93
    >>> [(pair["a"], pair["b"], pair["mistakes"]) for pair in found["pairs"]][:2]
    [('3', '8', 6), ('2', '8', 5)]
    """
    if not (is_classifier(model) and hasattr(model, "explain")):
        msg = (
            "The 'model' parameter must be a FlyBloomClassifier or a FlyRidgeClassifier. "
            f"Got {type(model).__name__} instead."
        )
        raise TypeError(msg)
    check_is_fitted(model)
    y = check_labels(y)
    check_consistent_length(X.array if isinstance(X, NamedRows) else X, y)
    if image_shape is not None and math.prod(image_shape) != model.n_features_in_:
        msg = (
            f"The 'image_shape' parameter must multiply to the {model.n_features_in_} features of X. "
            f"Got {image_shape} instead."
        )
        raise ValueError(msg)
    labels = unite(model.classes_, y)
    classes = np.full(labels.size, -1)  # where each label is among those of the model
    classes[codes_of(model.classes_, labels)] = np.arange(model.classes_.size)
    truth = codes_of(y, labels)
    told = answers(model, X, classes[truth])
    predicted = codes_of(told.predicted, labels)
    confusion = Confusion(truth, predicted, labels.size)
    own = ClassFilters(model) if hasattr(model, "filters_") else PairWeights(model)
    shown = confusion.most_confused(MAX_CLASSES)
    learned = shown[classes[shown] >= 0]  # those of them that can be compared
    similarity = {kind: own.similarity(classes[learned], kind) for kind in own.kinds}
    hardest = _hardest(learned, confusion, similarity[own.kinds[-1]])
    names = [str(label) for label in labels]
    return {
        "format": FORMAT,
        "title": title or f"Report on a {type(model).__name__}",
        "scores": _scores(truth, predicted, told, confusion),
        "labels": [names[i] for i in shown],
        "omitted_classes": int(labels.size - shown.size),
        "classes": _classes(model, names, classes, confusion, own),
        "confusion": confusion.table(shown).tolist(),
        "similarity": {
            "labels": [names[i] for i in learned],
            **{kind: values.round(6).tolist() for kind, values in similarity.items()},
        },
        "pairs": [
            {
                "a": names[i],
                "b": names[j],
                "similarity": value,
                "mistakes": n_mistakes,
                "examples": _examples(model, own, X, labels, truth, predicted, (i, j), image_shape),
            }
            for i, j, n_mistakes, value in hardest
        ],
        "calibration": _calibration(own.temperature, told, truth == predicted),
        "novelty": None if told.novelty is None else _novelty(told.novelty, truth == predicted),
        "penalty": own.penalty(),
        "data": {"rows": len(y), "features": int(model.n_features_in_), "classes": len(np.unique(y))},
        "sizes": _sizes(model, own.n_bytes),
        "parameters": {name: _plain(value) for name, value in sorted(model.get_params().items())},
        "timings": {"predict_seconds": told.seconds, "rows_per_second": len(y) / max(told.seconds, 1e-9)},
    }


def _scores(truth: Codes, predicted: Codes, told: Answers, confusion: Confusion) -> dict[str, Any]:
    """Return scores of labels and probabilities."""
    is_known = ~np.isnan(told.own_probability)
    smallest = np.finfo(np.float64).eps
    losses = -np.log(np.clip(told.own_probability[is_known], smallest, 1 - smallest))
    return {
        "accuracy": accuracy(truth, predicted),
        "balanced_accuracy": mean_recall(confusion.n_right, confusion.n_tested),
        "log_loss": float(losses.mean()) if losses.size else None,
        "mistakes": int((truth != predicted).sum()),
        "unlearned_rows": int((~is_known).sum()),
    }


def _classes(
    model: Any, names: list[str], classes: Codes, confusion: Confusion, own: ClassFilters | PairWeights
) -> list[dict[str, Any]]:
    """Return number of rows, recall, precision and occupancy of each class."""
    (occupancy, background), class_count = own.fill(), model.class_count_
    records = []
    for i, (label, at) in enumerate(zip(names, classes.tolist(), strict=True)):
        tested, given, right = (int(n[i]) for n in (confusion.n_tested, confusion.n_told, confusion.n_right))
        learned = 0 if at < 0 else int(class_count[at])
        records.append(
            {
                "label": label,
                "learned": learned,
                "tested": tested,
                "recall": right / tested if tested else None,
                "precision": right / given if given else None,
                "occupancy": None if at < 0 else float(occupancy[at]),
                "background": None if at < 0 or background is None else float(background[at]),
                "load": theory.filter_load(learned, model.n_components_, model.n_winners_),
            }
        )
    return records


def _hardest(shown: Codes, confusion: Confusion, similarity: Array) -> list[tuple[int, int, int, float]]:
    """Return the pairs of labels most often confused, then the most similar ones."""
    n_mistakes = dict(zip(map(tuple, confusion.pairs.tolist()), confusion.n_mistakes.tolist(), strict=True))
    pairs = [
        (labels[0], labels[1], n_mistakes.get(labels, 0), float(similarity[i, j]))
        for (i, j), labels in zip(combinations(range(shown.size), 2), combinations(shown.tolist(), 2), strict=True)
    ]
    return sorted(pairs, key=lambda pair: (-pair[2], -pair[3], pair))[:N_PAIRS]


def _examples(
    model: Any,
    own: ClassFilters | PairWeights,
    X: Any,
    labels: Array,
    truth: Codes,
    predicted: Codes,
    pair: tuple[int, int],
    image_shape: Any,
) -> list[dict[str, Any]]:
    """Return wrong predictions, as images or with the features that contributed most."""
    is_mistaken = (truth != predicted) & np.isin(truth, pair) & np.isin(predicted, pair)
    at = np.flatnonzero(is_mistaken)[: N_ROWS if image_shape is None else N_IMAGES]
    if at.size == 0:
        return []
    chosen, right, wrong = taken(X, at), labels[truth[at]], labels[predicted[at]]
    differences = own.explain(chosen, wrong) - own.explain(chosen, right)
    names = getattr(model, "feature_names_in_", [f"feature {f}" for f in range(model.n_features_in_)])
    examples = []
    for n, (row, values, difference) in enumerate(zip(at, as_array(chosen), differences, strict=True)):
        example: dict[str, Any] = {"row": int(row), "label": str(right[n]), "predicted": str(wrong[n])}
        if image_shape is not None:
            example["image"] = np.asarray(values, np.float64).reshape(image_shape).tolist()
        else:
            largest = np.argsort(-difference, kind="stable")[:N_FEATURES]
            example["features"] = [
                {"name": str(names[f]), "value": float(values[f]), "share": float(difference[f])} for f in largest
            ]
        examples.append(example)
    return examples


def _calibration(temperature: float, told: Answers, is_right: Array) -> dict[str, Any]:
    """Return accuracy by bins of confidence, and the expected calibration error."""
    found = reliability(told.confidence, is_right)
    return {
        "rows": found.n_rows.tolist(),
        "confidence": [None if math.isnan(value) else value for value in found.confidence.tolist()],
        "accuracy": [None if math.isnan(value) else value for value in found.accuracy.tolist()],
        "expected_error": found.error,
        "mean_confidence": float(told.confidence.mean()),
        "temperature": temperature,
    }


def _novelty(novelty: Array, is_right: Array) -> dict[str, Any]:
    """Return histograms of the minimum novelty for correct and wrong predictions."""
    edges = np.linspace(0, 1, N_BINS + 1)
    return {
        "edges": edges.tolist(),
        "right": np.histogram(novelty[is_right], edges)[0].tolist(),
        "wrong": np.histogram(novelty[~is_right], edges)[0].tolist(),
        "quantiles": {str(q): float(np.quantile(novelty, q)) for q in (0.05, 0.5, 0.95)},
    }


def _sizes(model: Any, n_bytes: int) -> dict[str, Any]:
    """Return the sizes of the model."""
    return {
        "features": int(model.n_features_in_),
        "components": int(model.n_components_),
        "connections": int(model.n_connections_),
        "winners": int(model.n_winners_),
        "classes": int(model.classes_.size),
        "rows_learned": int(model.class_count_.sum()),
        "bytes": n_bytes,
        "seed": int(model.seed_),
    }


def _plain(value: Any) -> Any:
    """Return a parameter as a JSON value."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
