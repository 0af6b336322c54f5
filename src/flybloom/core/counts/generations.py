"""Counts that fade by halves: rows of one generation weigh twice as much as those of the one before.

The sum of generations, each times its power of two, is whole, so nothing is ever rounded. What is oldest weighs one.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from flybloom._internal.typing import Array
from flybloom.core.counts.base import Counts

N_GENERATIONS = 8
NEWEST = 2 ** (N_GENERATIONS - 1)
"""How much a row of the newest generation weighs, where one of the oldest weighs one."""


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
