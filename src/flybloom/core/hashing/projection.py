"""From a seed to connections, and from rows to winners, in ascending order or ranked by their sums."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.cached import cached_property
from flybloom._internal.typing import Array, Features, Winners, issparse
from flybloom.core import _kernels
from flybloom.core._kernels import _plain
from flybloom.core._kernels._choice import loops, stays_plain

VERSION = 1
"""Version of how connections follow from a seed; a change would change every hash."""

WINDOW_VERSION = 2
"""Version of how connections within windows follow from a seed; only where rows have a grid."""

OCTET = 8  # components whose connections lie side by side
FEW_ROWS, FEW_WIDE_ROWS = 8, 2  # up to here one after the other is faster than side by side: by rough sums, and without
ROUGH_ROW, EXACT_ROW = 2**14, 2**16  # values that a row counts as, see _kernels/_choice.py
MAX_COLUMNS_PER_CONNECTION = 8  # beyond, rough sums of all columns take longer than exact ones of all connections
MAX_ROUGH_CONNECTIONS = 256  # sums of so many bytes stay within 16 bits
MAX_SIGNS = 2**26  # bytes of the matrix of signs
LAST_COMPONENT = 0xFFFFFFFF  # less the component: so keys are ordered, and ties go to the smaller one
MOST_CONNECTIONS = 2**14  # of more, sums of 16 bits tell little: they are exact from the start
MOST_FEATURES = 2**18  # of rows that are rewritten side by side, unless more than that is summed
MAX_DENSE_VALUES = 2**20  # of sparse rows that are hashed as dense ones at a time
DENSE_ENOUGH = 1 / 64  # share of nonzeros from which rows are hashed faster as dense ones
VALUES_AT_ONCE = 2**20  # of rows and their negatives


class InvertedConnections(NamedTuple):
    """For each feature, which components it feeds and at which place; see invert_connections."""

    starts: Array
    components: Array
    places: Array


@dataclass(frozen=True)
class Projection:
    """The connections of m components to s of d features each, drawn from a seed.

    A pure function of its arguments and of VERSION: the same on every machine, and nested. The first rows of
    a larger projection are the smaller one, and the first connections of each row are those of a smaller s.

    Parameters
    ----------
    seed : int
        From 0 up to 2**64 - 1.
    n_features, n_components, n_connections : int
        d, m and s in the paper.
    signed : bool
        Whether each connection gets a random sign; the features stay the same.
    grid : tuple of int or None
        Height, width and channels of the rows, where each component is to see a random window of them. Windows have
        room for all connections, so here those of a smaller s are others; and half of the signs are negative.
    """

    seed: int
    n_features: int
    n_components: int
    n_connections: int
    signed: bool
    grid: tuple[int, ...] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the connections, which are derived."""
        return type(self), (self.seed, self.n_features, self.n_components, self.n_connections, self.signed, self.grid)

    @property
    def version(self) -> int:
        """Version of how connections follow from the seed."""
        return VERSION if self.grid is None else WINDOW_VERSION

    @property
    def n_bytes(self) -> int:
        """Bytes that the connections need."""
        return self.n_components * self.n_connections * self._dtype().itemsize

    def _dtype(self) -> np.dtype[Any]:
        """Return the narrowest type of a connection."""
        largest = self.n_features * (2 if self.signed else 1) - 1
        return np.dtype(np.uint16 if largest <= np.iinfo(np.uint16).max else np.uint32)

    @cached_property
    def packed_connections(self) -> Array:
        """Connections as the kernels read them: ``[j // 8, k, j % 8]``, plus n_features where negative."""
        packed = np.zeros((-(-self.n_components // OCTET), self.n_connections, OCTET), self._dtype())
        drawing = loops("connections", self.n_components * max(self.n_connections, self.n_features // 16))
        if self.grid is not None:
            shape, sides = np.array(self.grid), window_sides(self.grid, self.n_connections)
            drawing.draw_window_connections(
                np.uint64(self.seed), np.uint64(WINDOW_VERSION), shape, sides, self.signed, self.n_components, packed
            )
            return packed
        drawing.draw_connections(
            np.uint64(self.seed), np.uint64(VERSION), self.n_features, self.signed, 0, self.n_components, packed
        )
        return packed

    def prepare(self, *, is_sparse: bool) -> None:
        """Draw what hashing needs, before several threads do."""
        _ = self.inverted if is_sparse else self.packed_connections

    @property
    def has_signs(self) -> bool:
        """Whether single rows are hashed by the signs of connections: rough sums first, exact ones of the best."""
        return (
            self.n_connections <= MAX_ROUGH_CONNECTIONS
            and self.n_features <= MAX_COLUMNS_PER_CONNECTION * self.n_connections
            and self.n_components * self.n_features <= MAX_SIGNS
        )

    @cached_property
    def signs(self) -> Array | None:
        """Connections as a matrix of signs, for single rows: ``[j // 64, feature, j % 64]``; None where it is large."""
        if not self.has_signs:
            return None
        tile = _kernels.one_row.TILE
        signs = np.zeros((-(-self.n_components // tile), self.n_features, tile), np.int8)
        _kernels.one_row.fill_signs(self.packed_connections, self.n_features, signs)
        return signs

    @cached_property
    def inverted(self) -> InvertedConnections:
        """The same connections by feature, for sparse rows."""
        n_links = self.n_components * self.n_connections
        inverted = InvertedConnections(
            np.zeros(self.n_features + 1, np.int64), np.empty(n_links, np.uint32), np.empty(n_links, np.uint32)
        )
        _kernels.connections.invert_connections(self.packed_connections, self.n_components, self.n_features, *inverted)
        return inverted

    def connections(self) -> tuple[Array, Array]:
        """Return features and signs, each of shape (n_components, n_connections)."""
        rows = self.packed_connections.transpose(0, 2, 1).reshape(-1, self.n_connections)[: self.n_components]
        rows = rows.astype(np.uint32)  # 2**16 features themselves are beyond 16 bits
        is_negative = rows >= self.n_features
        return rows % np.uint32(self.n_features), np.where(is_negative, -1, 1).astype(np.int8)

    def winners(self, rows: Features, n_winners: int) -> Winners:
        """Return the components with the largest sums of each row, in ascending order; of those that tie, the first.

        Integers are summed exactly, floats in float32 in the order of the connections.
        """
        out = np.empty((rows.shape[0], n_winners), np.uint32)
        if rows.shape[0] == 0:
            return out
        if issparse(rows):
            if rows.nnz < DENSE_ENOUGH * rows.shape[0] * self.n_features and self._write_sparse_winners(rows, out):
                out.sort(axis=1)
                return out
            return self._winners_of_dense_parts(rows, out)
        if rows.dtype.kind == "f":
            with np.errstate(over="ignore"):  # what becomes infinite is refused
                rows = np.ascontiguousarray(rows, np.float32)
            self._require_finite_sums(rows)
        else:
            rows = self._narrowed(rows)
        self._write_dense_winners(rows, out)
        return out

    def _winners_of_dense_parts(self, rows: Features, out: Winners) -> Winners:
        """Hash sparse rows as dense ones, few at a time, because as dense ones they may be far larger."""
        step = max(1, MAX_DENSE_VALUES // self.n_features)
        for begin in range(0, rows.shape[0], step):
            part = rows[begin : begin + step].toarray()
            out[begin : begin + step] = self.winners(part, out.shape[1])
        return out

    def _narrowed(self, rows: Array) -> Array:
        """Return integers as int16 or, where their sums may need more than 32 bits, as int64."""
        low, high = self._range_of_sums(rows)
        if max(high, -low) > np.iinfo(np.int64).max:
            msg = (
                f"The sums of {self.n_connections} features reach {max(high, -low)}, which no 64-bit integer holds. "
                "Scale the data or convert it to float."
            )
            raise ValueError(msg)
        is_narrow = max(high, -low) // self.n_connections <= np.iinfo(np.int16).max
        return np.ascontiguousarray(rows, np.int16 if is_narrow else np.int64)

    def _write_dense_winners(self, rows: Array, out: Winners) -> None:
        """Hash rows side by side, or in sequence where they are few."""
        is_float, m, rho = rows.dtype.kind == "f", self.n_components, out.shape[1]
        n_summed = self.n_components * self.n_connections
        is_wide = self.n_features > max(MOST_FEATURES, n_summed)
        allowed = ("one_row",) if len(rows) <= FEW_ROWS else ("winners", "winners", "one_row")
        if (
            is_wide
            or stays_plain(allowed[0], len(rows) * n_summed, *allowed[1:])
            or self.n_connections >= MOST_CONNECTIONS
        ):
            wide = rows if is_float else rows.astype(np.int64)
            _plain.plain_winners(wide, self.packed_connections, m, self.signed, out)
            return
        is_rough = is_float and self.has_signs
        if rows.dtype != np.int64 and (
            len(rows) <= (FEW_ROWS if is_rough else FEW_WIDE_ROWS)
            or stays_plain("rows", len(rows) * (ROUGH_ROW if is_rough else EXACT_ROW), "winners")
        ):
            self._write_winners_of_few(rows, out)
            return
        rank = statistics.NormalDist().inv_cdf(1 - rho / (m + 1))
        if not self.signed:  # of all features, none is summed twice
            rank *= math.sqrt((self.n_features - self.n_connections + 1) / self.n_features)
        _kernels.winners.dense_winners(rows, self.packed_connections, m, rho, self.signed, is_float, rank, out)

    def _write_winners_of_few(self, rows: Array, out: Winners) -> None:
        """Hash rows in sequence."""
        is_float, m, rho = rows.dtype.kind == "f", self.n_components, out.shape[1]
        signs = self.signs if is_float else None
        keys = np.empty(m, np.int64)
        for row, winners in zip(rows if is_float else rows.astype(np.int32), out, strict=True):
            values = np.concatenate([row, -row])
            if signs is not None:
                n = _kernels.one_row.rough_candidates(values, self.packed_connections, signs, m, rho, keys)
            else:
                n = _kernels.one_row.exact_candidates(values, self.packed_connections, is_float, m, rho, keys)
            best = keys[:n]
            best.sort()
            winners[:] = LAST_COMPONENT - (best[-rho:] & LAST_COMPONENT)
        out.sort(axis=1)

    def _write_sparse_winners(self, rows: Features, out: Winners) -> bool:
        """Hash CSR rows; return False for integers that need more than 32 bits."""
        dtype: type[np.generic] = np.float32
        if rows.dtype.kind != "f":
            low, high = self._range_of_sums(rows.data)
            if max(high, -low) > np.iinfo(np.int32).max:
                return False
            dtype = np.int32
        with np.errstate(over="ignore"):
            data = rows.data.astype(dtype)
        if dtype is np.float32:
            self._require_finite_sums(data)
        sums = np.zeros(self.n_components, dtype)
        _kernels.sparse.sparse_winners(
            rows.indptr.astype(np.int64), rows.indices.astype(np.int64), data, *self.inverted,
            self.n_connections, self.n_components, sums, sums.view(np.int32), dtype is np.float32, out,
        )  # fmt: skip
        return True

    def _range_of_sums(self, values: Array) -> tuple[int, int]:
        """Return bounds for every sum of n_connections of these integers (zero included)."""
        if values.dtype.itemsize == 1 or values.size == 0:  # the type says enough
            low, high = (0, 1) if values.dtype.kind == "b" else (np.iinfo(values.dtype).min, np.iinfo(values.dtype).max)
        else:
            low, high = min(int(values.min()), 0), max(int(values.max()), 0)
        if self.signed:
            low = min(low, -high)
            high = max(high, -low)
        return int(low) * self.n_connections, int(high) * self.n_connections

    def _require_finite_sums(self, values: Array) -> None:
        """Raise an error for floats whose sums could leave the range of float32."""
        if values.size == 0:
            return
        largest = max(float(values.max()), -float(values.min()))
        if not largest * self.n_connections <= float(np.finfo(np.float32).max):
            msg = (
                f"Values of size {largest:.3g} are too large: sums of {self.n_connections} of them must stay within "
                "float32, below 3.4e38. Scale the data, for example with encoding='standard'."
            )
            raise ValueError(msg)


def window_sides(grid: tuple[int, ...], n_connections: int) -> Array:
    """Return the smallest and the largest height, then width, of a window: from a ninth to a half of the grid.

    Where not even the largest has room for all connections, up to the whole of it.
    """
    height, width, channels = grid
    sides = [(max(1, (side + 4) // 9), max(1, (side + 1) // 2)) for side in (height, width)]
    if sides[0][1] * sides[1][1] * channels < n_connections:
        sides = [(least, side) for (least, _), side in zip(sides, (height, width), strict=True)]
    return np.array(sides).ravel()


def ranked(projection: Projection, rows: Features, winners: Winners) -> Winners:
    """Return the winners of each row, the largest sum first, ties to the smaller component.

    `winners` are in ascending order. Their sums are added as hashing adds them.
    """
    result = np.empty_like(winners)
    step = max(1, VALUES_AT_ONCE // rows.shape[1])
    for begin in range(0, rows.shape[0], step):
        some = slice(begin, begin + step)
        sums = _sums(projection, rows[some].toarray() if issparse(rows) else rows[some], winners[some])
        result[some] = np.take_along_axis(winners[some], np.argsort(-sums, axis=1, kind="stable"), axis=1)
    return result


def _sums(projection: Projection, rows: Array, winners: Winners) -> Array:
    """Return the sum of each winner: of integers, or of float32 in the order of the connections."""
    rows = rows.astype(np.float32 if rows.dtype.kind == "f" else np.int64)
    values, (octet, lane) = np.concatenate([rows, -rows], axis=1), np.divmod(winners, 8)
    sums = np.zeros(winners.shape, rows.dtype)
    for k in range(projection.n_connections):
        places = projection.packed_connections[octet, k, lane].astype(np.intp)
        sums += np.take_along_axis(values, places, axis=1)
    return sums
