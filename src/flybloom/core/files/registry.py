"""Which estimator belongs to a kind of model: files, checkpoints and commands know models by these names."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type)

KINDS = {
    "AdaptiveWindow": "flybloom.estimators.adaptive_window",
    "FlyBloomClassifier": "flybloom.estimators.classifier",
    "FlyBloomClassifierCV": "flybloom.estimators.tuning.estimator",
    "FlyBloomNovelty": "flybloom.estimators.novelty",
    "FlyHash": "flybloom.estimators.fly_hash",
    "FlyRidgeClassifier": "flybloom.estimators.ridge",
    "FlyRidgeMultiOutputClassifier": "flybloom.estimators.multi_output",
    "FlyRidgeRegressor": "flybloom.estimators.regressor",
    "FrozenClassifier": "flybloom.estimators.frozen",
    "FrozenNovelty": "flybloom.estimators.frozen",
    "FrozenRegressor": "flybloom.estimators.frozen",
    "OpenSetClassifier": "flybloom.estimators.open_set",
    "ReleasedClassifier": "flybloom.estimators.releasing",
    "SlidingWindow": "flybloom.estimators.window",
}
"""Names in files, and the modules they are imported from when first needed."""

RENAMED = {"BestWindow": "AdaptiveWindow"}  # what older files say

_registered: dict[str, type] = {}


def register(kind: Kind) -> Kind:
    """Tell files an estimator of somebody else's by the name of its class; usable as a decorator."""
    _registered[kind.__name__] = kind
    return kind


def estimator_of(name: Any) -> Any:
    """Return the estimator of a kind, or None if there is none of that name."""
    if not isinstance(name, str):
        return None
    name = RENAMED.get(name, name)
    if name in _registered:
        return _registered[name]
    return getattr(import_module(KINDS[name]), name) if name in KINDS else None


def known_kinds() -> list[str]:
    """Return the names of all kinds."""
    return sorted({*KINDS, *_registered})
