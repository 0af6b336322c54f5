"""FlyBloomClassifierCV against fitting every model: time, memory, and how well it calibrates.

    python benchmarks/tuning.py letter        240 settings x 10 folds on letter, against GridSearchCV
    python benchmarks/tuning.py mnist         the same size of grid on MNIST: peak memory, and time in single fits
    python benchmarks/tuning.py scaling       accuracy with scaling shared by the folds, and learned inside each
    python benchmarks/tuning.py calibration   expected calibration error before and after, on rows that are not searched

GridSearchCV is timed on a random sample of its fits and scaled up; half of the sample is fitted before the search, half
after it. Both use one thread, or as many as --jobs says. Results are printed and go to
benchmarks/results/tuning_NAME.json.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Self

import numpy as np
from sklearn.model_selection import GridSearchCV, ParameterGrid, StratifiedKFold, cross_val_score, train_test_split
from sklearn.preprocessing import StandardScaler

from datasets import load, load_split
from flybloom import FlyBloomClassifier, FlyBloomClassifierCV
from flybloom._internal.scores import reliability

RESULTS = Path(__file__).parent / "results"
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)
DECAYS, WINNERS = [0.1, 0.2, 0.4, 0.7, 1.0], [32, 64, 128, 256]
SETS = ("digits", "letter", "segment", "optdigits", "satimage", "waveform_5000", "spambase", "magictelescope")


class Clock:
    """Seconds on the wall, and seconds of processor time, which a busy machine disturbs less."""

    def __enter__(self) -> Self:
        """Start."""
        self.start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.seconds = np.subtract((time.perf_counter(), time.process_time()), self.start)


def one_fit(
    X: np.ndarray, y: np.ndarray, params: dict[str, object], fold: tuple[np.ndarray, ...], n_jobs: int
) -> tuple[float, np.ndarray]:
    """Let GridSearchCV fit and score one model; return its score and the seconds it took."""
    model = FlyBloomClassifier(encoding="none", random_state=0, n_jobs=n_jobs)
    search = GridSearchCV(model, {name: [value] for name, value in params.items()}, cv=[fold], refit=False)
    with Clock() as clock:
        search.fit(X, y)
    return float(search.cv_results_["split0_test_score"][0]), clock.seconds


def letter(n_jobs: int, n_sampled: int = 120) -> dict[str, object]:
    """Measure a grid of 240 settings with 10 folds."""
    X, y = load("letter")
    X = StandardScaler().fit_transform(X).astype(np.float32)
    grid = {
        "n_components": [4096, 8192, 16384, 32768],
        "n_connections": [4, 8, 12],
        "n_winners": WINNERS,
        "decay": DECAYS,
    }
    settings, folds = list(ParameterGrid(grid)), list(FOLDS.split(X, y))
    rng = np.random.default_rng(0)
    sample = [(int(at), int(rng.integers(10))) for at in rng.choice(len(settings), n_sampled, replace=False)]
    compile_kernels(X, y, grid, n_jobs)

    def fits(part: list[tuple[int, int]]) -> list[tuple[float, np.ndarray]]:
        return [one_fit(X, y, settings[at], folds[fold], n_jobs) for at, fold in part]

    before = fits(sample[: n_sampled // 2])
    with Clock() as clock:
        search = FlyBloomClassifierCV(**grid, cv=FOLDS, encoding="none", random_state=0, n_jobs=n_jobs).fit(X, y)
    fitted = before + fits(sample[n_sampled // 2 :])
    for (at, fold), (score, _) in zip(sample, fitted, strict=True):
        assert search.cv_results_[f"split{fold}_test_score"][at] == score, "not the same score"  # noqa: S101
    per_fit = np.mean([seconds for _, seconds in fitted], axis=0)
    all_fits = per_fit * len(settings) * 10
    return {
        "rows": len(y),
        "settings": len(settings),
        "folds": 10,
        "threads": n_jobs,
        "seconds of the search, wall and processor": clock.seconds.tolist(),
        "seconds of one fit of GridSearchCV": per_fit.tolist(),
        "seconds of all its fits": all_fits.tolist(),
        "times as fast": (all_fits / clock.seconds).tolist(),
        "seconds hashing and counting": float(search.cv_results_["mean_fit_time"].sum() * 10),
        "scores compared, all equal": len(fitted),
        "best": {**search.best_params_, "accuracy": search.best_score_},
    }


def compile_kernels(X: np.ndarray, y: np.ndarray, grid: dict[str, list[object]], n_jobs: int) -> None:
    """Keep compilation out of the times."""
    small = {**grid, "n_components": [2048], "n_connections": [4]}
    rows = slice(0, 1000)
    FlyBloomClassifierCV(**small, cv=3, encoding="none", random_state=0, n_jobs=n_jobs).fit(X[rows], y[rows])
    one_fit(X, y, {"n_components": 2048}, next(FOLDS.split(X, y)), n_jobs)


def mnist(n_jobs: int) -> dict[str, object]:
    """Measure a grid of the same size on 60 000 rows, and a single fit at its largest setting."""
    X, y, _, _ = load_split("mnist")
    grid = {
        "n_components": [6272, 12544, 25088, 50176],
        "n_connections": [8, 16, 32],
        "n_winners": WINNERS,
        "decay": DECAYS,
    }
    compile_kernels(X, y, grid, n_jobs)
    largest = {name: max(values) for name, values in grid.items()}
    model = FlyBloomClassifier(**largest, encoding="none", random_state=0, n_jobs=n_jobs)
    with Clock() as first:
        model.fit(X, y)
    search = FlyBloomClassifierCV(**grid, cv=FOLDS, encoding="none", random_state=0, n_jobs=n_jobs, verbose=True)
    estimate, resident = search.estimate_memory(*X.shape, 10), memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of what came before
    with Clock() as clock:
        search.fit(X, y)
    most = memory("VmHWM")
    with Clock() as second:
        model.fit(X, y)
    single = (first.seconds + second.seconds) / 2
    return {
        "rows": len(y),
        "settings": len(ParameterGrid(grid)),
        "folds": 10,
        "threads": n_jobs,
        "MiB before the search, rows included": resident,
        "MiB at the peak of the search": most,
        "MiB estimated for the search": estimate / 2**20,
        "seconds of the search, wall and processor": clock.seconds.tolist(),
        "seconds of one fit at the largest setting": single.tolist(),
        "search in single fits": (clock.seconds / single).tolist(),
        "seconds hashing and counting": float(search.cv_results_["mean_fit_time"].sum() * 10),
        "best": {**search.best_params_, "accuracy": search.best_score_},
        "temperature": search.temperature_,
    }


def memory(name: str) -> float:
    """Return what Linux says about the memory of this process, in MiB: VmRSS is now, VmHWM the peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def scaling(n_jobs: int) -> dict[str, object]:
    """Measure what sharing the scaling does to the score of the defaults."""
    found = {}
    for name in SETS:
        X, y = load(name)
        defaults = {"n_components": 32768, "n_connections": ["auto"], "n_winners": 128, "decay": 0.4}
        shared = FlyBloomClassifierCV(**defaults, cv=FOLDS, random_state=0, n_jobs=n_jobs).fit(X, y).best_score_
        inside = cross_val_score(FlyBloomClassifier(random_state=0, n_jobs=n_jobs), X, y, cv=FOLDS).mean()
        found[name] = {"shared": shared, "inside": float(inside)}
        print(f"| {name} | {shared:.4f} | {inside:.4f} | {shared - inside:+.4f} |", flush=True)
    return found


