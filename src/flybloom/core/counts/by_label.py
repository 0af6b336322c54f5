"""Labels of several outputs as columns of zeros and ones, and their sums by component."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from flybloom._internal.cached import cached_property
from flybloom._internal.typing import Array, Weights
from flybloom.core.counts.by_target import TargetSums, Totals
from flybloom.exceptions import IncompatibleHashError

BINARY = 2  # classes of an output that has a single column
INDICATOR = (0, 1)  # the classes of a label that a row has or has not


@dataclass(frozen=True)
class LabelColumns:
    """The classes of each output, and the columns that stand for them.

    An output of two classes has one column, of the second; another one has a column for each class.

    Parameters
    ----------
    classes : tuple of tuple
        The classes of each output, sorted: integers or strings.
    """

    classes: tuple[tuple[Any, ...], ...]
    steps = 1  # of one label
    trend = None  # nothing is taken out of labels

    @staticmethod
    def of(labels: Array) -> LabelColumns:
        """Return the columns for labels of shape (n_rows, n_outputs); zeros and ones are labels that rows may have."""
        if (
            labels.shape[1] > 1
            and labels.dtype.kind in "biu"
            and (labels.size == 0 or (labels.min() >= 0 and labels.max() <= 1))
        ):
            return LabelColumns((INDICATOR,) * labels.shape[1])
        return LabelColumns(tuple(tuple(np.unique(column).tolist()) for column in labels.T))

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self.classes)

    @property
    def is_indicator(self) -> bool:
        """Whether each output is a label that a row has or has not."""
        return self.n_outputs > 1 and all(own == INDICATOR for own in self.classes)

    @cached_property
    def slices(self) -> list[slice]:
        """Where the columns of each output are."""
        widths = [1 if len(own) == BINARY else len(own) for own in self.classes]
        return [slice(begin, end) for begin, end in pairwise(np.cumsum([0, *widths]).tolist())]

    @property
    def n_columns(self) -> int:
        """Number of columns of all outputs."""
        return self.slices[-1].stop if self.slices else 0

    def require_outputs(self, labels: Array) -> None:
        """Raise an error for labels of more or fewer outputs, or of another kind."""
        if labels.shape[1] != self.n_outputs:
            msg = (
                f"y has {labels.shape[1]} outputs, those learned before have {self.n_outputs}. "
                "Pass as many columns of y as in the first call."
            )
            raise ValueError(msg)
        if any((labels.dtype.kind == "U") != isinstance(own[0], str) for own in self.classes):
            msg = "The labels in y are strings and those learned before are not, or the reverse. Convert y."
            raise ValueError(msg)

    def knows(self, labels: Array) -> bool:
        """Return whether all labels have a column."""
        if self.is_indicator:
            return labels.dtype.kind in "biu" and bool(labels.max(initial=0) <= 1 and labels.min(initial=0) >= 0)
        return all(np.isin(column, own).all() for column, own in zip(labels.T, self.classes, strict=True))

    def whole(self, labels: Array) -> Array:
        """Return zeros and ones, of shape (n_rows, n_columns)."""
        self.require_outputs(labels)
        if not self.knows(labels):
            at = next(k for k, own in enumerate(self.classes) if not np.isin(labels[:, k], own).all())
            late = labels[~np.isin(labels[:, at], self.classes[at]), at][0]
            msg = (
                f"Output {at} has the classes {list(self.classes[at])}. Got {late.item()!r} instead. The classes of an "
                "output are fixed by the first rows, or by all rows of fit. Learn one row of each class among them."
            )
            raise ValueError(msg)
        if self.is_indicator:
            return labels
        columns = np.zeros((len(labels), self.n_columns), np.uint8)
        for column, own, place in zip(labels.T, self.classes, self.slices, strict=True):
            shown = own[1:] if len(own) == BINARY else own
            columns[:, place] = column[:, None] == np.array(shown)
        return columns

    def require_same(self, other: LabelColumns, action: str) -> None:
        """Raise an error for counts of other columns."""
        if self != other:
            msg = (
                f"Cannot {action}: the two models know other classes of some output. "
                "Let the second learn from the first one's like()."
            )
            raise IncompatibleHashError(msg)

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` is given."""
        return {"labels": self.n_outputs} if self.is_indicator else {"classes": list(map(list, self.classes))}

    @staticmethod
    def from_json(stored: Any) -> LabelColumns:
        """Return the columns of a file; ValueError if it is invalid."""
        own = stored if isinstance(stored, dict) else {}
        n_labels, classes = own.get("labels"), own.get("classes")
        if type(n_labels) is int and 1 < n_labels <= 2**24:
            return LabelColumns((INDICATOR,) * n_labels)
        if isinstance(classes, list) and all(isinstance(some, list) and _are_classes(some) for some in classes):
            return LabelColumns(tuple(map(tuple, classes)))
        msg = "its labels are not sorted classes of each output"
        raise ValueError(msg)


def _are_classes(some: list[Any]) -> bool:
    """Return whether values are different integers or strings, sorted."""
    is_right = any(all(type(label) is kind for label in some) for kind in (int, str))
    return bool(some) and is_right and all(a < b for a, b in pairwise(some))


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
