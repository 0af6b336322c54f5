"""Import time beside scikit-learn's, and the first fit of a process with an empty and with a full cache.

python benchmarks/startup.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

ROUNDS = 5
SKLEARN = "import sklearn.base, sklearn.utils.validation, sklearn.utils.multiclass"
OURS = "from flybloom import FlyBloomClassifier"  # the package alone imports next to nothing
FIT = """
import time
import numpy as np
from flybloom import FlyBloomClassifier
X = np.random.default_rng(0).standard_normal((1000, 20)); y = np.arange(1000) % 3
start = time.perf_counter()
model = FlyBloomClassifier(random_state=0).fit(X, y)
fit = time.perf_counter()
model.predict(X)
print(fit - start, time.perf_counter() - fit)
"""


def seconds(code: str) -> float:
    """Return how long a process takes to run the code."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    return time.perf_counter() - start


def first_calls(cache: str) -> list[float]:
    """Return the seconds of the first fit and predict of a process."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-c", FIT], check=True, capture_output=True, text=True, env=environment)
    return [float(word) for word in done.stdout.split()]


def main() -> None:
    """Print all of it."""
    best = {code: min(seconds(code) for _ in range(ROUNDS)) for code in ("pass", SKLEARN, OURS)}
    python, sklearn, ours = best.values()
    print(f"import sklearn {sklearn - python:.2f} s, import flybloom {ours - python:.2f} s: {ours - sklearn:+.2f} s")
    with tempfile.TemporaryDirectory() as cache:
        cold, *warm = (first_calls(cache) for _ in range(ROUNDS))
    fit, predict = (min(times) for times in zip(*warm, strict=True))
    print(f"first fit and predict of 1000 x 20: cold {cold[0]:.2f} + {cold[1]:.2f} s, warm {fit:.2f} + {predict:.2f} s")


if __name__ == "__main__":
    main()
