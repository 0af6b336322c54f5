"""Statements of the paper about the curves of m, s, rho and c, compared with measured curves."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from flybloom.paper.experiment import Check, Table

Curves: TypeAlias = dict[str, list[dict[str, Any]]]  # what varies -> curves

LOW_DIMENSION = 20  # below, the paper expects other shapes
NEAR_BEST = 0.03  # how far below its best a curve may end that rises "up to a point"
FLAT_S = 0.1  # spread of a curve over s that counts as flat
FALL = 0.02  # what a curve must lose after its best to count as falling
MIDDLE_S = (0.3, 0.7)  # where the best s / d is expected with few features, around 0.5
FLAT_C = 0.05  # spread of a curve over c < 1 that counts as flat
MIN_SHARE = 0.75  # of curves that must do what is said of all
MIN_POINTS = 3  # points that a curve must have to have a shape


class Reference(NamedTuple):
    """Curves of a data set as read off the authors' plots."""

    name: str
    varied: str
    fixed: dict[str, float]
    theirs: str


THEIRS = [  # Figures 4 and 5 of the AAAI follow-up
    Reference("digits", "m", {"rho": 8, "c": 1.0}, "0.39 -> 0.92"),
    Reference("digits", "m", {"rho": 32, "c": 0.5}, "0.87 -> 0.98"),
    Reference("digits", "rho", {}, "0.75-0.88 -> 0.97"),
    Reference("digits", "c", {"s": 0.1, "m": 256.0, "rho": 8}, "0.90-0.92, at c = 1 0.847"),
    Reference("letter", "m", {"s": 0.3, "rho": 32, "c": 0.5}, "best 0.64 at m = 2^11, then -> 0.45"),
    Reference("letter", "s", {}, "0.38 -> best 0.73-0.75 at 0.5 -> 0.58"),
    Reference("letter", "rho", {"s": 0.3, "c": 0.5}, "0.47 -> 0.72"),
    Reference("letter", "rho", {"s": 0.1, "c": 1.0, "m": 1024.0}, "0.26 -> 0.18"),
    Reference("letter", "c", {}, "0.38-0.63, at c = 1 0.20-0.35"),
    Reference("segment", "m", {}, "best 0.80 at m = 2^12, then -> 0.68"),
    Reference("segment", "s", {}, "0.50 -> best 0.80 at 0.45 -> 0.40-0.75"),
    Reference("segment", "c", {}, "0.38-0.80, at c = 1 0.25-0.60"),
    Reference("gina_prior2_proxy", "m", {"rho": 8, "c": 1.0}, "0.53 -> 0.77"),
    Reference("gina_prior2_proxy", "m", {"rho": 32, "c": 0.5}, "0.85 -> 0.90"),
    Reference("gina_prior2_proxy", "rho", {}, "0.58-0.68 -> 0.92"),
    Reference("gina_prior2_proxy", "c", {"rho": 8}, "0.80, at c = 1 0.75"),
    Reference("usps", "m", {"rho": 8, "c": 1.0}, "0.44 -> 0.88"),
    Reference("usps", "m", {"rho": 32, "c": 0.5}, "0.90 -> 0.965"),
    Reference("usps", "rho", {}, "0.72-0.90 -> 0.96"),
    Reference("usps", "c", {"s": 0.1, "m": 256.0, "rho": 8}, "0.925, at c = 1 0.84"),
    Reference("madeline", "m", {}, "0.50-0.57 -> 0.66"),
]


def reference_table(curves: dict[str, Curves]) -> Table:
    """Return the authors' curves beside the measured ones."""
    rows = []
    for name, varied, fixed, theirs in THEIRS:
        chosen = [
            curve
            for curve in curves.get(name, {}).get(varied, [])
            if all(curve["fixed"][key] == value for key, value in fixed.items())
        ]
        if chosen:
            which = ", ".join(f"{key}{' / d' if key in 'ms' else ''} = {value:g}" for key, value in fixed.items())
            rows.append([name, varied, which or "all", theirs, _in_words(varied, chosen)])
    title = "Balanced accuracy along the curves, theirs read off plots by eye; ranges are over several curves"
    return Table(title, ["data set", "varied", "fixed", "theirs", "ours"], rows)


def _in_words(varied: str, curves: list[dict[str, Any]]) -> str:
    """Return how curves begin and end, and where the best of them is at its best."""
    scores = [curve["scores"] for curve in curves]
    if varied == "c":
        return f"{_range([max(s[:-1]) for s in scores])}, at c = 1 {_range([s[-1] for s in scores])}"
    best = max(curves, key=lambda curve: max(curve["scores"]))
    at = best["values"][int(np.argmax(best["scores"]))]
    where = f"{at:.4g}{' d' if varied in 'ms' else ''}"
    begin, end = _range([s[0] for s in scores]), _range([s[-1] for s in scores])
    return f"{begin} -> {end}, best {max(best['scores']):.2f} at {where}"


def _range(values: list[float]) -> str:
    """Return minimum and maximum, or one of them if they print alike."""
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low}-{high}"


