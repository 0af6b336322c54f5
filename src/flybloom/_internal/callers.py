"""Stack level of warnings, so that they point to the user's line."""

from __future__ import annotations

import contextlib
import inspect
import os
from importlib.util import find_spec
from pathlib import Path


def _passing_on() -> tuple[str, ...]:
    """Return path prefixes of frames to skip: flybloom, scikit-learn and contextlib."""
    found = [Path(__file__).parents[1]]
    spec = find_spec("sklearn")
    if spec is not None and spec.origin is not None:
        found.append(Path(spec.origin).parent)
    return contextlib.__file__, *(f"{folder}{os.sep}" for folder in found)


_PASSING_ON = _passing_on()


def user_level() -> int:
    """Return the `stacklevel` of the first frame outside of flybloom and scikit-learn."""
    own = inspect.currentframe()
    frame, level = own.f_back if own is not None else None, 1
    while frame is not None and frame.f_back is not None and frame.f_code.co_filename.startswith(_PASSING_ON):
        frame, level = frame.f_back, level + 1
    return level
