"""From facts to a page: one file, no scripts, everything escaped."""

from __future__ import annotations

from typing import Any

import numpy as np

from flybloom._internal.html_page import LIGHT, render_page
from flybloom.report.images import grey_image, heat_image

MAX_CELLS = 26  # classes up to which a matrix is a table; beyond, a picture
MAX_ROWS = 200  # of the table of classes
DECIMALS = {"filters": ".3f", "familiarity": ".2f", "scores": ".3f"}  # of similarities
ACCENT = int(LIGHT["accent"][1:3], 16), int(LIGHT["accent"][3:5], 16), int(LIGHT["accent"][5:], 16)


def render(facts: dict[str, Any]) -> str:
    """Return the page that shows what `facts` found.

    Parameters
    ----------
    facts : dict
        What ``flybloom.report.facts`` returns.

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
    """Return a number with so many decimals, or a dash for none."""
    if value is None:
        return "\u2013"
    return f"{value:,.{decimals}f}".replace(",", "\u202f")


def percent(value: float | None, decimals: int = 1) -> str:
    """Return a share in percent, or a dash for none."""
    return "\u2013" if value is None else f"{100 * value:.{decimals}f}\u202f%"


def size(n_bytes: float) -> str:
    """Return a number of bytes in a unit that fits."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n_bytes < 1024 or unit == "GiB":  # noqa: PLR2004
            break
        n_bytes /= 1024
    return f"{n_bytes:.{0 if unit == 'B' else 1}f}\u202f{unit}"


def _shares(confusion: Any, n_tested: list[int]) -> Any:
    """Return each row of a confusion matrix as shares of the rows that were tested."""
    return np.asarray(confusion, np.float64) / np.maximum(n_tested, 1)[:, None]


def _worst(classes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the classes as they are, or where there are many, those of the least recall, the least first."""
    if len(classes) <= MAX_ROWS:
        return classes
    return sorted(classes, key=lambda record: 1.0 if record["recall"] is None else record["recall"])[:MAX_ROWS]


def _spread(similarity: Any) -> Any:
    """Return similarities from 0, the least beside the diagonal, to 1, the largest; 0 on the diagonal."""
    matrix = np.asarray(similarity, np.float64)
    beside = matrix[~np.eye(len(matrix), dtype=bool)]
    if beside.size == 0:
        return np.zeros_like(matrix)
    result = (matrix - beside.min()) / ((beside.max() - beside.min()) or 1.0)
    np.fill_diagonal(result, 0)
    return result


def _matrix(labels: list[str], values: Any, heat: Any, form: str) -> dict[str, Any]:
    """Return a matrix as the template shows it: a table of cells, or a picture where there are too many classes."""
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
    """Return a number below one without its zero, to save room in narrow cells."""
    return text[1:] if text.startswith("0.") else text


def _novelty_bars(novelty: dict[str, Any]) -> list[dict[str, Any]]:
    """Return bars of a histogram, heights in percent of the tallest, those told wrong on top."""
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
    """Return the bins that hold rows, where they begin, and their confidence and accuracy."""
    bins = zip(calibration["rows"], calibration["confidence"], calibration["accuracy"], strict=True)
    return [
        {"at": i / len(calibration["rows"]), "rows": rows, "confidence": confidence, "accuracy": accuracy}
        for i, (rows, confidence, accuracy) in enumerate(bins)
        if rows
    ]


def _penalty_points(penalty: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the penalties that were tried, from 0, the smallest, to 1, and their errors from 0, the least, to 1."""
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
