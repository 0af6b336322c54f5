"""What windows keep: the winners of the rows that they must forget, or counts that fade by halves.

Rows of one generation weigh twice as much as those of the one before. The sum of generations, each times its power of
two, is whole, so nothing is ever rounded. What is oldest weighs one.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from flybloom._internal.hashed import LARGEST, room_for
from flybloom._internal.typing import Array
from flybloom.core.counts.base import Counts, Won
from flybloom.core.counts.columns import codes_of, unite
from flybloom.core.counts.label_json import labels_from_json, labels_to_json

SMALL = 2**16  # components whose numbers fit into 16 bits
ARRAYS = ("kept_winners", "kept_codes", "kept_weights", "kept_times")
N_GENERATIONS = 8
NEWEST = 2 ** (N_GENERATIONS - 1)
"""How much a row of the newest generation weighs, where one of the oldest weighs one."""


class _Rows(NamedTuple):
    """Arrays with room for more rows than there are; those between the bounds are kept."""

    winners: Array
    codes: Array  # of the labels among `classes`; where rows have targets, these, whole numbers of (n_rows, n_outputs)
    weights: Array
    times: Array
    classes: Array | None  # sorted; None where rows have no labels
    bounds: Array  # first, and one beyond the last

    @property
    def begin(self) -> int:
        """The first that is kept."""
        return int(self.bounds[0])

    @property
    def end(self) -> int:
        """One beyond the last."""
        return int(self.bounds[1])


class KeptWinners:
    """Winners, labels, weights and times of rows, in the order in which they came.

    All of it is one value that is replaced at once. Rows are first written where nobody looks; `move` keeps them.

    Parameters
    ----------
    n_components : int
        Components of the hash.
    n_winners : int
        Winners of each row.
    """

    def __init__(self, n_components: int, n_winners: int) -> None:
        winners, none = room_for(0, n_components, n_winners), np.zeros(0, np.int32)
        if n_winners and n_components <= SMALL:
            winners = winners.astype(np.uint16)
        self._rows = _Rows(winners, none, none, np.zeros(0), None, np.zeros(2, np.int64))

    def __len__(self) -> int:
        """Return how many rows are kept."""
        return self._rows.end - self._rows.begin

    @property
    def n_bytes(self) -> int:
        """Bytes of the arrays, the room for more rows included."""
        rows = self._rows
        return rows.winners.nbytes + rows.codes.nbytes + rows.weights.nbytes + rows.times.nbytes

    @property
    def times(self) -> Array:
        """When each of the rows came."""
        return self._rows.times[self._rows.begin : self._rows.end]

    @property
    def bounds(self) -> Array:
        """Where the rows begin and end that are kept, for a kernel that moves them; `move` does the same."""
        return self._rows.bounds

    def oldest(self, n: int) -> Won:
        """Return the first rows of those kept."""
        return self._won(slice(self._rows.begin, self._rows.begin + n))

    def write(self, won: Won, times: Array) -> None:
        """Write rows behind those that are kept; they are not yet among them."""
        if won.labels is not None and won.labels.ndim > 1 and self._rows.codes.ndim == 1:
            self._rows = self._rows._replace(codes=np.zeros((len(self._rows.weights), won.labels.shape[1]), np.int64))
        rows = self._with_room(len(won.weights))
        codes: Any = 0
        if rows.codes.ndim > 1:
            codes = won.labels
        elif won.labels is not None:
            rows = _with_classes(rows, won.labels)
            assert rows.classes is not None  # noqa: S101 - just united
            codes = codes_of(won.labels, rows.classes)
        new = slice(rows.end, rows.end + len(won.weights))
        rows.winners[new], rows.codes[new], rows.weights[new] = won.winners, codes, won.weights
        rows.times[new] = times
        self._rows = rows

    def move(self, n_came: int, n_went: int) -> None:
        """Keep rows that were written, and no longer the oldest ones."""
        rows = self._rows
        self._rows = rows._replace(bounds=rows.bounds + np.array([n_went, n_came]))

    def copied(self) -> Self:
        """Return the same rows, in arrays of their own."""
        twin = object.__new__(type(self))
        rows, kept = self._rows, slice(self._rows.begin, self._rows.end)
        arrays = (rows.winners[kept].copy(), rows.codes[kept].copy(), rows.weights[kept].copy(), self.times.copy())
        twin._rows = _Rows(*arrays, rows.classes, np.array([0, len(self)]))
        return twin

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return facts for JSON, and arrays."""
        rows, kept = self._rows, slice(self._rows.begin, self._rows.end)
        facts = {"classes": None if rows.classes is None else labels_to_json(rows.classes)}
        codes = rows.codes[kept]
        codes = codes.astype(np.uint32) if codes.ndim == 1 else codes.view(np.uint64)  # two's complement
        weights = rows.weights[kept].astype(np.uint32)
        winners = rows.winners[kept]
        winners = winners.view(np.uint8) if winners.dtype == np.int8 else winners  # two's complement as well
        return facts, dict(zip(ARRAYS, (winners, codes, weights, rows.times[kept]), strict=True))

    @classmethod
    def from_parts(cls, n_components: int, n_winners: int, facts: Any, arrays: dict[str, Array]) -> Self:
        """Return the rows of a file; ValueError if it is invalid."""
        kept = cls(n_components, n_winners)
        empty = kept._rows
        labels = facts.get("classes") if isinstance(facts, dict) else None
        try:
            classes = None if labels is None else labels_from_json(labels)
        except (ValueError, TypeError, OverflowError) as error:
            msg = f"the classes of its window are wrong ({error})"
            raise ValueError(msg) from error
        winners, codes, weights, times = (arrays.get(name) for name in ARRAYS)
        if winners is not None and n_winners == 0 and winners.dtype == np.uint8:
            winners = np.ascontiguousarray(winners).view(np.int8)
        n_classes = 1 if classes is None else classes.size
        if (
            winners is None
            or codes is None
            or weights is None
            or times is None
            or winners.dtype != empty.winners.dtype
            or winners.ndim != 2  # noqa: PLR2004
            or winners.shape[1] != empty.winners.shape[1]
            or codes.dtype.kind != "u"
            or weights.dtype.kind != "u"
            or times.dtype != np.float64
            or (codes.ndim > 1 and codes.dtype != np.uint64)
            or not codes.shape[:1] == weights.shape == times.shape == winners.shape[:1]
        ):
            msg = "its window is not winners, a label, a weight and a time for each row"
            raise ValueError(msg)
        if (
            (n_winners and ((winners >= n_components).any() or (winners[:, 1:] <= winners[:, :-1]).any()))
            or (not n_winners and (winners < -LARGEST).any())
            or (codes.ndim == 1 and (codes >= n_classes).any())
            or (weights > 2**29).any()
            or not np.isfinite(times).all()
            or (times[1:] < times[:-1]).any()
        ):
            msg = "its window has winners, labels or times that no rows have"
            raise ValueError(msg)
        codes = codes.astype(np.int32) if codes.ndim == 1 else np.ascontiguousarray(codes).view(np.int64)
        kept._rows = _Rows(winners, codes, weights.astype(np.int32), times, classes, np.array([0, len(weights)]))
        return kept

    def _won(self, some: slice) -> Won:
        """Return rows as they are counted."""
        rows = self._rows
        labels = None if rows.classes is None else rows.classes[rows.codes[some]]
        if rows.codes.ndim > 1:
            labels = rows.codes[some]
        return Won(rows.winners[some], labels, rows.weights[some].astype(np.int64))

    def _with_room(self, n: int) -> _Rows:
        """Return the rows with room for so many more, in arrays twice as long as those kept if there is none."""
        rows, n_kept = self._rows, len(self)
        if rows.end + n <= len(rows.weights):
            return rows
        capacity, kept = 2 * (n_kept + n), slice(rows.begin, rows.end)
        arrays: list[Array] = [rows.winners, rows.codes, rows.weights, rows.times]
        larger = arrays  # rows move to the front where there is room for as many again
        if capacity > len(rows.weights) or n_kept > rows.begin:
            larger = [np.empty((capacity, *array.shape[1:]), array.dtype) for array in arrays]
        for new, old in zip(larger, arrays, strict=True):
            new[:n_kept] = old[kept]
        winners, codes, weights, times = larger
        return _Rows(winners, codes, weights, times, rows.classes, np.array([0, n_kept]))


