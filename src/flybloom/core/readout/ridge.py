"""Ridge regression from counts: the weights that rows would give, without a row.

With h the hash of a row (rho ones among m), G = sum of h h' counts pairs, q_c = sum of h over the n_c rows of class c
counts winners. Centred, A = G - n mu mu' and b_c = q_c - n_c mu with mu = diag(G) / n. The weights of class c are
``(A + alpha I)^-1 b_c``, its intercept ``n_c / n - mu' w_c``: regression of the indicator of the class, with an
intercept that is not shrunk. alpha is found by generalised cross-validation (Golub, Heath and Wahba 1979): of
``n rss / (n - df)^2``, both the residual sum of squares and the degrees of freedom follow from A and b alone.

What is solved here is derived and never kept in files. It is computed in float64 by LAPACK, so its last bits may depend
on the machine; the counts it follows from do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from flybloom._internal.blas import one_blas_thread
from flybloom._internal.typing import Array, Codes, Winners
from flybloom.core.counts.pairs import PairsByClass, PairsByTarget
from flybloom.core.counts.values import ValueSums
from flybloom.core.readout.leverage import Leverages
from flybloom.core.readout.linear import FrozenReadout, LinearReadout, TableWeights, in_units, unit_for
from flybloom.core.readout.penalty import ALPHAS, MAX_TARGETS, Targets, choose_alpha, mixed_targets

LEAST_UNIT = 1e-3  # of the mean eigenvalue, for data without any variance
MAX_DOUBLE = 1024  # components up to which factors are in double precision
TOLERANCE = 1e-11  # of the residual of the weights, relative to what they are solved for
MAX_STEPS = 40  # of conjugate gradients to get there
TILE = 64  # rows, and columns, that are set up together in the cache

Solvable = PairsByClass | PairsByTarget | ValueSums


class Ridge(NamedTuple):
    """Weights, and what they were solved with."""

    weights: Array  # (n_components, n_classes), int32, in units: sums of them are exact
    intercept: Array  # (n_classes,), float64
    alpha: float  # as a multiple of the mean eigenvalue
    gcv: tuple[tuple[float, float], ...]  # alphas that were tried, and their generalised cross-validation
    table: TableWeights  # the weights as the kernel reads them
    unit: float  # of the weights
    factor: Array  # upper Cholesky factor of A + alpha I in Fortran's order
    mean: Array  # (n_components,): how often each component wins
    exact: Array  # the weights before they were rounded, float64

    def read_out(self, shift: Array | float = 0.0, seed: int = 0) -> LinearReadout:
        """Return what makes scores and labels of winners, with something added to the intercept."""
        return LinearReadout(self.table, np.rint((self.intercept + shift) / self.unit), self.unit, seed)

    def frozen(self, classes: Array, shift: Array | float, temperature: float) -> FrozenReadout:
        """Return the same as files hold it."""
        return FrozenReadout(classes, self.weights, self.read_out(shift).intercept, self.unit, temperature)

    @one_blas_thread()
    def leave_one_out(self, winners: Winners, truth: Array, n_rows: float, weights: Array | float = 1.0) -> Array:
        """Return about the scores of learned rows, each as if it alone had not been learned; alpha stays.

        As near as the factor is, which is that of single precision for many components: enough to choose a temperature.
        The factor must be that of the counts themselves, not of those before. `LeftOut` is exact.
        """
        leverage = Leverages(self.factor, self.mean, n_rows).of_rows(winners)
        return without_own(self.read_out().scores(winners), truth, leverage * weights)

    @one_blas_thread()
    def class_similarity(self, counts: PairsByClass) -> Array:
        """Return the cosine between classes in their mean scores; see docs/ridge.md.

        The mean score of the rows of class i for class j is ``n_j / n + b_i' w_j / n_i``. Over ``n_j / n`` it is
        symmetric and, because ``b_i' w_j = b_i' (A + alpha I)^-1 b_j``, an inner product.
        """
        rows = counts.unit.rows(counts.class_count.astype(np.float64))
        share = rows / rows.sum()
        right = counts.unit.rows(counts.table) - np.outer(self.mean, rows)
        known = rows > 0
        products = np.zeros((rows.size, rows.size))
        inner = right[:, known].T @ self.exact[:, known]
        products[np.ix_(known, known)] = 1.0 + inner / np.outer(rows[known], share[known])
        lengths = np.sqrt(np.where(known, np.diag(products), 1.0))
        similarity = products / np.outer(lengths, lengths)
        similarity = np.clip((similarity + similarity.T) / 2, 0.0, 1.0)
        np.fill_diagonal(similarity, 1.0)
        return np.asarray(similarity)


@one_blas_thread()
def solve(counts: Solvable, alpha: float | str, before: Ridge | None = None) -> Ridge:
    """Return the weights for counts of at least one row.

    Parameters
    ----------
    counts : PairsByClass or PairsByTarget
        Pairs of winners, and winners by class or sums of targets.
    alpha : float or "gcv"
        Multiple of the mean eigenvalue that is added to the diagonal, or generalised cross-validation.
    before : Ridge or None, default=None
        What was solved for counts that differ little: with a fixed alpha, a few steps from there are enough.
    """
    system = System(counts)
    if not isinstance(alpha, str) and before is not None and before.exact.shape == system.right.shape:
        weights = _refined(system, alpha, before.factor, before.exact)
        if weights is not None:
            return _finished(system, weights, alpha, (), before.factor)
    gcv: tuple[tuple[float, float], ...] = ()
    matrix = system.matrix(system.dtype)
    if isinstance(alpha, str):
        alpha, criterion = choose_alpha(matrix, system.targets(), system.n_rows, system.unit)
        gcv = tuple(zip(ALPHAS, criterion.tolist(), strict=True))
    factor = weights = None
    with suppress(linalg.LinAlgError):  # too small a penalty for single precision
        factor = _factor(matrix.T, alpha * system.unit)
        weights = _refined(system, alpha, factor, None)
    if factor is None or weights is None:
        factor = system.factor(alpha, np.float64)
        weights = linalg.cho_solve((factor, False), system.right, check_finite=False)
    return _finished(system, weights, alpha, gcv, factor)


def indicator(codes: Codes, n_classes: int) -> Array:
    """Return a 1 for the class of each row, and zeros for the others."""
    truth = np.zeros((len(codes), n_classes))
    truth[np.arange(len(codes)), codes] = 1.0
    return truth


def without_own(scores: Array, truth: Array, leverage: Array) -> Array:
    """Return scores as if each row had not been learned.

    For a linear fit the residual of a row left out is its residual over one minus its leverage,
    ``1 / n + (h - mu)' (A + alpha I)^-1 (h - mu)``, times its weight.
    """
    return np.asarray(truth - (truth - scores) / np.maximum(1.0 - leverage, 1e-12)[:, None])


class System:
    """The centred equations."""

    def __init__(self, counts: Solvable) -> None:
        unit = counts.unit
        self.n_rows = float(unit.rows(counts.n_rows))
        sums, self.totals, self._spreads, self._are_classes = counts.right_side()
        self._unit, self._triangle = unit, counts.triangle
        self.mean = unit.rows(counts.sums) / self.n_rows
        self.right: Array = sums - np.outer(self.mean, self.totals)
        trace = float((unit.rows(counts.squares) - self.n_rows * self.mean * self.mean).sum())
        self.unit = max(trace / self.mean.size, LEAST_UNIT)
        self.dtype = np.float64 if self.mean.size <= MAX_DOUBLE else np.float32

    def targets(self) -> Targets:
        """Return what a penalty is chosen for."""
        if self._are_classes:
            return mixed_targets(self.right, self.totals, self.n_rows)
        return Targets(self.right[:, :MAX_TARGETS], float(self._spreads[:MAX_TARGETS].sum()))

    def _tiles(self) -> Iterator[tuple[slice, Array]]:
        """Give the lower half of A, some rows at a time: it is never in memory as a whole in double precision."""
        room = np.zeros((TILE, self.mean.size))  # above the diagonal it stays zero
        for begin in range(0, self.mean.size, TILE):
            end = min(begin + TILE, self.mean.size)
            for u in range(begin, end):
                row = room[u - begin, : u + 1]
                row[:] = self._unit.rows(self._triangle[u * (u + 1) // 2 : (u + 1) * (u + 2) // 2])
                row -= (self.n_rows * self.mean[u]) * self.mean[: u + 1]
            yield slice(begin, end), room[: end - begin, :end]

    def matrix(self, dtype: Any) -> Array:
        """Return A, both halves of it."""
        matrix = np.empty((self.mean.size, self.mean.size), dtype)
        for rows, tile in self._tiles():
            matrix[rows, : rows.stop] = tile
            for begin in range(0, rows.start, TILE):
                columns = slice(begin, begin + TILE)
                matrix[columns, rows] = matrix[rows, columns].T
            matrix[rows, rows] += np.tril(tile[:, rows], -1).T
        return matrix

    def factor(self, alpha: float, dtype: Any) -> Array:
        """Return the upper Cholesky factor of A + alpha I."""
        return _factor(self.matrix(dtype).T, alpha * self.unit)

    def times(self, weights: Array, alpha: float) -> Array:
        """Return (A + alpha I) times weights."""
        product: Array = alpha * self.unit * weights
        for rows, tile in self._tiles():
            product[rows] += tile @ weights[: rows.stop] + np.tril(tile[:, rows], -1).T @ weights[rows]
            product[: rows.start] += tile[:, : rows.start].T @ weights[rows]
        return product


def _factor(matrix: Array, shift: float) -> Array:
    """Return the upper Cholesky factor of a matrix in Fortran's order and a shift, in the place of the matrix."""
    matrix[np.diag_indices_from(matrix)] += shift
    factor: Array = linalg.cholesky(matrix, lower=False, overwrite_a=True, check_finite=False)
    return factor