def calibration(n_jobs: int) -> dict[str, object]:
    """Measure the calibration error on a third of the rows, with temperature 1 and with the one that was found."""
    found = {}
    for name in SETS:
        X, y = load(name)
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
        search = FlyBloomClassifierCV([2048, 8192], n_winners=[32, 128], random_state=0, n_jobs=n_jobs)
        model = search.fit(X_train, y_train).best_estimator_
        errors = {}
        for word, temperature in (("before", 1.0), ("after", search.temperature_)):
            model.temperature = temperature
            probability = model.predict_proba(X_test)
            is_right = model.classes_[probability.argmax(axis=1)] == y_test
            errors[word] = reliability(probability.max(axis=1), is_right).error
        found[name] = {**errors, "temperature": search.temperature_, "accuracy": search.score(X_test, y_test)}
        print(f"| {name} | {errors['before']:.3f} | {errors['after']:.3f} | {search.temperature_:.4f} |", flush=True)
    return found


def main() -> None:
    """Measure, print, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=["letter", "mnist", "scaling", "calibration"])
    parser.add_argument("--jobs", type=int, default=1, help="number of threads of both")
    arguments = parser.parse_args()
    result = {"letter": letter, "mnist": mnist, "encoding": scaling, "calibration": calibration}[arguments.name](
        arguments.jobs
    )
    text = json.dumps(result, indent=1)
    print(text)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"tuning_{arguments.name}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
