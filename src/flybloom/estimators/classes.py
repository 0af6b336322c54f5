"""What a classifier has learned of its classes: how similar they are, and which features tell them."""

from __future__ import annotations

from typing import Any

from flybloom._internal.typing import Array
from flybloom.core.readout import explanation
from flybloom.core.readout.explanation import most_similar_pairs
from flybloom.estimators.access import hasher_of, reading_learned


def class_similarity(model: Any, *, kind: str = "filters") -> Array:
    """Return how similar each pair of classes is.

    For FlyBloomClassifier, it is the cosine between their filters. For FlyRidgeClassifier, the mean score of the rows
    of class i for class j, divided by the share of j, is an inner product of the two classes; this is its cosine: 0 if
    the weights separate two classes, 1 if they do not separate them at all.

    Parameters
    ----------
    model : FlyBloomClassifier or FlyRidgeClassifier
        A fitted classifier.
    kind : {"filters", "familiarity"}, default="filters"
        What is compared of a FlyBloomClassifier. "filters" is the paper's ``filters_``; all cosines are near 1 if most
        components never won. "familiarity" is ``1 - filters_``, to which such components add nothing, and is more
        strongly correlated with confusions (see docs/similarity.md).

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        Symmetric, from 0 to 1, with ones on the diagonal; rows and columns as in ``classes_``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.report import class_similarity
    >>> model = FlyBloomClassifier(random_state=0).fit(*load_digits(return_X_y=True))
    >>> class_similarity(model, kind="familiarity")[3].round(2)
    array([0.13, 0.18, 0.3 , 1.  , 0.07, 0.28, 0.14, 0.22, 0.3 , 0.39])
    """
    hasher_of(model)  # refuses models that are not fitted
    if kind not in ("filters", "familiarity"):
        msg = f"The 'kind' parameter must be one of {('filters', 'familiarity')}. Got {kind!r} instead."
        raise ValueError(msg)
    model._check_parameters()  # noqa: SLF001 - what is read may depend on them
    with reading_learned(model) as learned:
        counts: Any = learned.counts
        if hasattr(model, "alpha"):
            similarity: Array = model._solution(counts).class_similarity(counts)  # noqa: SLF001
            return similarity
        filters = model._filters(counts)  # noqa: SLF001
        return explanation.cosine_similarity(filters.familiarity() if kind == "familiarity" else filters.weights())


def most_similar_classes(model: Any, k: int = 3, **options: Any) -> list[tuple[Any, Any, float]]:
    """Return the pairs of classes that are hardest to distinguish.

    Parameters
    ----------
    model : FlyBloomClassifier or FlyRidgeClassifier
        A fitted classifier.
    k : int, default=3
        How many pairs, at most as many as there are.
    options : dict
        What `class_similarity` is given, such as ``kind="familiarity"``.

    Returns
    -------
    list of (label, label, float)
        Both labels and their similarity, the most similar pair first, ties in the order of classes.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.report import most_similar_classes
    >>> model = FlyBloomClassifier(random_state=0).fit(*load_digits(return_X_y=True))
    >>> [(int(a), int(b)) for a, b, _ in most_similar_classes(model, 2, kind="familiarity")]
    [(3, 9), (8, 9)]
    """
    pairs, classes = most_similar_pairs(class_similarity(model, **options), k), model.classes_
    return [(classes[i], classes[j], value) for i, j, value in pairs]


def class_profiles(model: Any, *, contrast: bool = True) -> Array:
    """Return a profile of each class: its winners, traced back to the features that they sum.

    For images, reshape a row to the image.

    Parameters
    ----------
    model : FlyBloomClassifier
        A fitted classifier.
    contrast : bool, default=True
        Whether to subtract the mean over the classes, which shows what distinguishes a class from the others.

    Returns
    -------
    ndarray of shape (n_classes, n_features)
        Positive if large values are typical of the class, negative if small ones are; rows as in ``classes_``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.report import class_profiles
    >>> model = FlyBloomClassifier(encoding="standard", random_state=0)
    >>> model = model.fit(*load_digits(return_X_y=True))
    >>> zero = class_profiles(model)[0].reshape(8, 8)
    >>> bool(zero[4, 4] < 0 < zero[4, 5])                    # a hole in the middle, ink beside it
    True
    """
    hasher = hasher_of(model)
    parts = [hasher.projection.connections()]
    if hasher.ferns is not None:
        parts.append(hasher.ferns.connections())
    with reading_learned(model) as learned:
        counts: Any = learned.counts
        profiles = explanation.class_profiles(
            counts.table, counts.class_count, parts, hasher.encoder.n_outputs, contrast=contrast
        )
        return hasher.encoder.traced_back(profiles, signed=True)
