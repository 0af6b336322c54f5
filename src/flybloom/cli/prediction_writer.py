"""Predictions as CSV or Parquet, block by block; a file takes its name when it is complete."""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
from pyarrow import csv, parquet

from flybloom._internal.typing import Array
from flybloom.exceptions import SourceError

KINDS = (".csv", ".parquet", ".pq")


class PredictionWriter:
    """Writes a column of labels, and one of probabilities for each class on request."""

    def __init__(self, path: Path | None, classes: Array, *, probabilities: bool) -> None:
        if path is not None and path.suffix not in KINDS:
            msg = f"{path}: unknown kind of output. Expected a name that ends in {', '.join(KINDS)}."
            raise SourceError(msg)
        names = [f"probability_{label}" for label in classes.tolist()] if probabilities else []
        kind = pa.array(classes[:1].tolist()).type
        self.schema = pa.schema([("prediction", kind), *((name, pa.float64()) for name in names)])
        self.path = path
        self.partial = None if path is None else path.with_name(f".{path.name}.partial")
        if self.partial is None:
            self.writer: Any = csv.CSVWriter(pa.PythonFile(sys.stdout.buffer, mode="w"), self.schema)
        elif self.partial.name.endswith(".csv.partial"):
            self.writer = csv.CSVWriter(str(self.partial), self.schema)
        else:
            self.writer = parquet.ParquetWriter(str(self.partial), self.schema)

    def write(self, labels: Array, probabilities: Array | None) -> None:
        """Write a block."""
        columns = [pa.array(labels.tolist(), self.schema.field(0).type)]
        if probabilities is not None:
            columns += [pa.array(column) for column in probabilities.T]
        self.writer.write_table(pa.table(columns, schema=self.schema))

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Put the file in its place, or leave none behind."""
        self.writer.close()
        if self.partial is None:
            sys.stdout.flush()
        elif error is not None:
            self.partial.unlink(missing_ok=True)
        elif self.path is not None:
            self.partial.replace(self.path)
