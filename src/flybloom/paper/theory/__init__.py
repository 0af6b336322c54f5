"""When the classifier must agree with the nearest neighbour, and how much a filter can hold: pure functions.

Nothing here learns or hashes rows. The letters are the paper's: d features, b of them one in binary rows, m components
of s connections, rho winners, n rows in the largest class, c the decay, delta the probability of failure. Where the
paper has a slip, these functions compute what its proofs support; docs/theory.md lists every difference.
"""

from flybloom.exceptions import SaturationWarning
from flybloom.paper.theory.agreement import (
    NeighborConditions,
    TheoremSizes,
    binary_conditions,
    binary_delta,
    binary_sizes,
    real_conditions,
    real_delta,
    real_sizes,
)
from flybloom.paper.theory.capacity import (
    Capacity,
    capacity,
    expected_occupancy,
    filter_load,
    neighborhood_size,
    occupancy,
    rows_until_saturated,
)
from flybloom.paper.theory.collisions import (
    binary_collision,
    binary_winner_share,
    collision,
    novelty_bounds,
    random_components,
    threshold,
)

__all__ = [
    "Capacity",
    "NeighborConditions",
    "SaturationWarning",
    "TheoremSizes",
    "binary_collision",
    "binary_conditions",
    "binary_delta",
    "binary_sizes",
    "binary_winner_share",
    "capacity",
    "collision",
    "expected_occupancy",
    "filter_load",
    "neighborhood_size",
    "novelty_bounds",
    "occupancy",
    "random_components",
    "real_conditions",
    "real_delta",
    "real_sizes",
    "rows_until_saturated",
    "threshold",
]