def _refined(system: System, alpha: float, factor: Array, start: Array | None) -> Array | None:
    """Return the weights by conjugate gradients, preconditioned by a factor of equations that are near.

    From the factor itself, in double precision, that is the one step of refinement that takes away its rounding; in
    single precision it takes a few; and where counts changed a little, a few more. None where it does not arrive.
    """

    def preconditioned(residual: Array) -> Array:
        scaled = residual.astype(factor.dtype)
        return linalg.cho_solve((factor, False), scaled, overwrite_b=True, check_finite=False).astype(np.float64)  # type: ignore[no-any-return]

    weights = np.zeros_like(system.right, order="F") if start is None else np.array(start, order="F")
    residual = system.right.copy(order="F") if start is None else system.right - system.times(weights, alpha)
    goal = TOLERANCE * np.sqrt((system.right**2).sum(axis=0))
    solved = preconditioned(residual)
    direction, length = solved, (residual * solved).sum(axis=0)
    for _ in range(MAX_STEPS):
        product = system.times(direction, alpha)
        bent = (direction * product).sum(axis=0)
        step = np.divide(length, bent, out=np.zeros_like(length), where=bent > 0)
        weights += step * direction
        residual -= step * product
        if (np.sqrt((residual**2).sum(axis=0)) <= goal).all():
            return weights
        solved = preconditioned(residual)
        longer = (residual * solved).sum(axis=0)
        direction = solved + np.divide(longer, length, out=np.zeros_like(length), where=length > 0) * direction
        length = longer
    return None


def _finished(system: System, exact: Array, alpha: float, gcv: tuple[tuple[float, float], ...], factor: Array) -> Ridge:
    """Return weights and intercepts, rounded so that sums of them are exact."""
    intercept = system.totals / system.n_rows - system.mean @ exact
    unit = unit_for(exact, intercept)
    weights = in_units(exact, unit)
    return Ridge(weights, intercept, alpha, gcv, TableWeights.of(weights), unit, factor, system.mean, exact)
