"""Arrays in memory, and iterables of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse

from flybloom._internal.cached import cached_property
from flybloom._internal.typing import Array, Features
from flybloom.blocks.labels import AS_GIVEN, TEXT, as_array, exact_labels, kind_of
from flybloom.blocks.parts import Part, Place, RawBlock, ReadOptions
from flybloom.blocks.schema import PartFacts, Schema
from flybloom.exceptions import SourceError

PIECE_ROWS = 2**17


class ArraySource(Part):
    """Rows and labels in memory."""

    name = "arrays"

    def __init__(self, X: Any, y: Any, first_row: int = 0) -> None:
        self.X = X if sparse.issparse(X) else np.asarray(X)
        self.y = None if y is None else as_array(y, f"{self.name}: the labels")
        self.first_row = first_row

    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return the types of the arrays."""
        refuse_columns(options, self.name)
        return PartFacts(*type_and_width(self._rows, self.name), labels=label_kind(self.y, options, self.name))

    def read(self, options: ReadOptions, schema: Schema) -> Iterator[RawBlock]:
        """Yield slices."""
        for begin in range(0, self._rows.shape[0], options.block_rows):
            rows = slice(begin, begin + options.block_rows)
            X = self._rows[rows]
            place = Place(self.name, self.first_row + begin, X.shape[0])
            yield RawBlock(X, labels_as(None if self.y is None else self.y[rows], options, schema, place))

    def pieces(self, options: ReadOptions) -> Sequence[Part]:  # noqa: ARG002
        """Return slices."""
        starts = range(0, self._rows.shape[0], PIECE_ROWS)
        cuts = [slice(begin, begin + PIECE_ROWS) for begin in starts]
        return [ArraySource(self._rows[cut], None if self.y is None else self.y[cut], cut.start) for cut in cuts]

    def n_rows(self) -> int | None:
        """Return the number of rows."""
        return int(self.X.shape[0])

    @cached_property
    def _rows(self) -> Features:
        """The rows; a sparse matrix is validated as a whole, because slices may hide invalid indices."""
        return checked_csr(self.X, self.name) if sparse.issparse(self.X) else self.X


class IteratorSource(Part):
    """An iterable of (X, y) or of X.

    The types of all blocks of a list are known beforehand; for other iterables the first block determines the type.
    """

    name = "blocks"

    def __init__(self, blocks: Iterable[Any]) -> None:
        self.blocks = blocks
        self.can_repeat = iter(blocks) is not blocks if not isinstance(blocks, Iterator) else False
        self._begun: Iterator[Any] | None = None
        self._first: list[Any] = []

    def inspect(self, options: ReadOptions) -> PartFacts:
        """Return the type of the first block, which is kept for reading."""
        refuse_columns(options, self.name)
        if self._begun is None:
            self._begun = iter(self.blocks)
            self._first = list(islice(self._begun, 1))
        known = self.blocks if isinstance(self.blocks, list | tuple) else self._first
        labels = None if options.target is None else TEXT if options.label_type == "text" else AS_GIVEN
        dtype = n_features = None
        for block in known:
            found, width = type_and_width(_pair(block)[0], self.name)
            dtype = found if dtype is None else np.result_type(dtype, found)
            n_features = width if n_features is None else n_features
        return PartFacts(dtype, n_features, labels=labels)

    def read(self, options: ReadOptions, schema: Schema) -> Iterator[RawBlock]:
        """Yield the blocks unchanged."""
        first, begun = self._first, self._begun if self._begun is not None else iter(self.blocks)
        self._first, self._begun = [], None
        at = 0
        for blocks in (first, begun):
            for block in blocks:
                X, y = _pair(block)
                place = Place(self.name, at, X.shape[0])
                if sparse.issparse(X):
                    X = checked_csr(X, str(place))
                y = None if y is None else as_array(y, f"{place}: the labels")
                yield RawBlock(X, labels_as(y, options, schema, place))
                at += X.shape[0]


def _pair(block: Any) -> tuple[Features, Any]:
    """Return rows and labels of a block."""
    X, y = block if isinstance(block, tuple) else (block, None)
    return X if sparse.issparse(X) else np.asarray(X), y


def type_and_width(X: Features, where: str) -> tuple[np.dtype[Any], int]:
    """Return the type and the number of features of rows, after checking that they are rows of numbers."""
    if X.ndim != 2:  # noqa: PLR2004
        msg = f"{where}: an array of shape {X.shape}. Expected rows and columns."
        raise SourceError(msg)
    if X.dtype.kind not in "buif":
        msg = f"{where}: values of type {X.dtype}. Expected numbers. Convert them with astype."
        raise SourceError(msg)
    return X.dtype, int(X.shape[1])


def label_kind(labels: Array | None, options: ReadOptions, where: str) -> str | None:
    """Return the kind of labels in an array, or None if none are requested."""
    if options.target is None or labels is None:
        return None
    return TEXT if options.label_type == "text" else kind_of(labels, f"{where}: the labels")


def labels_as(labels: Array | None, options: ReadOptions, schema: Schema, place: Place) -> Array | None:
    """Convert the labels of a block to the type of the schema, if labels are requested."""
    if options.target is None or labels is None or schema.labels is None:
        return labels
    return exact_labels(labels, schema.labels, f"{place}: the labels")


def refuse_columns(options: ReadOptions, name: str, *, ids: bool = True) -> None:
    """Raise an error if columns without names are selected by name."""
    if options.features is not None or options.exclude or (ids and options.id_column is not None):
        msg = f"{name}: its columns have no names, so none can be chosen by name. Leave out the names."
        raise SourceError(msg)


def checked_csr(X: Any, where: str, *, takes_all: bool = False) -> Any:
    """Return sparse rows as CSR after validating all indices; kernels do not check bounds."""
    if len(X.shape) != 2:  # noqa: PLR2004
        msg = f"{where}: sparse values of shape {X.shape}. Expected rows and columns."
        raise SourceError(msg)
    try:
        if X.format in ("csr", "csc", "bsr"):
            X.check_format(full_check=True)
        elif isinstance(X, sparse.coo_matrix | sparse.coo_array):
            for indices, size in zip((X.row, X.col), X.shape, strict=True):
                _require_within(indices, size)
        X = sparse.csr_array(X) if isinstance(X, sparse.sparray) else sparse.csr_matrix(X)
    except (ValueError, IndexError) as error:
        msg = f"{where}: the sparse rows are damaged ({error}). Expected indices below {X.shape[1]}. Rebuild them."
        raise SourceError(msg) from error
    if not takes_all and X.dtype.kind == "f" and np.isinf(X.data).any():
        msg = (
            f"{where}: {int(np.isinf(X.data).sum())} values are infinite. Make them missing (NaN), or drop these rows."
        )
        raise SourceError(msg)
    return X


def _require_within(indices: Any, size: int) -> None:
    """Raise an error for indices outside of a size."""
    if indices.size and not 0 <= indices.min() <= indices.max() < size:
        msg = f"an index is {int(indices.max() if indices.max() >= size else indices.min())}, the size is {size}"
        raise ValueError(msg)
