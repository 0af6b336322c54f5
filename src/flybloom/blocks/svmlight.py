"""Files in svmlight (libsvm) format: sparse rows, a few at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from flybloom._internal.cached import cached_property
from flybloom._internal.typing import Array
from flybloom.blocks.arrays import refuse_columns
from flybloom.blocks.byte_stream import file_errors, open_file
from flybloom.blocks.labels import TEXT, exact_labels
from flybloom.blocks.parts import FilePart, Place, RawBlock, ReadOptions
from flybloom.blocks.schema import PartFacts, Schema
from flybloom.exceptions import SourceError

MAX_FEATURES = 2**27  # unless n_features says that there are more; an index beyond is rather a slip
MAX_INDEX = 2**31 - 2  # what scikit-learn's reader takes
MAX_LINE_BYTES = 2**24  # more than a million values; a line that never ends would take all memory
MAX_BLOCK_BYTES = 2**26  # of lines that are parsed at once, however many they are
MAX_WORDS = 2**16  # labels that are remembered, so that each is looked at once


class SvmlightFile(FilePart):
    """Reader of an svmlight file. Indices begin at 1, unless any file of the source has an index 0."""

    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return the range of the indices and the kind of the labels, from a pass over the file."""
        refuse_columns(options, self.name)
        lowest, highest, kind = self._look
        if highest > MAX_FEATURES and options.n_features is None:
            msg = (
                f"{self.name}: the largest index is {highest}. Expected at most {MAX_FEATURES}. "
                "Repair the file, or say how many features there are (n_features)."
            )
            raise SourceError(msg)
        labels = None if options.target is None else TEXT if options.label_type == "text" else kind
        return PartFacts(np.dtype(np.float64), labels=labels, indices=(lowest, highest))

    def read(self, options: ReadOptions, schema: Schema) -> Iterator[RawBlock]:
        """Parse blocks of lines."""
        from sklearn.datasets import load_svmlight_file  # noqa: PLC0415 - heavy, and hardly ever needed

        at = n_rows = 0
        with file_errors(self.name), open_file(self.path) as file:
            for lines in _blocks(file, options.block_rows, self.name):
                try:
                    X, _ = load_svmlight_file(
                        io.BytesIO(b"".join(lines)), n_features=schema.n_features, zero_based=schema.first_index == 0
                    )
                except (ValueError, OverflowError) as error:
                    msg = f"{self.name}, lines {at + 1}-{at + len(lines)}: {error}. Expected 'label index:value ...'."
                    raise SourceError(msg) from error
                y = None
                if options.target is not None and schema.labels is not None:
                    place = Place(self.name, n_rows, X.shape[0])
                    y = _labels(lines, schema.labels, f"{place}: the labels")
                yield RawBlock(X, y)
                at, n_rows = at + len(lines), n_rows + X.shape[0]

    @cached_property
    def _look(self) -> tuple[int, int, str]:
        """The smallest and largest index, and the kind of the labels."""
        lowest, highest, kinds = 2**62, 0, {"int64"}
        words: set[bytes] = set()
        with file_errors(self.name), open_file(self.path) as file:
            for number, line in enumerate(_lines(file, self.name), 1):
                try:
                    word, *items = line.split(b"#", 1)[0].split() or [b"0"]
                    indices = [int(item.split(b":", 1)[0]) for item in items]
                except ValueError as error:
                    msg = f"{self.name}, line {number}: {error}. Expected 'label index:value index:value ...'."
                    raise SourceError(msg) from error
                if word not in words:
                    kinds.add(_kind_of(_number(word, f"{self.name}, line {number}")))
                    if len(words) < MAX_WORDS:
                        words.add(word)
                if indices:
                    lowest, highest = min(lowest, *indices), max(highest, *indices)
                if lowest < 0 or highest > MAX_INDEX:
                    wrong = lowest if lowest < 0 else highest
                    msg = f"{self.name}, line {number}: the index {wrong}. Expected 0 to {MAX_INDEX}. Repair the file."
                    raise SourceError(msg)
        return min(1, lowest), highest, min(kinds)  # "float64" is before "int64", and that before "uint64"


def _lines(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield lines; very long lines raise an error."""
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            msg = f"{name}, line {number}: it is longer than {MAX_LINE_BYTES >> 20} MB. Expected a row. Check the file."
            raise SourceError(msg)
        yield line


def _blocks(file: BinaryIO, block_rows: int, name: str) -> Iterator[list[bytes]]:
    """Yield groups of lines, limited in number and in bytes."""
    lines: list[bytes] = []
    n_bytes = 0
    for line in _lines(file, name):
        lines.append(line)
        n_bytes += len(line)
        if len(lines) == block_rows or n_bytes >= MAX_BLOCK_BYTES:
            yield lines
            lines, n_bytes = [], 0
    if lines:
        yield lines


def _kind_of(number: int | float) -> str:
    """Return the kind of a numeric label."""
    return "float64" if isinstance(number, float) else "int64" if number < 2**63 else "uint64"


def _labels(lines: list[bytes], kind: str, what: str) -> Array:
    """Return the labels of lines without loss."""
    words = [line.split(b"#", 1)[0].split(None, 1)[:1] for line in lines]
    numbers = [_number(word[0], what) for word in words if word]
    if kind == "float64" and all(float(number) == number for number in numbers):
        return np.array(numbers, np.float64)
    return exact_labels(np.array(numbers, object), kind, what)


def _number(word: bytes, name: str) -> int | float:
    """Parse a label as an integer if possible, else as a float."""
    try:
        return int(word)
    except ValueError:
        pass
    try:
        number = float(word)
        return int(number) if number == int(number) else number
    except (ValueError, OverflowError):
        msg = f"{name}: the label {word.decode(errors='replace')!r}. Expected a number. Write labels as numbers."
        raise SourceError(msg) from None
