"""Counts of the labels of several outputs by component: sums of columns of zeros and ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flybloom._internal.typing import Array, Weights
from flybloom.core.counts.by_target import TargetSums, Totals
from flybloom.core.counts.label_columns import LabelColumns


class LabelSums(TargetSums):
    """How many rows with each label each component won, as sums of targets that are 0 or 1."""

    kind = "labels"
    no_grid = LabelColumns(())
    grid_type = LabelColumns

    def fixed_to(self, labels: Array | None, weights: Weights, encode: Callable[[], Array] | None) -> LabelSums:  # noqa: ARG002
        """Return counts of no rows, of the classes in a sample."""
        return self if labels is None else self._empty(LabelColumns.of(labels), self.unit)

    def labels_of(self, labels: Any, encode: Callable[[slice], Array]) -> Any:  # noqa: ARG002
        """Return labels as columns of zeros and ones."""
        return self.grid.whole(labels)

    def require_labels(self, labels: Any, weights: Weights, **known: Any) -> None:  # noqa: ARG002
        """Raise an error for labels of other outputs."""
        self.grid.require_outputs(labels)

    def knows(self, labels: Any) -> bool:
        """Return whether all labels have a column."""
        return bool(self.grid.knows(labels))

    def can_have(self, totals: Totals) -> bool:
        """Return whether zeros and ones can have these totals."""
        counts = zip(totals.sums, totals.squares, strict=True)
        return super().can_have(totals) and all(0 <= n == square <= totals.n_rows for n, square in counts)
