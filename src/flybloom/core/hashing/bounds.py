"""Bounds of sums for rows within a radius, rounding included.

The tighter of two bounds is used. The first propagates the minimum and maximum of every column through encoding and
sums with the operations of hashing, which are monotone. The second takes into account that columns move together, in l1
and l2 balls and through rotations, from Lipschitz constants of the encoding with a margin for rounding.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from flybloom._internal.typing import Array
from flybloom.core import _kernels
from flybloom.core.encoding.bins import SoftBins
from flybloom.core.encoding.columns import BiasColumns
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.gradients import Gradients
from flybloom.core.encoding.rotation import UNIT, Rotation, whole
from flybloom.core.encoding.step import Step, without_missing
from flybloom.core.hashing.hasher import Hasher

NORMS = ("linf", "l2", "l1")
ROUNDING = 2.0**-24  # by which a float32 may be off, relative to it
ROOM = 1.0 + 2.0**-30  # for what is computed here in float64
COMPONENTS_AT_ONCE = 2048
MAX_WHOLE = 2**62


class SumBounds:
    """Bounds of the sums of rows within a radius.

    Parameters
    ----------
    hasher : Hasher
        The hasher.
    norm : {"linf", "l2", "l1"}
        Norm of the change.
    """

    def __init__(self, hasher: Hasher, norm: str) -> None:
        if not hasher.n_winners:
            msg = (
                "The components of this model have values, which have no bounds here, so nothing can be certified. "
                "Expected a model that counts winners: set n_winners."
            )
            raise ValueError(msg)
        self._hasher, self._norm = hasher, norm
        projection, steps = hasher.projection, hasher.encoder.steps
        self._connections, self._m = projection.packed_connections, projection.n_components
        at = next((i for i, step in enumerate(steps) if isinstance(step, Rotation)), len(steps))
        is_linear_after = all(isinstance(step, BiasColumns) for step in steps[at + 1 :])
        self._rotation: Rotation | None = steps[at] if at < len(steps) and is_linear_after else None  # type: ignore[assignment]
        self._before = Encoder(hasher.encoder.n_features, None, steps[:at])
        self._places = next((step.n_places for step in steps if isinstance(step, SoftBins)), 1)
        has_slopes = hasher.encoder.step(Gradients) is None  # each histogram follows from many pixels
        self._moves_together = has_slopes and (self._rotation is not None or norm != "linf")
        if self._moves_together and self._rotation is None:
            self._steepness = self._of_components(_slopes(steps, hasher.encoder.n_features))

    def of(self, rows: Array, radius: Array) -> tuple[Array, Array, Array]:
        """Return bounds for rows with a radius each.

        Parameters
        ----------
        rows : ndarray of shape (n, n_features)
            The rows.
        radius : ndarray of shape (n,)
            How far each may move.

        Returns
        -------
        tuple of ndarray
            The smallest and the largest sum of each component that has one, and which cells of ferns are possible.
        """
        is_whole = not self._hasher.encoder.steps and rows.dtype.kind != "f"
        ends = _whole_ends(rows, radius, self._hasher.projection.n_connections) if is_whole else _ends(rows, radius)
        low, high = self._hashed(ends, is_whole=is_whole)
        ferns = self._hasher.ferns
        possible = np.zeros((len(rows), 0), bool) if ferns is None else ferns.possible(low, high)
        sums = self._sums(low, high)
        if not self._moves_together:
            return *sums, possible
        encoded = self._hashed((rows, rows), is_whole=is_whole)[0]
        middle = self._sums(encoded, encoded)[0].astype(np.float64)
        down, up = self._by_steepness(radius) if self._rotation is None else self._by_rotation(rows, ends, radius)
        if not is_whole:
            size = np.maximum(np.abs(low), np.abs(high))
            s = self._hasher.projection.n_connections
            rounding = 2 * (s + 6) * ROUNDING * self._sums(size, size, signed=False)[0].astype(np.float64)
            rounding += 2.0**-100 if self._places == 1 else 2 * s * self._places * 8 * ROUNDING
            down, up = down * ROOM + rounding, up * ROOM + rounding
        return np.maximum(sums[0], middle - down), np.minimum(sums[1], middle + up), possible

    def _hashed(self, ends: tuple[Array, Array], *, is_whole: bool) -> tuple[Array, Array]:
        """Return the bounds of the columns that are summed."""
        low, high = ends
        for step in self._hasher.encoder.steps:
            low, high = step.between(low, high)
        if is_whole:
            return low.astype(np.int64), high.astype(np.int64)
        with np.errstate(over="ignore"):
            return without_missing(low.astype(np.float32)), without_missing(high.astype(np.float32))

    def _sums(self, low: Array, high: Array, *, signed: bool = True) -> tuple[Array, Array]:
        """Return the sums at both ends, of columns that count with their signs, or all as they are."""
        out = np.empty((len(low), self._m), low.dtype), np.empty((len(low), self._m), low.dtype)
        sign = -1 if signed else 1
        least, most = (low, high) if signed else (high, low)
        with np.errstate(over="ignore", invalid="ignore"):
            _kernels.certify.interval_sums(
                np.hstack([low, sign * most]), np.hstack([high, sign * least]), self._connections, *out
            )
        return out

    def _by_steepness(self, radius: Array) -> tuple[Array, Array]:
        """Return how much sums can move where each column follows from one feature."""
        reach = radius[:, None] * self._steepness
        return reach, reach

    def _of_components(self, slopes: Array) -> Array:
        """Return how much each sum changes at most for a step of length one, in the dual norm."""
        connections, _ = self._hasher.projection.connections()
        m, s = connections.shape
        last = self._hasher.encoder.n_features - 1
        features = np.minimum(connections // self._places, last)  # constants have slope 0
        places = np.repeat(np.arange(m), s), features.ravel()
        by_feature = sparse.coo_matrix((slopes[connections].ravel(), places)).tocsr()  # adds up what shares a feature
        if self._norm == "l1":
            return np.asarray(by_feature.max(axis=1).toarray().ravel() * ROOM)
        squares = np.asarray(by_feature.multiply(by_feature).sum(axis=1)).ravel()
        return np.asarray(np.sqrt(squares) * ROOM)

    def _by_rotation(self, rows: Array, ends: tuple[Array, Array], radius: Array) -> tuple[Array, Array]:
        """Return how much sums can move that see the columns through a rotation: a sum is linear in what is rotated."""
        assert self._rotation is not None  # noqa: S101 - asked where there is one
        low, high = ends
        middle = rows.astype(np.float64)
        for step in self._before.steps:
            low, high = step.between(low, high)
            middle = step.apply(middle)
        below, above = (whole(middle) - whole(low)) / UNIT, (whole(high) - whole(middle)) / UNIT
        width, lean, may_jump = below + above, above - below, (below + above > 0) / UNIT
        matrix = self._rotation.matrix.astype(np.float64)
        matrix = np.vstack([matrix.T, np.zeros((self._hasher.encoder.n_outputs - matrix.shape[1], len(matrix)))])
        connections, signs = self._hasher.projection.connections()
        slopes = _slopes(self._before.steps, self._before.n_features)
        down, up = np.empty((len(rows), self._m)), np.empty((len(rows), self._m))
        for begin in range(0, self._m, COMPONENTS_AT_ONCE):
            some = slice(begin, begin + COMPONENTS_AT_ONCE)
            n = connections[some].shape[0]
            places = np.repeat(np.arange(n), connections.shape[1]), connections[some].ravel()
            picks = sparse.coo_matrix((signs[some].ravel().astype(float), places), (n, len(matrix))).tocsr()
            factors = (picks @ matrix).T  # columns before the rotation, to components
            sizes = np.abs(factors)
            spread, shift = width @ sizes, lean @ factors
            down[:, some], up[:, some] = (spread - shift) / 2, (spread + shift) / 2
            if self._norm == "linf":
                continue
            steep = (sizes * slopes[:, None]).reshape(-1, self._places, n).sum(axis=1)
            length = steep.max(axis=0) if self._norm == "l1" else np.sqrt((steep**2).sum(axis=0))
            reach = radius[:, None] * length + may_jump @ sizes
            down[:, some], up[:, some] = np.minimum(down[:, some], reach), np.minimum(up[:, some], reach)
        return down + 2.0**-40 * (1 + down), up + 2.0**-40 * (1 + up)


def _slopes(steps: tuple[Step, ...], n_features: int) -> Array:
    """Return how much each column changes at most for each unit of its feature."""
    slopes = np.ones(n_features)
    for step in steps:
        slopes = step.slopes(slopes)
    return slopes


def _ends(rows: Array, radius: Array) -> tuple[Array, Array]:
    """Return the smallest and the largest value of each feature, rounded outwards."""
    rows = rows.astype(np.float64)
    with np.errstate(over="ignore"):
        low, high = rows - radius[:, None], rows + radius[:, None]
    return np.nextafter(low, -np.inf), np.nextafter(high, np.inf)


def _whole_ends(rows: Array, radius: Array, n_connections: int) -> tuple[Array, Array]:
    """Return the smallest and the largest integer of each feature."""
    most = MAX_WHOLE // n_connections
    steps = np.floor(np.minimum(radius, float(most))).astype(np.int64)
    values = rows.astype(np.int64)
    if rows.size and max(abs(int(rows.max())), abs(int(rows.min()))) + int(steps.max(initial=0)) > most:
        msg = "Whole numbers this large cannot be certified: sums beyond 2**62. Convert the rows to float."
        raise ValueError(msg)
    return values - steps[:, None], values + steps[:, None]
