"""From cold to the first answer, one row at a time, and on the disk: before and after, and beside others.

"Before" is the commit BEFORE, of which the source is taken from git. All starts are processes of their own, with an
empty cache of numba (cold) or one that the process before filled (warm); latency is that of predict on one row of
Digits. Parts can be measured one by one; what was measured is kept in benchmarks/results/start.json.

    python benchmarks/start.py [cold] [latency] [sizes] [table]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from peers.machine import RESULTS, save

BEFORE = "9c1ebf9"
STARTS_KEPT = "starts: seconds and processor seconds, cold and warm"
ROOT = Path(__file__).resolve().parents[1]
CALLS = 2000
CLOCK = """
import os, sys, time
begin, used = time.perf_counter(), time.process_time()
def done(name):
    print(name, time.perf_counter() - begin, time.process_time() - used)
import numpy as np
X = np.random.default_rng(0).standard_normal((1000, 20)); y = np.arange(1000) % 3
"""
STARTS = {
    "fit + predict, 1000 float rows": (
        "import flybloom\nflybloom.FlyBloomClassifier(random_state=0).fit(X, y).predict(X)\n"
    ),
    "fit + predict, 1000 rows of whole numbers": (
        "X = (10 * X).astype(int); import flybloom\n"
        "flybloom.FlyBloomClassifier(encoding='none', random_state=0).fit(X, y).predict(X)\n"
    ),
    "load + predict one row, saved": "import flybloom\nflybloom.load(sys.argv[1] + '/first.fly').predict(X[:1])\n",
    "load + predict one row, frozen": "import flybloom\nflybloom.load(sys.argv[1] + '/pairs.fly').predict(X[:1])\n",
    "load + predict one row, flybloom.export.predictor": (
        "from flybloom.export import predictor\npredictor.load(sys.argv[1] + '/pairs.fly').predict(X[:1])\n"
    ),
    "scikit-learn's import and kNN, one row": (
        "import joblib\njoblib.load(sys.argv[1] + '/knn.joblib').predict(X[:1])\n"
    ),
}
MODELS = """
import joblib
from sklearn.neighbors import KNeighborsClassifier
import flybloom
folder = sys.argv[1]
flybloom.FlyBloomClassifier(random_state=0).fit(X, y).save(folder + "/first.fly")
pairs = flybloom.FlyRidgeClassifier(random_state=0).fit(X, y)
pairs.save(folder + "/counts.fly")
pairs.freeze().save(folder + "/pairs.fly")
joblib.dump(KNeighborsClassifier().fit(X, y), folder + "/knn.joblib")
"""
EXPORT = """
from flybloom import export, load
for name in ("first", "pairs"):
    with open(f"{sys.argv[1]}/{name}.onnx", "wb") as file:
        file.write(export.to_onnx(load(f"{sys.argv[1]}/{name}.fly")).SerializeToString())
"""
LATENCY = """
import json
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
import flybloom
X, y = load_digits(return_X_y=True)
rows = [X[i : i + 1] for i in range(97)]  # in turns: a model may remember the winners of the last one
singles = [np.ascontiguousarray(row, np.float32) for row in rows]
calls = {"SGDClassifier": SGDClassifier(max_iter=1, tol=None, random_state=0).fit(X, y).predict}
for m in (4096, 32768):
    calls[f"flybloom, m = {m}"] = flybloom.FlyBloomClassifier(m, random_state=0).fit(X, y).predict
calls["flybloom, pairs, frozen"] = flybloom.FlyRidgeClassifier(random_state=0).fit(X, y).freeze().predict
try:
    import hnswlib
    index = hnswlib.Index("l2", X.shape[1]); index.init_index(len(X)); index.add_items(X); index.set_num_threads(1)
    calls["hnswlib, 5 neighbours"] = lambda row: np.bincount(y[index.knn_query(row, 5)[0][0]]).argmax()
except ImportError:
    pass
try:
    import faiss
    faiss.omp_set_num_threads(1)
    graph = faiss.IndexHNSWFlat(X.shape[1], 32); graph.add(X.astype(np.float32))
    calls["faiss HNSW, 5 neighbours"] = lambda row: np.bincount(y[graph.search(row, 5)[1][0]]).argmax()
except ImportError:
    pass
n = int(sys.argv[2])
for name, call in calls.items():
    for i in range(400):
        call(singles[i % 97] if "neighbours" in name else rows[i % 97])
times = {name: [] for name in calls}
for i in range(n):
    for name, call in calls.items():  # in turns: a busy machine slows all
        row = (singles if "neighbours" in name else rows)[i % 97]
        start = time.perf_counter_ns(); call(row); times[name].append((time.perf_counter_ns() - start) / 1000)
print(json.dumps({name: [float(np.percentile(t, p)) for p in (50, 99)] for name, t in times.items()}))
"""


def run(source: Path, code: str, *arguments: str, cache: str) -> str:
    """Run code with the flybloom of a folder, and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", CLOCK + code, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return done.stdout


