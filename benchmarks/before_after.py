"""Speed of the working tree against that of an older commit: fit, predict, and predict of one row, in one run.

    python benchmarks/before_after.py [COMMIT] [--rounds 5] [--work calls|stream|files]

The commit is checked out to a temporary worktree. Each round starts a process of each version, lets both warm up, and
then asks them in turns, old and new, old and new, for one call at a time, while the other one waits: so a machine that
is busy for a while slows both. Both work on one thread and on the same rows: 20 000 of 64 features in 10 classes,
float32, like those of Digits. Both standardise the columns, whatever their default is, and have a decay of 0.4. Kernels
are compiled from the first row on (FLYBLOOM_LOOPS): a process that has just begun is the matter of start.py.

Other work, with default settings and once in a round: `stream` learns 8192 of these rows one by one and predicts each
before the next comes; `files` trains from a folder of Parquet files, 300 000 rows of 50 columns in 8 classes, several
times what is in memory at once. These are seconds of the processor, because they take long.

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
STREAM_ROWS = 8192
FILE_ROWS, ROWS_PER_FILE, COLUMNS, FILE_CLASSES = 300_000, 50_000, 50, 8
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


def stream_and_answers() -> tuple[Calls, str]:
    """Return a stream of single rows that are learned and predicted; what is said of them is not compared."""
    import flybloom  # noqa: PLC0415

    X, y = digits_like()

    def stream(n_rows: int = STREAM_ROWS) -> None:
        model = flybloom.FlyBloomClassifier(random_state=0)
        for at in range(n_rows):
            model.partial_fit(X[at : at + 1], y[at : at + 1])
            model.predict(X[at : at + 1])

    stream(64)  # compiles
    return {f"{STREAM_ROWS} rows, each learned and predicted": stream}, ""


def files_and_answers() -> tuple[Calls, str]:
    """Return training from Parquet files; what is learned is not compared."""
    import flybloom  # noqa: PLC0415

    folder = Path(os.environ["BEFORE_AFTER_FILES"])

    def train(source: Path = folder / "rows", **sizes: int) -> None:
        flybloom.train(flybloom.FlyBloomClassifier(random_state=0, **sizes), source, "label")

    train(folder / "few")  # compiles
    return {"train from files": train, "train from files, 1000 components": lambda: train(n_components=1000)}, ""


def write_files(folder: Path) -> None:
    """Write many rows to several files, and few to one."""
    import pyarrow as pa  # noqa: PLC0415 - an extra
    from pyarrow import parquet  # noqa: PLC0415

    rng = np.random.default_rng(0)
    centers = rng.normal(size=(FILE_CLASSES, COLUMNS))
    for name, n_rows in (("rows", FILE_ROWS), ("few", 1000)):
        (folder / name).mkdir()
        for begin in range(0, n_rows, ROWS_PER_FILE):
            labels = rng.integers(0, FILE_CLASSES, min(ROWS_PER_FILE, n_rows - begin))
            rows = centers[labels] + rng.normal(size=(labels.size, COLUMNS))
            table = pa.table({**{f"c{j}": rows[:, j] for j in range(COLUMNS)}, "label": labels})
            parquet.write_table(table, folder / name / f"{begin}.parquet")


WORK = {"calls": calls_and_answers, "stream": stream_and_answers, "files": files_and_answers}


def serve(work: str) -> None:
    """Say what can be timed; then, for each name that is read, say how many seconds it takes."""
    calls, answers = WORK[work]()
    now = time.perf_counter if work == "calls" else time.process_time
    package = sys.modules["flybloom"].__file__
    print(json.dumps({"calls": list(calls), "answers": answers, "package": package}), flush=True)
    for line in sys.stdin:
        start = now()
        calls[line.strip()]()
        print(now() - start, flush=True)


class Version:
    """A process that imports flybloom from a tree, and times what it is asked to."""

    def __init__(self, tree: Path, work: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", "--work", work],
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


def one_round(before: Path, work: str) -> tuple[dict[str, np.ndarray], bool]:
    """Return the seconds of each call, one row for each turn, old and new side by side; and whether answers agree."""
    turns = TURNS if work == "calls" else 1
    with ExitStack() as stack:
        versions = []
        for tree in (before, ROOT):
            versions.append(Version(tree, work))
            stack.callback(versions[-1].close)
        times = {
            call: np.array([[version.seconds(call) for version in versions] for _ in range(turns)])
            for call in versions[0].calls
        }
        return times, versions[0].answers == versions[1].answers


def main() -> None:
    """Time both versions in turns, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", default=BEFORE, help=f"what to compare with; {BEFORE} without it")
    parser.add_argument("--rounds", type=int, default=5, help="how many processes of each version are timed")
    parser.add_argument("--work", choices=list(WORK), default="calls", help="what is timed")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.work)
        return
    rounds, are_same = [], True
    with checked_out(options.commit) as before, tempfile.TemporaryDirectory() as folder:
        os.environ["BEFORE_AFTER_FILES"] = folder
        if options.work == "files":
            write_files(Path(folder))
        for number in range(1, options.rounds + 1):
            times, agree = one_round(before, options.work)
            rounds.append({call: np.median(found, axis=0) for call, found in times.items()})
            are_same &= agree
            print(f"round {number} of {options.rounds}", file=sys.stderr, flush=True)
    print(f"| | {options.commit}, ms | working tree, ms | new / old | from | to |\n|---|---:|---:|---:|---:|---:|")
    for call in rounds[0]:
        medians = np.array([found[call] for found in rounds])
        ratio = medians[:, 1] / medians[:, 0]
        old, new = 1000 * np.median(medians, axis=0) / (SINGLE_ROWS if "one row" in call else 1)
        print(f"| {call} | {old:.4g} | {new:.4g} | {np.median(ratio):.3f} | {ratio.min():.3f} | {ratio.max():.3f} |")
    if options.work == "calls":
        print(f"\nCounts, labels and novelties are {'the same, bit for bit' if are_same else 'NOT the same'}.")


if __name__ == "__main__":
    main()
