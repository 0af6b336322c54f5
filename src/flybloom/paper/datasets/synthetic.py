"""The paper's synthetic data: real rows, binary rows, and labels with noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from flybloom._internal.typing import Array, Codes

EXPANSION = 10  # binary rows are hashes with this many components for each feature
MIN_BINARY_FEATURES = 40  # the 15 clusters need corners of a cube in at least 4 dimensions


def make_real(
    n_samples: int = 1000,
    n_features: int = 100,
    *,
    random_state: Any,
    class_sep: float = 1.2,
    n_classes: int = 5,
    n_clusters_per_class: int = 3,
    flip_y: float = 0.01,
) -> tuple[Array, Codes]:
    """Draw real rows as the paper does: clusters around corners of a cube, every feature informative.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_features : int, default=100
        Number of features, d in the paper.
    random_state : int, RandomState instance or None
        Seed of the rows; the paper's authors set none. Keyword only, and has to be given.
    class_sep : float, default=1.2
        Half the length of an edge of the cube.
    n_classes : int, default=5
        Number of classes.
    n_clusters_per_class : int, default=3
        Number of clusters of each class.
    flip_y : float, default=0.01
        Share of rows whose class is drawn at random. The authors left this at scikit-learn's default, so their data
        have some label noise.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    y : ndarray of shape (n_samples,)
        Labels 0, 1, ..., n_classes - 1.

    See Also
    --------
    sklearn.datasets.make_classification : What draws them.

    Examples
    --------
    >>> from flybloom.paper.datasets import make_real
    >>> X, y = make_real(200, 20, random_state=0)
    >>> X.shape, len(set(y))
    ((200, 20), 5)
    """
    from sklearn.datasets import make_classification  # noqa: PLC0415 - slow to import, and only needed here

    X, y = make_classification(
        n_samples=n_samples,
        n_features=n_features,
        n_informative=n_features,
        n_redundant=0,
        n_repeated=0,
        n_classes=n_classes,
        n_clusters_per_class=n_clusters_per_class,
        class_sep=class_sep,
        flip_y=flip_y,
        hypercube=True,
        random_state=random_state,
    )
    return np.ascontiguousarray(X), y.astype(np.int64)


def make_binary(
    n_samples: int = 1000, n_features: int = 100, n_ones: int = 20, *, random_state: Any
) -> tuple[Array, Codes]:
    """Draw binary rows as the paper does: hashes of real rows that have a tenth of the features.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_features : int, default=100
        Number of features, d in the paper; a multiple of 10, at least 40.
    n_ones : int, default=20
        How many ones each row has, b in the paper.
    random_state : int, RandomState instance or None
        Seed of the real rows and, from the same stream, of the hash. Keyword only, and has to be given.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features) of uint8
        Rows of zeros and exactly `n_ones` ones.
    y : ndarray of shape (n_samples,)
        Labels 0 to 4.

    See Also
    --------
    make_real : Draws the rows that are hashed.

    Examples
    --------
    >>> from flybloom.paper.datasets import make_binary
    >>> X, y = make_binary(200, 50, 7, random_state=0)
    >>> X.shape, set(X.sum(axis=1).tolist())
    ((200, 50), {7})
    """
    from sklearn.utils import check_random_state  # noqa: PLC0415 - as above

    from flybloom.estimators.fly_hash import FlyHash  # noqa: PLC0415 - waits for numba

    if n_features % EXPANSION or n_features < MIN_BINARY_FEATURES:
        msg = (
            f"The 'n_features' parameter of make_binary must be a multiple of {EXPANSION}, at least "
            f"{MIN_BINARY_FEATURES}. Got {n_features} instead."
        )
        raise ValueError(msg)
    if not 1 <= n_ones <= n_features:
        msg = f"The 'n_ones' parameter of make_binary must be from 1 to n_features={n_features}. Got {n_ones} instead."
        raise ValueError(msg)
    rng = check_random_state(random_state)
    n_hashed = n_features // EXPANSION
    rows, y = make_real(n_samples, n_hashed, random_state=rng)
    hasher = FlyHash(
        n_features, n_connections=n_hashed // 2, n_winners=n_ones, signed=False, encoding="none", random_state=rng
    )
    X = np.zeros((n_samples, n_features), np.uint8)
    np.put_along_axis(X, hasher.fit(rows).winners(rows).astype(np.int64), 1, axis=1)
    return X, y


def flip_labels(y: Any, share: float, *, n_classes: int, random_state: Any, skip_previous: bool = False) -> Codes:
    """Yield some rows another label, as the paper's experiment with label noise does.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels 0, 1, ..., n_classes - 1. They stay as they are; a copy is returned.
    share : float
        Probability of each row, from 0 to 1, to get another label.
    n_classes : int
        Number of classes.
    random_state : int, RandomState instance or None
        Seed of the noise.
    skip_previous : bool, default=False
        Whether to never choose the class before the true one (that is, ``(y - 1) % n_classes``). The authors' code does
        so by accident; with True the noise is theirs, with False every other class is equally likely.

    Returns
    -------
    ndarray of shape (n,) of int64
        Labels, some of them wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from flybloom.paper.datasets import flip_labels
    >>> flipped = flip_labels(np.zeros(1000, int), 0.25, n_classes=5, random_state=0)
    >>> np.bincount(flipped)
    array([746,  58,  66,  62,  68])
    """
    from sklearn.utils import check_random_state  # noqa: PLC0415 - as above

    labels = np.asarray(y)
    if labels.ndim != 1 or labels.dtype.kind not in "biu" or (labels.size and labels.min() < 0):
        msg = f"The 'y' parameter of flip_labels must be a list of labels 0, 1, ... Got {labels.dtype} instead."
        raise ValueError(msg)
    if labels.size and labels.max() >= n_classes:
        msg = f"The 'n_classes' parameter of flip_labels must exceed every label. Got {n_classes}, and {labels.max()}."
        raise ValueError(msg)
    if not 0 <= share <= 1:
        msg = f"The 'share' parameter of flip_labels must be from 0 to 1. Got {share} instead."
        raise ValueError(msg)
    n_others = n_classes - 1 - skip_previous
    if n_others < 1:
        msg = (
            f"The 'n_classes' parameter of flip_labels must be at least {2 + skip_previous} with "
            f"skip_previous={skip_previous}. Got {n_classes} instead."
        )
        raise ValueError(msg)
    rng = check_random_state(random_state)
    is_flipped = rng.uniform(size=labels.shape) < share
    offsets = rng.randint(1, n_others + 1, size=labels.shape)
    return np.where(is_flipped, (labels.astype(np.int64) + offsets) % n_classes, labels).astype(np.int64)
