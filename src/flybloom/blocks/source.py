"""Reader of all sources: blocks of rows with the types of the whole source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from flybloom._internal.cached import cached_property
from flybloom._internal.typing import Array, Features
from flybloom._internal.validation import NamedRows
from flybloom.blocks.arrays import checked_csr
from flybloom.blocks.finder import parts_of
from flybloom.blocks.parts import BLOCK_ROWS, Part, Place, RawBlock, ReadOptions, names_of
from flybloom.blocks.schema import Schema, united_schema
from flybloom.exceptions import SourceError

__all__ = ["BLOCK_ROWS", "Block", "Blocks", "read_blocks"]


class Block(NamedTuple):
    """A block of rows of a source."""

    X: Features
    """The features: an array, a CSR matrix, or rows with names; every estimator of flybloom takes it as it is."""

    y: Array | None
    """The labels, if they were wanted."""

    begin: int
    """Number of the first row, counted over the whole source."""

    where: str
    """What errors call these rows."""

    ids: Array | None = None
    """The identifiers, if a column of them was named."""

    incomplete: Array | None = None
    """Which rows have a value that is infinite, or not of its column's kind; None if none has, or they are refused."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.X.shape[0])


class Blocks:
    """A source that can be read block by block, returned by `read_blocks`."""

    def __init__(self, parts: list[Part], options: ReadOptions, schema: Schema | None = None) -> None:
        self.parts = parts
        self.options = options
        self._given = schema

    @property
    def can_repeat(self) -> bool:
        """Whether the source can be read more than once."""
        return all(part.can_repeat for part in self.parts)

    @property
    def remarks(self) -> list[str]:
        """Descriptions of what was detected in files or dropped from them; inspects all files."""
        return self._inspected[1]

    def schema(self) -> dict[str, Any]:
        """Return the schema of the source as JSON values.

        Returns
        -------
        dict
            "dtype" of the features; "n_features" and "names"; "labels", their kind ("text", "bool", "int64", ...);
            "first_index" of svmlight files; "kinds" of the features, if not all are numeric. It is determined once by
            inspecting every file before the first row is read.
        """
        return self._schema.to_dict()

    def with_schema(self, schema: dict[str, Any]) -> Blocks:
        """Return the source with a schema from `schema()`; files are not inspected again."""
        return Blocks(self.parts, self.options, Schema.from_dict(schema))

    def pieces(self) -> list[Blocks]:
        """Split the source into pieces that can be read separately, also in other processes.

        Returns
        -------
        list of Blocks
            Row groups of Parquet files, ranges of CSV and NPY files, and other whole files, in order, with the types of
            the whole source.
        """
        once = next((part for part in self.parts if not part.can_repeat), None)
        if once is not None:
            msg = f"{once.name} can be read only once, and only here. Save it to files that all workers can read."
            raise SourceError(msg)
        parts = [piece for part in self.parts for piece in part.pieces(self.options) or [part]]
        return [Blocks([part], self.options, self._schema) for part in parts]

    def n_rows(self) -> int | None:
        """Return the number of rows if it is cheap to determine, else None."""
        numbers = [part.n_rows() for part in self.parts]
        return None if None in numbers else sum(n for n in numbers if n is not None)

    def identity(self) -> list[dict[str, Any]] | None:
        """Return the identity of the source, which changes with its content, or None."""
        identities = [part.identity() for part in self.parts]
        known = [identity for identity in identities if identity is not None]
        return known if len(known) == len(identities) else None

    def __iter__(self) -> Iterator[Block]:
        """Yield all blocks in order."""
        return self.starting_at(0)

    def starting_at(self, row: int) -> Iterator[Block]:
        """Yield the blocks from a row on, skipping whole files of known length."""
        at = 0
        schema = self._schema
        for part in self.parts:
            length = part.n_rows() if at < row else None
            if length is not None and at + length <= row:
                at += length
                continue
            begin = at - part.first_row
            for raw in part.read(self.options, schema):
                n = raw.X.shape[0]
                place = Place(part.name, at - begin, n)
                X, y, ids, incomplete = _checked(raw, self.options, schema, place)
                skip = min(max(row - at, 0), n)
                if n > skip:
                    rows = X[skip:] if skip else X
                    yield Block(
                        rows if schema.names is None else NamedRows(rows, list(schema.names), schema.kinds),
                        None if y is None else y[skip:],
                        at + skip,
                        str(place),
                        None if ids is None else ids[skip:],
                        None if incomplete is None else incomplete[skip:],
                    )
                at += n

    @property
    def _schema(self) -> Schema:
        """The given schema, or that of an inspection."""
        return self._given or self._inspected[0]

    @cached_property
    def _inspected(self) -> tuple[Schema, list[str]]:
        """The schema and remarks from an inspection of all parts."""
        said: dict[str, list[str]] = {}
        found = []
        for part in self.parts:
            facts = part.inspect(self.options)
            found.append((part.name, facts))
            for remark in facts.remarks:
                said.setdefault(remark, []).append(part.name)
        schema = united_schema(found, self.options.n_features, self.options.first_index)
        remarks = []
        for remark, names in said.items():
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            remarks.append(f"{names[0]}{more}: {remark}.")
        return schema, remarks


