"""A trend that is taken out of targets before they are added up: a sum of functions of single columns.

Winners represent interactions of columns well and effects of single columns coarsely. Each function is a straight line
plus steps between knots, which are quantiles of the column in a sample of the rows; all are fitted together by ridge
regression. Where few rows tell, coarse steps do. Columns, knots and slopes are integers, so what is taken out of a
target does not depend on how it is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.blas import one_blas_thread
from flybloom._internal.cached import cached_property
from flybloom._internal.typing import Array

COLUMN_STEPS, MAX_COLUMN = 2**16, 2**20  # in one unit of a column, and as many as count
VALUE_STEPS = 2**28  # in one deviation of targets: slopes are integers of these for each step of a column
MAX_VALUE = 2**42  # of a function, so that sums over all columns are exact
LINE = 4  # units of a column, beyond which its line is level: few rows far out must not tilt it
N_STEPS = (4, 16, 64, 256)  # between the knots of a column, from coarse to fine
MAX_COLUMNS, MAX_TERMS = 512, 1024  # beyond which there is no trend, and no finer steps
ROWS_PER_TERM = 4
FIT_STEPS, MAX_TARGET = 2**8, 2**13  # in one deviation of targets, or one unit of a term, for exact sums
MAX_COEFFICIENTS = 2**16
MAX_WEIGHT = 2**12  # of a row, so that all sums are exact
PENALTIES = tuple(4.0**k for k in range(-8, 5))  # multiples of the mean eigenvalue that are tried


class Term(NamedTuple):
    """A straight line of a column, or the steps between knots, each from 0 to 1."""

    column: int
    knots: Array | None

    @property
    def n(self) -> int:
        """Number of coefficients."""
        return 1 if self.knots is None else self.knots.size - 1

    def of(self, values: Array) -> Array:
        """Return the line, or the steps, at values of the column."""
        if self.knots is None:
            return np.asarray(np.clip(values[:, None] / COLUMN_STEPS, -LINE, LINE))
        widths = np.diff(self.knots)
        return np.asarray(np.clip(values[:, None] - self.knots[:-1], 0, widths) / widths)


class Segments(NamedTuple):
    """All functions as sums of slopes times how far a column reaches into a segment."""

    columns: Array
    lefts: Array
    widths: Array
    slopes: Array  # (n_segments, n_outputs)
    start: Array  # (n_outputs,): the sum where all columns are lowest


@dataclass(frozen=True)
class Trend:
    """What is expected of targets from single columns; where a column is 0, nothing.

    Parameters
    ----------
    knots : tuple of tuple of int
        For each column, ascending, in steps, 0 among them. Beyond the first and last the function is level.
    slopes : tuple of tuple of tuple of int
        For each column, between each two knots, those of all outputs.
    """

    knots: tuple[tuple[int, ...], ...]
    slopes: tuple[tuple[tuple[int, ...], ...], ...]

    @staticmethod
    def of(columns: Array, targets: Array, weights: Array) -> Trend | None:
        """Return the trend of targets, in deviations around an origin, or None where there are too many columns."""
        (n_rows, n_columns), n_outputs = columns.shape, targets.shape[1]
        if not 0 < n_columns <= MAX_COLUMNS or n_columns * n_outputs > MAX_COEFFICIENTS:
            return None
        whole = _whole(columns)
        terms = list(_terms(whole, min(MAX_TERMS, n_rows // ROWS_PER_TERM, MAX_COEFFICIENTS // n_outputs)))
        basis = np.concatenate([np.rint(term.of(whole[:, term.column]) * FIT_STEPS) for term in terms], axis=1)
        wanted = np.clip(np.rint(targets * FIT_STEPS), -MAX_TARGET, MAX_TARGET)
        found = np.split(_fitted(basis, wanted, weights), np.cumsum([term.n for term in terms])[:-1])
        knots, slopes = [], []
        for column in range(n_columns):
            own = [(term, some) for term, some in zip(terms, found, strict=True) if term.column == column]
            inner = [term.knots for term, _ in own if term.knots is not None]
            at = np.unique(np.concatenate([[-LINE * COLUMN_STEPS, 0.0, LINE * COLUMN_STEPS], *inner]))
            values = np.sum([term.of(at) @ some for term, some in own], axis=0)
            steep = np.rint(np.diff(values, axis=0) * VALUE_STEPS / np.diff(at)[:, None])
            knots.append(tuple(at.astype(np.int64).tolist()))
            slopes.append(tuple(map(tuple, steep.astype(np.int64).tolist())))
        return Trend(tuple(knots), tuple(slopes))

    def offsets(self, columns: Array) -> Array:
        """Return what is expected of rows, in deviations: exact sums, whatever their order."""
        whole, sums = _whole(columns), np.zeros((len(columns), len(self.slopes[0][0])))
        for values, (knots, heights) in zip(whole.T, self._heights, strict=True):
            for output, own in enumerate(heights):
                sums[:, output] += np.interp(values, knots, own)  # slopes are integers
        return sums / VALUE_STEPS

    def segments(self) -> Segments:
        """Return the functions as one sum."""
        parts = [
            (column, left, right - left, slope)
            for column, (knots, slopes) in enumerate(zip(self.knots, self.slopes, strict=True))
            for (left, right), slope in zip(pairwise(knots), slopes, strict=True)
        ]
        columns, lefts, widths, slopes = (np.array(part) for part in zip(*parts, strict=True))
        start = np.sum([heights[:, 0] for _, heights in self._heights], axis=0)
        return Segments(columns, lefts.astype(float), widths.astype(float), slopes.astype(float), start)

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` is given."""
        return {"knots": list(map(list, self.knots)), "slopes": [list(map(list, some)) for some in self.slopes]}

    @staticmethod
    def from_json(stored: Any, n_outputs: int) -> Trend | None:
        """Return the trend of a file, or None if it has none; ValueError if it is invalid."""
        if stored is None:
            return None
        own = stored if isinstance(stored, dict) else {}
        knots, slopes = own.get("knots"), own.get("slopes")
        if (
            isinstance(knots, list)
            and isinstance(slopes, list)
            and 0 < len(knots) == len(slopes)
            and all(_are_function(*function, n_outputs) for function in zip(knots, slopes, strict=True))
        ):
            return Trend(tuple(map(tuple, knots)), tuple(tuple(map(tuple, some)) for some in slopes))
        msg = "the trend of its targets is not knots and slopes of each column"
        raise ValueError(msg)

    @cached_property
    def _heights(self) -> list[tuple[Array, Array]]:
        """The knots of each column, and the values of all outputs there."""
        found = []
        for knots, slopes in zip(self.knots, self.slopes, strict=True):
            rises = np.array(slopes, np.float64).T * np.diff(knots)
            heights = np.concatenate([np.zeros((len(rises), 1)), np.cumsum(rises, axis=1)], axis=1)
            found.append((np.array(knots, np.float64), heights - heights[:, [knots.index(0)]]))
        return found


