"""Deprecated parameters of estimators; see `flybloom._internal.deprecated`."""

from __future__ import annotations

from typing import Any

from flybloom._internal.deprecated import Taken

SCALINGS = {"none": "none", "center": "center", "standard": "standard+clip=inf"}


def scaling_as_encoding(owner: str, scaling: Any, others: dict[str, Any]) -> str:
    """Replace a scaling by the equivalent encoding."""
    if scaling is None:
        return ""
    if scaling not in SCALINGS:
        msg = f"The 'scaling' parameter of {owner} must be one of {set(SCALINGS)}. Got {scaling!r} instead."
        raise ValueError(msg)
    encoding = others.get("encoding", "auto")
    if not (isinstance(encoding, str) and encoding == "auto"):
        msg = (
            f"{owner} takes an encoding or a scaling, not both. Got encoding={encoding!r} and scaling={scaling!r}. "
            "Leave out scaling, which is deprecated."
        )
        raise ValueError(msg)
    others["encoding"] = SCALINGS[scaling]
    return f"scaling={scaling!r} of {owner} is deprecated. Use encoding={SCALINGS[scaling]!r} instead."


def without_warm_up(owner: str, warm_up: Any, others: dict[str, Any]) -> str:  # noqa: ARG001
    """Ignore `warm_up`."""
    return (
        f"warm_up of {owner} is deprecated and has no effect: the first rows of a stream are kept until they no longer "
        "fit into a sketch."
    )


OLD_PARAMETERS: dict[str, str | Taken] = {"scaling": scaling_as_encoding, "warm_up": without_warm_up}
