"""Learn Digits and write one page on which to draw, teach and forget, with the model in it.

    python examples/draw PAGE.html

The page needs no network and no server: open it in a browser.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier
from flybloom.core.hashing.projection import VERSION

HERE = Path(__file__).parent
LAST = 97  # so many of the digits are shown as examples and not learned
LARGEST_COUNT = 255  # what a byte holds


def learn() -> tuple[FlyBloomClassifier, np.ndarray]:
    """Return a model of Digits that sums whole-number pixels, and rows that it has not learned."""
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.int64)
    model = FlyBloomClassifier(4096, n_connections=16, n_winners=64, decay=0.4, encoding="none", random_state=0)
    return model.fit(X[:-LAST], y[:-LAST]), X[-LAST:]


def exported(model: FlyBloomClassifier, examples: np.ndarray) -> dict[str, object]:
    """Return all that the page holds of a model: its seed, its sizes and its counts."""
    if model.counts_.max() > LARGEST_COUNT:
        msg = f"A count is {model.counts_.max()}; the page has a byte for each. Learn fewer rows."
        raise ValueError(msg)
    return {
        "sizes": {
            "seed": str(model.seed_),
            "version": VERSION,
            "nFeatures": model.n_features_in_,
            "nComponents": model.n_components_,
            "nConnections": model.n_connections_,
            "nWinners": model.n_winners_,
        },
        "decay": model.decay,
        "classes": [str(label) for label in model.classes_],
        "rows": model.class_count_.tolist(),
        "counts": base64.b64encode(model.counts_.astype(np.uint8).tobytes()).decode(),
        "examples": examples.tolist(),
    }


def page(model: FlyBloomClassifier, examples: np.ndarray) -> str:
    """Return the page, whole in one text."""
    parts = {
        "/*STYLE*/": (HERE / "style.css").read_text(encoding="utf-8"),
        "/*MODEL_CODE*/": (HERE / "model.js").read_text(encoding="utf-8"),
        "/*EXPORTED*/": json.dumps(exported(model, examples), separators=(",", ":")),
        "/*PAGE_CODE*/": (HERE / "page.js").read_text(encoding="utf-8"),
    }
    text = (HERE / "page.html").read_text(encoding="utf-8")
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "draw.html")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page(*learn()), encoding="utf-8")
    print(target)
