"""Targets as integers, so that sums of them are exact: steps of a grid, fixed together with the encoding."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core.counts.trend import Trend
from flybloom.exceptions import IncompatibleHashError

STEPS = 2**20  # of the grid in one deviation of the targets, or in up to two
ORIGIN = 8  # deviations that origins are multiples of, so that few rows seldom change one
MAX_STEPS = 2**40  # from the origin to a target
ROWS_AT_ONCE = 4096  # that are encoded for the trend
FINEST = 2.0**-30  # of the largest target is the least deviation: floats hold no finer steps
LARGEST = 900  # binary digits of a scale, so that nothing computed with it is infinite


@dataclass(frozen=True)
class TargetGrid:
    """Where the targets of each output are counted from, and in what.

    Parameters
    ----------
    origins : tuple of float
        For each output, the target that is counted as 0.
    scales : tuple of float
        For each output, what `STEPS` steps are: a power of two.
    trend : Trend or None
        What is taken out of targets before they are counted.
    """

    origins: tuple[float, ...]
    scales: tuple[float, ...]
    trend: Trend | None = None
    steps = STEPS

    @staticmethod
    def of(
        targets: Array, weights: Array, scale: float | None = None, encode: Callable[[], Array] | None = None
    ) -> TargetGrid:
        """Return the grid for targets like these: sums are rounded once, so the order of the rows does not matter.

        With a scale that is given, nothing follows from the targets but the number of outputs.
        """
        if scale is not None:
            n_outputs = targets.shape[1]
            return TargetGrid((0.0,) * n_outputs, (_power_of_two(scale),) * n_outputs)
        shares = weights.tolist()
        placed = [_placed(column.tolist(), shares) for column in targets.T]
        grid = TargetGrid(tuple(origin for origin, _ in placed), tuple(scale for _, scale in placed))
        return grid if encode is None else replace(grid, trend=Trend.of(encode(), grid.scaled(targets), weights))

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self.scales)

    @property
    def n_columns(self) -> int:
        """Number of columns of the sums."""
        return self.n_outputs

    def require_outputs(self, targets: Array) -> None:
        """Raise an error for targets of more or fewer outputs."""
        if targets.shape[1] != self.n_outputs:
            msg = (
                f"y has {targets.shape[1]} outputs, those learned before have {self.n_outputs}. "
                "Pass as many columns of y as in the first call."
            )
            raise ValueError(msg)

    def scaled(self, targets: Array) -> Array:
        """Return targets minus their origins, in their scales."""
        return np.asarray((targets - np.array(self.origins)) / np.array(self.scales))

    def offsets(self, encode: Callable[[slice], Array], n_rows: int) -> Array:
        """Return what the trend takes out of the targets of rows that a function encodes, in their scales."""
        offsets = np.zeros((n_rows, self.n_outputs))
        if self.trend is not None:
            for begin in range(0, n_rows, ROWS_AT_ONCE):
                some = slice(begin, begin + ROWS_AT_ONCE)
                offsets[some] = self.trend.offsets(encode(some))
        return offsets

    def whole(self, targets: Array, offsets: Array | float = 0.0) -> Array:
        """Return targets as integers of steps, of shape (n_rows, n_outputs), int64."""
        self.require_outputs(targets)
        with np.errstate(over="ignore"):
            steps = np.rint((self.scaled(targets) - offsets) * STEPS)
        far = np.argwhere(~(np.abs(steps) <= MAX_STEPS))
        if far.size:
            row, output = far[0].tolist()
            origin, most = self.origins[output], self.scales[output] * (MAX_STEPS // STEPS)
            msg = (
                f"Targets must be within {most:.6g} of {origin:.6g}, a million times the spread of those that were "
                f"learned first. Got {float(targets[row, output])!r} in row {row} instead. Leave out what is no "
                "measurement, or fit to rows that are spread as widely."
            )
            raise ValueError(msg)
        return np.asarray(steps, np.int64)

    def targets(self, scores: Array, offsets: Array | float = 0.0) -> Array:
        """Return the targets that scores, in their scales, stand for."""
        return np.asarray((scores + offsets) * np.array(self.scales) + np.array(self.origins))

    def require_same(self, other: TargetGrid, action: str) -> None:
        """Raise an error for sums of other steps."""
        if self != other:
            msg = (
                f"Cannot {action}: the two models count targets in different steps. Origins, scales or trend "
                f"differ ({self.scales} and {other.scales}). Let the second learn from the first one's like()."
            )
            raise IncompatibleHashError(msg)

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` is given."""
        entries: dict[str, Any] = {"origins": list(self.origins), "scales": list(self.scales)}
        return entries if self.trend is None else {**entries, "trend": self.trend.to_json()}

    @staticmethod
    def from_json(stored: Any) -> TargetGrid:
        """Return the grid of a file; ValueError if it is invalid."""
        origins, scales = (_floats(stored, name) for name in ("origins", "scales"))
        if len(origins) != len(scales) or not all(s > 0 and math.frexp(s)[0] == 0.5 for s in scales):  # noqa: PLR2004
            msg = "its grid of targets is not an origin and a power of two for each output"
            raise ValueError(msg)
        return TargetGrid(origins, scales, Trend.from_json(stored.get("trend"), len(scales)))


def _floats(stored: Any, name: str) -> tuple[float, ...]:
    """Return a list of finite floats of a file; ValueError where it is none."""
    values = stored.get(name) if isinstance(stored, dict) else None
    if not isinstance(values, list) or not all(type(value) is float and math.isfinite(value) for value in values):
        msg = f"the {name} of its targets are not numbers"
        raise ValueError(msg)
    return tuple(values)


def _placed(values: list[float], weights: list[float]) -> tuple[float, float]:
    """Return origin and scale of one output."""
    n_rows = math.fsum(weights) or 1.0
    largest = max(map(abs, values), default=0.0) or 1.0
    shares = [value / largest for value in values]  # squares of them are finite
    mean = math.fsum(w * v for w, v in zip(weights, shares, strict=True)) / n_rows
    squares = math.fsum(w * (v - mean) ** 2 for w, v in zip(weights, shares, strict=True))
    deviation = math.sqrt(squares / n_rows) or 1.0  # targets that are all alike are steps of themselves
    scale = _power_of_two(max(deviation, FINEST) * largest)
    return float(round(mean * largest / (ORIGIN * scale))) * (ORIGIN * scale), scale


def _power_of_two(spread: float) -> float:
    """Return the largest power of two that is not above a spread."""
    return math.ldexp(0.5, min(max(math.frexp(spread)[1], -LARGEST), LARGEST))
