"""Parameters that are deprecated, and what takes their place."""

from __future__ import annotations

import warnings
from typing import Any

from flybloom._internal.callers import user_level

SCALINGS = {"none": "none", "center": "center", "standard": "standard+clip=inf"}
DEPRECATED = frozenset({"scaling", "warm_up"})


def without_deprecated(owner: str, encoding: Any, given: dict[str, Any]) -> Any:
    """Return the encoding that deprecated parameters of an estimator stand for, and warn.

    Parameters
    ----------
    owner : str
        The estimator, for messages.
    encoding : str, Encoding or Encoder
        Its own encoding.
    given : dict
        Other keyword arguments that it got.

    Returns
    -------
    str, Encoding or Encoder
        The encoding to use.
    """
    for name in given:
        if name not in DEPRECATED and name != "deprecated":  # scikit-learn's checks pass the name of the dictionary
            msg = f"{owner} has no parameter {name!r}. Its parameters are those of get_params()."
            raise TypeError(msg)
    if "warm_up" in given:
        msg = (
            f"warm_up of {owner} is deprecated and has no effect: the first rows of a stream are kept until they no "
            "longer fit into a sketch. It will be removed in 0.4."
        )
        warnings.warn(msg, FutureWarning, stacklevel=user_level())
    scaling = given.get("scaling")
    if scaling is None:
        return encoding
    if scaling not in SCALINGS:
        msg = f"The 'scaling' parameter of {owner} must be one of {set(SCALINGS)}. Got {scaling!r} instead."
        raise ValueError(msg)
    if not (isinstance(encoding, str) and encoding == "auto"):
        msg = (
            f"{owner} takes an encoding or a scaling, not both. Got encoding={encoding!r} and scaling={scaling!r}. "
            "Leave out scaling, which is deprecated."
        )
        raise ValueError(msg)
    msg = (
        f"scaling={scaling!r} of {owner} is deprecated and will be removed in 0.4. "
        f"Use encoding={SCALINGS[scaling]!r} instead."
    )
    warnings.warn(msg, FutureWarning, stacklevel=user_level())
    return SCALINGS[scaling]
