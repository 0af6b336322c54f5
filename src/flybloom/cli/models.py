"""What commands do with a model and a source: load it, and read what it needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flybloom.cli.console import Stopwatch, progress
from flybloom.cli.options import require_target
from flybloom.exceptions import ModelFileError, SourceError

if TYPE_CHECKING:
    from flybloom import FlyBloomClassifier
    from flybloom._internal.typing import Array, Features
    from flybloom.blocks import Block, Blocks
    from flybloom.estimators.counting import CountingEstimator


def load_model(path: Path, n_jobs: int | None = None) -> CountingEstimator:
    """Load a model that learns, of whatever kind."""
    from flybloom import load  # noqa: PLC0415 - heavy
    from flybloom.estimators.counting import CountingEstimator  # noqa: PLC0415

    model = load(path)
    if not isinstance(model, CountingEstimator):
        msg = f"{path} is a {type(model).__name__}. Expected a model that learns, as `flybloom train` makes it."
        raise ModelFileError(msg)
    return model if n_jobs is None else model.set_params(n_jobs=n_jobs)


def load_classifier(path: Path, n_jobs: int | None = None) -> FlyBloomClassifier:
    """Load a model that is a classifier."""
    from flybloom import FlyBloomClassifier, load  # noqa: PLC0415 - heavy

    model = load(path, FlyBloomClassifier)
    return model if n_jobs is None else model.set_params(n_jobs=n_jobs)


def blocks_for(model: CountingEstimator, source: str, target: str | None, block_rows: int) -> Blocks:
    """Return the blocks of a source, with the features that the model knows, and labels if it needs any."""
    from flybloom import read_blocks  # noqa: PLC0415 - heavy

    names = getattr(model, "feature_names_in_", None)
    return read_blocks(
        source,
        target,
        features=None if names is None else names.tolist(),
        n_features=model.n_features_in_,
        block_rows=block_rows,
    )


def change_file(
    path: Path, output: Path | None, source: str, target: str | None, block_rows: int, jobs: int, *, stage: str, by: str
) -> tuple[CountingEstimator, dict[str, Any]]:
    """Load a model, hand each block of a source to one of its methods, and save it; return it, and what was done."""
    model = load_model(path, jobs)
    require_target(target, is_needed=model.needs_labels)
    blocks = blocks_for(model, source, target, block_rows)
    require_output(output or path, blocks=blocks)
    watch, change = Stopwatch(), getattr(model, by)
    n_rows = for_each_block(blocks, stage, lambda block: change(block.X, block.y))
    facts = watch.facts(n_rows)
    model.save(output or path)
    return model, {"model": str(output or path), **facts}


def require_output(path: Path, model: Path | None = None, blocks: Blocks | None = None) -> None:
    """Refuse, before any work is done, an output that cannot be written, or that is an input and would be lost."""
    from flybloom._internal.atomic_write import check_writable  # noqa: PLC0415 - not needed for help

    files: list[str | Path] = [] if blocks is None else [part.name for part in blocks.parts]
    check_writable(path, files if model is None else [model, *files])


def learned_facts(model: CountingEstimator) -> dict[str, int]:
    """Return what is printed of what a model has learned: classes, where it has any, and rows."""
    classes = {"classes": model.classes_.size} if model.needs_labels else {}
    return {**classes, "rows": model.n_rows_learned() or 0}


def read_all(blocks: Blocks) -> tuple[Features, Array]:
    """Return all rows and labels of a source at once, for what needs them more than once."""
    import numpy as np  # noqa: PLC0415 - heavy
    from scipy import sparse  # noqa: PLC0415

    from flybloom._internal.validation import NamedRows  # noqa: PLC0415

    parts: list[Block] = []
    if for_each_block(blocks, "reading", parts.append) == 0:
        msg = f"{blocks.parts[0].name}: no rows. Expected at least one."
        raise SourceError(msg)
    labels = np.concatenate([block.y for block in parts if block.y is not None])
    first = parts[0].X
    if isinstance(first, NamedRows):
        return NamedRows(np.concatenate([block.X.array for block in parts]), first.names), labels
    stack = sparse.vstack if sparse.issparse(first) else np.concatenate
    return stack([block.X for block in parts]), labels


def for_each_block(blocks: Blocks, stage: str, use: Callable[[Block], object]) -> int:
    """Call `use` with each block, show progress, and return the number of rows."""
    n_rows = 0
    with progress(blocks.n_rows()) as on_progress:
        for block in blocks:
            use(block)
            n_rows += len(block)
            on_progress(stage, len(block))
    return n_rows