def _whole(columns: Array) -> Array:
    """Return columns as integers, missing values as 0."""
    scaled = np.rint(np.nan_to_num(np.asarray(columns, np.float64)) * COLUMN_STEPS)
    return np.clip(scaled, -MAX_COLUMN, MAX_COLUMN)


def _terms(whole: Array, most: int) -> Iterator[Term]:
    """Yield a line for each column, then steps as long as all columns together have no more terms than that."""
    n_terms, ordered = whole.shape[1], np.sort(whole, axis=0)
    distinct = [np.unique(column) for column in ordered.T]
    yield from (Term(column, None) for column in range(n_terms))
    fewer = 1
    for n in N_STEPS:
        at = np.rint(np.linspace(0, len(ordered) - 1, n + 1)).astype(np.intp)
        finer = [
            Term(column, own if own.size <= n + 1 else np.unique(ordered[at, column]))
            for column, own in enumerate(distinct)
            if own.size > fewer + 1
        ]
        finer = [term for term in finer if term.n > 1]
        n_terms, fewer = n_terms + sum(term.n for term in finer), n
        if n_terms > most:
            return
        yield from finer


def _fitted(basis: Array, wanted: Array, weights: Array) -> Array:
    """Return the coefficients of integers, for each output with the penalty of least generalised cross-validation."""
    from scipy import linalg  # noqa: PLC0415 - those who only predict need none

    shares = np.minimum(weights, MAX_WEIGHT).astype(np.float64)
    n_rows, weighted = shares.sum(), basis * shares[:, None]
    sums, target_sums = weighted.sum(axis=0), shares @ wanted  # all of it whole numbers that float64 holds
    left = weighted.T @ basis - np.outer(sums, sums) / n_rows
    right = weighted.T @ wanted - np.outer(sums, target_sums) / n_rows
    total = shares @ wanted**2 - target_sums**2 / n_rows
    with one_blas_thread():
        values, vectors = linalg.eigh(left, check_finite=False)
    values = np.maximum(values, 0.0)
    mean = values.mean()
    if mean == 0.0:
        return np.zeros_like(right)
    turned = vectors.T @ right
    shifts = mean * np.array(PENALTIES)
    inverse = 1.0 / (values[:, None] + shifts)
    freedom = (values[:, None] * inverse).sum(axis=0) + 1.0
    coefficients = np.empty_like(right)
    for k in range(right.shape[1]):
        squares = turned[:, k] ** 2
        rss = total[k] - squares @ inverse - shifts * (squares @ inverse**2)
        criterion = np.full(shifts.size, np.inf)
        np.divide(np.maximum(rss, 0.0), (n_rows - freedom) ** 2, out=criterion, where=freedom < n_rows / 2)
        best = int(criterion.argmin()) if np.isfinite(criterion).any() else shifts.size - 1
        largest = MAX_TARGET / FIT_STEPS
        coefficients[:, k] = np.clip(vectors @ (turned[:, k] * inverse[:, best]), -largest, largest)
    return np.asarray(coefficients)


def _are_function(knots: Any, slopes: Any, n_outputs: int) -> bool:
    """Return whether these are knots and slopes of one column."""
    lists = [knots, slopes, *(slopes if isinstance(slopes, list) else [])]
    if not all(isinstance(some, list) and all(type(v) is int for v in some) for some in (lists[0], *lists[2:])):
        return False
    if not (
        len(knots) == len(slopes) + 1
        and all(left < right for left, right in pairwise(knots))
        and -MAX_COLUMN <= knots[0] < 0 < knots[-1] <= MAX_COLUMN
        and 0 in knots
        and all(len(some) == n_outputs for some in slopes)
    ):
        return False
    rises = [
        [abs(slope) * (right - left) for slope in some]
        for some, (left, right) in zip(slopes, pairwise(knots), strict=True)
    ]
    return all(sum(column) <= MAX_VALUE for column in zip(*rises, strict=True))