def checks(name: str, n_features: int, curves: Curves) -> list[Check]:
    """Return checks of the four shapes stated in the paper."""
    whole = {
        varied: [curve for curve in of_varied if len(curve["values"]) >= MIN_POINTS]
        for varied, of_varied in curves.items()
    }
    low = n_features < LOW_DIMENSION
    return [
        (_falls_after_best if low else _rises_with_m)(name, whole["m"]),
        (_best_in_the_middle if low else _flat_in_s)(name, whole["s"]),
        _rises_with_rho(name, whole["rho"]),
        _drops_at_one(name, whole["c"]),
        _flat_below_one(name, whole["c"]),
    ]


def _rises_with_m(name: str, curves: list[dict[str, Any]]) -> Check:
    """Accuracy rises with m up to a point: every curve ends higher than it begins, and near its best."""
    scores = [curve["scores"] for curve in curves]
    n_so = sum(s[-1] > s[0] and s[-1] > max(s) - NEAR_BEST for s in scores)
    ours = f"{n_so} of {len(scores)} curves, on average {_mean(scores, 0):.2f} -> {_mean(scores, -1):.2f}"
    claim = f"{name}: rises with m, and ends within {NEAR_BEST} of its best"
    return Check(claim, "rises up to a point", ours, n_so == len(scores))


def _falls_after_best(name: str, curves: list[dict[str, Any]]) -> Check:
    """With few features m has a best value, beyond which accuracy falls, at least for some settings."""
    scores = [curve["scores"] for curve in curves]
    n_so = sum(max(s) - s[-1] > FALL for s in scores)
    steepest = max(scores, key=lambda s: max(s) - s[-1])
    ours = f"{n_so} of {len(scores)} curves fall, one from {max(steepest):.2f} to {steepest[-1]:.2f}"
    claim = f"{name}: not monotone in m, curves fall by more than {FALL} after their best"
    return Check(claim, "erratic: a best m, then a fall", ours, n_so > 0)


def _flat_in_s(name: str, curves: list[dict[str, Any]]) -> Check:
    """With many features s hardly matters."""
    spreads = [max(curve["scores"]) - min(curve["scores"]) for curve in curves]
    ours = f"spread {min(spreads):.3f} to {max(spreads):.3f}, median {np.median(spreads):.3f}"
    claim = f"{name}: flat in s, all curves within a spread of {FLAT_S}"
    return Check(claim, "somewhat agnostic to s", ours, max(spreads) <= FLAT_S)


def _best_in_the_middle(name: str, curves: list[dict[str, Any]]) -> Check:
    """With few features s has a best value around half of them."""
    values = curves[0]["values"]
    average = np.mean([curve["scores"] for curve in curves], axis=0)
    at = values[int(average.argmax())]
    ours = f"{average[0]:.2f} -> {average.max():.2f} at s / d = {at:.2f} -> {average[-1]:.2f}, average of all curves"
    holds = MIDDLE_S[0] <= at <= MIDDLE_S[1] and average[-1] < average.max() - FALL
    claim = f"{name}: best s / d from {MIDDLE_S[0]} to {MIDDLE_S[1]}, then a fall"
    return Check(claim, "rises to s / d = 0.5, then degrades", ours, bool(holds))


def _rises_with_rho(name: str, curves: list[dict[str, Any]]) -> Check:
    """More winners are better."""
    scores = [curve["scores"] for curve in curves]
    n_so = sum(s[-1] > s[0] for s in scores)
    ours = f"{n_so} of {len(scores)} curves, on average {_mean(scores, 0):.2f} -> {_mean(scores, -1):.2f}"
    claim = f"{name}: rises with rho, at least {MIN_SHARE:.0%} of the curves"
    return Check(claim, "rises", ours, n_so >= MIN_SHARE * len(scores))


def _drops_at_one(name: str, curves: list[dict[str, Any]]) -> Check:
    """The binary filter is worse than every other one."""
    drops = [min(curve["scores"][:-1]) - curve["scores"][-1] for curve in curves]
    ours = f"from {min(drops):+.3f} to {max(drops):+.3f}, median {np.median(drops):+.3f}"
    claim = f"{name}: c = 1 is worse than every c < 1, in at least {MIN_SHARE:.0%} of the curves"
    return Check(claim, "a significant drop", ours, bool(np.mean(np.array(drops) > 0) >= MIN_SHARE))


def _flat_below_one(name: str, curves: list[dict[str, Any]]) -> Check:
    """Below 1, c hardly matters."""
    spreads = [max(curve["scores"][:-1]) - min(curve["scores"][:-1]) for curve in curves]
    ours = f"spread {min(spreads):.3f} to {max(spreads):.3f}, median {np.median(spreads):.3f}"
    claim = f"{name}: flat in c < 1, median spread at most {FLAT_C}"
    return Check(claim, "somewhat agnostic to c < 1", ours, bool(np.median(spreads) <= FLAT_C))


def _mean(scores: list[list[float]], at: int) -> float:
    """Return the mean over curves of their score at a position."""
    return float(np.mean([of_curve[at] for of_curve in scores]))
