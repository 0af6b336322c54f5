"""Grids of settings: lists, "auto" or "paper", expanded to candidates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flybloom.core.hashing.sizes import BAYES_COMPONENTS, BAYES_CONNECTIONS, BAYES_WINNERS, Sizes

NAMES = ("decay", "n_components", "n_connections", "n_winners")  # sorted, as scikit-learn's grids are

AUTO_COMPONENTS = (2048, 8192, 32768)
AUTO_CONNECTIONS = (1 / 4, 1 / 2, 1, 2)  # times what FlyBloomClassifier takes
AUTO_WINNERS = (32, 64, 128, 256)
AUTO_DECAYS = (0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0)  # as many as are scored together

TEXT_SIZES = {
    "n_components": (BAYES_COMPONENTS // 4, BAYES_COMPONENTS),
    "n_connections": (1, 2, BAYES_CONNECTIONS, 2 * BAYES_CONNECTIONS),
    "n_winners": (BAYES_WINNERS // 4, BAYES_WINNERS // 2, BAYES_WINNERS, 2 * BAYES_WINNERS),
}

# The ranges of the paper: m from 2d to 2048d, s up to d/2, rho from 8 to 256, c from 0.2 to 0.9, or 1.
PAPER_COMPONENTS = (2, 8, 32, 128, 512, 2048)
PAPER_CONNECTIONS = (0.1, 0.3, 0.5)
PAPER_WINNERS = (8, 16, 32, 64, 128, 256)
PAPER_DECAYS = (0.2, 0.4, 0.6, 0.9, 1.0)

ALL_ENCODINGS = ("auto", "standard", "bins", "rotation", "none")


class Candidate(NamedTuple):
    """One setting: parameters, resolved sizes, and way of hashing."""

    params: dict[str, Any]
    m: int
    s: int
    rho: int
    way: int = 0  # which of the encodings and signs


def candidates(
    grid: dict[str, Any],
    n_features: int,
    n_columns: int | None = None,
    readout: str = "filter",
    *,
    is_text: bool = False,
) -> list[Candidate]:
    """Return the settings of a grid in the order of scikit-learn's ParameterGrid.

    Connections are relative to encoded columns. "auto" and "paper" omit numbers of winners above half of the
    components. Naive Bayes has no decay, and "auto" has other sizes for text.
    """
    if readout == "bayes":
        grid = {**grid, **({"decay": ["auto"]} if isinstance(grid["decay"], str) else {})}
        tried = TEXT_SIZES if is_text else {}
        grid = {name: tried.get(name, values) if values == "auto" else values for name, values in grid.items()}
    decays = _values(grid["decay"], AUTO_DECAYS, PAPER_DECAYS)
    return [
        Candidate({"decay": decay, "n_components": m, "n_connections": s, "n_winners": rho}, *sizes)
        for decay in decays
        for m in _components(grid["n_components"], n_features)
        for s in _connections(grid["n_connections"], n_features if n_columns is None else n_columns)
        for rho in _winners(grid["n_winners"], Sizes(m).for_features(n_features)[0])
        for sizes in [Sizes(m, s, rho).for_features(n_features, n_columns)]
    ]


def with_ways(grids: list[list[Candidate]], ways: list[dict[str, Any]], n_signs: int) -> list[Candidate]:
    """Return settings for several ways of hashing, in the order of ParameterGrid.

    Sign and encoding are added to the parameters; signs vary first.
    """
    keyed = []
    for way, (settings, named) in enumerate(zip(grids, ways, strict=True)):
        n_of_decay = len(settings) // len({setting.params["decay"] for setting in settings})
        for at, setting in enumerate(settings):
            of_decay, place = divmod(at, n_of_decay)
            params = dict(sorted({**setting.params, **named}.items()))
            key = (of_decay, way // n_signs, place, way % n_signs)
            keyed.append((key, setting._replace(params=params, way=way)))
    return [setting for _, setting in sorted(keyed, key=lambda entry: entry[0])]


def as_list(value: Any) -> list[Any]:
    """Return the values of a list or array, and a single number as a list."""
    if isinstance(value, np.ndarray):
        return list(value.ravel().tolist())
    return list(value) if isinstance(value, list | tuple | range) else [value]


def _values(value: Any, auto: tuple[Any, ...], paper: tuple[Any, ...]) -> list[Any]:
    """Return the values that are tried of one parameter."""
    if isinstance(value, str):
        return list(auto if value == "auto" else paper)
    return as_list(value)


def _components(value: Any, n_features: int) -> list[Any]:
    """Return the numbers of components."""
    return _values(value, AUTO_COMPONENTS, tuple(times * n_features for times in PAPER_COMPONENTS))


def _connections(value: Any, n_features: int) -> list[Any]:
    """Return the numbers of connections, unique for "auto" and "paper"."""
    usual = Sizes().for_features(n_features)[1]
    auto = {min(n_features, max(1, round(times * usual))) for times in AUTO_CONNECTIONS}
    paper = {Sizes(n_connections=share).for_features(n_features)[1] for share in PAPER_CONNECTIONS}
    return _values(value, tuple(sorted(auto)), tuple(sorted(paper)))


def _winners(value: Any, n_components: int) -> list[Any]:
    """Return the numbers of winners, at least one."""
    values = _values(value, AUTO_WINNERS, PAPER_WINNERS)
    if isinstance(value, str):
        return [rho for rho in values if 2 * rho <= n_components] or [Sizes(n_components).for_features(1)[2]]
    return values
