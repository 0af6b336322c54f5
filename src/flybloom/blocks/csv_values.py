"""Numbers from text that was not refused while it was read: what is no number is infinite, so its row is marked."""

from __future__ import annotations

from typing import Any

from flybloom._internal.cells import FALSE, MISSING, TRUE
from flybloom.blocks.arrow_labels import NUMBER


def numbers_of_text(column: Any, decimal: str, *, are_booleans: bool) -> Any:
    """Return a column of strings as floats: missing where there is none, infinite where it is no number.

    Parameters
    ----------
    column : Arrow array of strings
        Values as they are in the file.
    decimal : {".", ","}
        The decimal point.
    are_booleans : bool
        Whether ``True`` and ``False`` are values.

    Returns
    -------
    Arrow array of float64
        The same numbers that a strict reader gives.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.compute as pc  # noqa: PLC0415

    column = pc.utf8_trim_whitespace(column)
    if are_booleans:
        column = pc.if_else(pc.is_in(column, pa.array(TRUE)), "1", column)
        column = pc.if_else(pc.is_in(column, pa.array(FALSE)), "0", column)
    if decimal == ",":
        column = pc.if_else(pc.match_substring(column, "."), "?", column)
        column = pc.replace_substring(column, ",", ".")
    column = pc.if_else(pc.is_in(column, pa.array(MISSING)), pa.scalar(None, pa.string()), column)
    try:
        return column.cast(pa.float64())
    except pa.ArrowInvalid:
        is_number = pc.match_substring_regex(column, f"^({NUMBER[False]})$")
        return pc.if_else(is_number, column, "inf").cast(pa.float64())