def sources(folder: str) -> dict[str, Path]:
    """Return where the source is, before and after."""
    archive = subprocess.run(["git", "-C", ROOT, "archive", BEFORE, "src"], check=True, capture_output=True).stdout  # noqa: S607
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)  # noqa: S607
    return {"before": Path(folder) / "src", "after": ROOT / "src"}


def cold(folder: str, kept: dict[str, object]) -> None:
    """Time the starts that were not timed yet; of warm ones the best of three counts."""
    found: dict[str, dict[str, list[float]]] = kept.setdefault(STARTS_KEPT, {})  # type: ignore[assignment]
    for when, source in sources(folder).items():
        models = Path(folder) / when
        if not (models / "knn.joblib").exists():
            models.mkdir(exist_ok=True)
            run(source, MODELS, str(models), cache=f"{folder}/models-{when}")
        for name, code in STARTS.items():
            if (when == "before" and "predictor" in name) or when in found.get(name, {}):
                continue
            with tempfile.TemporaryDirectory() as cache:
                outputs = [run(source, code + "done('all')", str(models), cache=cache) for _ in range(4)]
            times = [[float(x) for x in output.split()[-2:]] for output in outputs]
            found.setdefault(name, {})[when] = [*times[0], *min(times[1:])]
            print(name, when, found[name][when], flush=True)
            save("start", kept)


def latency(folder: str, kept: dict[str, object]) -> None:
    """Time single rows."""
    found = {
        when: json.loads(run(source, LATENCY, folder, str(CALLS), cache=f"{folder}/cache-{when}"))
        for when, source in sources(folder).items()
    }
    kept["microseconds of one row, p50 and p99"] = found
    print(json.dumps(found, indent=1))


def sizes(folder: str, kept: dict[str, object]) -> None:
    """Weigh installs, and the files of one model."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    built = str(next(Path(folder).glob("flybloom-*.whl")))
    installs = {
        "flybloom": [built],
        "flybloom.export.predictor": ["--no-deps", built, "numpy", "safetensors"],
        "scikit-learn": ["scikit-learn"],
        "faiss-cpu": ["faiss-cpu"],
        "hnswlib": ["hnswlib"],
    }
    megabytes = {}
    for name, packages in installs.items():
        target = f"{folder}/{name}"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", target, *packages]
        if subprocess.run(command, check=False, capture_output=True).returncode == 0:
            megabytes[name] = _bytes(Path(target)) / 1e6
            print(name, megabytes[name], flush=True)
    kept["megabytes of an install"] = megabytes
    run(ROOT / "src", MODELS, folder, cache=f"{folder}/cache")
    run(ROOT / "src", EXPORT, folder, cache=f"{folder}/cache")
    files = {
        "first order, saved": "first.fly",
        "first order, ONNX": "first.onnx",
        "pairs, saved": "counts.fly",
        "pairs, frozen": "pairs.fly",
        "pairs, ONNX": "pairs.onnx",
        "scikit-learn's kNN": "knn.joblib",
    }
    kept["kilobytes of a file"] = {name: (Path(folder) / file).stat().st_size / 1e3 for name, file in files.items()}


def _bytes(folder: Path) -> int:
    """Return the bytes of all files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def table(kept: dict[str, object]) -> str:
    """Return all of it as Markdown."""
    lines = []
    starts = kept.get(STARTS_KEPT)
    if isinstance(starts, dict):
        lines += ["| start, s | cold before | cold after | warm before | warm after |", "|---|---|---|---|---|"]
        for name, times in starts.items():
            before, after = times.get("before", [None] * 4), times["after"]
            cells = [f"{t:.2f}" if t is not None else "" for t in (before[0], after[0], before[2], after[2])]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    rows = kept.get("microseconds of one row, p50 and p99")
    if isinstance(rows, dict):
        lines += ["", "| one row, us | p50 before | p50 after | p99 before | p99 after |", "|---|---|---|---|---|"]
        for name, after in rows["after"].items():
            before = rows["before"][name]
            lines.append(f"| {name} | {before[0]:.0f} | {after[0]:.0f} | {before[1]:.0f} | {after[1]:.0f} |")
    for name, unit in (("megabytes of an install", "MB"), ("kilobytes of a file", "kB")):
        values = kept.get(name)
        if isinstance(values, dict):
            lines += ["", f"| {name.split()[-1]} | {unit} |", "|---|---|"]
            lines += [f"| {key} | {value:.0f} |" for key, value in values.items()]
    return "\n".join(lines)


def main() -> None:
    """Measure what was asked for, keep it, and print all that is kept."""
    file = RESULTS / "start.json"
    kept: dict[str, object] = json.loads(file.read_text())["result"] if file.exists() else {}
    parts = {"cold": cold, "latency": latency, "sizes": sizes}
    asked = sys.argv[1:] or [*parts]
    for name in asked:
        if name in parts:
            with tempfile.TemporaryDirectory() as folder:
                parts[name](os.getenv("START_FOLDER", folder), kept)  # one that stays has the caches of the last run
            save("start", kept)
    print(table(kept))


if __name__ == "__main__":
    main()
