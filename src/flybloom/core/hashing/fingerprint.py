"""The name of a way of hashing: models whose names are equal have counts that can be added and subtracted."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def fingerprint(fields: dict[str, Any]) -> str:
    """Return a short name for all that winners depend on: what differs has another name."""
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:32]


def differences(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """Return what differs between two ways of hashing, a phrase for each field."""
    return [_difference(name, a.get(name), b.get(name)) for name in {**a, **b} if a.get(name) != b.get(name)]


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
