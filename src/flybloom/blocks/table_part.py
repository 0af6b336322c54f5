"""What all tables have in common: batches of Arrow become blocks of rows, labels and identifiers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.cells import NUMBER
from flybloom._internal.typing import Array
from flybloom.blocks.arrow_labels import kind_of_type, labels_of
from flybloom.blocks.columns import columns_to_read, declared, feature_cells, feature_columns, identifiers, kinds_of
from flybloom.blocks.labels import exact_labels
from flybloom.blocks.options import ReadOptions
from flybloom.blocks.parts import Part, Place, RawBlock
from flybloom.blocks.schema import PartFacts, Schema
from flybloom.exceptions import SourceError, require_extra


class Batch(NamedTuple):
    """Some rows of a table."""

    table: Any  # of Arrow: a table or a record batch
    labels: Array | None = None  # where Arrow cannot hold them
    cells: Array | None = None  # the features as numbers, where the frame gives them itself


class TablePart(Part):
    """A part that is a table."""

    @abstractmethod
    def arrow_schema(self) -> Any:
        """Return the names and types of its columns, as Arrow says it."""

    @abstractmethod
    def batches(self, columns: list[str], options: ReadOptions) -> Iterator[Batch]:
        """Yield batches with these columns, and perhaps others; the options say what all features are."""

    def lacks_values(self, names: list[str]) -> bool:  # noqa: ARG002
        """Return whether values of these columns may be missing, as far as that is cheap to know."""
        return False

    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return the common type of the columns, from their declarations."""
        require_extra("pyarrow", "files")
        with arrow_errors(self.name):
            fields = self.arrow_schema()
            columns = list(fields.names)
        names, remarks = feature_columns(columns, options, self.name)
        found = [declared(fields.field(name).type, name, self.name) for name in names]
        dtype = np.result_type(*(column.dtype for column in found))
        if dtype.kind != "f" and self.lacks_values(names):
            dtype = np.dtype(np.float64)
        kinds = kinds_of(names, [column.kind for column in found], options)
        labels = None
        if options.target is not None:
            labels = kind_of_type(fields.field(options.target).type, options, self.name)
        return PartFacts(dtype, len(names), tuple(names), labels, remarks=tuple(remarks), kinds=kinds)

    def read(self, options: ReadOptions, schema: Schema) -> Iterator[RawBlock]:
        """Yield blocks in the order of the rows."""
        require_extra("pyarrow", "files")
        at = self.first_row
        names = schema.names or ()
        kinds = schema.kinds or (NUMBER,) * len(names)
        options = replace(options, kinds=tuple(zip(names, kinds, strict=True)))
        with arrow_errors(self.name):
            for batch in self.batches(columns_to_read(options, schema), options):
                for begin in range(0, batch.table.num_rows, options.block_rows):
                    table = batch.table.slice(begin, options.block_rows)
                    place = Place(self.name, at, table.num_rows)
                    labels = None if batch.labels is None else batch.labels[begin : begin + options.block_rows]
                    cells = None if batch.cells is None else batch.cells[begin : begin + options.block_rows]
                    yield _raw_block(Batch(table, labels, cells), options, schema, place)
                    at += table.num_rows


def _raw_block(batch: Batch, options: ReadOptions, schema: Schema, place: Place) -> RawBlock:
    """Return features, labels and identifiers of a batch."""
    marks = np.zeros(batch.table.num_rows, bool) if options.marks else None
    X = feature_cells(batch.table, schema, place, marks) if batch.cells is None else batch.cells
    y = None
    if options.target is not None and schema.labels is not None:
        if batch.labels is None:
            y = labels_of(batch.table.column(options.target), schema.labels, options, place)
        else:
            y = exact_labels(batch.labels, schema.labels, f"{place}: the labels")
    ids = None if options.id_column is None else identifiers(batch.table.column(options.id_column))
    return RawBlock(X, y, ids, marks)


@contextmanager
def arrow_errors(name: str) -> Iterator[None]:
    """Let errors of Arrow name the file or the frame they come from."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    try:
        yield
    except (SourceError, pa.ArrowMemoryError, pa.ArrowCancelled):
        raise
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        msg = f"{name} cannot be read ({_sentence(error)}). Check that it is whole and of the kind that its name says."
        raise SourceError(msg) from error


def _sentence(error: BaseException) -> str:
    """Return the first line of an error, without the full stop."""
    text = str(error) or type(error).__name__
    return text.splitlines()[0].rstrip(". ")
