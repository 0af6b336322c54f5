"""Labels of onnxruntime beside those of flybloom: ten data sets, first order and pairs, floats and whole numbers.

For whole numbers, columns are rounded to integers (of fractions, a thousand steps to a deviation) and hashed as they
are. Rows that were not learned are compared, and counted where labels differ. Results go to
benchmarks/results/onnx_labels.json.

    python benchmarks/onnx_labels.py
"""

from __future__ import annotations

import numpy as np
import onnxruntime

from datasets import load
from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.export import to_onnx
from peers.machine import save

NAMES = (
    "digits", "letter", "satimage", "spambase", "segment", "optdigits", "page_blocks", "magictelescope",
    "eeg_eye_state", "mfeat_pixel",
)  # fmt: skip
LEARNED, COMPARED, COMPONENTS = 2000, 2000, 4096


def whole(X: np.ndarray) -> np.ndarray:
    """Return rows of whole numbers."""
    if np.array_equal(X, np.rint(X)):
        return X.astype(np.int64)
    return np.rint((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12) * 1000).astype(np.int64)


def main() -> None:
    """Compare, print a row for each, and save."""
    result = []
    print("| data | model | rows | type | rows compared | rows that differ |\n|---|---|---|---|---|---|")
    for name in NAMES:
        X, y = load(name)
        order = np.random.default_rng(0).permutation(len(X))
        X, y = np.asarray(X, np.float64)[order], y[order]
        n = min(LEARNED, len(X) // 2)
        for kind in (FlyBloomClassifier, FlyRidgeClassifier):
            for rows, dtype, encoding in ((X, "float64", "auto"), (whole(X), "int64", "none")):
                sizes = {"n_components": COMPONENTS} if kind is FlyBloomClassifier else {}
                model = kind(random_state=0, encoding=encoding, **sizes).fit(rows[:n], y[:n])
                session = onnxruntime.InferenceSession(to_onnx(model, dtype=dtype).SerializeToString())
                some = rows[n : n + COMPARED]
                batches = [some[at : at + 50] for at in range(0, len(some), 50)]
                found = np.concatenate([session.run(["label"], {"X": batch})[0] for batch in batches])
                n_different = int((found != model.predict(some)).sum())
                row = {
                    "data": name,
                    "model": kind.__name__,
                    "rows learned": n,
                    "type": dtype,
                    "compared": len(some),
                    "differ": n_different,
                }
                result.append(row)
                print("| " + " | ".join(map(str, row.values())) + " |", flush=True)
    total = {dtype: [0, 0] for dtype in ("float64", "int64")}
    for row in result:
        total[str(row["type"])][0] += int(str(row["compared"]))
        total[str(row["type"])][1] += int(str(row["differ"]))
    print(total)
    save("onnx_labels", result)


if __name__ == "__main__":
    main()
