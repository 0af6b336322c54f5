"""Random ferns: winners that follow from binary tests of single columns.

A fern is a set of tests, each whether a column exceeds a cut (Özuysal, Calonder, Lepetit and Fua, "Fast keypoint
recognition using random ferns", IEEE TPAMI 32, 2010). Their results are the digits of a number, the cell of the row.
Each cell is a component, and each fern has exactly one winner. Sums of columns are smooth in each of them; ferns see
edges, and which of few columns go together, as trees do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flybloom._internal.cached import cached_property
from flybloom._internal.typing import Array, Winners
from flybloom.core._kernels._choice import loops
from flybloom.core._kernels._plain import HALF, philox
from flybloom.core.encoding.cuts import N_CUTS, Cuts

VERSION = 1  # of how tests follow from a seed
PURPOSE = 2  # of the random words, beside those of connections
SHARE = 0.375  # of the winners
MAX_TESTS = 4  # of a fern


@dataclass(frozen=True, eq=False)
class Ferns:
    """Ferns drawn from a seed, each test a column by its chance and one of its cuts.

    The first ferns of more are these, and the first tests of each are those of fewer.

    Parameters
    ----------
    cuts : Cuts
        What is drawn from.
    seed : int
        From 0 up to 2**64 - 1.
    n_ferns, n_tests : int
        How many there are, and how many tests each has.
    """

    cuts: Cuts
    seed: int
    n_ferns: int
    n_tests: int

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the tests, which are derived."""
        return Ferns, (self.cuts, self.seed, self.n_ferns, self.n_tests)

    @staticmethod
    def of(cuts: Cuts | None, seed: int, n_components: int, n_winners: int) -> Ferns | None:
        """Return ferns for three of eight winners, and at most as many components; None for too few of these."""
        n_ferns = int(SHARE * n_winners)
        n_tests = min((n_components // n_winners).bit_length() - 1, MAX_TESTS)
        return None if cuts is None or not n_ferns or n_tests < 1 else Ferns(cuts, seed, n_ferns, n_tests)

    @property
    def n_components(self) -> int:
        """Number of cells."""
        return self.n_ferns << self.n_tests

    @cached_property
    def tests(self) -> tuple[Array, Array]:
        """Columns and cuts, each of shape (n_ferns, n_tests)."""
        ferns = np.arange(self.n_ferns)
        blocks = [philox(block, ferns, PURPOSE, VERSION, self.seed) for block in range(-(-self.n_tests // 2))]
        words = np.concatenate(blocks)[: 2 * self.n_tests].T  # those of each fern side by side
        ends = self.cuts.chances.astype(np.uint64).cumsum()
        columns = np.searchsorted(ends, (words[:, ::2] * ends[-1]) >> HALF, side="right")
        chosen = ((words[:, 1::2] * np.uint64(N_CUTS)) >> HALF).astype(np.intp)
        places = columns * self.cuts.stride + self.cuts.stride - 1
        return places, np.ascontiguousarray(self.cuts.cuts[columns, chosen])

    def write(self, rows: Array, first: int, out: Winners) -> None:
        """Write the cells of encoded rows, numbered from `first`, to the last columns of `out`."""
        places, cuts = self.tests
        rows = np.ascontiguousarray(rows, np.float32)
        loops("ferns", len(rows) * places.size).write_cells(rows, places, cuts, first, out)

    def connections(self) -> tuple[Array, Array]:
        """Return the columns of each cell's tests and their results, 1 or -1: of shape (n_components, n_tests)."""
        n_cells = 1 << self.n_tests
        digits = (np.arange(n_cells)[:, None] >> np.arange(self.n_tests)) & 1
        signs = np.tile((2 * digits - 1).astype(np.int8), (self.n_ferns, 1))
        return np.repeat(self.tests[0], n_cells, axis=0), signs

    def possible(self, low: Array, high: Array) -> Array:
        """Return which cells rows between these bounds may have, of shape (n, n_components)."""
        places, cuts = self.tests
        may_be = np.ones((len(low), self.n_ferns, 1), bool)
        for test in range(self.n_tests):  # each doubles the cells
            no = low[:, places[:, test], None] <= cuts[:, test, None]
            yes = high[:, places[:, test], None] > cuts[:, test, None]
            may_be = np.concatenate([may_be & no, may_be & yes], axis=2)
        return may_be.reshape(len(low), self.n_components)

    def shares(self, cells: Winners, values: Array, n_columns: int) -> Array:
        """Return the values of the cells of each row, each divided among the columns of its fern's tests."""
        n_rows = len(cells)
        places = np.arange(n_rows)[:, None, None] * n_columns + self.tests[0][cells >> self.n_tests]
        parts = np.repeat(values.ravel() / self.n_tests, self.n_tests)
        return np.bincount(places.ravel(), parts, n_rows * n_columns).reshape(n_rows, n_columns)
