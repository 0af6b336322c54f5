"""Frames of pandas and polars, and tables of Arrow, of which a block is converted at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from flybloom.blocks.arrays import PIECE_ROWS, label_kind
from flybloom.blocks.arrow_labels import kind_of_type
from flybloom.blocks.columns import feature_columns, number_type
from flybloom.blocks.options import ReadOptions
from flybloom.blocks.parts import Part
from flybloom.blocks.schema import PartFacts
from flybloom.blocks.table_part import Batch, TablePart
from flybloom.exceptions import require_extra


class ArrowTable(TablePart):
    """A table or a record batch of Arrow."""

    def __init__(self, frame: Any, first_row: int = 0) -> None:
        self.frame = frame
        self.name = f"{type(frame).__module__.split('.')[0]} {type(frame).__name__}"
        self.first_row = first_row

    def arrow_schema(self) -> Any:
        """Return its schema."""
        return self.frame.schema

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Batch]:  # noqa: ARG002
        """Yield all; it is cut by whoever reads it."""
        yield Batch(self.frame)

    def pieces(self, options: ReadOptions) -> Sequence[Part]:  # noqa: ARG002
        """Return slices."""
        return [
            type(self)(self.sliced(begin, PIECE_ROWS), self.first_row + begin)
            for begin in range(0, len(self.frame), PIECE_ROWS)
        ]

    def sliced(self, begin: int, n: int) -> Any:
        """Return some rows."""
        return self.frame.slice(begin, n)

    def n_rows(self) -> int | None:
        """Return its length."""
        return len(self.frame)


class PolarsFrame(ArrowTable):
    """A frame of polars."""

    def arrow_schema(self) -> Any:
        """Return what it is in Arrow."""
        return self.frame.head(0).to_arrow().schema

    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return the type that `fit` makes of the frame."""
        facts = super().inspect(options)
        return facts._replace(dtype=_type_in_fit(self.frame.select(list(facts.names or ())).head(0)))

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Batch]:
        """Yield slices, so that no more than a block is converted at a time."""
        for begin in range(0, len(self.frame), options.block_rows):
            yield Batch(self.frame.select(columns).slice(begin, options.block_rows).to_arrow())


class PandasFrame(ArrowTable):
    """A frame of pandas; names of columns are read as strings."""

    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return the type that `fit` makes of the frame; columns of objects are looked at when they are read."""
        require_extra("pyarrow", "files")
        import pyarrow as pa  # noqa: PLC0415 - an extra

        columns = self._columns
        names, remarks = feature_columns(columns, options, self.name)
        positions = [columns.index(name) for name in names]
        for name, position in zip(names, positions, strict=True):
            if not _holds_objects(self.frame.iloc[:, position]):
                number_type(pa.array(self.frame.iloc[:0, position], from_pandas=True).type, name, self.name)
        labels = None
        if options.target is not None:
            column = self.frame.iloc[:, columns.index(options.target)]
            if _holds_objects(column):
                labels = label_kind(column.to_numpy(), options, self.name)
            else:
                labels = kind_of_type(pa.array(column.iloc[:0], from_pandas=True).type, options, self.name)
        dtype = _type_in_fit(self.frame.iloc[:0, positions])
        return PartFacts(dtype, len(names), tuple(names), labels, remarks=tuple(remarks))

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Batch]:
        """Yield slices, so that no more than a block is converted at a time."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        positions = {name: self._columns.index(name) for name in columns}
        labels = None
        if options.target is not None and _holds_objects(self.frame.iloc[:, positions[options.target]]):
            labels = self.frame.iloc[:, positions.pop(options.target)]  # Arrow might make floats of them
        for begin in range(0, len(self.frame), options.block_rows):
            rows = slice(begin, begin + options.block_rows)
            arrays = [pa.array(self.frame.iloc[rows, at], from_pandas=True) for at in positions.values()]
            table = pa.Table.from_arrays(arrays, list(positions))
            yield Batch(table, None if labels is None else labels.iloc[rows].to_numpy())

    def sliced(self, begin: int, n: int) -> Any:
        """Return some rows."""
        return self.frame.iloc[begin : begin + n]

    @property
    def _columns(self) -> list[str]:
        """Names of the columns."""
        return list(map(str, self.frame.columns))


FRAMES = {
    ("pandas", "DataFrame"): PandasFrame,
    ("polars", "DataFrame"): PolarsFrame,
    ("pyarrow", "Table"): ArrowTable,
    ("pyarrow", "RecordBatch"): ArrowTable,
}


def frame_part(source: Any) -> Part | None:
    """Return the reader of a frame, or None if it is none."""
    for kind in type(source).__mro__:
        reader = FRAMES.get((kind.__module__.split(".")[0], kind.__name__))
        if reader is not None:
            return reader(source)
    return None


def _holds_objects(column: Any) -> bool:
    """Return whether a column of pandas holds Python objects."""
    return getattr(column.dtype, "kind", "") == "O" and isinstance(column.dtype, np.dtype)


def _type_in_fit(empty: Any) -> np.dtype[Any]:
    """Return the type that scikit-learn, and so `fit`, makes of a frame, such as float64 of nullable integers."""
    from sklearn.utils import check_array  # noqa: PLC0415 - heavy

    dtype: np.dtype[Any] = check_array(empty, ensure_min_samples=0).dtype
    return dtype
