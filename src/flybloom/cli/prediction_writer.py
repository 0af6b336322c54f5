"""Predictions as CSV or Parquet, block by block."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import pyarrow as pa
from pyarrow import csv, parquet

from flybloom._internal.typing import Array
from flybloom.exceptions import SourceError

KINDS = (".csv", ".parquet", ".pq")


def check_kind(path: Path) -> None:
    """Refuse a name that does not say which kind of file it is to be."""
    if path.suffix not in KINDS:
        msg = f"{path}: unknown kind of output. Expected a name that ends in {', '.join(KINDS)}."
        raise SourceError(msg)


class PredictionWriter:
    """Writes a column of labels, and one of probabilities for each class on request, to an open file."""

    def __init__(self, file: BinaryIO, suffix: str, classes: Array, *, probabilities: bool) -> None:
        names = [f"probability_{label}" for label in classes.tolist()] if probabilities else []
        self.schema = pa.schema([("prediction", _type_of(classes)), *((name, pa.float64()) for name in names)])
        sink = pa.PythonFile(file, mode="w")
        kind = csv.CSVWriter if suffix == ".csv" else parquet.ParquetWriter
        self.writer: Any = kind(sink, self.schema)

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
        """Write what is left."""
        self.writer.close()


def _type_of(labels: Array) -> Any:
    """Return the type of the column of labels: 64 bits for whole numbers, unsigned where they need all of them."""
    if labels.dtype.kind == "u" and int(labels.max(initial=0)) >= 2**63:
        return pa.uint64()
    return pa.array(labels[:1].tolist()).type
