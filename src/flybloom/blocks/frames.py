"""Frames of pandas and polars, and tables of Arrow, of which a block is converted at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from flybloom._internal.cells import NUMBER
from flybloom._internal.frame_cells import FrameColumn, table_columns, table_numbers
from flybloom._internal.typing import Array
from flybloom.blocks.arrays import PIECE_ROWS, label_kind
from flybloom.blocks.arrow_labels import kind_of_type
from flybloom.blocks.columns import feature_columns
from flybloom.blocks.options import ReadOptions
from flybloom.blocks.parts import Part
from flybloom.blocks.schema import PartFacts
from flybloom.blocks.table_part import Batch, TablePart
from flybloom.exceptions import SourceError, require_extra


class ArrowTable(TablePart):
    """A table or a record batch of Arrow."""

    def __init__(self, frame: Any, first_row: int = 0) -> None:
        self.frame = frame
        self.name = f"{type(frame).__module__.split('.')[0]} {type(frame).__name__}"
        self.first_row = first_row

    def arrow_schema(self) -> Any:
        """Return its schema."""
        return self.frame.schema

    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return what `fit` makes of the frame, which may look at all values of a column."""
        facts = super().inspect(options)
        return facts._replace(kinds=self.looked_at(facts.names or (), options))

    def lacks_values(self, names: list[str]) -> bool:
        """Return whether any column lacks one."""
        return any(self.frame.column(name).null_count for name in names)

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Batch]:  # noqa: ARG002
        """Yield all; it is cut by whoever reads it."""
        yield Batch(self.frame, cells=cells_of(self.frame, options))

    def looked_at(self, names: Sequence[str], options: ReadOptions) -> tuple[str | None, ...]:
        """Return what features are: as the options say, otherwise as `fit` finds."""
        given, columns = dict(options.kinds), columns_by_name(self.frame)
        try:
            return tuple(given.get(name) or columns[name].kind() for name in names)
        except ValueError as error:
            msg = f"{self.name}: {error}"
            raise SourceError(msg) from None

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
        if set(facts.kinds or ()) != {NUMBER}:
            return facts
        names = list(facts.names or ())
        numbers = self.frame.select(names)
        dtype = _type_in_fit(numbers.head(0))
        if dtype.kind != "f" and any(numbers.null_count().row(0)):
            dtype = np.dtype(np.float64)
        return facts._replace(dtype=dtype)

    def lacks_values(self, names: list[str]) -> bool:
        """Return whether any column lacks one."""
        return any(self.frame.select(names).null_count().row(0))

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Batch]:
        """Yield slices, so that no more than a block is converted at a time."""
        for begin in range(0, len(self.frame), options.block_rows):
            some = self.frame.select(columns).slice(begin, options.block_rows)
            yield Batch(some.to_arrow(), cells=cells_of(some, options))


class PandasFrame(ArrowTable):
    """A frame of pandas; names of columns are read as strings."""

    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return the type that `fit` makes of the frame; columns of objects are looked at when they are read."""
        require_extra("pyarrow", "files")
        import pyarrow as pa  # noqa: PLC0415 - an extra

        columns = self._columns
        names, remarks = feature_columns(columns, options, self.name)
        positions = [columns.index(name) for name in names]
        kinds = self.looked_at(names, options)
        labels = None
        if options.target is not None:
            column = self.frame.iloc[:, columns.index(options.target)]
            if _holds_objects(column):
                labels = label_kind(column.to_numpy(), options, self.name)
            else:
                labels = kind_of_type(pa.array(column.iloc[:0], from_pandas=True).type, options, self.name)
        dtype = np.dtype(np.float64) if set(kinds) != {NUMBER} else _type_in_fit(self.frame.iloc[:0, positions])
        return PartFacts(dtype, len(names), tuple(names), labels, remarks=tuple(remarks), kinds=kinds)

    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Batch]:
        """Yield slices, so that no more than a block is converted at a time."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        positions = {name: self._columns.index(name) for name in columns}
        labels = None
        if options.target is not None and _holds_objects(self.frame.iloc[:, positions[options.target]]):
            labels = self.frame.iloc[:, positions.pop(options.target)]  # Arrow might make floats of them
        is_table = set(dict(options.kinds).values()) != {NUMBER}
        for name in dict(options.kinds) if is_table else ():  # Arrow has no type for some columns of objects
            positions.pop(name, None)
        for begin in range(0, len(self.frame), options.block_rows):
            rows = slice(begin, begin + options.block_rows)
            arrays = [pa.array(self.frame.iloc[rows, at], from_pandas=True) for at in positions.values()]
            cells = cells_of(self.frame.iloc[rows], options)
            table = pa.Table.from_arrays(arrays, list(positions)) if arrays else _rows_only(len(self.frame.iloc[rows]))
            yield Batch(table, None if labels is None else labels.iloc[rows].to_numpy(), cells)

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


def columns_by_name(frame: Any) -> dict[str, FrameColumn]:
    """Return the columns of a frame by their names."""
    return {column.name: column for column in table_columns(frame) or []}


def cells_of(frame: Any, options: ReadOptions) -> Array | None:
    """Return features of a frame as `fit` has them; None where all are numbers, which Arrow converts."""
    if not set(dict(options.kinds).values()) - {NUMBER}:
        return None
    columns = columns_by_name(frame)
    try:
        return table_numbers([columns[name] for name, _ in options.kinds], [kind for _, kind in options.kinds])
    except ValueError as error:
        raise SourceError(str(error)) from None


def _rows_only(n: int) -> Any:
    """Return a table of Arrow with so many rows, and nothing in them."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    return pa.table({"": pa.nulls(n)})


def _holds_objects(column: Any) -> bool:
    """Return whether a column of pandas holds Python objects."""
    return getattr(column.dtype, "kind", "") == "O" and isinstance(column.dtype, np.dtype)


def _type_in_fit(empty: Any) -> np.dtype[Any]:
    """Return the type that scikit-learn, and so `fit`, makes of a frame, such as float64 of nullable integers."""
    from sklearn.utils import check_array  # noqa: PLC0415 - heavy

    dtype: np.dtype[Any] = check_array(empty, ensure_min_samples=0).dtype
    return dtype
