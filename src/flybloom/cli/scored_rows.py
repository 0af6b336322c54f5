"""Which rows can be scored, and a word on the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flybloom._internal.typing import Array, Features
from flybloom._internal.validation import taken
from flybloom.cli.console import note

if TYPE_CHECKING:
    from flybloom.blocks import Block


class ScoredRows:
    """Counts rows that cannot be scored."""

    def __init__(self) -> None:
        self.n_rows = self.n_skipped = 0
        self.first_skipped: int | None = None

    def of(self, block: Block) -> tuple[Array, Features | None]:
        """Return which rows of a block can be scored, and these rows; None if none can."""
        known = np.ones(len(block), bool) if block.incomplete is None else ~block.incomplete
        if block.incomplete is not None and self.first_skipped is None:
            self.first_skipped = self.n_rows + int(block.incomplete.argmax())
        self.n_rows += len(block)
        self.n_skipped += len(block) - int(known.sum())
        return known, _chosen(block.X, known)

    def add(self, other: ScoredRows) -> None:
        """Count rows that somebody else has looked at, after those before."""
        if self.first_skipped is None and other.first_skipped is not None:
            self.first_skipped = self.n_rows + other.first_skipped
        self.n_rows += other.n_rows
        self.n_skipped += other.n_skipped

    def tell(self, consequence: str) -> None:
        """Say how many rows were not scored, if any."""
        if self.n_skipped:
            note(
                f"{self.n_skipped:,} of {self.n_rows:,} rows could not be scored, because a value is infinite or no "
                f"number (the first is row {self.first_skipped}, counted from 0); {consequence}. --strict ends at the "
                "first one and says what is wrong with it."
            )

    def facts(self) -> dict[str, int]:
        """Return what is printed of rows that were not scored."""
        return {"not_scored": self.n_skipped} if self.n_skipped else {}


def _chosen(X: Features, known: Array) -> Features | None:
    """Return the rows that are known; None if none is."""
    if known.all():
        return X
    if not known.any():
        return None
    rows: Features = taken(X, known)
    return rows
