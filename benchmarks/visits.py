"""How many functions and files of flybloom a call visits: the length of the way through the house.

    scripts/visits [--list CALL [--default]]

Counted are the functions that any thread enters while the call runs, each once, by file and qualified name (the events
"call" of `sys.setprofile` and `threading.setprofile` whose code lies in the package), and the files that they are in.
Each call is made once before, so imports, compilation and what is kept for the next call do not count. These do:

- the constructor in `fit`, `distributed.fit` and `train`; but not in `predict`, and not the command's entry point;
- lambdas, generator expressions and nested functions, each by its qualified name; comprehensions as well where Python
  makes functions of them, which it does up to 3.11, so compare figures of the same version only;
- compiled kernels, as one function each, whatever they call. They run from the first row on here
  (`FLYBLOOM_LOOPS=compiled`), without their twins in numpy, which score the first rows of a process.

All calls are about Digits, with 1000 components: so few that rows are counted in a table. With the default sizes `fit`
and `train` visit one function more. The search has a grid of one setting; the default grid visits as many. Dask runs in
this thread, over blocks of 50 rows, with the connections kept from the call before; its threads give the same figures.

The way is counted twice: for columns that are standardised, which is what 0.1.0 did, and for the default encoding,
which has more steps.

Figures of 0.1.0 that were known before this script, counted in a way like this, are those that it prints, but for
`distributed.fit`: 121 functions, one more than here.
"""

from __future__ import annotations

import argparse
import io
import os
import platform
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType
from unittest import mock

import dask
import dask.array as da
import pandas as pd
from sklearn.datasets import load_digits

os.environ.setdefault("FLYBLOOM_LOOPS", "compiled")  # before the package looks

import flybloom
from flybloom import FlyBloomClassifier, FlyBloomClassifierCV, distributed
from flybloom.cli import main as command_line

PACKAGE = Path(flybloom.__file__).parent
VERSION_0_1_0 = {  # functions and files, with Python 3.11
    "FlyBloomClassifier().fit": (67, 13),
    "predict": (37, 11),
    "FlyBloomClassifierCV().fit": (121, 22),
    "distributed.fit": (120, 18),
    "flybloom train": (136, 27),
}
AS_IN_0_1_0 = {"encoding": "standard+clip=inf"}  # what it did by default, and nothing else
Visit = tuple[str, str]


def visits(call: Callable[[], object]) -> set[Visit]:
    """Return file and name of each function of the package that is entered while a call runs."""
    entered: set[Visit] = set()

    def look(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            entered.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    threading.setprofile(look)  # what starts meanwhile
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    door = (command_line.__code__.co_filename, command_line.__code__.co_qualname)
    inside = {(file, name) for file, name in entered - {door} if Path(file).is_relative_to(PACKAGE)}
    return {(Path(file).relative_to(PACKAGE).as_posix(), name) for file, name in inside}


def run_command(*arguments: str) -> None:
    """Run the command line in this process, without its words."""
    with (
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
        mock.patch.object(sys, "argv", ["flybloom", *arguments]),
    ):
        try:
            command_line()
        except SystemExit as end:
            if end.code:
                raise


def calls(folder: Path, settings: dict[str, object]) -> dict[str, Callable[[], object]]:
    """Return what is looked at; the settings are those of the estimators."""
    X, y = load_digits(return_X_y=True)
    sizes = {"n_components": 1000, "random_state": 0, **settings}
    rows, labels = da.from_array(X, chunks=(50, 64)), da.from_array(y, chunks=50)
    pd.DataFrame(X).add_prefix("p").assign(label=y).to_parquet(folder / "rows.parquet")
    train = ("train", f"{folder / 'rows.parquet'}", "--target", "label", "--output", f"{folder / 'model.fly'}")
    options = [f"--{name}={value}" for name, value in settings.items()]
    model = FlyBloomClassifier(**sizes).fit(X, y)

    def fit_with_dask() -> None:
        with dask.config.set(scheduler="synchronous"):
            distributed.fit(FlyBloomClassifier(**sizes), rows, labels)

    return {
        "FlyBloomClassifier().fit": lambda: FlyBloomClassifier(**sizes).fit(X, y),
        "predict": lambda: model.predict(X),
        "FlyBloomClassifierCV().fit": lambda: FlyBloomClassifierCV(**sizes, n_winners=64, decay=0.4).fit(X, y),
        "distributed.fit": fit_with_dask,
        "flybloom train": lambda: run_command(*train, "--components", "1000", *options),
    }


def main() -> None:
    """Print the table, or the names of what one call visits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", choices=list(VERSION_0_1_0), metavar="CALL", help="name what this call visits")
    parser.add_argument("--default", action="store_true", help="name it for the default encoding")
    options = parser.parse_args()
    found: dict[str, dict[str, set[Visit]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for settings in (AS_IN_0_1_0, {}):
            for name, call in calls(Path(folder), settings).items():
                if options.list in (None, name):
                    call()
                    found.setdefault(name, {})["default" if not settings else "as in 0.1.0"] = visits(call)
    if options.list:
        for file, name in sorted(found[options.list]["default" if options.default else "as in 0.1.0"]):
            print(f"{file}: {name}")
        return
    print(f"| Python {platform.python_version()}, functions / files | standardised | default encoding | 0.1.0 |")
    print("|---|---:|---:|---:|")
    for name, entered in found.items():
        cells = [(len(seen), len({file for file, _ in seen})) for seen in entered.values()]
        print(f"| {name} | {' | '.join(f'{a} / {b}' for a, b in (*cells, VERSION_0_1_0[name]))} |")


if __name__ == "__main__":
    main()
