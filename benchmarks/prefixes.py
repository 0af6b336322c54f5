"""Accuracy at 1 %, 10 % and 100 % of the rows, of classifiers as they come: it must not fall as rows come.

    python benchmarks/prefixes.py [SET ...]

A quarter of the rows, at most 5000, are tested. Prints a line for each set; docs/benchmarks/defaults.md quotes them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from decay import SHARES, parts
from flybloom import FlyBloomClassifier

RESULTS = Path(__file__).parent / "results" / "prefixes.json"
SETS = (
    "magictelescope", "eeg_eye_state", "letter", "pol", "elevators", "house_16h", "satimage", "optdigits", "fried",
    "ailerons",
)  # fmt: skip


def main() -> None:
    """Measure what is missing, print, save after each set."""
    records = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    print("| set | rows | 1 % | 10 % | 100 % | decay at 100 % |\n|---|---:|---:|---:|---:|---:|")
    for name in sys.argv[1:] or SETS:
        if name not in records:
            X, y, X_test, y_test = parts(name, 0)
            scores = []
            for share in SHARES:
                n = round(len(y) * share)
                model = FlyBloomClassifier(random_state=0).fit(X[:n], y[:n])
                scores.append(float(np.mean(model.predict(X_test) == y_test)))
            records[name] = {"n": len(y), "accuracy": scores, "decay": model.decay_}
            RESULTS.write_text(json.dumps(records, indent=1))
        record = records[name]
        shown = " | ".join(f"{score:.3f}" for score in record["accuracy"])
        print(f"| {name} | {record['n']} | {shown} | {record['decay']:.3g} |", flush=True)


if __name__ == "__main__":
    main()
