"""Speed of the working tree against that of an older commit: fit, predict, and predict of one row, in one run.

    python benchmarks/before_after.py [COMMIT] [--rounds 5]

The commit is checked out to a temporary worktree. Each round starts a process of each version, lets both warm up, and
then asks them in turns, old and new, old and new, for one call at a time, while the other one waits: so a machine that
is busy for a while slows both. Both work on one thread and on the same rows: 20 000 of 64 features in 10 classes,
float32, like those of Digits. Both standardise the columns, whatever their default is, and have a decay of 0.4. Kernels
are compiled from the first row on (FLYBLOOM_LOOPS): a process that has just begun is the matter of start.py.

A round gives the ratio of the medians of both versions. Printed are the median of the ratios of all rounds, the least
and the greatest. Below 1 the working tree is faster; where 1 lies between the least and the greatest, nothing is known
to have changed. What each version takes to compile its kernels does not count.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
BEFORE = "71849a2"  # the last commit before the core was rebuilt
SIZES: dict[str, dict[str, int]] = {"4096 components": {"n_components": 4096}, "default": {}}
ROWS, FEATURES, CLASSES = 20_000, 64, 10
TURNS = 5  # calls of each version in a round
SINGLE_ROWS = 100  # rows that are asked about one by one in a turn
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1") | {
    "FLYBLOOM_LOOPS": "compiled"
}
Calls = dict[str, Callable[[], object]]


def digits_like() -> tuple[np.ndarray, np.ndarray]:
    """Return rows of whole numbers from 0 to 16, as float32, around a centre for each class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, ROWS)
    X = rng.integers(0, 17, (CLASSES, FEATURES))[y] + rng.integers(-6, 7, (ROWS, FEATURES))
    return X.clip(0, 16).astype(np.float32), y


def calls_and_answers() -> tuple[Calls, str]:
    """Return what can be timed, warm, and a digest of what the models say."""
    import flybloom  # noqa: PLC0415 - only the processes that are timed need it

    X, y = digits_like()
    calls: Calls = {}
    answers = hashlib.sha256()
    for name, sizes in SIZES.items():
        options = {**sizes, "encoding": "standard+clip=inf", "decay": 0.4, "random_state": 0, "n_jobs": 1}
        model = flybloom.FlyBloomClassifier(**options).fit(X, y)
        single = [X[i : i + 1] for i in range(SINGLE_ROWS)]
        calls[f"fit, {name}"] = lambda model=model: model.fit(X, y)
        calls[f"predict, {name}"] = lambda model=model: model.predict(X)
        calls[f"predict one row, {name}"] = lambda model=model, single=single: [model.predict(row) for row in single]
        for array in (model.counts_, model.predict(X[:2000]), model.novelty(X[:2000]), model.novelty(X[:1])):
            answers.update(np.ascontiguousarray(array).tobytes())
    return calls, answers.hexdigest()


def serve() -> None:
    """Say what can be timed; then, for each name that is read, say how many seconds it takes."""
    calls, answers = calls_and_answers()
    package = sys.modules["flybloom"].__file__
    print(json.dumps({"calls": list(calls), "answers": answers, "package": package}), flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        calls[line.strip()]()
        print(time.perf_counter() - start, flush=True)


class Version:
    """A process that imports flybloom from a tree, and times what it is asked to."""

    def __init__(self, tree: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": f"{tree / 'src'}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        said = json.loads(self._line())
        self.calls: list[str] = said["calls"]
        self.answers: str = said["answers"]
        if not Path(said["package"]).resolve().is_relative_to(tree):
            self.close()
            msg = f"Expected flybloom of {tree}. Got {said['package']} instead. Uninstall that one."
            raise RuntimeError(msg)

    def seconds(self, call: str) -> float:
        """Return what a call takes."""
        assert self.process.stdin is not None  # noqa: S101 - for mypy
        self.process.stdin.write(f"{call}\n")
        self.process.stdin.flush()
        return float(self._line())

    def close(self) -> None:
        """End the process."""
        self.process.communicate()

    def _line(self) -> str:
        """Return what the process says next."""
        assert self.process.stdout is not None  # noqa: S101 - for mypy
        line = self.process.stdout.readline()
        if not line:
            msg = "A process that was to be timed has ended. Its error is above."
            raise RuntimeError(msg)
        return line


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Give a temporary worktree of a commit."""

    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", f"{ROOT}", *arguments], check=True, stdout=subprocess.DEVNULL)  # noqa: S607

    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder).resolve() / "before"
        git("worktree", "add", "--quiet", "--detach", f"{tree}", commit)
        try:
            yield tree
        finally:
            git("worktree", "remove", "--force", f"{tree}")


def one_round(before: Path) -> tuple[dict[str, np.ndarray], bool]:
    """Return the seconds of each call, one row for each turn, old and new side by side; and whether answers agree."""
    with ExitStack() as stack:
        versions = []
        for tree in (before, ROOT):
            versions.append(Version(tree))
            stack.callback(versions[-1].close)
        times = {
            call: np.array([[version.seconds(call) for version in versions] for _ in range(TURNS)])
            for call in versions[0].calls
        }
        return times, versions[0].answers == versions[1].answers


def main() -> None:
    """Time both versions in turns, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", default=BEFORE, help=f"what to compare with; {BEFORE} without it")
    parser.add_argument("--rounds", type=int, default=5, help="how many processes of each version are timed")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    rounds, are_same = [], True
    with checked_out(options.commit) as before:
        for number in range(1, options.rounds + 1):
            times, agree = one_round(before)
            rounds.append({call: np.median(found, axis=0) for call, found in times.items()})
            are_same &= agree
            print(f"round {number} of {options.rounds}", file=sys.stderr, flush=True)
    print(f"| | {options.commit}, ms | working tree, ms | new / old | from | to |\n|---|---:|---:|---:|---:|---:|")
    for call in rounds[0]:
        medians = np.array([found[call] for found in rounds])
        ratio = medians[:, 1] / medians[:, 0]
        old, new = 1000 * np.median(medians, axis=0) / (SINGLE_ROWS if "one row" in call else 1)
        print(f"| {call} | {old:.4g} | {new:.4g} | {np.median(ratio):.3f} | {ratio.min():.3f} | {ratio.max():.3f} |")
    print(f"\nCounts, labels and novelties are {'the same, bit for bit' if are_same else 'NOT the same'}.")


if __name__ == "__main__":
    main()
