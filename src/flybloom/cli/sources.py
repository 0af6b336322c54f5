"""Sources of commands: opened, inspected, and described before any work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from flybloom._internal.atomic_write import check_writable
from flybloom.cli.console import note
from flybloom.cli.errors import blaming, in_options, usage_errors
from flybloom.cli.options import LabelReading, Reading, names
from flybloom.estimators.learning.progress import progress
from flybloom.exceptions import SourceError

if TYPE_CHECKING:
    from flybloom._internal.typing import Array, Features
    from flybloom.blocks import Block, Blocks

OPTIONS = {"id_column": "--id", "kinds": "--categories"}


def open_source(source: str, target: str | None, reading: Reading, **options: Any) -> Blocks:
    """Return the blocks of a source; invalid options are usage errors."""
    from flybloom import read_blocks  # noqa: PLC0415 - heavy

    text_options = reading.text_options()
    if isinstance(reading, LabelReading):
        options["label_type"] = reading.label_type.value
    kinds = {**options.pop("kinds", {}), **dict.fromkeys(names(reading.categories) or (), "category")}
    exclude = names(reading.exclude) or ()
    with usage_errors(OPTIONS):
        blocks = read_blocks(
            source, target, exclude=exclude, kinds=kinds, block_rows=reading.block_rows, **text_options, **options
        )
    if text_options and not any(part.is_text for part in blocks.parts):
        option = f"--{next(iter(text_options)).replace('_', '-')}"
        msg = f"is for CSV and TSV files; {blocks.parts[0].name} is none. Leave it out."
        raise typer.BadParameter(msg, param_hint=option)
    return blocks


def look_at(blocks: Blocks, *outputs: Path | None) -> Blocks:
    """Check that a source can be read and is none of the outputs, and print what was detected."""
    for output in filter(None, outputs):
        check_writable(output, [part.name for part in blocks.parts])
    blocks.schema()
    for remark in blocks.remarks:
        note(in_options(remark))
    return blocks


def watched(blocks: Blocks, stage: str) -> Iterator[Block]:
    """Yield the blocks, and show progress after each."""
    with progress(blocks.n_rows()) as on_progress:
        for block in blocks:
            yield block
            on_progress(stage, len(block))


def for_each_block(blocks: Blocks, stage: str, use: Callable[[Block], object]) -> int:
    """Call `use` with each block, show progress, and return the number of rows."""
    n_rows = 0
    for block in watched(blocks, stage):
        with blaming(block.where):
            use(block)
        n_rows += len(block)
    return n_rows


def read_all(blocks: Blocks) -> tuple[Features, Any]:
    """Read all rows and labels of a source into memory."""
    from flybloom.blocks.source import joined  # noqa: PLC0415 - heavy

    parts: list[Block] = []
    if for_each_block(blocks, "reading", parts.append) == 0:
        refuse_nothing(part.name for part in blocks.parts)
    return joined(parts)


def refuse_nothing(sources: Iterable[str]) -> None:
    """Raise an error for sources without rows."""
    msg = f"{next(iter(sources))}: no rows. Expected at least one."
    raise SourceError(msg)


class ScoredRows:
    """Counts rows that cannot be scored."""

    def __init__(self) -> None:
        self.n_rows = self.n_skipped = 0
        self.first_skipped: int | None = None

    def of(self, block: Block) -> tuple[Array, Features | None]:
        """Return a mask of valid rows and these rows, or None."""
        import numpy as np  # noqa: PLC0415 - heavy

        from flybloom._internal.validation import taken  # noqa: PLC0415

        known = np.ones(len(block), bool) if block.incomplete is None else ~block.incomplete
        if block.incomplete is not None and self.first_skipped is None:
            self.first_skipped = self.n_rows + int(block.incomplete.argmax())
        self.n_rows += len(block)
        self.n_skipped += len(block) - int(known.sum())
        if known.all():
            return known, block.X
        return known, taken(block.X, known) if known.any() else None

    def add(self, other: ScoredRows) -> None:
        """Add counts from another worker."""
        if self.first_skipped is None and other.first_skipped is not None:
            self.first_skipped = self.n_rows + other.first_skipped
        self.n_rows += other.n_rows
        self.n_skipped += other.n_skipped

    def tell(self, consequence: str) -> None:
        """Print how many rows were not scored, if any."""
        if self.n_skipped:
            note(
                f"{self.n_skipped:,} of {self.n_rows:,} rows could not be scored, because a value is infinite or no "
                f"number (the first is row {self.first_skipped}, counted from 0); {consequence}. --strict ends at the "
                "first one and says what is wrong with it."
            )

    def facts(self) -> dict[str, int]:
        """Return facts about rows that were not scored."""
        return {"not_scored": self.n_skipped} if self.n_skipped else {}
