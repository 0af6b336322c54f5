"""What the page of a class lists: what flybloom says of it, and not what every estimator of scikit-learn has."""

from __future__ import annotations

import inspect
from importlib import import_module


def own_methods(module: str, name: str) -> list[str]:
    """Return the public methods that are written in flybloom, inherited ones too."""
    return sorted(
        member
        for member, value in inspect.getmembers(getattr(import_module(module), name))
        if not member.startswith("_") and callable(value) and getattr(value, "__module__", "").startswith("flybloom")
    )
