"""Latency of predicting one row, warm: flybloom against SGDClassifier, the hash alone, and what remains.

At default settings, on Digits (64 features) and MNIST (784). The hash is the call of its kernel. What remains, checks,
scaling, locks, scoring and choice, is shown twice: as predict less hash, and as predict of a model whose hash answers
from memory. The latter and the peer are timed in turns, as are predict and hash, so that a busy machine slows both.
Then the number of components grows, and what remains should not.

    python benchmarks/latency.py [--quick]
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import itertools
import time
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.linear_model import SGDClassifier

from datasets import load, load_split
from flybloom import FlyBloomClassifier
from flybloom.core.hashing.projection import Projection
from flybloom.estimators.access import reading_learned, with_learned
from peers.machine import save

CALLS = 4000
COMPONENTS = (4096, 32768, 262144)


def interleaved(calls: dict[str, Callable[[], object]], n: int) -> dict[str, np.ndarray]:
    """Return the microseconds of `n` calls of each, one of each in turn."""
    times = {name: np.empty(n) for name in calls}
    for call in calls.values():
        call()
    for i in range(n):
        for name, call in calls.items():
            start = time.perf_counter_ns()
            call()
            times[name][i] = (time.perf_counter_ns() - start) / 1000
    return times


def single_rows(X: np.ndarray) -> Iterator[np.ndarray]:
    """Return rows without end, in turns: a model may remember the winners of the last one."""
    return itertools.cycle([X[i : i + 1] for i in range(97)])


class Remembered:
    """A projection that knows the winners already."""

    def __init__(self, projection: Projection, winners: np.ndarray) -> None:
        self.seed, self._winners = projection.seed, winners

    def draw(self, *, sparse: bool) -> None:
        """Draw nothing."""

    def winners(self, _rows: np.ndarray, _n_winners: int) -> np.ndarray:
        """Return the winners."""
        return self._winners


def contestants(X: np.ndarray, y: np.ndarray, **sizes: int) -> dict[str, Callable[[], object]]:
    """Return one call of each: predict, the kernel of the hash within it, and the peer."""
    model = FlyBloomClassifier(random_state=0, **sizes).fit(X, y)
    peer = SGDClassifier(max_iter=1, tol=None, random_state=0).fit(X, y)
    rows = single_rows(X)
    with reading_learned(model) as learned:
        scaled, projection = learned.hasher.encoder.encode(X[:1]), learned.hasher.projection
        known = Remembered(projection, projection.winners(scaled, model.n_winners_))
    remembering = with_learned(
        copy.copy(model), learned._replace(hasher=dataclasses.replace(learned.hasher, projection=known))
    )
    return {
        "predict": lambda: model.predict(next(rows)),
        "hash": lambda: projection.winners(scaled, model.n_winners_),
        "all else": lambda: remembering.predict(next(rows)),
        "SGD": lambda: peer.predict(next(rows)),
    }


def measure(name: str, X: np.ndarray, y: np.ndarray, n: int, **sizes: int) -> dict[str, object]:
    """Return the middle and the tail of each, and the ratio that counts."""
    calls = contestants(X, y, **sizes)
    times = interleaved({name: calls[name] for name in ("predict", "hash")}, n)
    times |= interleaved({name: calls[name] for name in ("all else", "SGD")}, n)
    half, tail = ({key: float(np.percentile(t, p)) for key, t in times.items()} for p in (50, 99))
    rest = half["predict"] - half["hash"]
    return {
        "data": name,
        "features": X.shape[1],
        "components": sizes.get("n_components", 32768),
        "predict p50": half["predict"],
        "predict p99": tail["predict"],
        "SGD p50": half["SGD"],
        "SGD p99": tail["SGD"],
        "hash p50": half["hash"],
        "predict less hash": rest,
        "hash from memory p50": half["all else"],
        "less hash / SGD": rest / half["SGD"],
        "from memory / SGD": half["all else"] / half["SGD"],
    }


def main() -> None:
    """Print a table, and save it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the calls, nothing saved")
    quick = parser.parse_args().quick
    n = CALLS // 10 if quick else CALLS
    digits = load("digits")
    X, y, _, _ = load_split("mnist")
    mnist = X[:10_000].astype(np.float64), y[:10_000]
    result = []
    for name, data, sizes in [
        ("digits", digits, {}),
        ("mnist", mnist, {}),
        *(("digits", digits, {"n_components": m}) for m in COMPONENTS),
    ]:
        result.append(measure(name, *data, n if not sizes else n // 4, **sizes))
        if len(result) == 1:
            print("| " + " | ".join(result[0]) + " |\n" + "|---" * len(result[0]) + "|")
        print("| " + " | ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in result[-1].values()) + " |")
    if not quick:
        save("latency", result)


if __name__ == "__main__":
    main()
