"""Schemas of sources: types of columns and labels that hold for all files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.cells import KINDS, NUMBER
from flybloom.blocks.labels import TEXT, UNKNOWN, united_kind
from flybloom.exceptions import SourceError

PLURALS = {"number": "numbers", "category": "categories", "date": "dates"}


class PartFacts(NamedTuple):
    """Types of the rows of one part of a source."""

    dtype: np.dtype[Any] | None  # None where there are no rows that could tell
    n_features: int | None = None  # None where the source says (svmlight)
    names: tuple[str, ...] | None = None  # of the features, if they have any
    labels: str | None = None  # the kind of the labels, see `labels`; None if they are not wanted
    labels_are_written: bool = False  # in a text file, where every label is also a string
    indices: tuple[int, int] | None = None  # the lowest and the highest, of sparse rows in a text file
    remarks: tuple[str, ...] = ()  # what was guessed or left out
    kinds: tuple[str | None, ...] | None = None  # what the features are; None where they are numbers, or none tells


@dataclass(frozen=True)
class Schema:
    """Types of all rows of a source."""

    dtype: np.dtype[Any]
    n_features: int | None
    names: tuple[str, ...] | None
    labels: str | None
    first_index: int | None = None  # of svmlight files: 0 or 1
    kinds: tuple[str, ...] | None = None  # what the features are, unless all are numbers

    @property
    def columns(self) -> dict[str, str]:
        """The kinds of the features by their names."""
        names = self.names or ()
        return dict(zip(names, self.kinds or (NUMBER,) * len(names), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as JSON values."""
        values = {
            "dtype": self.dtype.name,
            "n_features": self.n_features,
            "names": None if self.names is None else list(self.names),
            "labels": self.labels,
            "first_index": self.first_index,
        }
        return values if self.kinds is None else {**values, "kinds": list(self.kinds)}

    @classmethod
    def from_dict(cls, values: Any) -> Schema:
        """Restore a schema from `to_dict`."""
        try:
            names, kinds = values["names"], values.get("kinds")
            schema = cls(
                np.dtype(str(values["dtype"])),
                values["n_features"],
                None if names is None else tuple(map(str, names)),
                values["labels"],
                values["first_index"],
                None if kinds is None else tuple(map(str, kinds)),
            )
            labels_fit = schema.labels in (None, TEXT, UNKNOWN) or np.dtype(schema.labels).name == schema.labels
        except (KeyError, TypeError) as error:
            msg = f"A schema must be what Blocks.schema() returns. Got {values!r} instead ({error!r})."
            raise ValueError(msg) from error
        kinds_fit = schema.kinds is None or (len(schema.kinds) == schema.n_features and set(schema.kinds) <= set(KINDS))
        if schema.to_dict() != values or schema.dtype.kind not in "buif" or not (kinds_fit and labels_fit):
            msg = f"A schema must be what Blocks.schema() returns. Got {values!r} instead."
            raise ValueError(msg)
        return schema


def united_schema(
    found: Iterable[tuple[str, PartFacts]], n_features: int | None, first_index: int | None = None
) -> Schema:
    """Combine the types of all parts; incompatible parts raise an error."""
    first: tuple[str, PartFacts] | None = None
    dtypes, labels, ranges = set(), [], []
    kinds: dict[str, tuple[str, str]] = {}
    for name, facts in found:
        if facts.indices is not None:
            ranges.append(facts.indices)
            if first_index is not None and facts.indices[0] < first_index:
                msg = (
                    f"{name} has an index {facts.indices[0]}. Expected {first_index} or above. Repair it (first_index)."
                )
                raise SourceError(msg)
        if facts.dtype is not None:
            dtypes.add(facts.dtype)
        if facts.labels is not None:
            labels.append((name, facts.labels, facts.labels_are_written))
        if facts.n_features is not None:
            first = first or (name, facts)
            _require_same(name, facts, *first)
        for column, kind in zip(facts.names or (), facts.kinds or (), strict=False):
            if kind is not None:
                _require_kind(name, column, kind, *kinds.setdefault(column, (name, kind)))
    width = None if first is None else first[1].n_features
    first_index = None if not ranges else min(1, *(low for low, _ in ranges)) if first_index is None else first_index
    if first_index is not None and width is None:
        width = n_features or max(1, *(highest + 1 - first_index for _, highest in ranges))
    names = None if first is None else first[1].names
    found_kinds = tuple(kinds[column][1] if column in kinds else NUMBER for column in names or ())
    is_table = bool(set(found_kinds) - {NUMBER})
    return Schema(
        np.result_type(*dtypes) if dtypes and not is_table else np.dtype(np.float64),
        width,
        names,
        united_kind(labels) if labels else None,
        first_index,
        found_kinds if is_table else None,
    )


def _require_kind(name: str, column: str, kind: str, first_name: str, first: str) -> None:
    """Raise an error for a column of different kinds in two parts."""
    if kind != first:
        msg = (
            f"{name}: the column {column!r} holds {PLURALS[kind]}, but {PLURALS[first]} in {first_name}. Say what "
            f"it is (kinds={{{column!r}: 'category'}}), or leave it out."
        )
        raise SourceError(msg)


def _require_same(name: str, facts: PartFacts, first_name: str, first: PartFacts) -> None:
    """Raise an error for a part with other columns than the first one, in any order."""
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
    """Return names, shortened to the first ones if there are many."""
    if names is None:
        return "(without names)"
    return f"[{', '.join(map(repr, names[:20]))}{', ...' if len(names) > 20 else ''}]"  # noqa: PLR2004
