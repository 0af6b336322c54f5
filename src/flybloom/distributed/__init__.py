"""Learning and predicting on a Dask cluster: blocks are counted where they are loaded, and a tree adds the counts up.

The result is an ordinary model, equal bit for bit to one that learned the same rows in one process, because exact
sums and counts do not depend on how the rows are cut. Any scheduler of Dask will do: threads, processes, a cluster.
What travels and what it costs is in docs/cluster.md.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

try:
    from dask.delayed import delayed
except ImportError as error:
    msg = "flybloom.distributed needs Dask. Install it with: pip install 'flybloom[dask]'"
    raise ModuleNotFoundError(msg) from error

from flybloom._internal.typing import Array
from flybloom._internal.validation import check_labels, unchanged_on_error, united_classes
from flybloom.distributed import _worker
from flybloom.distributed._blocks import fold
from flybloom.distributed._inputs import (
    aligned,
    check_collection,
    has_numbers,
    is_frame,
    n_blocks_of,
    sample_of,
    split_off,
)
from flybloom.estimators.classifier import FlyBloomClassifier

__all__ = ["fit", "novelty", "partial_fit", "predict", "predict_proba"]


def fit(
    model: FlyBloomClassifier, X: Any, y: Any, sample_weight: Any = None, *, progress: bool = False
) -> FlyBloomClassifier:
    """Forget everything, then learn the rows of a Dask collection.

    With ``scaling="none"`` each block is loaded once, else twice: the scaling needs the sums of all columns first.

    Parameters
    ----------
    model : FlyBloomClassifier
        The model to fit. Its `n_jobs` is not used: the scheduler has the threads.
    X : Dask array or dataframe of shape (n_samples, n_features)
        The rows. Sizes of blocks may be unknown, blocks may be empty, sparse, or miss classes.
    y : Dask array or series of shape (n_samples,), array-like, or str
        The labels, cut into blocks as X is; or the name of the column of the dataframe X that holds them, which is then
        no feature.
    sample_weight : Dask array or series of shape (n_samples,), array-like, or str, default=None
        The weights, or the name of the column of X that holds them. Whole numbers; a row of weight 3 counts as three
        copies.
    progress : bool, default=False
        Whether to show Dask's progress bar on stderr.

    Returns
    -------
    FlyBloomClassifier
        The model itself. If anything fails it is as it was before; an error in a block names the block.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier, distributed
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyBloomClassifier(1000, n_winners=32, random_state=0)
    >>> model = distributed.fit(model, da.from_array(X, chunks=(500, 64)), da.from_array(y, chunks=500))
    >>> bool((model.counts_ == FlyBloomClassifier(1000, n_winners=32, random_state=0).fit(X, y).counts_).all())
    True
    """
    with model._guard.learning, unchanged_on_error(model):  # noqa: SLF001
        model._validate_params()  # noqa: SLF001
        model._forget_all()  # noqa: SLF001
        _learn(model, X, y, None, sample_weight, progress=progress)
        model._require_two_classes()  # noqa: SLF001
    return model


def partial_fit(
    model: FlyBloomClassifier,
    X: Any,
    y: Any,
    classes: Any = None,
    sample_weight: Any = None,
    *,
    progress: bool = False,
) -> FlyBloomClassifier:
    """Learn the rows of a Dask collection in addition to those before.

    Parameters
    ----------
    model : FlyBloomClassifier
        The model to go on with. One that has learned nothing yet takes sizes and scaling from all rows of X.
    X : Dask array or dataframe of shape (n_samples, n_features)
        The rows.
    y : Dask array or series of shape (n_samples,), array-like, or str
        The labels, or the name of the column of the dataframe X that holds them. New labels may appear in any block.
    classes : array-like of shape (n_classes,), default=None
        Labels to expect; never needed.
    sample_weight : Dask array or series of shape (n_samples,), array-like, or str, default=None
        The weights, or the name of the column of X that holds them. Whole numbers; a row of weight 3 counts as three
        copies.
    progress : bool, default=False
        Whether to show Dask's progress bar on stderr.

    Returns
    -------
    FlyBloomClassifier
        The model itself. If anything fails it is as it was before; an error in a block names the block.
    """
    with model._guard.learning, unchanged_on_error(model):  # noqa: SLF001
        model._validate_params()  # noqa: SLF001
        _learn(model, X, y, classes, sample_weight, progress=progress)
    return model


def predict(model: FlyBloomClassifier, X: Any) -> Any:
    """Return the class to which each row is least novel, lazily.

    Parameters
    ----------
    model : FlyBloomClassifier
        A fitted model. What it learns after this call does not change the result.
    X : Dask array or dataframe of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    Dask array or series of shape (n_samples,)
        The labels; a series with the index of X for a dataframe.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier, distributed
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyBloomClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> labels = distributed.predict(model, da.from_array(X[1000:], chunks=(300, 64)))
    >>> labels
    dask.array<score, shape=(797,), dtype=int64, chunksize=(300,), chunktype=numpy.ndarray>
    >>> labels[:5].compute()
    array([1, 4, 0, 5, 3])
    """
    return _score(model, X, "predict")


def predict_proba(model: FlyBloomClassifier, X: Any) -> Any:
    """Return a probability for each class, lazily; see `FlyBloomClassifier.predict_proba`.

    Parameters
    ----------
    model : FlyBloomClassifier
        A fitted model. What it learns after this call does not change the result.
    X : Dask array or dataframe of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    Dask array or dataframe of shape (n_samples, n_classes)
        Columns as in ``classes_``; a dataframe with the index of X for a dataframe.
    """
    return _score(model, X, "predict_proba")


def novelty(model: FlyBloomClassifier, X: Any) -> Any:
    """Return how novel each row is to each class, lazily; see `FlyBloomClassifier.novelty`.

    Parameters
    ----------
    model : FlyBloomClassifier
        A fitted model. What it learns after this call does not change the result.
    X : Dask array or dataframe of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    Dask array or dataframe of shape (n_samples, n_classes)
        From 0, familiar, to 1, never met; a dataframe with the index of X for a dataframe.
    """
    return _score(model, X, "novelty")


def _learn(model: FlyBloomClassifier, X: Any, y: Any, classes: Any, sample_weight: Any, *, progress: bool) -> None:
    """Check what can be checked here, then let the workers add up moments (if there is no scaling yet) and counts."""
    is_first = not hasattr(model, "seed_")
    X = check_collection(X, "the methods of the model")
    X, y = split_off(X, y, "y")
    X, sample_weight = split_off(X, sample_weight, "sample_weight")
    collections = aligned(X, y, sample_weight)
    sample = validate_data(model, sample_of(X), accept_sparse="csr", reset=is_first, ensure_min_samples=0)
    job = _worker.Job(model, sample.dtype, has_numbers(y), n_blocks_of(collections[0]))
    if is_first:
        moments = None
        if model.scaling != "none":
            job.learner = _unstarted(model)
            moments = fold(collections, _worker.moments_of_blocks, job, _worker.sum_of_moments, progress=progress)
            _require_rows(moments.n_rows)
        model._start_from(moments)  # noqa: SLF001
    job.learner = _learner(model, classes, has_names=is_frame(X))
    added = fold(collections, _worker.tally_of_blocks, job, _worker.sum_of_tallies, progress=progress)
    _require_rows(int(added.class_count.sum()))
    total = _worker.tally_of(model) + added
    with model._guard.replacing():  # noqa: SLF001
        _worker.put_tally(model, total)


def _unstarted(model: FlyBloomClassifier) -> FlyBloomClassifier:
    """Return a model that knows its features only; sizes that do not fit them are refused before any work is done."""
    learner: FlyBloomClassifier = clone(model)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(learner, name, getattr(model, name))
    copy.copy(learner)._start_sizes()  # noqa: SLF001
    return learner


def _learner(model: FlyBloomClassifier, classes: Any, *, has_names: bool) -> FlyBloomClassifier:
    """Return what workers learn with: seed, sizes, scaling and the classes known so far, but no counts."""
    learner = copy.copy(model)
    if not has_names:
        _worker.drop_names(learner)
    known = model.classes_
    if classes is not None:
        known = united_classes(known, check_labels(classes, classes))
    learner.classes_, learner.class_count_ = known, np.zeros(known.size, np.int64)
    del learner._counts  # noqa: SLF001
    return learner


def _require_rows(weight: int) -> None:
    """Refuse to learn from nothing."""
    if weight == 0:
        msg = "X must have at least one row with a weight above zero. Got only empty blocks or zero weights instead."
        raise ValueError(msg)


def _score(model: FlyBloomClassifier, X: Any, method: str) -> Any:
    """Return what a method says of each block, lazily, from the model as it is now."""
    check_is_fitted(model)
    X = check_collection(X, f"model.{method}")
    validate_data(model, sample_of(X), accept_sparse="csr", reset=False, ensure_min_samples=0)
    snapshot = copy.copy(model)  # the counts of a copy stay as they are when the model learns on
    if not is_frame(X):
        _worker.drop_names(snapshot)
    shared = delayed(snapshot, traverse=False)
    if is_frame(X):
        return X.map_partitions(_score_frame, shared, method, meta=_score_frame(sample_of(X), snapshot, method))
    empty = _worker.score(np.empty((0, X.shape[1])), snapshot, method)
    shape: dict[str, Any] = {"drop_axis": 1} if method == "predict" else {"chunks": (X.chunks[0], empty.shape[1:])}
    return X.map_blocks(_worker.score, model=shared, method=method, dtype=empty.dtype, meta=empty, **shape)


def _score_frame(rows: Any, model: FlyBloomClassifier, method: str) -> Any:
    """Return scores of a block of a dataframe with its index: a series of labels, or a column for each class."""
    import pandas as pd  # noqa: PLC0415

    scores: Array = _worker.score(rows, model, method)
    if method == "predict":
        return pd.Series(scores, index=rows.index, name="prediction", dtype=pd.Series(model.classes_).dtype)
    return pd.DataFrame(scores, index=rows.index, columns=model.classes_)
