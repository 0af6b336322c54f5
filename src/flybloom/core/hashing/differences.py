"""What two hashes differ in, in the message that refuses to add them up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flybloom.exceptions import IncompatibleHashError

COLUMNS = ("n_features_in_", "feature_names_in_", "kinds")
MAX_NAMED = 3
OF_COLUMNS = "learned the same columns, in the same order and of the same types"
OF_SETTINGS = "share encoding, sizes, features and seed. To learn parts of the data apart, start each from one of them"


def require_no_differences(a: dict[str, Any], b: dict[str, Any], action: str) -> None:
    """Raise an error that says what differs, and which line makes models that do not."""
    found = [name for name in {**a, **b} if a.get(name) != b.get(name)]
    if not found:
        return
    of_columns = [name for name in found if name in COLUMNS]  # everything else differs with them
    names = None if of_columns else a.get("feature_names_in_")
    what = "; ".join(_difference(name, a.get(name), b.get(name), names) for name in of_columns or found)
    advice, rows = OF_SETTINGS, "X_b"
    if of_columns:
        advice, rows = OF_COLUMNS, "X_b" if a.get("feature_names_in_") is None else "X_b[a.feature_names_in_]"
    msg = (
        f"Cannot {action}: the two models hash differently. These differ: {what}.\n"
        f"Models add up if they {advice}:\n"
        f"    b = a.like().partial_fit({rows}, y_b)"
    )
    raise IncompatibleHashError(msg)


def _difference(name: str, a: Any, b: Any, names: Sequence[str] | None) -> str:
    """Return how one field differs: in which columns, if it has a value for each."""
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return f"{name} ({len(a)} and {len(b)} columns)"
        which = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
        first = f"first {_short(a[which[0]])} and {_short(b[which[0]])}"
        if names is not None and len(names) == len(a):
            first = ", ".join(map(repr, [names[i] for i in which[:MAX_NAMED]])) + ", ..." * (len(which) > MAX_NAMED)
        return f"{name} (in {len(which)} of {len(a)} columns: {first})"
    if isinstance(a, dict) and isinstance(b, dict):
        return f"{name} (fitted to other rows)"
    from flybloom.core.encoding.choice import Auto  # noqa: PLC0415 - those who only predict need none, and no scipy

    if isinstance(a, Auto) != isinstance(b, Auto):
        a, b = ("auto" if isinstance(one, Auto) else one for one in (a, b))
    return f"{name} ({_short(a)} and {_short(b)})"


def _short(value: Any) -> str:
    """Return a value as a user would write it."""
    if isinstance(value, list):
        return f"{len(value)} values"
    if value is None or isinstance(value, dict):
        return "None" if value is None else "a fitted step"
    if isinstance(value, str) and value.lstrip("-").startswith("0x"):
        return f"{float.fromhex(value) + 0.0:.6g}"
    return repr(value)
