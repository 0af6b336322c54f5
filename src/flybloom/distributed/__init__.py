"""Training and prediction on Dask: blocks are counted where they are loaded, and a tree adds the counts.

The result is an ordinary model, equal bit for bit to one that learned the same rows in one process. Any Dask scheduler
may be used: threads, processes, or a cluster. See docs/cluster.md for the cost.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from flybloom.estimators.access import has_labels, learning, reading_learned, with_fixed_hash, with_learned
from flybloom.exceptions import require_extra

require_extra("dask", "dask")

import dask  # noqa: E402 - after it is known to be there
from dask.delayed import delayed  # noqa: E402

from flybloom._internal.typing import Array  # noqa: E402
from flybloom._internal.validation import NamedRows, check_labels, check_rows  # noqa: E402
from flybloom.blocks import Blocks  # noqa: E402
from flybloom.blocks.labels import AS_GIVEN, TEXT  # noqa: E402
from flybloom.blocks.parts import FilePart  # noqa: E402
from flybloom.core.encoding.encoder import Encoder  # noqa: E402
from flybloom.core.learning import Learning  # noqa: E402
from flybloom.core.model import Model as LearnedModel  # noqa: E402
from flybloom.core.sketch import Sketch  # noqa: E402
from flybloom.distributed import _worker  # noqa: E402
from flybloom.distributed._dask import (  # noqa: E402
    blocks_of,
    check_collection,
    is_frame,
    sample_of,
    split_off,
    tree_reduce,
)
from flybloom.estimators.counting import CountingEstimator  # noqa: E402

__all__ = ["fit", "novelty", "partial_fit", "predict", "predict_proba"]

Model = TypeVar("Model", bound=CountingEstimator)
NO_ROWS = "X must have at least one row with a weight above zero. Got only empty blocks or zero weights instead."


def fit(model: Model, X: Any, y: Any = None, sample_weight: Any = None, *, progress: bool = False) -> Model:
    """Fit a model from scratch to a Dask collection.

    Each block is loaded at most twice: for the sketch to which the encoding is fitted, and to count. It is loaded once
    if the encoding needs no rows or was fitted beforehand.

    Parameters
    ----------
    model : FlyBloomClassifier, FlyBloomNovelty, ...
        The model to fit. Its `n_jobs` is ignored, because the scheduler provides the threads.
    X : Dask array or dataframe of shape (n_samples, n_features)
        The rows. Blocks may be empty, sparse, of unknown size, or lack classes.
    y : Dask array or series of shape (n_samples,), array-like, or str, default=None
        The labels, in the same blocks as X, or the name of their column in the dataframe X. None for a model without
        labels.
    sample_weight : Dask array or series of shape (n_samples,), array-like, or str, default=None
        The weights, or the name of their column in X. Integers; a row of weight 3 counts as three copies.
    progress : bool, default=False
        Whether to show a progress bar on stderr.

    Returns
    -------
    estimator
        The model. It is unchanged if anything fails; an error in a block names the block.

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
    with learning(model, anew=True) as session:
        _training(model, session, X, y, sample_weight, progress=progress).learn()
    return model


def partial_fit(
    model: Model,
    X: Any,
    y: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
    *,
    progress: bool = False,
) -> Model:
    """Update a model with the rows of a Dask collection.

    Parameters
    ----------
    model : FlyBloomClassifier, FlyBloomNovelty, ...
        The model to update. An unfitted one derives sizes and encoding from all rows of X.
    X : Dask array or dataframe of shape (n_samples, n_features)
        The rows.
    y : Dask array or series of shape (n_samples,), array-like, or str, default=None
        The labels, or the name of their column in the dataframe X. New labels may appear in any block. None for a model
        without labels.
    classes : array-like of shape (n_classes,), default=None
        Labels to expect; optional.
    sample_weight : Dask array or series of shape (n_samples,), array-like, or str, default=None
        The weights, or the name of their column in X. Integers; a row of weight 3 counts as three copies.
    progress : bool, default=False
        Whether to show a progress bar on stderr.

    Returns
    -------
    estimator
        The model. It is unchanged if anything fails; an error in a block names the block.
    """
    announced = None if classes is None else check_labels(classes)
    with learning(model) as session:
        _training(model, session, X, y, sample_weight, progress=progress).learn(announced)
    return model


