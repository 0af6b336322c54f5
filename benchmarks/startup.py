"""Cold start: imports beside the peers', first calls with an empty and a full cache, --help, load and predict one row.

Each is timed in processes of their own, which take turns; the best of the rounds counts. What an empty Python takes is
subtracted from imports only. Results go to benchmarks/results/startup.json.

    python benchmarks/startup.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from peers.machine import save
from peers.tables import startup_table

ROUNDS = 5
IMPORTS = {
    "sklearn.base, sklearn.utils.validation": "import sklearn.base, sklearn.utils.validation, sklearn.utils.multiclass",
    "flybloom": "import flybloom",
    "flybloom.FlyBloomClassifier": "from flybloom import FlyBloomClassifier",
    "sklearn.neighbors": "from sklearn.neighbors import KNeighborsClassifier",
    "sklearn.linear_model": "from sklearn.linear_model import SGDClassifier",
    "faiss": "import faiss",
    "hnswlib": "import hnswlib",
    "river.neighbors": "from river import neighbors",
}
ROWS = "import numpy as np; X = np.random.default_rng(0).standard_normal((1000, 20)); y = np.arange(1000) % 3\n"
FIT = """
import sys, time
start = time.perf_counter()
model = make().fit(X, y)
fitted = time.perf_counter()
model.predict(X)
print(fitted - start, time.perf_counter() - fitted)
"""
MAKERS = {
    "flybloom": "from flybloom import FlyBloomClassifier\ndef make(): return FlyBloomClassifier(random_state=0)\n",
    "sklearn kNN": "from sklearn.neighbors import KNeighborsClassifier as make\n",
}
SAVE = {
    "flybloom": "import sys; make().fit(X, y).save(sys.argv[1])",
    "sklearn kNN": "import sys, joblib; joblib.dump(make().fit(X, y), sys.argv[1])",
}
LOAD = {
    "flybloom": "import sys, numpy as np, flybloom; flybloom.load(sys.argv[1]).predict(np.zeros((1, 20)))",
    "sklearn kNN": "import sys, numpy as np, joblib; joblib.load(sys.argv[1]).predict(np.zeros((1, 20)))",
}


def run(*command: str, cache: str | None = None) -> tuple[float, str]:
    """Run Python with these arguments; return the seconds it takes, and what it prints."""
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": cache} if cache else {})}
    start = time.perf_counter()
    done = subprocess.run([sys.executable, *command], check=True, capture_output=True, text=True, env=environment)
    return time.perf_counter() - start, done.stdout


def first_calls(name: str, cache: str) -> dict[str, float]:
    """Return the seconds of the first fit and predict of a process."""
    fit, predict = map(float, run("-c", ROWS + MAKERS[name] + FIT, cache=cache)[1].split())
    return {"fit": fit, "predict": predict}


def measure(n_rounds: int) -> dict[str, object]:
    """Return the best seconds of all of it."""
    imports = {name: code for name, code in IMPORTS.items() if find_spec(name.split(".")[0].split(",")[0])}
    best: dict[str, float] = {}
    calls: dict[str, dict[str, float]] = {}

    def keep(name: str, seconds: float) -> None:
        best[name] = min(seconds, best.get(name, seconds))

    with tempfile.TemporaryDirectory() as folder:
        files = {name: str(Path(folder) / f"{at}.model") for at, name in enumerate(SAVE)}
        calls["flybloom, empty cache"] = first_calls("flybloom", folder)
        for name, file in files.items():
            run("-c", ROWS + MAKERS[name] + SAVE[name], file, cache=folder)
            run("-c", LOAD[name], file, cache=folder)  # fills the cache with what one row needs
        for round_ in range(n_rounds):
            print(f"round {round_ + 1} of {n_rounds}", file=sys.stderr, flush=True)
            keep("python", run("-c", "pass")[0])
            for name, code in imports.items():
                keep(f"import {name}", run("-c", code)[0])
            keep("flybloom --help", run("-m", "flybloom", "--help", cache=folder)[0])
            for name, file in files.items():
                keep(f"{name}, load + predict one row", run("-c", LOAD[name], file, cache=folder)[0])
            for name, label in (("flybloom", "flybloom, full cache"), ("sklearn kNN", "sklearn kNN")):
                now = first_calls(name, folder)
                calls[label] = {key: min(value, calls.get(label, now)[key]) for key, value in now.items()}
    python = best.pop("python")
    return {
        "rounds": n_rounds,
        "python": python,
        "imports": {name[7:]: seconds - python for name, seconds in best.items() if name.startswith("import ")},
        "processes": {name: seconds for name, seconds in best.items() if not name.startswith("import ")},
        "first_calls": calls,
    }


def main() -> None:
    """Measure, print, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round; nothing is saved")
    quick = parser.parse_args().quick
    result = measure(1 if quick else ROUNDS)
    print(startup_table(result))
    if not quick:
        save("startup", result)


if __name__ == "__main__":
    main()
