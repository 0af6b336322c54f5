"""A linear read-out as files hold it whose scores stand for outputs, such as numbers, rather than for classes."""

from __future__ import annotations

from typing import Any, NamedTuple

from flybloom._internal.typing import Array
from flybloom.core.counts.target_grid import TargetGrid
from flybloom.core.readout.linear import LinearReadout, TableWeights, weights_from_arrays, weights_to_arrays


class FrozenOutputs(NamedTuple):
    """Weights, and what sums of them stand for."""

    weights: Array  # (n_components, n_columns), int32, in units
    intercept: Array  # (n_columns,), float64, in units: whole numbers
    unit: float  # a power of two
    grid: TargetGrid

    def read_out(self, seed: int) -> LinearReadout:
        """Return what makes scores of winners."""
        return LinearReadout(TableWeights.of(self.weights), self.intercept, self.unit, seed)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return facts for JSON, and arrays."""
        return {"targets": self.grid.to_json()}, weights_to_arrays(self.weights, self.intercept, self.unit)

    @staticmethod
    def from_parts(n_components: int, facts: dict[str, Any], arrays: dict[str, Array]) -> FrozenOutputs:
        """Return what a file holds; ValueError if it is invalid."""
        grid = TargetGrid.from_json(facts.get("targets"))
        return FrozenOutputs(*weights_from_arrays(n_components, grid.n_outputs, arrays), grid)
