"""Signals of change: the share of novel winners, which needs no labels, beside ADWIN on errors and on that share.

Streams of real rows in a mixed order, so that nothing changes but what is changed: half of the rows come as they are,
the others with their columns shifted by one, or with their labels shifted by one. A model with a window of 1000 rows
learns them in blocks of 16. Reported is how many rows after the change the first alarm comes, and how many came before.
The rule of thumb raises one where the mean share of the last 64 rows is twice that of the 1000 before them.

    python benchmarks/drift.py        to benchmarks/results/drift.json
"""

from __future__ import annotations

import warnings

import numpy as np

from flybloom import FlyBloomClassifier, SlidingWindow
from flybloom.streams import novelty_rate
from peers.machine import save
from peers.streams import stream

NAMES = ("electricity", "nomao", "airlines", "randomrbfdrift", "bananas")
HALF, BLOCK, WINDOW = 4000, 16, 1000
SHORT, LONG = 64, 1000  # rows of the rule of thumb


def changed(name: str, *, labels: bool) -> tuple[np.ndarray, np.ndarray, int]:
    """Return a stream that changes, and the row where it does."""
    X, y = stream(name)
    X, y = X[: 2 * HALF], y[: 2 * HALF]
    order = np.random.default_rng(0).permutation(len(y))
    X, y, at = X[order], y[order], len(y) // 2
    if labels:
        y[at:] = (y[at:] + 1) % (y.max() + 1)
    else:
        X[at:] = np.roll(X[at:], 1, axis=1)
    return X, y, at


def signals(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each row whether it was predicted wrong, and its share of novel winners, before it was learned."""
    model = SlidingWindow(FlyBloomClassifier(32768, n_winners=64, random_state=0), n_rows=WINDOW)
    model.partial_fit(X[:WINDOW], y[:WINDOW])
    wrong, novel = np.ones(len(y)), np.ones(len(y))
    for begin in range(WINDOW, len(y), BLOCK):
        block = slice(begin, begin + BLOCK)
        novel[block] = novelty_rate(model, X[block])
        wrong[block] = model.predict(X[block]) != y[block]
        model.partial_fit(X[block], y[block])
    return wrong, novel


def adwin(signal: np.ndarray) -> list[int]:
    """Return the rows at which river's ADWIN raises an alarm."""
    from river import drift  # noqa: PLC0415 - an extra

    watch, raised = drift.ADWIN(), []
    for row, value in enumerate(signal.tolist()):
        watch.update(value)
        if watch.drift_detected:
            raised.append(row)
    return raised


def twice(signal: np.ndarray) -> list[int]:
    """Return the rows at which the mean of the last few is twice that of many before; one alarm until it is over."""
    sums = np.concatenate([[0.0], np.cumsum(signal)])
    raised, is_high = [], False
    for row in range(SHORT + LONG, len(signal)):
        last = (sums[row + 1] - sums[row + 1 - SHORT]) / SHORT
        before = (sums[row + 1 - SHORT] - sums[row + 1 - SHORT - LONG]) / LONG
        if last > 2 * before and not is_high:
            raised.append(row)
        is_high = last > 2 * before
    return raised


def told(raised: list[int], at: int) -> dict[str, int | None]:
    """Return the alarms before the change, and the rows from it to the first one."""
    later = [row - at for row in raised if row >= at]
    return {"before": len(raised) - len(later), "delay": later[0] if later else None}


def main() -> None:
    """Measure, print, save."""
    warnings.simplefilter("ignore")
    results: dict[str, dict[str, object]] = {}
    for name in NAMES:
        for labels in (False, True):
            X, y, at = changed(name, labels=labels)
            wrong, novel = (signal[WINDOW:] for signal in signals(X, y))
            at -= WINDOW
            what = "labels" if labels else "columns"
            results.setdefault(name, {})[what] = {
                "ADWIN on errors": told(adwin(wrong), at),
                "ADWIN on novel winners": told(adwin(novel), at),
                "twice the novel winners": told(twice(novel), at),
                "novel winners before": float(novel[max(0, at - 1000) : at].mean()),
                "novel winners after": float(novel[at : at + 64].mean()),
            }
            print(name, what, results[name][what], flush=True)
            save("drift", results)


if __name__ == "__main__":
    main()
