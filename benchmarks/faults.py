"""Faults that attacks found, one after the other, in an older version and in this one.

git worktree add /tmp/before 53f3dcc
PYTHONPATH=/tmp/before/src python benchmarks/faults.py before
python benchmarks/faults.py now
python benchmarks/faults.py --page    # prints the table of docs/benchmarks/reliability.md
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import flybloom
from flybloom import FlyBloomClassifier, FlyBloomNovelty, FlyRidgeClassifier, SlidingWindow

RESULTS = Path(__file__).parent / "results" / "faults.json"
FAULTS: dict[str, tuple[str, Callable[[Path], str]]] = {}
X, Y = load_digits(return_X_y=True)


def fault(sentence: str, test: str) -> Callable[[Callable[[Path], str]], Callable[[Path], str]]:
    """Enter a fault, and the test that fails where it is there."""

    def enter(found: Callable[[Path], str]) -> Callable[[Path], str]:
        FAULTS[sentence] = test, found
        return found

    return enter


def outcome(call: Callable[[], Any], text: str = "works") -> str:
    """Return what came of a call: a text, or the kind of error."""
    try:
        found = call()
    except Exception as error:  # noqa: BLE001 - that is what is asked
        return type(error).__name__
    return str(found) if text == "" else text


def small(**settings: Any) -> FlyBloomClassifier:
    """Return a small classifier."""
    return FlyBloomClassifier(256, n_winners=8, random_state=0, **settings)


@fault(
    "two default models of 600 rows of Digits each are added", "test_models_learned_apart_without_any_argument_add_up"
)
def apart(_: Path) -> str:
    """Add them."""
    a, b = (FlyRidgeClassifier(random_state=0).fit(X[i:1200:2], Y[i:1200:2]) for i in (0, 1))
    return outcome(lambda: a + b)


@fault(
    "later: rows whose probabilities differ after 100 of 1200 rows were forgotten",
    "test_predictions_after_forgetting_follow_from_the_rows_that_remain",
)
def forgetting(_: Path) -> str:
    """Count them among the rows left out."""
    model = FlyRidgeClassifier(random_state=0).fit(X[:1200], Y[:1200])
    model.forget(X[:100], Y[:100])
    never = FlyRidgeClassifier(random_state=0).fit(X[100:1200], Y[100:1200])
    left = X[1200:]
    return f"{int((model.predict_proba(left) != never.predict_proba(left)).any(axis=1).sum())} of {len(left)}"


@fault(
    "later: centres of two halves of 200 normal columns that differ in the sign of 0 alone",
    "test_a_centre_of_minus_zero_is_that_of_zero",
)
def minus_zero(_: Path) -> str:
    """Count the columns."""
    rows = np.random.default_rng(0).standard_normal((2, 10_000, 200))
    a, b = (FlyBloomNovelty(64, encoding="standard", random_state=0).fit(half).center_ for half in rows)
    return f"{int(((a == b) & (np.signbit(a) != np.signbit(b))).sum())}"


@fault("a release of the model of a window (half_life=50)", "test_models_of_windows_are_not_released")
def window(_: Path) -> str:
    """Release it."""
    model = SlidingWindow(small(encoding="none"), half_life=50).partial_fit(X[:500], Y[:500]).model_
    return outcome(lambda: model.release(1.0, classes=range(10), random_state=0), "released")


@fault(
    "temperature of a release, where 0.0123 was fitted to rows",
    "test_a_temperature_that_was_fitted_to_rows_is_not_told",
)
def temperature(_: Path) -> str:
    """Read it."""
    model = small(encoding="none").fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.temperature = 0.0123
    return outcome(lambda: model.release(1.0, classes=range(10), random_state=0).temperature, "")


@fault('`release("1")`', "test_what_cannot_be_is_refused")
def release_of_text(_: Path) -> str:
    """Ask for it."""
    return outcome(lambda: small(encoding="none").fit(X, Y).release("1", classes=range(10)))


@fault("a column of 0 and 5e-324 is saved and loaded", "test_a_deviation_below_the_least_float_is_saved_and_loaded")
def least_float(folder: Path) -> str:
    """Save and load."""
    rows = X[:60].copy()
    rows[:, 0] = np.where(np.arange(60) % 2, 5e-324, 0.0)

    def again() -> None:
        small(encoding="standard").fit(rows, Y[:60]).save(folder / "model.fly")
        flybloom.load(folder / "model.fly")

    return outcome(again)


@fault(
    "largest error of leave-one-out at alpha=1e-3, against equations without the row",
    "test_rows_left_out_are_rows_not_learned",
)
def left_out(_: Path) -> str:
    """Leave ten rows out."""
    rows, n, m = X[:300], 300, 200
    model = FlyRidgeClassifier(m, alpha=1e-3, encoding="none", random_state=0).fit(rows, Y[:n])
    found = model.leave_one_out_decision(rows[:10], Y[:10])
    hashed = np.zeros((n, m))
    np.put_along_axis(hashed, model._hasher.winners(rows).astype(np.int64), 1.0, axis=1)  # noqa: SLF001
    penalty = 1e-3 * np.trace(np.cov(hashed.T, bias=True)) * n / m
    wrong = 0.0
    for i in range(10):
        others, truth = np.delete(hashed, i, 0), np.eye(10)[np.delete(Y[:n], i)]
        mean, share = others.mean(axis=0), truth.mean(axis=0)
        centred = others - mean
        weights = np.linalg.solve(centred.T @ centred + penalty * np.eye(m), centred.T @ (truth - share))
        wrong = max(wrong, np.abs(share + (hashed[i] - mean) @ weights - found[i]).max())
    return f"{wrong:.0e}"


@fault("scores with alpha=5e-324", "test_a_penalty_too_small_to_solve_with_is_refused")
def alpha(_: Path) -> str:
    """Score."""
    return outcome(lambda: FlyRidgeClassifier(64, alpha=5e-324, random_state=0).fit(X[:99], Y[:99]).predict(X))


@fault("a receipt of nested brackets", "test_what_is_no_receipt_is_refused")
def brackets(folder: Path) -> str:
    """Load it."""
    with contextlib.suppress(ImportError):
        from flybloom.core.files.receipt import Receipt  # noqa: PLC0415 - its place in the older version is another

        (folder / "receipt.json").write_text('{"receipt":' + "[" * 10**5)
        return outcome(lambda: Receipt.load(folder / "receipt.json"))
    return "-"


@fault("`=cmd` in predictions that a spreadsheet opens (`--safe-csv`)", "test_spreadsheets_run_nothing_of_safe_csv")
def spreadsheets(folder: Path) -> str:
    """Predict such labels on the command line."""
    import pandas as pd  # noqa: PLC0415 - the command line has it
    from typer.testing import CliRunner  # noqa: PLC0415

    from flybloom.cli.app import app  # noqa: PLC0415

    rows = np.random.default_rng(0).standard_normal((60, 3))
    pd.DataFrame(rows, columns=list("abc")).to_csv(folder / "rows.csv", index=False)
    small().fit(pd.DataFrame(rows, columns=list("abc")), np.where(np.arange(60) % 2, "=cmd", "ok")).save(
        folder / "m.fly"
    )
    command = ["predict", str(folder / "m.fly"), str(folder / "rows.csv"), "-o", str(folder / "p.csv"), "--safe-csv"]
    done = CliRunner().invoke(app, command)
    return "no such option" if done.exit_code else "formula" if ",=cmd" in (folder / "p.csv").read_text() else "text"


@fault("warnings of numpy for values of 1e308", "test_enormous_values_pass_without_warnings")
def enormous(_: Path) -> str:
    """Learn and score them."""
    rows = np.random.default_rng(0).standard_normal((60, 3))
    rows[3], rows[4], rows[5, 1] = 1e308, -1e308, 1e308
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        FlyRidgeClassifier(64, random_state=0).fit(rows, Y[:60]).predict(rows)
        FlyBloomNovelty(64, random_state=0).fit(rows).predict(rows)
    return str(sum(issubclass(one.category, RuntimeWarning) for one in told))


@fault("a class whose rows all weigh 0, after fit", "test_a_class_of_weight_zero_was_never_learned")
def weightless(_: Path) -> str:
    """List the classes."""
    weights = np.where(Y[:60] == 9, 0, 1)
    return "known" if 9 in small(encoding="none").fit(X[:60], Y[:60], sample_weight=weights).classes_ else "not learned"


def page(results: dict[str, dict[str, str]]) -> str:
    """Return the table."""
    lines = ["| what | before | now | test that fails before |", "| --- | --- | --- | --- |"]
    for sentence, (test, _) in FAULTS.items():
        before, now = (results[when][sentence] for when in ("before", "now"))
        lines.append(f"| {sentence.removeprefix('later: ')} | {before} | {now} | `{test}` |")
    return "\n".join(lines)


def main() -> None:
    """Try each fault, and keep what came of it under the given name."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if "--page" in sys.argv:
        print(page(results))
        return
    when, words = sys.argv[1], " ".join(sys.argv[2:])
    found = results.setdefault(when, {})
    for sentence, (_, trial) in FAULTS.items():
        if words not in sentence:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found[sentence] = trial(Path(folder))
        print(f"{sentence}: {found[sentence]}", flush=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
