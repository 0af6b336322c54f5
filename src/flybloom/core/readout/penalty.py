"""How strongly the weights of ridge regression are shrunk: a rule on generalised cross-validation, from A and b alone.

For a penalty s, the residual sum of squares and the degrees of freedom are sums of ``1 / (value + s)`` and its square
over the eigenvalues of A, with weights. So all penalties are judged at once, without a factorisation for any of them.
Up to `MAX_EXACT` components the eigenvalues are computed. Beyond, block Lanczos from b and from random vectors, always
the same, gives few points and weights with nearly the same sums (Golub and Meurant 2010).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg

from flybloom._internal.typing import Array

ALPHAS = tuple(10.0 ** (k / 2) for k in range(-6, 4))  # multiples of the mean eigenvalue that are tried
MOST_FREEDOM = 0.5  # degrees of freedom for each row: with more, rows that are alike vouch for each other
NEAR = 0.015  # if the next smaller alpha is so near to the least, that one: labels want less than squares do
MAX_EXACT = 512  # components up to which all eigenvalues are computed
N_PROBES = 16  # random vectors from which degrees of freedom are estimated beyond
MAX_TARGETS = 32  # classes up to which each is looked at; of more, as many random mixtures
MAX_STEPS = 32  # of block Lanczos
CHECKED = 4  # steps between two looks at the criterion
SETTLED = 0.01  # of the criterion: where it changed by no more since the last look, about a third of that is left
ROUNDING = 1e-5  # of the longest column: what is shorter may be nothing but rounding
ALL = 0.9999  # of the sum of all eigenvalues: values that have so much of it are all that matter
STANDS = 0.1  # of a column of length 1 that is not in the basis already, or it is left out


class Targets(NamedTuple):
    """What is regressed on the hashes."""

    right: Array  # (n_components, n_targets): centred sums of hashes by class
    total: float  # their sum of squares around the mean


class Spectrum(NamedTuple):
    """Points and weights for sums over eigenvalues."""

    values: Array  # the eigenvalues, or points that stand for them
    squares: Array  # of the right sides in the directions of each
    shares: Array  # how many eigenvalues each stands for

    def judged(self, shifts: Array, n_rows: float, total: float) -> tuple[Array, Array]:
        """Return generalised cross-validation and degrees of freedom for each shift."""
        inverse = 1.0 / (self.values[:, None] + shifts)
        freedom = self.shares @ (self.values[:, None] * inverse) + 1.0
        rss = total - self.squares @ inverse - shifts * (self.squares @ inverse**2)  # because A w = b - s w
        left = n_rows - freedom
        criterion = np.full(shifts.size, np.inf)
        np.divide(n_rows * np.maximum(rss, 0.0), left**2, out=criterion, where=left > 0.0)
        return criterion, freedom


def mixed_targets(right: Array, class_count: Array, n_rows: float) -> Targets:
    """Return the classes, or random mixtures of them if they are many."""
    if class_count.size <= MAX_TARGETS:
        return Targets(right, float((class_count - class_count**2 / n_rows).sum()))
    mix = np.random.default_rng(1).choice([-1.0, 1.0], (class_count.size, MAX_TARGETS)) / np.sqrt(MAX_TARGETS)
    return Targets(right @ mix, float(class_count.sum() - ((class_count @ mix) ** 2).sum() / n_rows))


def choose_alpha(matrix: Array, targets: Targets, n_rows: float, unit: float) -> tuple[float, Array]:
    """Return the penalty, and the criterion of each of `ALPHAS`; both as multiples of a unit.

    Parameters
    ----------
    matrix : ndarray of shape (n_components, n_components)
        A, both halves of it; in double precision up to `MAX_EXACT` components.
    targets : Targets
        What is regressed.
    n_rows : float
        How many rows were counted.
    unit : float
        The mean eigenvalue.
    """
    shifts = unit * np.array(ALPHAS)
    looks = iter([_exact(matrix, targets.right)] if len(matrix) <= MAX_EXACT else _estimates(matrix, targets.right))
    criterion, freedom = next(looks).judged(shifts, n_rows, targets.total)
    for spectrum in looks:
        before = criterion
        criterion, freedom = spectrum.judged(shifts, n_rows, targets.total)
        first, at = _valley(criterion, freedom, n_rows)
        near = slice(max(at - 1, first), at + 2)
        if (before[near] <= (1.0 + SETTLED) * criterion[near]).all():  # it falls from look to look
            break
    return ALPHAS[least(criterion, freedom, n_rows)], criterion


def least(criterion: Array, freedom: Array, n_rows: float) -> int:
    """Return which penalty has the smallest criterion, or the next smaller if that is nearly as good."""
    first, at = _valley(criterion, freedom, n_rows)
    is_near = at > first and criterion[at - 1] <= criterion[at] * (1.0 + NEAR)
    return at - 1 if is_near else at


def _valley(criterion: Array, freedom: Array, n_rows: float) -> tuple[int, int]:
    """Return the first penalty that leaves enough rows for each degree of freedom, or the last, and the best since."""
    first = min(int(np.count_nonzero(freedom > MOST_FREEDOM * n_rows)), criterion.size - 1)
    return first, first + int(criterion[first:].argmin())


def _exact(matrix: Array, right: Array) -> Spectrum:
    """Return the eigenvalues."""
    values, vectors = linalg.eigh(matrix, check_finite=False, driver="evd")
    return Spectrum(np.maximum(values, 0.0), ((vectors.T @ right) ** 2).sum(axis=1), np.ones(values.size))


def _estimates(matrix: Array, right: Array) -> Iterator[Spectrum]:
    """Yield better and better points for the eigenvalues, by block Lanczos with full reorthogonalisation."""
    m, n_targets = right.shape
    probes = np.random.default_rng(0).choice([-1.0, 1.0], (m, N_PROBES))
    start = np.hstack([right, probes])
    lengths = np.sqrt((start**2).sum(axis=0))
    block = _independent((start / np.where(lengths > 0.0, lengths, 1.0)).astype(matrix.dtype), ROUNDING)
    parts = block.T.astype(np.float64) @ start  # of the start in the first block, which spans it
    basis = np.empty((m, MAX_STEPS * block.shape[1]), matrix.dtype, order="F")
    small = np.zeros((basis.shape[1], basis.shape[1]))  # the matrix in the basis
    size, trace = 0, float(np.trace(matrix, dtype=np.float64))
    for step in range(1, MAX_STEPS + 1):
        begin, size = size, size + block.shape[1]
        basis[:, begin:size] = block
        known, product = basis[:, :size], matrix @ block
        shortest = ROUNDING * float(np.sqrt((product**2).sum(axis=0).max()))
        inside = known.T @ product
        small[:size, begin:size] = inside
        small[begin:size, :size] = inside.T
        product -= known @ inside
        block = _independent(product, shortest)
        block = _independent(block - known @ (known.T @ block), STANDS)  # what rounding left of the basis in it
        is_last = block.shape[1] == 0 or step == MAX_STEPS
        if is_last or step % CHECKED == 0:
            values, vectors = linalg.eigh(small[:size, :size], check_finite=False, driver="evd")
            squares = (vectors[: len(parts)].T @ parts) ** 2
            are_all = values.sum() >= ALL * trace  # as with few rows: then none is estimated
            shares = np.ones(size) if are_all else squares[:, n_targets:].sum(axis=1) / N_PROBES
            yield Spectrum(np.maximum(values, 0.0), squares[:, :n_targets].sum(axis=1), shares)
        if is_last:
            return


def _independent(columns: Array, shortest: float) -> Array:
    """Return orthonormal columns that span these, but for what is shorter than a length."""
    q, r, _ = linalg.qr(columns, mode="economic", pivoting=True, check_finite=False)
    return np.asarray(q[:, : np.count_nonzero(np.abs(np.diag(r)) > shortest)])
