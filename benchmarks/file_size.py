"""Save a model of MNIST with 50 000 components: bytes against those of its counts, and the time to load it.

python benchmarks/file_size.py
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import flybloom
from datasets import load_split

MOST_BYTES, MOST_MILLISECONDS = 1.05, 50


def main() -> None:
    """Learn, save, load."""
    X, y, _, _ = load_split("mnist")
    model = flybloom.FlyBloomClassifier(50_000, random_state=0).fit(X, y)
    counts = model.counts_
    least = counts.size * np.min_scalar_type(counts.max()).itemsize
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mnist.fly"
        model.save(path)
        n_bytes = path.stat().st_size
        times = []
        for _ in range(20):
            start = time.perf_counter()
            loaded = flybloom.load(path)
            times.append(1000 * (time.perf_counter() - start))
    is_same = np.array_equal(loaded.counts_, counts)
    milliseconds = float(np.median(times[1:]))
    print(f"{n_bytes} bytes, {n_bytes / least:.4f} times those of the counts, largest {counts.max()}")
    print(f"loaded in {milliseconds:.1f} ms (median), {max(times[1:]):.1f} ms at most; counts equal: {is_same}")
    if not is_same or n_bytes / least > MOST_BYTES or milliseconds > MOST_MILLISECONDS:
        sys.exit(1)


if __name__ == "__main__":
    main()
