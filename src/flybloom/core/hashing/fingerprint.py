"""How a model hashes, field by field: models with the same fields have counts that can be added and subtracted."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from flybloom.core.hashing.projection import VERSION
from flybloom.estimators._base import BaseFly
from flybloom.exceptions import DifferentConstructionError


def construction(model: BaseFly) -> dict[str, Any]:
    """Return everything that the winners of a row depend on, besides the row."""
    if not hasattr(model, "seed_"):
        msg = (
            f"This {type(model).__name__} instance is not fitted yet. "
            "Call 'fit' with appropriate arguments before using it."
        )
        raise NotFittedError(msg)
    names = getattr(model, "feature_names_in_", None)
    return {
        "hash_version": VERSION,
        "n_features_in_": model.n_features_in_,
        "feature_names_in_": None if names is None else [str(name) for name in names],
        "n_components_": model.n_components_,
        "n_connections_": model.n_connections_,
        "n_winners_": model.n_winners_,
        "signed_": model.signed_,
        "seed_": model.seed_,
        "center_": _exactly(model.center_),
        "scale_": _exactly(model.scale_),
    }


def fingerprint(fields: dict[str, Any]) -> str:
    """Return a short name for a construction: different ones have different names."""
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:32]


def differences(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """Return what differs between two constructions, a phrase for each field."""
    return [_difference(name, a[name], b[name]) for name in a if a[name] != b[name]]


def require_same_construction(a: BaseFly, b: BaseFly, action: str) -> None:
    """Refuse two models whose winners mean different things."""
    found = differences(construction(a), construction(b))
    if found:
        msg = (
            f"Cannot {action}: the two models hash differently. These differ: {'; '.join(found)}. "
            "Models add up if all learn with the same random_state, sizes, features and scaling: "
            "use scaling='none', or start each from a copy of one model."
        )
        raise DifferentConstructionError(msg)


def _exactly(values: Any) -> list[str] | None:
    """Return floats as text that loses nothing."""
    return None if values is None else [float(value).hex() for value in np.asarray(values)]


def _difference(name: str, a: Any, b: Any) -> str:
    """Return how one field differs."""
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return f"{name} ({len(a)} and {len(b)} features)"
        n_different = sum(x != y for x, y in zip(a, b, strict=True))
        first = next(i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y)
        return f"{name} (in {n_different} of {len(a)} features, first {_short(a[first])} and {_short(b[first])})"
    return f"{name} ({_short(a)} and {_short(b)})"


def _short(value: Any) -> str:
    """Return a value as a user would write it."""
    if isinstance(value, list):
        return f"{len(value)} values"
    if isinstance(value, str) and value.lstrip("-").startswith("0x"):
        return f"{float.fromhex(value):.6g}"
    return repr(value)