def read_blocks(
    source: Any,
    target: str | int | None = None,
    *,
    features: Iterable[str] | None = None,
    n_features: int | None = None,
    block_rows: int = BLOCK_ROWS,
    exclude: Iterable[str] = (),
    id_column: str | int | None = None,
    label_type: str = "auto",
    file_encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    incomplete: str = "refuse",
    kinds: Mapping[str, str] | None = None,
    first_index: int | None = None,
    schema: dict[str, Any] | None = None,
) -> Blocks:
    """Read a data source block by block in bounded memory.

    Parameters
    ----------
    source : str, path-like, frame, (X, y), iterable of (X, y), or Arrow data
        A Parquet, CSV, TSV, Arrow, Feather, NPY, NPZ or svmlight file (text may be packed as ``.gz`` or ``.zst``), a
        folder of such files, a pattern such as ``"data/*.parquet"``, ``"-"`` for CSV from standard input, a frame of
        pandas or polars, also a lazy one, an Arrow table, a dataset of pyarrow, anything with ``__arrow_c_stream__``
        such as a DuckDB query, a pair of arrays, or an iterable of blocks.
    target : str, int or None, default=None
        The column of the labels: by name in tables, by number in NPY files; the array of the labels in NPZ files. Any
        name will do for svmlight files, whose labels come first. None to read features only.
    features : iterable of str or None, default=None
        The columns of the features, in this order. None for all others.
    n_features : int or None, default=None
        Number of features of svmlight rows. None for the largest index.
    block_rows : int, default=32768
        Maximum number of rows to read at once.
    exclude : iterable of str, default=()
        Columns to exclude from the features.
    id_column : str, int or None, default=None
        A column with row identifiers, which becomes `ids` of each block and is not a feature.
    label_type : {"auto", "text", "number"}, default="auto"
        Type of labels in text files. "auto" parses numbers only if each has a unique spelling, so that ``007`` and
        ``7`` are two labels; "text" keeps labels as written; "number" parses all spellings.
    file_encoding : str or None, default=None
        Encoding of text files, such as ``"cp1252"``. None to detect it.
    delimiter : str or None, default=None
        Delimiter of text files. None to detect a comma, tab, semicolon or bar.
    decimal : {".", ","} or None, default=None
        Decimal separator in text files. None to detect it.
    incomplete : {"refuse", "mark"}, default="refuse"
        What to do with rows with infinite or invalid values, such as text among numbers: raise an error, or mark them
        in `incomplete` of their block. Missing values (NaN) are always accepted.
    kinds : dict or None, default=None
        What features are that are not to be looked at: "number", "category" or "date" for their names. Other columns
        are what their types say: text is categories, unless all of a text file, or of a frame in memory, is numbers or
        dates.
    first_index : {0, 1} or None, default=None
        Index of the first feature in svmlight files. None for 1, or 0 if any file has an index 0.
    schema : dict or None, default=None
        A schema from `Blocks.schema`, to read the same source in the same way.

    Returns
    -------
    Blocks
        An iterable of blocks with `X`, `y`, `begin`, `where`, `ids` and `incomplete`. Files and frames can be read
        repeatedly. `remarks` says what was detected or dropped, `schema()` returns the types.

    Raises
    ------
    flybloom.exceptions.SourceError
        If a column is missing or invalid; the message names file, rows and column.

    Examples
    --------
    >>> import pandas as pd, flybloom
    >>> frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0], "label": ["x", "y", "x"]})
    >>> blocks = flybloom.read_blocks(frame, "label", block_rows=2)
    >>> for block in blocks:
    ...     print(block.begin, block.y)
    0 ['x' 'y']
    2 ['x']
    >>> blocks.schema()
    {'dtype': 'float64', 'n_features': 2, 'names': ['a', 'b'], 'labels': 'text', 'first_index': None}
    """
    options = ReadOptions(
        None if target is None else str(target),
        names_of(features, "features"),
        n_features,
        block_rows,
        names_of(exclude, "exclude") or (),
        None if id_column is None else str(id_column),
        label_type,
        file_encoding,
        delimiter,
        decimal,
        incomplete,
        tuple((kinds or {}).items()),
        first_index,
    ).check()
    given = None if schema is None else Schema.from_dict(schema)
    if isinstance(source, Blocks):
        merged = _merged(source.options, options)
        return source if merged == source.options and given is None else Blocks(source.parts, merged, given)
    return Blocks(parts_of(source), options, given)


