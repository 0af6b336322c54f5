"""The content of a report as a JSON-compatible dictionary."""

from __future__ import annotations

import math
import time
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from flybloom._internal.scores import accuracy, mean_recall, reliability
from flybloom._internal.typing import Array, Codes
from flybloom._internal.validation import NamedRows, check_labels, taken
from flybloom.core.counts.columns import codes_of, unite
from flybloom.core.counts.weight_unit import WeightUnit
from flybloom.core.readout.class_weight import class_weights
from flybloom.core.readout.explanation import cosine_similarity
from flybloom.core.readout.filters import Filters
from flybloom.estimators.classes import class_similarity
from flybloom.paper import theory

FORMAT = 3
"""Version of the dictionary's layout."""

MAX_CLASSES = 100  # of which pairs are shown: what is said of all pairs would grow with the square of the classes
N_BINS = 20
N_PAIRS = 5
N_IMAGES = 8
N_ROWS = 4
N_FEATURES = 3
VALUES_AT_ONCE = 2**22  # novelties or weights that are in memory at the same time


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
    0.96
    >>> [(pair["a"], pair["b"], pair["mistakes"]) for pair in found["pairs"]][:2]
    [('8', '9', 4), ('2', '3', 4)]
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


class Answers(NamedTuple):
    """Predictions and scores of each row."""

    predicted: Array  # the label
    novelty: Array | None  # to the nearest class, where the model knows novelty
    confidence: Array  # the largest probability
    own_probability: Array  # that of the true label, NaN where it was never learned
    seconds: float  # that predicting took


def answers(model: Any, X: Any, own: Codes) -> Answers:
    """Return predictions for rows with true labels `own`, indices of classes or -1 for unknown ones."""
    of_own, n_rows = np.full(own.size, np.nan), max(1, VALUES_AT_ONCE // model.classes_.size)
    predicted, novelty, confidence, seconds = [], [], [], 0.0
    for begin in range(0, own.size, n_rows):
        block = slice(begin, begin + n_rows)
        rows = X if n_rows >= own.size else taken(X, block)
        start = time.perf_counter()
        predicted.append(model.predict(rows))
        seconds += time.perf_counter() - start
        if hasattr(model, "filters_"):
            novelty.append(model.novelty(rows).min(axis=1))
        probability = model.predict_proba(rows)
        confidence.append(probability.max(axis=1))
        known = np.flatnonzero(own[block] >= 0)
        of_own[block][known] = probability[known, own[block][known]]
    nearest = np.concatenate(novelty) if novelty else None
    return Answers(np.concatenate(predicted), nearest, np.concatenate(confidence), of_own, seconds)


def as_array(X: Any) -> Array:
    """Return rows of any kind as an array."""
    if isinstance(X, NamedRows):
        return X.array
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


class Confusion:
    """Sparse confusion matrix."""

    def __init__(self, truth: Codes, told: Codes, n: int) -> None:
        counts = sparse.csr_array((np.ones(truth.size, np.int64), (truth, told)), (n, n))
        self.n_tested, self.n_told, self.n_right = counts.sum(axis=1), counts.sum(axis=0), counts.diagonal()
        self._counts = counts
        mistaken = sparse.coo_array(sparse.triu(counts + counts.T, 1))
        by_labels = np.lexsort((mistaken.col, mistaken.row))
        self.pairs = np.stack([mistaken.row, mistaken.col], axis=1)[by_labels]  # mistaken for each other, ascending
        self.n_mistakes = mistaken.data[by_labels]

    def most_confused(self, n: int) -> Codes:
        """Return up to `n` labels, sorted: those most often confused, then those most often tested."""
        by_mistakes = self.pairs[np.argsort(-self.n_mistakes, kind="stable")].ravel()
        ranked = np.concatenate([by_mistakes, np.argsort(-self.n_tested, kind="stable")])
        _, first = np.unique(ranked, return_index=True)
        return np.sort(ranked[np.sort(first)][:n])

    def table(self, labels: Codes) -> Array:
        """Return the confusion matrix of some labels, true labels in rows."""
        return np.asarray(self._counts[labels][:, labels].toarray())


class ClassFilters:
    """Filters of a fitted classifier, computed for a few classes at a time."""

    kinds = ("filters", "familiarity")  # of similarity; the last one tells which pairs are hard

    def __init__(self, model: Any) -> None:
        self._model, self.temperature = model, float(model.temperature)
        self.n_bytes = int(model.counts_.nbytes)
        unit = WeightUnit(model.weight_unit_, model.counts_per_row_)
        self._decay, self._class_count = unit.per_count(model.decay_), model.class_count_ * unit.per_row
        self._counts = model.counts_.T
        self._weights = class_weights(model.class_weight, model.classes_, self._class_count)

    def explain(self, X: Any, labels: Array) -> Array:
        """Return the contribution of each feature to a class."""
        kind = "score" if self._model.readout_ == "bayes" else "familiarity"
        shares: Array = self._model.explain(X, labels, kind=kind)
        return shares

    def penalty(self) -> None:
        """Return None: filters have no penalty."""

    def similarity(self, classes: Array, kind: str) -> Array:
        """Return ``model.class_similarity()`` of some classes, given by their positions."""
        filters = self._of(classes)
        return cosine_similarity(filters.familiarity() if kind == "familiarity" else filters.weights())

    def fill(self) -> tuple[Array, Array]:
        """Return the occupancy of each class, and the novelty of an unrelated row."""
        n_components, n_classes = self._counts.shape
        occupancy, background = np.empty(n_classes), np.empty(n_classes)
        step = max(1, VALUES_AT_ONCE // n_components)
        for begin in range(0, n_classes, step):
            block = slice(begin, begin + step)
            occupancy[block] = theory.occupancy(self._counts[:, block].T)
            background[block] = self._of(block).weights().mean(axis=0, dtype=np.float64)
        return occupancy, background

    def _of(self, classes: Array | slice) -> Filters:
        """Return the filters of some classes."""
        weights = None if self._weights is None else self._weights[classes]
        return Filters(self._counts[:, classes], self._class_count[classes], self._decay, weights)


class PairWeights:
    """The weights of a fitted classifier."""

    kinds = ("scores",)  # of similarity

    def __init__(self, model: Any) -> None:
        self._model, self.temperature = model, model.temperature_
        self.n_bytes = int(model.counts_.nbytes + model.pair_counts_.nbytes)

    def explain(self, X: Any, labels: Array) -> Array:
        """Return how much each feature speaks for a class."""
        shares: Array = self._model.explain(X, labels)
        return shares

    def penalty(self) -> dict[str, Any]:
        """Return the penalty and its candidates."""
        model = self._model
        return {
            "alpha": float(model.alpha_),
            "is_chosen": model.alpha == "gcv",
            "tried": [{"alpha": alpha, "gcv": value} for alpha, value in model.gcv_.tolist()],
            "rows_for_a_component": float(model.class_count_.sum() / model.n_components_),
            "bytes_to_predict": int(model.coef_.nbytes + model.intercept_.nbytes),
        }

    def similarity(self, classes: Array, kind: str) -> Array:  # noqa: ARG002
        """Return ``model.class_similarity()`` of some classes, given by their positions."""
        similarity: Array = class_similarity(self._model)[classes][:, classes]
        return similarity

    def fill(self) -> tuple[Array, None]:
        """Return the occupancy of each class, and no novelty of unrelated rows."""
        return (self._model.counts_ > 0).mean(axis=1), None
