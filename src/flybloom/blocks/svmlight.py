"""Files in svmlight (libsvm) format: sparse rows, a few at a time."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import BinaryIO, cast

import numpy as np

from flybloom.blocks.parts import FilePart, RawBlock, ReadOptions
from flybloom.exceptions import SourceError


class SvmlightFile(FilePart):
    """Sparse rows with labels. Indices begin at 1, unless there is an index 0 in the file."""

    def read(self, options: ReadOptions) -> Iterator[RawBlock]:
        """Parse a few lines at a time."""
        from sklearn.datasets import load_svmlight_file  # noqa: PLC0415 - heavy, and hardly ever needed

        if options.features is not None:
            msg = f"{self.name}: svmlight files have no names of columns. Leave out the names of the features."
            raise SourceError(msg)
        lowest, highest = self._indices
        is_zero_based = lowest == 0
        n_features = options.n_features or max(1, highest + is_zero_based)
        at = 0
        with self._open() as file:
            while lines := list(islice(file, options.block_rows)):
                try:
                    X, y = load_svmlight_file(
                        io.BytesIO(b"".join(lines)), n_features=n_features, zero_based=is_zero_based
                    )
                except ValueError as error:
                    msg = f"{self.name}, lines {at + 1}-{at + len(lines)}: {error}. Expected 'label index:value ...'."
                    raise SourceError(msg) from error
                at += len(lines)
                is_whole = (y == np.trunc(y)).all()
                yield RawBlock(X, None if options.target is None else y.astype(np.int64) if is_whole else y, None)

    @cached_property
    def _indices(self) -> tuple[int, int]:
        """The lowest and the highest index of a feature, from a first look at the whole file."""
        lowest, highest = 2**62, 0
        with self._open() as file:
            for number, line in enumerate(file, 1):
                try:
                    indices = [int(item.split(b":", 1)[0]) for item in line.split(b"#", 1)[0].split()[1:]]
                except ValueError as error:
                    msg = f"{self.name}, line {number}: {error}. Expected 'label index:value index:value ...'."
                    raise SourceError(msg) from error
                if indices:
                    lowest, highest = min(lowest, *indices), max(highest, *indices)
        return lowest, highest

    def _open(self) -> BinaryIO:
        """Open the file, compressed or not."""
        return cast("BinaryIO", gzip.open(self.path, "rb") if self.path.suffix == ".gz" else self.path.open("rb"))
