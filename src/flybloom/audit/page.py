"""One page on the training rows of a model: facts first, then HTML."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from flybloom._internal.html_page import render_page
from flybloom._internal.typing import Array
from flybloom._internal.validation import check_targets
from flybloom.audit.errors import label_errors, repeats, target_errors

MAX_ROWS = 50  # that are listed
MAX_CLASSES = 40
MAX_PAIRS = 12  # of a label and the suggested one
MAX_POINTS = 1000  # of targets and what is expected
BARS = 10  # of the histogram
WIDTH, HEIGHT, GAP = 340, 110, 4  # of the picture
SIDE = 220  # of the picture of points


def facts(model: Any, X: Any, y: Any, *, title: str = "Training rows", most: int = MAX_ROWS) -> dict[str, Any]:
    """Return what is worth knowing of the training rows of a model, as JSON can hold it.

    Parameters
    ----------
    model : FlyBloomClassifier, FlyRidgeClassifier or FlyRidgeRegressor
        A model fitted to these rows.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows that were learned.
    y : array-like
        Their labels or targets.
    title : str, default="Training rows"
        Title of the page.
    most : int, default=50
        Maximum number of rows to list.

    Returns
    -------
    dict
        Facts for `render` or JSON.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from flybloom import FlyRidgeClassifier
    >>> from flybloom.audit import facts
    >>> X, y = load_iris(return_X_y=True)
    >>> found = facts(FlyRidgeClassifier(random_state=0).fit(X, y), X, y)
    >>> found["rows"], found["suspicious"][0]["position"] in (70, 77, 83, 106, 133)
    (150, True)
    """
    given = np.asarray(y) if hasattr(model, "classes_") else check_targets(y)
    if given.ndim > 1 and given.shape[1] == 1:
        given = given[:, 0]
    same = repeats(model, X, given)
    found = {
        "title": title,
        "model": type(model).__name__,
        "rows": len(given),
        "repeats": [_group(group, given) for group in same.groups[:most]],
        "repeated_rows": sum(group.size for group in same.groups),
        "contradictions": [_group(group, given) for group in same.contradictions[:most]],
        "contradicting_rows": sum(group.size for group in same.contradictions),
    }
    return found | (
        _of_labels(model, X, given, most) if hasattr(model, "classes_") else _of_targets(model, X, given, most)
    )


def render(facts: dict[str, Any]) -> str:
    """Render facts as an HTML page.

    Parameters
    ----------
    facts : dict
        Facts from `facts`.

    Returns
    -------
    str
        The HTML page.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from flybloom import FlyRidgeClassifier
    >>> from flybloom.audit import facts, render
    >>> X, y = load_iris(return_X_y=True)
    >>> page = render(facts(FlyRidgeClassifier(random_state=0).fit(X, y), X, y, title="Iris <b>"))
    >>> "<h1>Iris &lt;b&gt;</h1>" in page
    True
    """
    pictures = {"bars": _bars(facts["histogram"]), "cloud": _cloud(facts.get("points", []))}
    context = {"facts": facts, **pictures, "width": WIDTH, "height": HEIGHT, "side": SIDE}
    return render_page("flybloom.audit", "report", context)


def _of_labels(model: Any, X: Any, y: Array, most: int) -> dict[str, Any]:
    """Return facts about label errors."""
    found = label_errors(model, X, y)
    disagrees = found.suggested != y
    by_class = [
        {"label": _plain(label), "rows": int(own.sum()), "disputed": int(disagrees[own].sum())}
        for label in model.classes_
        if (own := y == label).any()
    ]
    pairs = Counter(zip(y[disagrees].tolist(), found.suggested[disagrees].tolist(), strict=True))
    return {
        "disputed": int(disagrees.sum()),
        "confused": [
            {"label": label, "suggested": suggested, "rows": rows}
            for (label, suggested), rows in pairs.most_common(MAX_PAIRS)
        ],
        "suspicious": [
            {
                "position": int(at),
                "label": _plain(y[at]),
                "suggested": _plain(found.suggested[at]),
                "quality": round(float(found.quality[at]), 4),
            }
            for at in found.ranked[:most]
        ],
        "classes": sorted(by_class, key=lambda one: -one["disputed"] / one["rows"])[:MAX_CLASSES],
        "histogram": _histogram(found.quality, 1.0),
    }


def _of_targets(model: Any, X: Any, given: Array, most: int) -> dict[str, Any]:
    """Return facts about target errors."""
    found = target_errors(model, X, given)
    some = slice(None, None, -(-len(given) // MAX_POINTS))
    return {
        "points": [] if given.ndim > 1 else np.column_stack([found.expected, given])[some].tolist(),
        "suspicious": [
            {
                "position": int(at),
                "label": _plain(given[at]),
                "suggested": _plain(np.round(found.expected[at], 6)),
                "distance": round(float(found.distance[at]), 2),
            }
            for at in found.ranked[:most]
        ],
        "classes": [],
        "histogram": _histogram(found.distance, float(np.quantile(found.distance, 0.99)) or 1.0),
    }


def _group(group: Array, y: Array) -> dict[str, Any]:
    """Return positions and labels of duplicate rows."""
    some = group[:MAX_ROWS]
    return {"rows": group.size, "positions": some.tolist(), "labels": [_plain(label) for label in y[some]]}


def _histogram(values: Array, largest: float) -> list[dict[str, Any]]:
    """Return a histogram whose last bin is open."""
    edges = np.linspace(0.0, largest, BARS + 1)
    counts = np.bincount(np.clip(np.searchsorted(edges, values, "right") - 1, 0, BARS - 1), minlength=BARS)
    return [
        {"from": round(float(low), 4), "to": round(float(high), 4), "rows": int(count)}
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]


def _bars(histogram: list[dict[str, Any]]) -> list[dict[str, float]]:
    """Return the bars of the histogram on a square-root scale."""
    most = max(part["rows"] for part in histogram) or 1
    step = WIDTH / len(histogram)
    heights = [HEIGHT * (part["rows"] / most) ** 0.5 for part in histogram]
    return [
        {
            "x": round(at * step, 1),
            "y": round(HEIGHT - tall, 1),
            "width": round(step - GAP, 1),
            "height": round(tall, 1),
        }
        for at, tall in enumerate(heights)
    ]


def _cloud(points: list[list[float]]) -> dict[str, Any] | None:
    """Return places of points in a square whose sides are the same range."""
    if not points:
        return None
    values = np.array(points)
    low, high = float(values.min()), float(values.max())
    places = (values - low) / ((high - low) or 1.0) * SIDE
    return {"low": low, "high": high, "points": [[round(x, 1), round(SIDE - y, 1)] for x, y in places.tolist()]}


def _plain(value: Any) -> Any:
    """Return a label or targets as JSON values."""
    return value.tolist() if hasattr(value, "tolist") else value
