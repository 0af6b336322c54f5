"""Readers of pandas and polars frames, converted block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from flybloom._internal.cells import NUMBER
from flybloom._internal.frame_cells import FrameColumn, is_vectors, table_columns, vectors
from flybloom.blocks.arrays import PIECE_ROWS, label_kind, labels_as
from flybloom.blocks.parts import Part, Place, RawBlock, ReadOptions, feature_columns
from flybloom.blocks.schema import PartFacts, Schema
from flybloom.exceptions import SourceError


class FramePart(Part):
    """Base of readers of frames in memory."""

    def __init__(self, frame: Any, first_row: int = 0) -> None:
        self.frame = frame
        self.name = name_of(frame)
        self.first_row = first_row

    def kinds(self, names: Sequence[str], options: ReadOptions) -> tuple[str, ...]:
        """Return the kinds of features: given by the options, or inferred from all values, as in `fit`."""
        given, columns = dict(options.kinds), columns_by_name(self.frame)
        with self.errors():
            return tuple(given.get(name) or columns[name].kind() for name in names)

    def pieces(self, options: ReadOptions) -> Sequence[Part]:  # noqa: ARG002
        """Return slices."""
        starts = range(0, len(self.frame), PIECE_ROWS)
        return [type(self)(self.rows(begin, PIECE_ROWS), self.first_row + begin) for begin in starts]

    def rows(self, begin: int, n: int) -> Any:
        """Return some rows."""
        return self.frame.slice(begin, n)

    def n_rows(self) -> int | None:
        """Return its length."""
        return len(self.frame)

    @contextmanager
    def errors(self, place: object = None) -> Iterator[None]:
        """Convert errors about values to SourceError with the frame or the rows."""
        try:
            yield
        except SourceError:
            raise
        except (TypeError, ValueError) as error:
            msg = f"{place or self.name}: {error}"
            raise SourceError(msg) from error


class PandasFrame(FramePart):
    """Reader of a pandas frame; column names are converted to strings."""

    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return the types that `fit` infers from the frame."""
        columns = columns_by_name(self.frame)
        names, remarks = feature_columns([str(name) for name in self.frame.columns], options, self.name)
        labels = None if options.target is None else label_kind(columns[options.target].array(), options, self.name)
        if len(names) == 1 and is_vectors(columns[names[0]].values):
            with self.errors():
                first = vectors(columns[names[0]].values[:1])
            return PartFacts(first.dtype, first.shape[1], None, labels, remarks=tuple(remarks))
        kinds = self.kinds(names, options)
        with self.errors():
            dtype = self.type_in_fit(names) if set(kinds) == {NUMBER} else np.dtype(np.float64)
        return PartFacts(dtype, len(names), tuple(names), labels, remarks=tuple(remarks), kinds=kinds)

    def read(self, options: ReadOptions, schema: Schema) -> Iterator[RawBlock]:
        """Yield slices, each converted when it is needed."""
        vector = None
        if schema.names is None:
            (vector,), _ = feature_columns([str(name) for name in self.frame.columns], options, self.name)
        for begin in range(0, len(self.frame), options.block_rows):
            columns = columns_by_name(self.rows(begin, options.block_rows))
            n_rows = min(options.block_rows, len(self.frame) - begin)
            place = Place(self.name, self.first_row + begin, n_rows)
            X = np.empty((len(schema.columns), n_rows), schema.dtype)
            with self.errors(place):
                for column, (name, kind) in zip(X, schema.columns.items(), strict=True):
                    column[:] = columns[name].numbers(kind, schema.dtype)
                rows = np.ascontiguousarray(X.T) if vector is None else vectors(columns[vector].values)
            y = None if options.target is None else labels_as(columns[options.target].array(), options, schema, place)
            yield RawBlock(rows, y, None if options.id_column is None else columns[options.id_column].array())

    def rows(self, begin: int, n: int) -> Any:
        """Return some rows."""
        return self.frame.iloc[begin : begin + n]

    def type_in_fit(self, names: list[str]) -> np.dtype[Any]:
        """Return the numeric type used by `fit`, such as float64 for nullable integers."""
        columns = list(map(str, self.frame.columns))
        return _checked_type(self.frame.iloc[:0, [columns.index(name) for name in names]])


class PolarsFrame(PandasFrame):
    """Reader of a polars frame."""

    rows = FramePart.rows

    def type_in_fit(self, names: list[str]) -> np.dtype[Any]:
        """Return the numeric type used by `fit`: floats if any value is missing."""
        numbers = self.frame.select(names)
        dtype = _checked_type(numbers.head(0))
        return dtype if dtype.kind == "f" or not any(numbers.null_count().row(0)) else np.dtype(np.float64)


def frame_part(source: Any) -> Part | None:
    """Return the reader of a frame of pandas or polars, or None for other objects."""
    readers = {("pandas", "DataFrame"): PandasFrame, ("polars", "DataFrame"): PolarsFrame}
    for kind in type(source).__mro__:
        reader = readers.get((kind.__module__.split(".")[0], kind.__name__))
        if reader is not None:
            return reader(source)
    return None


def name_of(source: Any) -> str:
    """Return what errors call an object of another library."""
    return f"{type(source).__module__.split('.')[0]} {type(source).__name__}"


def columns_by_name(frame: Any) -> dict[str, FrameColumn]:
    """Return the columns of a frame by their names."""
    return {column.name: column for column in table_columns(frame) or []}


def _checked_type(empty: Any) -> np.dtype[Any]:
    """Return the type to which scikit-learn converts a frame."""
    from sklearn.utils import check_array  # noqa: PLC0415 - heavy

    dtype: np.dtype[Any] = check_array(empty, ensure_min_samples=0).dtype
    return dtype
