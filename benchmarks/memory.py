"""Peak memory of fitting MNIST at m = 170128, beyond the data, the connections and the counts.

python benchmarks/memory.py
"""

from __future__ import annotations

import resource
import time

from datasets import load_split
from flybloom import FlyBloomClassifier


def peak() -> float:
    """Return the most memory this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Warm up, fit, and compare peaks."""
    X, y, X_test, y_test = load_split("mnist")
    sizes = {"n_components": 170128, "n_connections": 20, "n_winners": 17, "signed": False, "encoding": "none"}
    FlyBloomClassifier(n_components=64, n_connections=20, n_winners=17, signed=False, encoding="none").fit(
        X[:100], y[:100]
    )
    before = peak()
    start = time.perf_counter()
    model = FlyBloomClassifier(**sizes, decay=0.49, random_state=0).fit(X, y)
    seconds = time.perf_counter() - start
    connections, counts = model.connections_.nbytes / 2, model.counts_.nbytes  # held as uint16, shown as uint32
    above = peak() - before - (connections + counts) / 2**20
    print(f"fit of {len(y)} rows: {seconds:.1f} s, {1e6 * seconds / len(y):.0f} us a row")
    print(f"connections {connections / 2**20:.1f} MB, counts {counts / 2**20:.1f} MB, peak above these {above:.1f} MB")
    print(f"accuracy on the test rows {model.score(X_test, y_test):.4f}")


if __name__ == "__main__":
    main()
