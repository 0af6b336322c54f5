"""Training from a source: a pass to sketch, a pass to count, and checkpoints."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

from sklearn.base import clone

from flybloom._internal.parallel import ahead
from flybloom.blocks import Blocks, read_blocks
from flybloom.blocks.source import BLOCK_ROWS
from flybloom.core.learning import Learning
from flybloom.core.sketch import Block, Sketch
from flybloom.estimators.access import has_labels, learning, n_rows_learned, reading_learned, with_learned
from flybloom.estimators.counting import CountingEstimator
from flybloom.estimators.learning.checkpoint import Checkpoint, identity_of
from flybloom.exceptions import CheckpointError, SourceError

OnProgress = Callable[[str, int], None]
"""Is told what is going on, and how many more rows it has been done for."""

Model = TypeVar("Model", bound=CountingEstimator)


def train(
    model: Model,
    source: Any,
    target: str | int | None = None,
    *,
    features: Iterable[str] | None = None,
    single_pass: bool = False,
    block_rows: int = BLOCK_ROWS,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_rows: int | None = None,
    checkpoint_seconds: float | None = 60.0,
    resume: bool = False,
    on_progress: OnProgress | None = None,
) -> Model:
    """Fit a model to a source of any size in bounded memory.

    The model equals one `fit` of all rows, bit for bit. The source is read at most twice: for the sketch to which the
    encoding is fitted, and to count; once if the encoding needs no rows or was fitted beforehand. An empty model, such
    as ``model.like()``, keeps its encoding, so that parts of the data can be learned separately and merged. If anything
    fails, the model is unchanged.

    Parameters
    ----------
    model : FlyBloomClassifier, FlyBloomNovelty, ...
        The model to fit from scratch.
    source : str, path-like, frame, (X, y) or iterable of (X, y)
        See `read_blocks`.
    target : str, int or None, default=None
        The column of the labels; see `read_blocks`. None for a model without labels.
    features : iterable of str or None, default=None
        The columns of the features. None for all but the target.
    single_pass : bool, default=False
        Whether to read the source only once: the encoding is then fixed by the first rows that fit into a sketch.
    block_rows : int, default=32768
        Maximum number of rows to read at once.
    checkpoint : str, path-like or None, default=None
        Folder for checkpoints. Needs a source of files.
    checkpoint_rows : int or None, default=None
        Save a checkpoint after this number of rows.
    checkpoint_seconds : float or None, default=60.0
        Save a checkpoint after this number of seconds.
    resume : bool, default=False
        Whether to resume from an existing checkpoint. The result is the same as without an interruption. Changed data
        or settings are refused.
    on_progress : callable or None, default=None
        Called after each block with the stage, "sketching" or "learning", and a number of rows. If it raises, the
        training stops with a checkpoint.

    Returns
    -------
    estimator
        The model itself.

    Examples
    --------
    >>> import pandas as pd, flybloom
    >>> frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, 1.0, 0.0, 2.0], "label": ["x", "y", "x", "y"]})
    >>> model = flybloom.train(flybloom.FlyBloomClassifier(random_state=0), frame, "label", block_rows=3)
    >>> bool((model.counts_ == model.fit(frame[["a", "b"]], frame["label"]).counts_).all())
    True
    """
    if has_labels(model) and target is None:
        msg = f"{type(model).__name__} learns from labels. Expected target, the column that holds them. Got None."
        raise ValueError(msg)
    blocks = read_blocks(source, target if has_labels(model) else None, features=features, block_rows=block_rows)
    if resume and checkpoint is None:
        msg = "There is nothing to resume without a checkpoint. Name its folder (checkpoint=..., --checkpoint)."
        raise CheckpointError(msg)
    with learning(model, anew=not _is_empty(model)) as session:
        saved = None
        if checkpoint is not None:
            identity = identity_of(model, session.learned, blocks, single_pass=single_pass)
            saved = Checkpoint(checkpoint, identity, checkpoint_rows, checkpoint_seconds, resume=resume)
        _Training(model, session, blocks, saved, on_progress or _ignore, single_pass=single_pass).run()
    return model


class _Training:
    """A training run."""

    def __init__(
        self,
        model: CountingEstimator,
        session: Learning,
        blocks: Blocks,
        saved: Checkpoint | None,
        on_progress: OnProgress,
        *,
        single_pass: bool,
    ) -> None:
        self.model, self.session, self.blocks, self.saved = model, session, blocks, saved
        self.on_progress, self.single_pass = on_progress, single_pass
        self.is_anew = session.learned is None
        self.sketch: Sketch | None = None
        self.n_done = 0  # rows learned

    def run(self) -> None:
        """Start or resume, and count."""
        found = None if self.saved is None else self.saved.resumed()
        if found is not None:
            restored, self.n_done, schema = found
            if schema is not None:
                self.blocks = self.blocks.with_schema(schema)
            with reading_learned(restored) as learned:
                self.session.learned = learned
            if learned.origin is not None and self.is_anew:
                self.sketch, self.session.recipe = learned.origin.sketch, learned.origin.recipe
        elif self.is_anew and not self.single_pass:
            self._start()
            self._save()
        self.on_progress("learning", self.n_done)
        if self.is_anew and self.single_pass:
            self._stream()
        else:
            self._count()
        if self.n_done == 0:
            self._refuse_nothing()
        self._save(is_finished=True)

    def _start(self) -> None:
        """Derive the hash from a sketch of all rows."""
        session = self.session
        if not self._is_sketched_first():
            return
        if not self.blocks.can_repeat:
            msg = (
                f"{self.blocks.parts[0].name} can be read only once, but the encoding needs a pass of its own. "
                "Fit it to the first rows (single_pass=True, --single-pass), or use encoding='none'."
            )
            raise SourceError(msg)
        n_rows = 0
        for block, n in self._checked(0, "sketching"):
            self._add_to_sketch(block, n_rows)
            n_rows += n
        if self.sketch is None:
            self._refuse_nothing()
        session.start(self.sketch)

    def _count(self) -> None:
        """Count the remaining rows, and sketch them if needed."""
        session, sketches = self.session, self.is_anew and not self._is_sketched_first()
        for block, n_rows in self._checked(self.n_done, "learning"):
            if sketches and session.keeps_sketch:
                self._add_to_sketch(block, self.n_done)
            session.start(self.sketch)
            session.learn(block)
            self.n_done += n_rows
            if self.saved is not None and self.saved.is_due(self.n_done):
                self._save()

    def _stream(self) -> None:
        """Learn a stream, whose first rows fix the hash."""
        for block, n_rows in self._checked(self.n_done, "learning"):
            self.session.stream(block)
            self.n_done += n_rows
            if self.saved is not None and self.saved.is_due(self.n_done):
                self._save()

    def _is_sketched_first(self) -> bool:
        """Return whether all rows are sketched before any is counted."""
        return self.session.recipe.needs_rows(is_table=self.blocks.schema().get("kinds") is not None)

    def _add_to_sketch(self, block: Block, begin: int) -> None:
        """Sketch a block that begins at a given row."""
        part = self.session.recipe.sketch_of(block, begin)
        self.sketch = part if self.sketch is None else self.sketch + part

    def _checked(self, begin: int, stage: str) -> Iterator[tuple[Block, int]]:
        """Yield validated blocks from a row on, and report progress after each."""
        blocks = self.blocks.starting_at(begin)
        if self.blocks.identity() is not None:  # files can be read by any thread
            blocks = ahead(blocks, self.model.n_jobs)
        for block in blocks:
            checked = self.session.check(block.X, block.y if has_labels(self.model) else None)
            if self.session.learned is None and self.session.features is not None:
                self.session.features = replace(self.session.features, first_index=self.blocks.schema()["first_index"])
            yield checked, len(block)
            try:
                self.on_progress(stage, len(block))
            except BaseException:  # stopped between two blocks
                self._save()
                raise

    def _save(self, *, is_finished: bool = False) -> None:
        """Store the sketch, and save a checkpoint if there is anything to save."""
        session = self.session
        if session.learned is None:
            return
        if self.single_pass and self.is_anew:
            session.bring_up_to_date(derives=is_finished)
        elif self.sketch is not None:
            session.attach(self.sketch, is_finished=is_finished)
        if self.saved is not None:
            self.saved.save(with_learned(clone(self.model), session.learned), self.n_done, self.blocks.schema())

    def _refuse_nothing(self) -> NoReturn:
        """Raise an error for a source without rows."""
        names = ", ".join(part.name for part in self.blocks.parts[:3])
        msg = f"{names}: no rows. Expected at least one."
        raise SourceError(msg)


def _is_empty(model: CountingEstimator) -> bool:
    """Return whether a model has a hash but no rows."""
    return n_rows_learned(model) == 0


def _ignore(stage: str, n_rows: int) -> None:
    """Do nothing."""
