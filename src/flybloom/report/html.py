"""Facts as a self-contained HTML page, with matrices as PNG images made without an imaging library."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np

from flybloom._internal.html_page import LIGHT, render_page

MAX_CELLS = 26  # classes up to which a matrix is a table; beyond, a picture
MAX_ROWS = 200  # of the table of classes
DECIMALS = {"filters": ".3f", "familiarity": ".2f", "scores": ".3f"}  # of similarities
GREY, RGBA = 0, 6  # colour types of PNG
ACCENT = int(LIGHT["accent"][1:3], 16), int(LIGHT["accent"][3:5], 16), int(LIGHT["accent"][5:], 16)


def render(facts: dict[str, Any]) -> str:
    """Return the page that shows what `facts` found.

    Parameters
    ----------
    facts : dict
        Facts from ``flybloom.report.facts``.

    Returns
    -------
    str
        The page, HTML.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.report import facts, render
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyBloomClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> "<h1>Digits &lt;b&gt;</h1>" in render(facts(model, X[1000:], y[1000:], title="Digits <b>"))
    True
    """
    n_tested = {record["label"]: record["tested"] for record in facts["classes"]}
    shares = _shares(facts["confusion"], [n_tested[label] for label in facts["labels"]])
    context = {
        "facts": facts,
        "classes": _worst(facts["classes"]),
        "confusion": _matrix(facts["labels"], facts["confusion"], shares, "d"),
        "similarities": {
            of: _matrix(
                facts["similarity"]["labels"], facts["similarity"][of], _spread(facts["similarity"][of]), decimals
            )
            for of, decimals in DECIMALS.items()
            if of in facts["similarity"]
        },
        "novelty_bars": _novelty_bars(facts["novelty"]) if facts["novelty"] else [],
        "penalty_points": _penalty_points(facts["penalty"]) if facts["penalty"] else [],
        "calibration_bars": _calibration_bars(facts["calibration"]),
    }
    return render_page("flybloom.report", "report", context, (number, percent, size, grey_image))


def number(value: float | None, decimals: int = 3) -> str:
    """Format a number, or a dash for None."""
    if value is None:
        return "\u2013"
    return f"{value:,.{decimals}f}".replace(",", "\u202f")


def percent(value: float | None, decimals: int = 1) -> str:
    """Format a share in percent, or a dash for None."""
    return "\u2013" if value is None else f"{100 * value:.{decimals}f}\u202f%"


def size(n_bytes: float) -> str:
    """Format a number of bytes."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n_bytes < 1024 or unit == "GiB":  # noqa: PLR2004
            break
        n_bytes /= 1024
    return f"{n_bytes:.{0 if unit == 'B' else 1}f}\u202f{unit}"


def _shares(confusion: Any, n_tested: list[int]) -> Any:
    """Normalise a confusion matrix by rows."""
    return np.asarray(confusion, np.float64) / np.maximum(n_tested, 1)[:, None]


def _worst(classes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all classes, or if there are many, those with the lowest recall."""
    if len(classes) <= MAX_ROWS:
        return classes
    return sorted(classes, key=lambda record: 1.0 if record["recall"] is None else record["recall"])[:MAX_ROWS]


def _spread(similarity: Any) -> Any:
    """Scale off-diagonal similarities to 0 to 1, with 0 on the diagonal."""
    matrix = np.asarray(similarity, np.float64)
    beside = matrix[~np.eye(len(matrix), dtype=bool)]
    if beside.size == 0:
        return np.zeros_like(matrix)
    result = (matrix - beside.min()) / ((beside.max() - beside.min()) or 1.0)
    np.fill_diagonal(result, 0)
    return result


def _matrix(labels: list[str], values: Any, heat: Any, form: str) -> dict[str, Any]:
    """Return a matrix for the template: a table of cells, or an image if there are too many classes."""
    heat = np.asarray(heat)
    if len(labels) > MAX_CELLS:
        return {"labels": labels, "picture": heat_image(heat, ACCENT)}
    cells = [
        [
            {"text": _short(format(value, form)), "heat": round(float(heat[i, j]), 3), "is_diagonal": i == j}
            for j, value in enumerate(row)
        ]
        for i, row in enumerate(values)
    ]
    return {"labels": labels, "cells": cells}


def _short(text: str) -> str:
    """Format a number below one without its leading zero."""
    return text[1:] if text.startswith("0.") else text


def _novelty_bars(novelty: dict[str, Any]) -> list[dict[str, Any]]:
    """Return stacked bars of a histogram, heights in percent of the tallest."""
    tallest = max(right + wrong for right, wrong in zip(novelty["right"], novelty["wrong"], strict=True)) or 1
    return [
        {
            "from": novelty["edges"][i],
            "to": novelty["edges"][i + 1],
            "right": right,
            "wrong": wrong,
            "right_height": 100 * right / tallest,
            "wrong_height": 100 * wrong / tallest,
        }
        for i, (right, wrong) in enumerate(zip(novelty["right"], novelty["wrong"], strict=True))
    ]


def _calibration_bars(calibration: dict[str, Any]) -> list[dict[str, Any]]:
    """Return nonempty calibration bins with their confidence and accuracy."""
    bins = zip(calibration["rows"], calibration["confidence"], calibration["accuracy"], strict=True)
    return [
        {"at": i / len(calibration["rows"]), "rows": rows, "confidence": confidence, "accuracy": accuracy}
        for i, (rows, confidence, accuracy) in enumerate(bins)
        if rows
    ]


def _penalty_points(penalty: dict[str, Any]) -> list[dict[str, Any]]:
    """Return candidate penalties and their errors, both scaled to 0 to 1."""
    tried = penalty["tried"]
    if not tried:
        return []
    at = np.log10([point["alpha"] for point in tried])
    error = np.array([point["gcv"] for point in tried], np.float64)
    error = np.where(np.isfinite(error), error, error[np.isfinite(error)].max(initial=0.0))
    x, y = (values - values.min() for values in (at, error))
    x, y = x / (x.max() or 1.0), y / (y.max() or 1.0)
    return [
        {**point, "x": float(x[i]), "y": float(y[i]), "is_taken": point["alpha"] == penalty["alpha"]}
        for i, point in enumerate(tried)
    ]


def grey_image(values: Any) -> str:
    """Return an array as a greyscale image, from minimum (black) to maximum (white)."""
    array = np.asarray(values, np.float64)
    low, high = array.min(), array.max()
    return _data_address((255 * (array - low) / ((high - low) or 1.0)).round().astype(np.uint8), GREY)


def heat_image(values: Any, colour: tuple[int, int, int]) -> str:
    """Return an array of values from 0 to 1 as an image of one colour with varying opacity."""
    opacity = (255 * np.clip(np.asarray(values, np.float64), 0, 1)).round().astype(np.uint8)
    pixels = np.empty((*opacity.shape, 4), np.uint8)
    pixels[..., :3], pixels[..., 3] = colour, opacity
    return _data_address(pixels, RGBA)


def _data_address(pixels: np.ndarray[Any, Any], colour_type: int) -> str:
    """Return 8-bit pixels as a PNG data URL."""
    height, width = pixels.shape[:2]
    lines = np.pad(pixels.reshape(height, -1), ((0, 0), (1, 0)))  # each line starts with its filter, 0: none
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )
    return "data:image/png;base64," + base64.b64encode(data).decode("ascii")
