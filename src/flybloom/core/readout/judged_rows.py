"""Which rows of `fit` say how sure scores may be: some, chosen by their winners, so that no order matters."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array, Winners

MOST_ROWS, LEAST_ROWS = 2048, 1024  # about how many are judged, of many rows
WORK = 2**22  # rows times components, up to which there are the most
FEW_ROWS = 30  # of which nothing can be told
TELLING_WINNERS = 16  # of a row, by which it is chosen, evenly from all
HASH_WORD = np.uint64(0x9E3779B97F4A7C15)


class JudgedRows:
    """Keeps the winners of the rows that are chosen, while all of them are counted; so none is hashed again.

    Parameters
    ----------
    n_rows : float
        All rows, weights included.
    n_components : int
        Of the hash: a row costs their square to judge.
    """

    def __init__(self, n_rows: float, n_components: int) -> None:
        wanted = max(LEAST_ROWS, min(MOST_ROWS, WORK // n_components))
        self.share = wanted / n_rows if n_rows >= FEW_ROWS else 0.0
        self._parts: list[tuple[int, Array, Winners]] = []

    def __call__(self, block: slice, winners: Winners) -> None:
        """Look at the winners of a block of rows, in ascending order; from several threads."""
        chosen = np.flatnonzero(_fractions(winners) < self.share)
        self._parts.append((block.start, block.start + chosen, winners[chosen]))

    def places(self) -> Array:
        """Return which rows were chosen, in order."""
        return np.concatenate([np.empty(0, np.int64), *(places for _, places, _ in self._in_order())])

    def winners(self) -> Winners:
        """Return the winners of the chosen rows, if there are any, in the same order."""
        return np.concatenate([winners for _, _, winners in self._in_order()])

    def _in_order(self) -> list[tuple[int, Array, Winners]]:
        """Return what was kept, in the order of the blocks."""
        return sorted(self._parts, key=lambda part: part[0])


def _fractions(winners: Winners) -> Array:
    """Return a number from 0 to 1 for each row, as if drawn at random, but the same for the same winners."""
    some = winners[:, :: max(1, winners.shape[1] // TELLING_WINNERS)][:, :TELLING_WINNERS]
    words = (some.astype(np.uint64) + np.uint64(1)) * HASH_WORD
    words ^= words >> np.uint64(29)
    total = (words * HASH_WORD).sum(axis=1, dtype=np.uint64)
    total ^= total >> np.uint64(32)
    return np.asarray((total * HASH_WORD >> np.uint64(11)) / np.float64(2**53))
