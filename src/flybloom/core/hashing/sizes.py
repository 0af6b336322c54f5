"""How many components, connections and winners: what users ask for, and what it comes to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Chosen by measurement, see docs/defaults.md.
AUTO_COMPONENTS = 32768
AUTO_CONNECTIONS = 64
AUTO_WINNERS = 128


@dataclass(frozen=True)
class Sizes:
    """Sizes as they are asked for: whole numbers, multiples or shares, or "auto"."""

    n_components: int | float | str = "auto"
    n_connections: int | float | str = "auto"
    n_winners: int | float | str = "auto"

    def for_features(self, n_features: int) -> tuple[int, int, int]:
        """Return m, s and rho for so many features; what does not fit them is refused."""
        m = resolve_n_components(self.n_components, n_features)
        return m, resolve_n_connections(self.n_connections, n_features), resolve_n_winners(self.n_winners, m)


def resolve_n_components(n_components: int | float | str, n_features: int) -> int:
    """Return m: an int as it is, a float as a multiple of the features."""
    if n_components == "auto":
        return AUTO_COMPONENTS
    if isinstance(n_components, float | np.floating):
        return max(1, round(n_components * n_features))
    return int(n_components)


def resolve_n_connections(n_connections: int | float | str, n_features: int) -> int:
    """Return s: an int as it is, a float as a share of the features."""
    if n_connections == "auto":
        return max(1, min(round(n_features / 2), AUTO_CONNECTIONS))
    if isinstance(n_connections, float | np.floating):
        return max(1, round(n_connections * n_features))
    if int(n_connections) > n_features:
        msg = (
            f"n_connections={n_connections} exceeds the {n_features} feature(s) of X. "
            "Lower n_connections, or pass a float for a share of the features."
        )
        raise ValueError(msg)
    return int(n_connections)


def resolve_n_winners(n_winners: int | float | str, n_components: int) -> int:
    """Return rho: an int as it is, a float as a share of the components."""
    if n_winners == "auto":
        return max(1, min(AUTO_WINNERS, n_components // 4))
    if isinstance(n_winners, float | np.floating):
        return max(1, round(n_winners * n_components))
    if int(n_winners) > n_components:
        msg = f"n_winners={n_winners} exceeds n_components_={n_components}. Lower n_winners or raise n_components."
        raise ValueError(msg)
    return int(n_winners)
