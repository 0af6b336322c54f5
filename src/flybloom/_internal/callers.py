"""Whose line a warning is about: that of the user, not one inside the library."""

from __future__ import annotations

import contextlib
import inspect
import os
from importlib.util import find_spec
from pathlib import Path


def _passing_on() -> tuple[str, ...]:
    """Return how files begin that pass calls on: flybloom's, scikit-learn's, as pipelines do, and that of contexts."""
    found = [Path(__file__).parents[1]]
    spec = find_spec("sklearn")
    if spec is not None and spec.origin is not None:
        found.append(Path(spec.origin).parent)
    return contextlib.__file__, *(f"{folder}{os.sep}" for folder in found)


_PASSING_ON = _passing_on()


def user_level() -> int:
    """Return the `stacklevel` with which the caller warns about the first line outside of flybloom and scikit-learn."""
    own = inspect.currentframe()
    frame, level = own.f_back if own is not None else None, 1
    while frame is not None and frame.f_back is not None and frame.f_code.co_filename.startswith(_PASSING_ON):
        frame, level = frame.f_back, level + 1
    return level