def _with_classes(rows: _Rows, labels: Array) -> _Rows:
    """Return the rows with all labels among their classes; classes that no row has any more are left out."""
    if rows.classes is None:
        return rows._replace(classes=unite(np.empty(0), labels))
    classes = unite(rows.classes, labels)
    if classes is rows.classes:
        return rows
    kept = slice(rows.begin, rows.end)
    present = np.unique(rows.codes[kept])
    classes = unite(rows.classes[present], labels)
    place = np.zeros(rows.classes.size, np.int32)
    place[present] = codes_of(rows.classes[present], classes)
    codes = rows.codes.copy()
    codes[kept] = place[codes[kept]]
    return rows._replace(classes=classes, codes=codes)


class Generations(NamedTuple):
    """Counts of the rows of each generation, weighed alike; a value, which is replaced.

    Parameters
    ----------
    current : Counts
        Of the generation that is being learned.
    n_rows : int
        How many rows it has.
    closed : tuple of Counts
        Of those before, the latest first.
    """

    current: Counts
    n_rows: int = 0
    closed: tuple[Counts, ...] = ()

    def total(self) -> Counts:
        """Return all generations as they weigh now: each twice as much as the one before."""
        total = self.current
        for counts in self.closed:
            total = total.plus(total).plus(counts)
        for _ in range(N_GENERATIONS - 1 - len(self.closed)):
            total = total.plus(total)
        return total

    def after(self, delta: Any, n_rows: int) -> Self:
        """Return the generations with more rows in the current one."""
        return self._replace(current=self.current.plus(delta), n_rows=self.n_rows + n_rows)

    def next(self) -> Self:
        """Return the generations at the beginning of a new one; the oldest is forgotten."""
        nothing = self.current.minus(self.current)
        return self._replace(current=nothing, n_rows=0, closed=(self.current, *self.closed)[: N_GENERATIONS - 1])

    def copied(self) -> Self:
        """Return the generations themselves, which never change."""
        return self

    @property
    def n_bytes(self) -> int:
        """Bytes of all counts."""
        return self.current.n_bytes + sum(counts.n_bytes for counts in self.closed)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return facts for JSON, and arrays, of each generation."""
        parts = [counts.to_parts() for counts in (self.current, *self.closed)]
        arrays = {f"generation_{i}_{name}": array for i, (_, own) in enumerate(parts) for name, array in own.items()}
        return {"n_rows": self.n_rows, "generations": [facts for facts, _ in parts]}, arrays

    @classmethod
    def from_parts(
        cls, counts_type: type[Counts], n_components: int, n_winners: int, facts: Any, arrays: dict[str, Array]
    ) -> Self:
        """Return the generations of a file; ValueError if it is invalid."""
        stored = facts.get("generations") if isinstance(facts, dict) else None
        n_rows = facts.get("n_rows") if isinstance(facts, dict) else None
        if (
            not (isinstance(stored, list) and 1 <= len(stored) <= N_GENERATIONS)
            or not all(isinstance(entry, dict) for entry in stored)
            or type(n_rows) is not int
            or n_rows < 0
        ):
            msg = f"its generations are not 1 to {N_GENERATIONS}, with the rows of the first"
            raise ValueError(msg)
        counts = []
        for i, entry in enumerate(stored):
            prefix = f"generation_{i}_"
            own = {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}
            counts.append(counts_type.from_parts(n_components, n_winners, entry, own))
        return cls(counts[0], n_rows, tuple(counts[1:]))
