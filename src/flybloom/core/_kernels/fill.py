"""Missing values from the others of their row: what normal distributions expect of them, and how these are found.

With a precision matrix P (the inverse of a covariance), mean m, and row x of which the columns M are missing, the
missing part is expected at ``m_M - inverse(P_MM) (P (x - m))_M``, where x - m counts as 0 in M. So the only matrices
to be inverted have as many columns as are missing. Operations and their order are fixed, and so are the bits.
"""

import math

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core._kernels._jit import kernel

LARGEST = 8.0  # nothing is expected farther out, in deviations
LEAST_PIVOT = 2.0**-40  # nothing is divided by less, whatever the matrices are
LOG_2 = float.fromhex("0x1.62e42fefa39efp-1")  # these are explained in _internal/elementary.py
LOG_2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
LOG_2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
ROOT_OF_HALF = float.fromhex("0x1.6a09e667f3bcdp-1")
TERMS = 12
POWERS = 14
LEAST_EXPONENT = -700.0
LAPS = 32  # of the search for the direction in which a cloud of rows is longest


@kernel
def _logarithm(value: float) -> float:
    """As `elementary.logarithm`."""
    x, exponent = math.frexp(value)
    if x < ROOT_OF_HALF:
        x, exponent = 2.0 * x, exponent - 1
    z = (x - 1.0) / (x + 1.0)
    square = z * z
    series = 1.0 / (2 * TERMS - 1)
    for k in range(TERMS - 2, -1, -1):
        series *= square
        series += 1.0 / (2 * k + 1)
    return exponent * LOG_2 + 2.0 * z * series


@kernel
def _exponential(value: float) -> float:
    """As `elementary.exponential`."""
    if not value >= LEAST_EXPONENT:
        return 0.0
    exponent = np.rint(value / LOG_2)
    x = (value - exponent * LOG_2_HIGH) - exponent * LOG_2_LOW
    series = 1.0
    for k in range(POWERS, 0, -1):
        series = 1.0 + x / k * series
    return math.ldexp(series, int(exponent))


@kernel
def _invert(matrix: Array, n: int) -> float:
    """Invert the leading n rows and columns in place, and return the logarithm of their determinant."""
    mantissa, exponent = 1.0, 0
    for p in range(n):
        pivot = max(matrix[p, p], LEAST_PIVOT)
        mantissa, more = math.frexp(mantissa * pivot)
        exponent += more
        for i in range(n):
            if i != p:
                factor = matrix[i, p] / pivot
                for j in range(n):
                    if j != p:
                        matrix[i, j] -= factor * matrix[p, j]
                matrix[i, p] = -factor
        for j in range(n):
            matrix[p, j] /= pivot
        matrix[p, p] = 1.0 / pivot
    return _logarithm(mantissa) + exponent * LOG_2


@kernel
def _expect(
    row: Array,
    places: Array,
    n: int,
    mean: Array,
    precision: Array,
    apart: Array,
    pull: Array,
    inverse: Array,
    out: Array,
) -> float:
    """Write what is expected at the n missing `places`, and return how unlikely what is there is."""
    d = mean.size
    for i in range(d):
        pull[i] = 0.0
    for j in range(d):
        if np.isnan(row[j]):
            apart[j] = 0.0
            continue
        apart[j] = np.float64(row[j]) - np.float64(mean[j])
        for i in range(d):  # in steps that do not wait for each other
            pull[i] += precision[j, i] * apart[j]
    size = 0.0
    for i in range(d):
        size += apart[i] * pull[i]
    for a in range(n):
        for b in range(n):
            inverse[a, b] = precision[places[a], places[b]]
    log_determinant = _invert(inverse, n)
    for a in range(n):
        shift = 0.0
        for b in range(n):
            shift += inverse[a, b] * pull[places[b]]
        out[a] = mean[places[a]] - shift
        size -= pull[places[a]] * shift
    return size + log_determinant


@kernel
def _missing(row: Array, places: Array) -> int:
    """Write which values are missing, and return how many."""
    n = 0
    for j in range(row.size):
        if np.isnan(row[j]):
            places[n] = j
            n += 1
    return n


@kernel
def _make_likely(scores: Array) -> None:
    """Turn logarithms into shares of one."""
    best, total = scores.max(), 0.0
    for k in range(scores.size):
        scores[k] = _exponential(scores[k] - best)
        total += scores[k]
    for k in range(scores.size):
        scores[k] /= total


