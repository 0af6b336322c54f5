"""Learning from a source of any size: a pass for the scaling, a pass that counts, and checkpoints in between."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from flybloom._internal.validation import NamedRows, check_rows
from flybloom.blocks import Blocks, read_blocks
from flybloom.blocks.source import BLOCK_ROWS, Block
from flybloom.core.encoding.standardise import ColumnMoments, column_moments
from flybloom.core.hashing.fingerprint import construction, fingerprint
from flybloom.estimators.classifier import FlyBloomClassifier
from flybloom.exceptions import CheckpointError, SourceError
from flybloom.learning.checkpoint import Checkpoint

Progress = Callable[[str, int], None]
"""Is told what is going on, and how many more rows it has been done for."""


def train(
    model: FlyBloomClassifier,
    source: Any,
    target: str | int,
    *,
    features: Iterable[str] | None = None,
    single_pass: bool = False,
    block_rows: int = BLOCK_ROWS,
    checkpoint: str | os.PathLike[str] | None = None,
    every_rows: int | None = None,
    every_seconds: float | None = 60.0,
    resume: bool = False,
    progress: Progress | None = None,
) -> FlyBloomClassifier:
    """Learn from a source of any size in bounded memory; the model equals one `fit` of all its rows, bit for bit.

    If the model scales, the source is read twice: for the exact scaling, then to count. A model of no rows, such as
    ``model - model``, keeps the scaling it has; parts of the data can so be learned apart and merged.

    Parameters
    ----------
    model : FlyBloomClassifier
        Forgets everything, then learns.
    source : str, path-like, frame, (X, y) or iterable of (X, y)
        See `read_blocks`.
    target : str or int
        The column of the labels; see `read_blocks`.
    features : iterable of str or None, default=None
        The columns of the features. None for all but the target.
    single_pass : bool, default=False
        Whether to take the scaling from the first block and read the source only once, which is all that a stream
        allows.
    block_rows : int, default=32768
        How many rows to read at once, at most.
    checkpoint : str, path-like or None, default=None
        A folder in which to save model and position from time to time. Needs a source that consists of files.
    every_rows : int or None, default=None
        Save a checkpoint after so many rows.
    every_seconds : float or None, default=60.0
        Save a checkpoint after so many seconds.
    resume : bool, default=False
        Whether to go on from the checkpoint, if there is one. Killed at any moment and resumed, the training ends with
        the same model as if nothing had happened. Changed data or settings are refused.
    progress : callable or None, default=None
        Called with what is going on, "scaling" or "learning", and a number of rows, after each block.

    Returns
    -------
    FlyBloomClassifier
        The model itself.

    Examples
    --------
    >>> import pandas as pd, flybloom
    >>> frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, 1.0, 0.0, 2.0], "label": ["x", "y", "x", "y"]})
    >>> model = flybloom.train(flybloom.FlyBloomClassifier(random_state=0), frame, "label", block_rows=3)
    >>> bool((model.counts_ == model.fit(frame[["a", "b"]], frame["label"]).counts_).all())
    True
    """
    blocks = read_blocks(source, target, features=features, block_rows=block_rows)
    tell = progress or (lambda _what, _rows: None)
    saved = (
        None if checkpoint is None else _checkpoint(checkpoint, model, blocks, every_rows, every_seconds, single_pass)
    )
    done = _resume(model, saved, resume=resume)
    if done is None:
        _start(model, blocks, tell, single_pass=single_pass)
        done = 0
        if saved is not None and hasattr(model, "seed_"):
            saved.save(model, 0)
    tell("learning", done)
    for block in blocks.starting_at(done):
        model.partial_fit(block.X, block.y)
        done += len(block)
        tell("learning", len(block))
        if saved is not None:
            saved.save_if_due(model, done)
    if done == 0:
        raise SourceError(_nothing(blocks))
    if saved is not None:
        saved.save(model, done)
    return model


def _start(model: FlyBloomClassifier, blocks: Blocks, tell: Progress, *, single_pass: bool) -> None:
    """Forget everything, and fix the scaling unless the first block shall do that."""
    if _is_empty(model):
        return
    model._validate_params()  # noqa: SLF001
    model._forget_all()  # noqa: SLF001
    if single_pass or model.scaling == "none":
        return
    if not blocks.can_repeat:
        msg = (
            f"{blocks.parts[0].name} can be read only once, but the scaling needs a pass of its own. "
            "Take it from the first block (single_pass=True, --single-pass), or use scaling='none'."
        )
        raise SourceError(msg)
    moments, first = ColumnMoments(), None
    for block in blocks:
        rows = block.X.array if isinstance(block.X, NamedRows) else block.X
        if first is None:
            first = block
            check_rows(FlyBloomClassifier(scaling=model.scaling), block.X, reset=True)  # refuses sparse rows
        moments += column_moments(rows)
        tell("scaling", len(block))
    if first is None:
        raise SourceError(_nothing(blocks))
    model._start_empty(_few(first), moments)  # noqa: SLF001


def _resume(model: FlyBloomClassifier, saved: Checkpoint | None, *, resume: bool) -> int | None:
    """Give the model what a checkpoint holds, and return how many rows that are; None to begin."""
    if saved is None:
        if resume:
            msg = "There is nothing to resume without a checkpoint. Name its folder (checkpoint=..., --checkpoint)."
            raise CheckpointError(msg)
        return None
    if not resume:
        saved.refuse_to_overwrite()
        return None
    found = saved.resumed()
    if found is None:
        return None
    restored, done = found
    model.__setstate__({**restored.__getstate__(), **model.get_params()})
    return done


def _checkpoint(
    folder: str | os.PathLike[str],
    model: FlyBloomClassifier,
    blocks: Blocks,
    every_rows: int | None,
    every_seconds: float | None,
    single_pass: bool,
) -> Checkpoint:
    """Return the checkpoint of this training, with all that the result depends on."""
    source = blocks.identity()
    if source is None:
        msg = (
            f"Checkpoints need files, which can be read again; {blocks.parts[0].name} cannot. Save it to a file first."
        )
        raise CheckpointError(msg)
    settings = {name: _plain(value) for name, value in model.get_params().items() if name != "n_jobs"}
    if model.class_weight is None:
        del settings["class_weight"]  # older checkpoints do not mention it
    settings["start"] = fingerprint(construction(model)) if _is_empty(model) else "anew"
    settings |= {"target": repr(blocks.wish.target), "features": repr(blocks.wish.features)}
    settings["single_pass"] = repr(blocks.wish.block_rows if single_pass else False)
    return Checkpoint(folder, {"source": source, **settings}, every_rows, every_seconds)


def _is_empty(model: FlyBloomClassifier) -> bool:
    """Return whether a model is ready to learn, but has learned no rows."""
    return hasattr(model, "seed_") and not model.classes_.size


def _plain(value: Any) -> str:
    """Return a parameter as text that is the same in another process."""
    return repr(value) if isinstance(value, int | float | str | dict | None) else type(value).__name__


def _few(block: Block) -> Any:
    """Return the first row of a block, which has the features of all."""
    return NamedRows(block.X.array[:1], block.X.names) if isinstance(block.X, NamedRows) else block.X[:1]


def _nothing(blocks: Blocks) -> str:
    """Return what is said of a source without rows."""
    return f"{', '.join(part.name for part in blocks.parts[:3])}: no rows. Expected at least one."