def predict(model: CountingEstimator, X: Any) -> Any:
    """Predict lazily.

    Parameters
    ----------
    model : FlyBloomClassifier
        A fitted model. Later updates of it do not affect the result.
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


def predict_proba(model: CountingEstimator, X: Any) -> Any:
    """Return class probabilities lazily; see `FlyBloomClassifier.predict_proba`.

    Parameters
    ----------
    model : FlyBloomClassifier
        A fitted model. Later updates of it do not affect the result.
    X : Dask array or dataframe of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    Dask array or dataframe of shape (n_samples, n_classes)
        Columns as in ``classes_``; a dataframe with the index of X for a dataframe.
    """
    return _score(model, X, "predict_proba")


def novelty(model: CountingEstimator, X: Any) -> Any:
    """Return the novelty of each row lazily; see `FlyBloomClassifier.novelty`.

    Parameters
    ----------
    model : FlyBloomClassifier
        A fitted model. Later updates of it do not affect the result.
    X : Dask array or dataframe of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    Dask array or dataframe of shape (n_samples, n_classes)
        From 0, familiar, to 1, never seen; a dataframe with the index of X for a dataframe.
    """
    return _score(model, X, "novelty")


def fit_source(model: CountingEstimator, blocks: Blocks, *, progress: bool = False) -> CountingEstimator:
    """Fit to a source whose pieces workers read; the model and its file equal those of a single machine."""
    schema = blocks.schema()
    names, kinds = (None if schema.get(key) is None else tuple(schema[key]) for key in ("names", "kinds"))
    has_numbers = schema["labels"] not in (None, TEXT, AS_GIVEN)
    with learning(model, anew=True) as session:
        loaders = [partial(_worker.load, piece) for piece in pieces_of(blocks)]
        features = Encoder(schema["n_features"], names, kinds=kinds, first_index=schema["first_index"])
        session.features, dtype = features, np.dtype(schema["dtype"])
        _Training(model, session, loaders, features, dtype, has_numbers=has_numbers, progress=progress).learn()
    return model


def pieces_of(blocks: Blocks) -> list[Blocks]:
    """Return the pieces of a source; workers split large files."""
    if not all(isinstance(part, FilePart) for part in blocks.parts):
        return blocks.pieces()
    schema = blocks.schema()
    files = [Blocks([part], blocks.options).with_schema(schema) for part in blocks.parts]
    return list(chain.from_iterable(dask.compute(*(delayed(Blocks.pieces)(file) for file in files))))


def _training(
    model: CountingEstimator, session: Learning, X: Any, y: Any, sample_weight: Any, *, progress: bool
) -> _Training:
    """Return the training of a model on collections, which are checked."""
    X = check_collection(X, "the methods of the model")
    if has_labels(model):
        X, y = split_off(X, y, "y")
        if y is None:
            msg = f"{type(model).__name__} learns from labels. Expected y. Got None instead."
            raise ValueError(msg)
    X, sample_weight = split_off(X, sample_weight, "sample_weight")
    blocks = blocks_of(X, y if has_labels(model) else None, sample_weight)
    features, sample = session.check_features(sample_of(X))
    return _Training(
        model,
        session,
        blocks,
        features if is_frame(X) else replace(features, names=None),
        sample.dtype,
        has_weights=sample_weight is not None,
        has_numbers=getattr(getattr(y, "dtype", None), "kind", "O") in "biuf",
        progress=progress,
    )


class _Training:
    """Trains a model on blocks: what is known beforehand is checked here, the rest on workers."""

    def __init__(
        self,
        model: CountingEstimator,
        session: Learning,
        blocks: list[Any],
        features: Encoder,
        dtype: Any,
        *,
        has_numbers: bool,
        has_weights: bool = False,
        progress: bool = False,
    ) -> None:
        session.recipe.check_sizes(features)
        self.model, self.session, self.blocks, self.progress = model, session, blocks, progress
        self.job = _worker.Job(
            recipe=session.recipe,
            encoder=features,
            dtype=dtype,
            has_labels=has_labels(model),
            has_weights=has_weights,
            has_number_labels=has_labels(model) and has_numbers,
            n_blocks=len(blocks),
        )

    def learn(self, announced: Array | None = None) -> None:
        """Sketch the rows on workers if the encoding is unknown, then count them."""
        session, is_first = self.session, self.session.learned is None
        recipe, sketch = session.recipe, None
        if session.learned is not None:
            can_add = session.learned.is_whole and not session.learned.counts.needs_positions
            if can_add and session.add(self._sketch(), announced):
                return
            session.learned = with_fixed_hash(self.model, session.learned)  # what there is fixes the encoding
        elif recipe.has_positions:
            self._place(0)
        if is_first and recipe.needs_rows(is_table=self.job.encoder.kinds is not None):
            sketch = self._sketch()
        before = session.start(sketch)
        counts = before.counts
        if announced is not None:
            nothing = np.zeros(0, np.int64)
            counts = counts.plus(counts.counter(announced[:0], nothing, announced=announced).delta())  # type: ignore[call-arg]
        if counts.needs_positions:
            counts = counts.at_end_of(self._place(counts.n_met))
        hasher = before.hasher if self.job.encoder.names is not None else _worker.without_names(before.hasher)
        found = self._pass(
            learned=LearnedModel(hasher, counts.emptied()),
            sketches=is_first
            and sketch is None
            and recipe.needs_rows(is_table=hasher.encoder.kinds is not None, to_keep=True),
        )
        assert found.counts is not None  # noqa: S101 - asked for
        if found.counts.n_rows == 0:
            raise ValueError(NO_ROWS)
        session.learned = before._replace(counts=counts.plus(found.counts, owned=True))
        sketch = found.sketch if sketch is None else sketch
        if is_first and sketch is not None:
            session.attach(sketch)

    def _sketch(self) -> Sketch:
        """Return the sketch of all rows."""
        sketch = self._pass(sketches=True).sketch
        if sketch is None or sketch.n_rows == 0:
            raise ValueError(NO_ROWS)
        return sketch

    def _place(self, at: int) -> int:
        """Determine the position of the first row of each block in one pass; return the number of rows."""
        if self.job.starts is None:
            lengths = self._pass().lengths
            numbers = sorted(lengths)
            ends = np.cumsum([at, *(lengths[number] for number in numbers)]).tolist()
            self.job = replace(self.job, starts=dict(zip(numbers, ends, strict=False)))
            self.n_placed = int(ends[-1]) - at
        return self.n_placed

    def _pass(self, **asked: Any) -> _worker.Found:
        """Run a pass over all blocks on workers, and return its result."""
        job = replace(self.job, **asked)
        return tree_reduce(self.blocks, _worker.look_through, job, _worker.united, progress=self.progress)


def _score(model: CountingEstimator, X: Any, method: str) -> Any:
    """Apply a method of a snapshot of the model to each block lazily."""
    X = check_collection(X, f"model.{method}")
    snapshot = copy(model).set_params(n_jobs=None)  # what a copy has learned stays as it is when the model learns on
    with reading_learned(snapshot) as learned:
        check_rows(sample_of(X), type(model).__name__, learned.hasher.encoder, min_rows=0)
        if not is_frame(X):
            snapshot = with_learned(snapshot, learned._replace(hasher=_worker.without_names(learned.hasher)))
    shared = delayed(snapshot, traverse=False)
    if is_frame(X):
        return X.map_partitions(_score_frame, shared, method, meta=_score_frame(sample_of(X), snapshot, method))
    empty = _worker.score(np.empty((0, X.shape[1])), snapshot, method)
    shape: dict[str, Any] = {"drop_axis": 1} if empty.ndim == 1 else {"chunks": (X.chunks[0], empty.shape[1:])}
    return X.map_blocks(_worker.score, model=shared, method=method, dtype=empty.dtype, meta=empty, **shape)


def _score_frame(rows: Any, model: CountingEstimator, method: str) -> Any:
    """Return scores of a block of a dataframe with its index: a series, or a column for each class."""
    import pandas as pd  # noqa: PLC0415

    scores: Array = _worker.score(rows, model, method)
    index = pd.RangeIndex(len(scores)) if isinstance(rows, NamedRows) else rows.index
    if method == "predict":
        classes = getattr(model, "classes_", scores)
        return pd.Series(scores, index=index, name="prediction", dtype=pd.Series(classes).dtype)
    if scores.ndim == 1:
        return pd.Series(scores, index=index, name=method)
    return pd.DataFrame(scores, index=index, columns=model.classes_)
