"""Sources as Dask collections, with the schema of `read_blocks` on every worker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import delayed
from scipy import sparse

from flybloom._internal.typing import Array, Features
from flybloom._internal.validation import NamedRows
from flybloom.blocks import Blocks
from flybloom.blocks.labels import AS_GIVEN, TEXT
from flybloom.blocks.parts import FilePart
from flybloom.estimators.access import reading_learned, with_learned
from flybloom.estimators.counting import CountingEstimator


def collections(blocks: Blocks) -> tuple[Any, Any]:
    """Return rows and labels of a source as Dask collections."""
    pieces = pieces_of(blocks)
    return _frames(blocks, pieces) if blocks.schema()["names"] is not None else _arrays(blocks, pieces)


def fit_source(model: CountingEstimator, blocks: Blocks, *, progress: bool = False) -> CountingEstimator:
    """Fit to a source; the model and its file equal those of a single machine."""
    from flybloom import distributed  # noqa: PLC0415 - which imports this module

    distributed.fit(model, *collections(blocks), progress=progress)
    first_index = blocks.schema()["first_index"]
    if first_index is not None:  # collections cannot tell where their files begin to count
        with reading_learned(model) as learned:
            encoder = replace(learned.hasher.encoder, first_index=first_index)
            counted = learned._replace(hasher=replace(learned.hasher, encoder=encoder))
        with_learned(model, counted)
    return model


def pieces_of(blocks: Blocks) -> list[Blocks]:
    """Return the pieces of a source; workers split large files."""
    if not all(isinstance(part, FilePart) for part in blocks.parts):
        return blocks.pieces()
    schema = blocks.schema()
    files = [Blocks([part], blocks.options).with_schema(schema) for part in blocks.parts]
    return [piece for pieces in dask.compute(*(delayed(_cut)(file) for file in files)) for piece in pieces]


def _cut(blocks: Blocks) -> list[Blocks]:
    """Split a file into pieces."""
    return blocks.pieces()


def _frames(blocks: Blocks, pieces: list[Blocks]) -> tuple[Any, Any]:
    """Return a dataframe and a series from one read of each piece."""
    import dask.dataframe as dd  # noqa: PLC0415 - pandas is slow to import
    import pandas as pd  # noqa: PLC0415

    schema = blocks.schema()
    options: dict[str, Any] = {"enforce_metadata": False}
    both = dd.from_map(_load_frame, pieces, meta=("block", object), **options)
    rows = both.map_partitions(_first, meta=_declared(schema), **options)
    if schema["labels"] is None:
        return rows, None
    declared = pd.Series([], name=blocks.options.target, dtype=object if _is_text(blocks) else _label_type(blocks))
    return rows, both.map_partitions(_second, meta=declared, **options)


def _arrays(blocks: Blocks, pieces: list[Blocks]) -> tuple[Any, Any]:
    """Return two arrays of unknown length."""
    schema = blocks.schema()
    loaded = [delayed(_load, nout=2)(piece) for piece in pieces]
    shape, dtype = (np.nan, schema["n_features"]), np.dtype(schema["dtype"])
    rows = da.concatenate([da.from_delayed(both[0], shape, dtype) for both in loaded], allow_unknown_chunksizes=True)
    if schema["labels"] is None:
        return rows, None
    return rows, da.concatenate([da.from_delayed(both[1], (np.nan,), _label_type(blocks)) for both in loaded])


def _declared(schema: dict[str, Any]) -> Any:
    """Return an empty frame with the column types of the source."""
    import pandas as pd  # noqa: PLC0415 - slow to import

    types = {"number": schema["dtype"], "category": "category", "date": "datetime64[us]"}
    kinds = schema.get("kinds") or ["number"] * schema["n_features"]
    return pd.DataFrame(
        {name: pd.Series([], dtype=types[kind]) for name, kind in zip(schema["names"], kinds, strict=True)}
    )


def _load(blocks: Blocks) -> tuple[Features, Array | None]:
    """Read a piece; it may have no rows."""
    schema = blocks.schema()
    rows, labels = [], []
    for block in blocks:
        rows.append(block.X.array if isinstance(block.X, NamedRows) else block.X)
        labels.append(block.y)
    if not rows:
        return np.empty((0, schema["n_features"]), schema["dtype"]), np.empty(0, _label_type(blocks))
    stack = sparse.vstack if sparse.issparse(rows[0]) else np.concatenate
    return stack(rows), None if schema["labels"] is None else np.concatenate([y for y in labels if y is not None])


def _load_frame(blocks: Blocks) -> tuple[Any, Array | None]:
    """Read a piece as a frame and labels."""
    import pandas as pd  # noqa: PLC0415 - slow to import

    rows, labels = _load(blocks)
    schema = blocks.schema()
    if schema.get("kinds") is not None:
        return NamedRows(rows, schema["names"], tuple(schema["kinds"])), labels
    return pd.DataFrame(rows, columns=schema["names"], copy=False), labels


def _first(both: tuple[Any, Any]) -> Any:
    """Return the rows of a piece."""
    return both[0]


def _second(both: tuple[Any, Any]) -> Any:
    """Return the labels of a piece."""
    return both[1]


def _is_text(blocks: Blocks) -> bool:
    """Return whether labels are strings, or may be."""
    return blocks.schema()["labels"] in (TEXT, AS_GIVEN)


def _label_type(blocks: Blocks) -> np.dtype[Any]:
    """Return the declared type of labels."""
    kind = blocks.schema()["labels"]
    return np.dtype(np.str_ if kind is None or _is_text(blocks) else kind)
