"""From a seed to connections, and from rows to winners."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from flybloom import _kernels
from flybloom._typing import Array, Features, Winners

VERSION = 1
"""Version of how connections follow from a seed; a change would change every hash."""

FEW_ROWS = 16  # up to here narrow strips of rows waste less than they cost
NARROW, WIDE = (0,) * 3, (0,) * 5  # strips of 8 and of 32 rows, see dense_winners
LOWEST_FLOAT, HIGHEST_FLOAT = -0x7F800001, 0x7F800000  # minus and plus infinity as ordered integers
DENSE_ENOUGH = 1 / 64  # share of nonzeros from which rows are hashed faster as dense ones


class InvertedConnections(NamedTuple):
    """For each feature, which components it feeds and at which place; see invert_connections."""

    starts: Array
    components: Array
    places: Array


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
    """

    def __init__(self, seed: int, n_features: int, n_components: int, n_connections: int, *, signed: bool) -> None:
        self.seed = seed
        self.n_features = n_features
        self.n_components = n_components
        self.n_connections = n_connections
        self.signed = signed

    @cached_property
    def octets(self) -> Array:
        """Connections as the kernels read them: ``[j // 8, k, j % 8]``, plus n_features where negative."""
        largest = self.n_features * (2 if self.signed else 1) - 1
        dtype = np.uint16 if largest <= np.iinfo(np.uint16).max else np.uint32
        octet = _kernels.connections.OCTET
        octets = np.zeros((-(-self.n_components // octet), self.n_connections, octet), dtype)
        _kernels.connections.draw_connections(
            np.uint64(self.seed), np.uint64(VERSION), self.n_features, self.signed, 0, self.n_components, octets
        )
        return octets

    @cached_property
    def inverted(self) -> InvertedConnections:
        """The same connections by feature, for sparse rows."""
        n_links = self.n_components * self.n_connections
        inverted = InvertedConnections(
            np.zeros(self.n_features + 1, np.int64), np.empty(n_links, np.uint32), np.empty(n_links, np.uint32)
        )
        _kernels.connections.invert_connections(self.octets, self.n_components, self.n_features, *inverted)
        return inverted

    def draw(self, *, sparse: bool) -> None:
        """Draw the connections now, once, rather than in several threads at the same time."""
        _ = self.inverted if sparse else self.octets

    def connections(self) -> tuple[Array, Array]:
        """Return features and signs, each of shape (n_components, n_connections)."""
        rows = self.octets.transpose(0, 2, 1).reshape(-1, self.n_connections)[: self.n_components]
        is_negative = rows >= self.n_features
        return (rows % self.n_features).astype(np.uint32), np.where(is_negative, -1, 1).astype(np.int8)

    def winners(self, rows: Features, n_winners: int, *, ordered: bool = True) -> Winners:
        """Return the components with the largest sums of each row, the largest first, ties to the smaller index.

        Integers are summed exactly, floats in float32 in the order of the connections. Where they need not be
        `ordered`, the same components come in ascending order, which takes less time.
        """
        out = np.empty((rows.shape[0], n_winners), np.uint32)
        if rows.shape[0] == 0:
            return out
        if sparse.issparse(rows):
            if rows.nnz < DENSE_ENOUGH * rows.shape[0] * self.n_features and self._write_sparse_winners(rows, out):
                if not ordered:
                    out.sort(axis=1)
                return out
            rows = rows.toarray()
        if rows.dtype.kind == "f":
            with np.errstate(over="ignore"):  # what becomes infinite is refused
                rows = np.ascontiguousarray(rows, np.float32)
            self._write_float_winners(rows, ordered, out)
        else:
            self._write_integer_winners(rows, ordered, out)
        return out

    def _write_float_winners(self, rows: Array, ordered: bool, out: Winners) -> None:
        """Hash float32 rows."""
        self._require_finite_sums(rows)
        limits = np.empty(_kernels.winners.POINTS, np.int32)
        self._write_dense_winners(rows, 0.0, LOWEST_FLOAT, HIGHEST_FLOAT, limits, ordered, out)

    def _write_integer_winners(self, rows: Array, ordered: bool, out: Winners) -> None:
        """Hash integer rows in the narrowest type that holds the range of all sums."""
        low, high = self._range_of_sums(rows)
        for dtype in (np.int16, np.int32):
            limit = np.iinfo(dtype)
            if high - low < limit.max - limit.min:
                start = np.asarray(limit.min + 1 - low).astype(dtype).item()  # wraps around, as the sums then do
                limits = np.empty(_kernels.winners.POINTS, dtype)
                rows = np.ascontiguousarray(rows.astype(dtype))
                self._write_dense_winners(rows, start, int(limit.min), int(limit.max), limits, ordered, out)
                return
        if max(high, -low) > np.iinfo(np.int64).max:
            msg = (
                f"The sums of {self.n_connections} features reach {max(high, -low)}, which no 64-bit integer holds. "
                "Scale the data or convert it to float."
            )
            raise ValueError(msg)
        _kernels.wide.wide_winners(np.ascontiguousarray(rows, np.int64), self.octets, self.n_components, out)
        if not ordered:
            out.sort(axis=1)

    def _write_dense_winners(
        self, rows: Array, start: float, lowest: int, highest: int, limits: Array, ordered: bool, out: Winners
    ) -> None:
        """Call the kernel, with strips as wide as the rows fill."""
        width = NARROW if len(rows) <= FEW_ROWS else WIDE
        is_float = rows.dtype.kind == "f"
        _kernels.winners.dense_winners(
            rows,
            self.octets,
            self.n_components,
            out.shape[1],
            self.signed,
            rows.dtype.type(start),
            lowest,
            highest,
            limits,
            is_float,
            width,
            ordered,
            out,
        )

    def _write_sparse_winners(self, rows: sparse.csr_matrix, out: Winners) -> bool:
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
        """Refuse floats whose sums could leave the range of float32."""
        if values.size == 0:
            return
        largest = max(float(values.max()), -float(values.min()))
        if not largest * self.n_connections <= float(np.finfo(np.float32).max):
            msg = (
                f"Values of size {largest:.3g} are too large: sums of {self.n_connections} of them must stay within "
                "float32. Scale the data, for example with scaling='standard'."
            )
            raise ValueError(msg)