@kernel
def fill_missing(rows: Array, means: Array, precisions: Array, chances: Array, out: Array) -> None:
    """Write float32 `rows` to `out`, each missing value as all normals expect it, by how likely each of them is.

    `means`, `precisions` and `chances` have an entry for each normal; the last is what its likelihood begins with.
    """
    n_normals, d = means.shape
    places, apart, pull, inverse = np.empty(d, np.int64), np.empty(d), np.empty(d), np.empty((d, d))
    expected, likely = np.empty((n_normals, d)), np.empty(n_normals)
    for i in range(rows.shape[0]):
        n = _missing(rows[i], places)
        for j in range(d):
            out[i, j] = rows[i, j]
        if n == 0:
            continue
        for k in range(n_normals):
            size = _expect(rows[i], places, n, means[k], precisions[k], apart, pull, inverse, expected[k])
            likely[k] = chances[k] - 0.5 * size
        _make_likely(likely)
        for a in range(n):
            value = 0.0
            for k in range(n_normals):
                value += likely[k] * expected[k, a]
            out[i, places[a]] = np.float32(min(max(value, -LARGEST), LARGEST))


@kernel
def invert_covariance(covariance: Array, precision: Array) -> float:
    """Write the inverse of a covariance, and return the logarithm of its determinant."""
    precision[:] = covariance
    return _invert(precision, len(covariance))


@kernel
def improve(
    rows: Array,
    weights: Array,
    means: Array,
    precisions: Array,
    chances: Array,
    prior: Array,
    strength: float,
    covariances: Array,
    totals: Array,
) -> None:
    """Make normals more likely, given rows of which values are missing: a step of expectation and maximisation.

    Each row counts for a normal as likely as it comes from it, and `prior`, a covariance, as much as `strength` rows.
    Writes `means`, `covariances` and `totals`, the rows of each normal.
    """
    n_normals, d = means.shape
    places, apart, pull = np.empty(d, np.int64), np.empty(d), np.empty(d)
    inverses, expected, likely = np.empty((n_normals, d, d)), np.empty((n_normals, d)), np.empty(n_normals)
    filled, shares = np.empty((len(rows), n_normals, d)), np.empty((len(rows), n_normals))
    covariances[:] = prior * strength
    totals[:] = 0.0
    for i in range(len(rows)):
        n = _missing(rows[i], places)
        for k in range(n_normals):
            size = _expect(rows[i], places, n, means[k], precisions[k], apart, pull, inverses[k], expected[k])
            likely[k] = chances[k] - 0.5 * size
            for j in range(d):
                filled[i, k, j] = rows[i, j]
            for a in range(n):
                filled[i, k, places[a]] = expected[k, a]
        _make_likely(likely)
        for k in range(n_normals):
            share = likely[k] * weights[i]
            shares[i, k] = share
            totals[k] += share
            for a in range(n):
                for b in range(n):  # how uncertain what is expected is
                    covariances[k, places[a], places[b]] += inverses[k, a, b] * share
    for k in range(n_normals):
        for j in range(d):
            total = 0.0
            for i in range(len(rows)):
                total += shares[i, k] * filled[i, k, j]
            means[k, j] = total / max(totals[k], LEAST_PIVOT)
        for i in range(len(rows)):
            for j in range(d):
                apart[j] = filled[i, k, j] - means[k, j]
            for a in range(d):
                part = shares[i, k] * apart[a]
                for b in range(d):
                    covariances[k, a, b] += part * apart[b]
        covariances[k] /= totals[k] + strength


@kernel
def longest_direction(covariance: Array, direction: Array) -> float:
    """Write the direction of length 1 in which a covariance is about largest, and return the deviation along it."""
    d, first = len(covariance), 0
    for j in range(1, d):
        if covariance[j, j] > covariance[first, first]:
            first = j
    image = covariance[first].copy()
    size = 0.0
    for _ in range(LAPS):
        square = 0.0
        for j in range(d):
            square += image[j] * image[j]
        length = max(math.sqrt(square), LEAST_PIVOT)
        for j in range(d):
            direction[j] = image[j] / length
        size = 0.0
        for i in range(d):
            total = 0.0
            for j in range(d):
                total += covariance[i, j] * direction[j]
            image[i] = total
            size += direction[i] * total
    return math.sqrt(max(size, 0.0))
