"""What the rows of a source are: one answer for all of its files, found before the first row is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from flybloom.blocks.labels import LabelFact, united_kind
from flybloom.exceptions import SourceError


class PartFacts(NamedTuple):
    """What one part of a source says about its rows."""

    dtype: np.dtype[Any] | None  # None where there are no rows that could tell
    n_features: int | None = None  # None where the source says (svmlight)
    names: tuple[str, ...] | None = None  # of the features, if they have any
    labels: str | None = None  # the kind of the labels, see `labels`; None if they are not wanted
    labels_are_written: bool = False  # in a text file, where every label is also a string
    indices: tuple[int, int] | None = None  # the lowest and the highest, of sparse rows in a text file
    remarks: tuple[str, ...] = ()  # what was guessed or left out


@dataclass(frozen=True)
class Schema:
    """What all rows of a source are."""

    dtype: np.dtype[Any]
    n_features: int | None
    names: tuple[str, ...] | None
    labels: str | None
    first_index: int | None = None  # of svmlight files: 0 or 1

    def to_dict(self) -> dict[str, Any]:
        """Return the same as plain values, for JSON."""
        return {
            "dtype": self.dtype.name,
            "n_features": self.n_features,
            "names": None if self.names is None else list(self.names),
            "labels": self.labels,
            "first_index": self.first_index,
        }

    @classmethod
    def from_dict(cls, values: Any) -> Schema:
        """Return what `to_dict` has written down."""
        try:
            names = values["names"]
            schema = cls(
                np.dtype(str(values["dtype"])),
                values["n_features"],
                None if names is None else tuple(map(str, names)),
                values["labels"],
                values["first_index"],
            )
        except (KeyError, TypeError) as error:
            msg = f"A schema must be what Blocks.schema() returns. Got {values!r} instead ({error!r})."
            raise ValueError(msg) from error
        if schema.to_dict() != values or schema.dtype.kind not in "buif":
            msg = f"A schema must be what Blocks.schema() returns. Got {values!r} instead."
            raise ValueError(msg)
        return schema


def united_schema(found: Iterable[tuple[str, PartFacts]], n_features: int | None) -> Schema:
    """Return what the rows of all parts are; parts that do not go together are refused.

    Parameters
    ----------
    found : iterable of (str, PartFacts)
        The name of each part, and what it says.
    n_features : int or None
        How many features sparse rows shall have; None for as many as the largest index says.

    Returns
    -------
    Schema
        The type that holds the values of all parts, so that rows do not depend on which part was read first.
    """
    first: tuple[str, PartFacts] | None = None
    dtypes, labels, ranges = set(), [], []
    for name, facts in found:
        if facts.indices is not None:
            ranges.append(facts.indices)
        if facts.dtype is not None:
            dtypes.add(facts.dtype)
        if facts.labels is not None:
            labels.append(LabelFact(name, facts.labels, facts.labels_are_written))
        if facts.n_features is not None:
            first = first or (name, facts)
            _require_same(name, facts, *first)
    width = None if first is None else first[1].n_features
    first_index = min(1, *(lowest for lowest, _ in ranges)) if ranges else None
    if first_index is not None and width is None:
        width = n_features or max(1, *(highest + 1 - first_index for _, highest in ranges))
    return Schema(
        np.result_type(*dtypes) if dtypes else np.dtype(np.float64),
        width,
        None if first is None else first[1].names,
        united_kind(labels) if labels else None,
        first_index,
    )


def _require_same(name: str, facts: PartFacts, first_name: str, first: PartFacts) -> None:
    """Refuse a part whose columns are not those of the first one; their order does not matter."""
    if facts.names != first.names and (
        facts.names is None or first.names is None or sorted(facts.names) != sorted(first.names)
    ):
        msg = (
            f"{name}: the columns {_listed(facts.names)} are not those of {first_name}, {_listed(first.names)}. "
            "Name the features to be read, or leave out the file."
        )
        raise SourceError(msg)
    if facts.n_features != first.n_features:
        msg = f"{name}: {facts.n_features} features. Expected {first.n_features}, as in {first_name}. Leave it out."
        raise SourceError(msg)


def _listed(names: tuple[str, ...] | None) -> str:
    """Return names, or the first ones of many."""
    if names is None:
        return "(without names)"
    return f"[{', '.join(map(repr, names[:20]))}{', ...' if len(names) > 20 else ''}]"  # noqa: PLR2004
