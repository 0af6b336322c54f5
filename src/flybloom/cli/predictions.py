"""Predictions as Arrow tables, written atomically as CSV or Parquet."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from copy import copy
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

from flybloom._internal.atomic_write import atomic_write
from flybloom._internal.typing import Array, Features
from flybloom.cli.errors import blaming
from flybloom.cli.sources import ScoredRows, watched
from flybloom.estimators.access import class_scores

if TYPE_CHECKING:
    from flybloom.blocks import Block, Blocks

FORMULA = "^[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]"  # how text begins that spreadsheets may run: the list of OWASP
SCORES = ("novelty", "decision_function", "acceptance")  # the first method that a model has


class Predictions:
    """Converts blocks to tables with identifiers, labels, and optional probabilities and scores."""

    def __init__(self, model: Any, *, probabilities: bool, scores: bool, id_name: str | None) -> None:
        self.model, self.id_name = model, id_name
        usual = np.empty(0) if hasattr(model, "leave_one_out_predict") else np.array([1, -1])  # numbers, or outliers
        self.classes: Array = getattr(model, "classes_", usual)
        self.methods = ["predict_proba"] if probabilities else []
        is_read_by_filters = getattr(model, "readout_", None) != "bayes" and not hasattr(model, "alpha_")
        known = SCORES if is_read_by_filters else SCORES[1:]  # what labels are read by
        self.methods += [next(name for name in known if hasattr(model, name))] if scores else []
        self.id_type: Any = None
        self.scored = ScoredRows()

    def afresh(self) -> Predictions:
        """Return a fresh copy."""
        twin = copy(self)
        twin.scored, twin.id_type = ScoredRows(), None
        return twin

    def of(self, block: Block) -> pa.Table:
        """Return the table of a block; rows that cannot be scored have only an identifier."""
        known, rows = self.scored.of(block)
        return self.table(known, rows, block.ids)

    def table(self, known: Array, rows: Features | None, ids: Array | None) -> pa.Table:
        """Return the table of rows, some of which may be invalid; None if all are."""
        labels = None if rows is None else self.model.predict(rows)
        scores = [None if rows is None else self._scores(name, rows) for name in self.methods]
        columns: dict[str, Any] = {}
        if self.id_name is not None:
            columns[self.id_name] = self._identifiers(ids)
        columns["prediction"] = _spread(labels, known, self._label_type())
        for method, values in zip(self.methods, scores, strict=True):
            for name, column in self._named(method, values):
                columns[name] = _spread(column, known, pa.float64())
        return pa.table(columns)

    def empty(self) -> pa.Table:
        """Return the table of a source without rows."""
        return self.table(np.zeros(0, bool), None, None if self.id_name is None else np.empty(0, object))

    def _scores(self, method: str, rows: Features) -> Array:
        """Return the values of a method; of `decision_function` one column per class, also for two classes."""
        if method == "decision_function":
            return class_scores(self.model, rows)
        values: Array = getattr(self.model, method)(rows)
        return values

    def _named(self, method: str, values: Array | None) -> Iterator[tuple[str, Array | None]]:
        """Yield named output columns of a method."""
        if method == "acceptance" or (method == "novelty" and not hasattr(self.model, "classes_")):
            yield method, values
            return
        word = {"predict_proba": "probability", "decision_function": "score"}.get(method, method)
        for j, label in enumerate(self.classes.tolist()):
            yield f"{word}_{label}", None if values is None else values[:, j]

    def _label_type(self) -> Any:
        """Return the Arrow type of labels."""
        is_text = self.classes.dtype.kind in "OUST"
        return pa.string() if is_text else pa.from_numpy_dtype(self.classes.dtype)

    def _identifiers(self, ids: Array | None) -> Any:
        """Convert identifiers to the type of the first block."""
        column = pa.array([] if ids is None else ids)
        if self.id_type is None:
            self.id_type = pa.string() if pa.types.is_null(column.type) else column.type
        return column.cast(self.id_type)


def tables_here(made: Predictions, blocks: Blocks) -> Iterator[pa.Table]:
    """Yield the table of each block, and show progress."""
    for block in watched(blocks, "predicting"):
        with blaming(block.where):
            table = made.of(block)
        yield table
    if made.scored.n_rows == 0:
        yield made.empty()


def tables_of_cluster(made: Predictions, blocks: Blocks, address: str) -> Iterator[pa.Table]:
    """Yield tables of predictions for each piece of a source, in order, computed by workers."""
    from flybloom.distributed import pieces_of  # noqa: PLC0415 - an extra
    from flybloom.distributed._dask import connect  # noqa: PLC0415

    first = made.empty()
    with connect(address) as client:
        shared = client.scatter(made, broadcast=True)
        for future in client.map(_of_piece, pieces_of(blocks), made=shared, pure=False):
            found, scored = future.result()
            made.scored.add(scored)
            for table in found:
                first = first if made.id_name is None or first.num_rows else table
                yield table.cast(first.schema)
    if made.scored.n_rows == 0:
        yield made.empty()


def _of_piece(piece: Blocks, made: Predictions) -> tuple[list[pa.Table], ScoredRows]:
    """Return the tables and counts of a piece, without changing shared arguments."""
    own = made.afresh()
    found = []
    for block in piece:
        with blaming(block.where):
            found.append(own.of(block))
    return found, own.scored


def write_tables(path: Path | None, tables: Iterator[pa.Table]) -> None:
    """Write tables to a file or stdout; nothing if the first one fails."""
    first = next(tables)
    every = chain([first], tables)
    if path is None:
        _write(sys.stdout.buffer, first.schema, every, csv.CSVWriter)
        sys.stdout.flush()
        return
    kind = csv.CSVWriter if path.suffix.lower() == ".csv" else parquet.ParquetWriter
    atomic_write(path, lambda file: _write(file, first.schema, every, kind))


def without_formulas(table: pa.Table) -> pa.Table:
    """Escape texts that a spreadsheet would evaluate as formulas with an apostrophe."""
    columns = []
    for column in table.columns:
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        columns.append(pc.replace_substring_regex(column, f"({FORMULA})", r"'\1") if is_text else column)
    names = [f"'{name}" if re.match(FORMULA, name) else name for name in table.column_names]
    return pa.table(columns, names)


def _write(file: Any, schema: Any, tables: Iterator[pa.Table], kind: Any) -> None:
    """Write all tables to an open file, which stays open."""
    with pa.PythonFile(_StaysOpen(file), mode="w") as sink, kind(sink, schema) as writer:
        for table in tables:
            writer.write_table(table)
            file.flush()


class _StaysOpen:
    """A file that Arrow may write to, but not close."""

    closed = False

    def __init__(self, file: Any) -> None:
        self.write, self.flush = file.write, file.flush

    def close(self) -> None:
        """Do nothing."""


def _spread(values: Array | None, known: Array, type_: Any) -> Any:
    """Return a column with values for valid rows and nulls for others."""
    if values is not None and known.all():
        return pa.array(values.tolist() if values.dtype.kind in "OUST" else values, type_)
    spread = np.full(known.size, None, object)
    if values is not None:
        spread[known] = values.tolist()
    return pa.array(spread, type_)