def joined(blocks: list[Block]) -> tuple[Features, Array | None]:
    """Return the rows and labels of one or more blocks of a source."""
    first = blocks[0].X
    y = None if blocks[0].y is None else np.concatenate([block.y for block in blocks if block.y is not None])
    if isinstance(first, NamedRows):
        return first._replace(array=np.concatenate([block.X.array for block in blocks])), y
    return (sparse.vstack if sparse.issparse(first) else np.concatenate)([block.X for block in blocks]), y


def _merged(before: ReadOptions, now: ReadOptions) -> ReadOptions:
    """Merge the options of an opened source with new ones."""
    usual = ReadOptions()
    changed = {name: value for name, value in vars(now).items() if value != getattr(usual, name)}
    return replace(before, **changed).check()


def _checked(raw: RawBlock, options: ReadOptions, schema: Schema, place: Place) -> RawBlock:
    """Convert a block to the type of the source, and validate it."""
    X, y, ids, incomplete = raw
    where = str(place)
    if X.ndim != 2 or X.dtype.kind not in "buif":  # noqa: PLR2004
        msg = f"{where}: values of type {X.dtype} and shape {X.shape}. Expected rows of numbers."
        raise SourceError(msg)
    if schema.n_features is not None and X.shape[1] != schema.n_features:
        msg = f"{where}: {X.shape[1]} features. Expected {schema.n_features}, as at the beginning of the source."
        raise SourceError(msg)
    if sparse.issparse(X):
        X = checked_csr(X, where, takes_all=options.marks)
    elif not options.marks:
        _refuse_infinite(X, schema.names, where)
    if options.target is not None and (y is None or len(y) != X.shape[0]):
        msg = f"{where}: {0 if y is None else len(y)} labels for {X.shape[0]} rows. Expected one label per row."
        raise SourceError(msg)
    if X.dtype != schema.dtype:
        if not np.can_cast(X.dtype, schema.dtype, "safe"):
            msg = (
                f"{where}: values of type {X.dtype}. Expected {schema.dtype}, as at the beginning of the source. "
                "Make all blocks of one type."
            )
            raise SourceError(msg)
        X = X.astype(schema.dtype)
    return RawBlock(X, y, ids, _marked(X, incomplete) if options.marks else None)


def _marked(X: Features, incomplete: Array | None) -> Array | None:
    """Return a mask of rows with invalid values, or None."""
    marks = np.zeros(X.shape[0], bool) if incomplete is None else incomplete
    if X.dtype.kind == "f":
        if sparse.issparse(X):
            marks[np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[np.isinf(X.data)]] = True
        else:
            marks |= np.isinf(X).any(axis=1)
    return marks if marks.any() else None


def _refuse_infinite(X: Array, names: tuple[str, ...] | None, where: str) -> None:
    """Raise an error for infinities, and name the first column that has any."""
    if X.dtype.kind != "f" or not np.isinf(X).any():
        return
    bad = np.isinf(X)
    column = int(np.flatnonzero(bad.any(axis=0))[0])
    name = repr(names[column]) if names else str(column)
    msg = (
        f"{where}: column {name} has {int(bad[:, column].sum())} infinite values. "
        "Make them missing (NaN), drop these rows, or leave out the column."
    )
    raise SourceError(msg)
