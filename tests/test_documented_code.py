"""Every block of Python on the pages of docs, run from the top of each page to its end; and calls within sentences.

README is run as a doctest, and command lines by tests/cli. A block that cannot be run here says so on the page, in a
comment above it that a reader does not see: ``<!-- not run: needs a network -->``.
"""

import ast
import doctest
import re
from contextlib import suppress
from copy import copy
from importlib import import_module
from inspect import signature
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import load_digits

import flybloom

ROOT = Path(__file__).parents[1]
WRITTEN = sorted((*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "benchmarks").glob("*.md")))
BLOCK = re.compile(r"^(<!-- not run: [^>]+ -->\n+)?```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
SCHEDULER = "tcp://scheduler:8786"
INSTEAD = {  # what is not here, or would take minutes
    "s3://bucket/rows/": "bucket",
    "[2048, 4096, 8192]": "[256, 512]",
    "[128, 256, 512]": "[16, 32]",
    "FlyRidgeClassifier(4096, ": "FlyRidgeClassifier(512, ",
}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PAGES = [page for page in WRITTEN if BLOCK.search(page.read_text(encoding="utf-8"))]


def blocks_of(page):
    """The blocks of a page that are run, with the line each begins in."""
    text = page.read_text(encoding="utf-8")
    return [(text[: found.start(2)].count("\n"), found[2]) for found in BLOCK.finditer(text) if not found[1]]


@pytest.fixture
def names():
    """What pages take for granted."""
    X, y = load_digits(return_X_y=True)
    model = flybloom.FlyBloomClassifier(4096, encoding="standard", random_state=0).fit(X[:600], y[:600])
    given = {"X": X[:400], "y": y[:400], "X_train": X[:600], "y_train": y[:600], "X_test": X[1500:], "y_test": y[1500:]}
    given |= {"X_new": X[1500:], "X_sample": X[:300], "y_sample": y[:300], "public_rows": X[:300]}
    given |= {"Y": np.eye(10, dtype=int)[y[:400]], "model": model}
    modules = {"np": np, "copy": copy, "flybloom": flybloom}
    return given | modules | {name: getattr(flybloom, name) for name in flybloom.__all__}


def write_files(folder, text):
    """Write the files that a page speaks of, and return the rows of one."""
    rng = np.random.default_rng(0)
    rides = pd.DataFrame(rng.normal(10, 3, (300, 3)), columns=["fare", "miles", "hour"])
    rides["paid_by"] = np.where(rides["fare"] > 10, "card", "cash")
    for name in ("rides", "north", "south", "bucket"):
        (folder / name).mkdir()
        rides.rename(columns={"paid_by": "label"} if name == "bucket" else {}).to_parquet(folder / name / "1.parquet")
    if "rides/*.csv.gz" in text:
        rides.to_csv(folder / "rides" / "2.csv.gz", index=False)
    if '"rides/*.csv"' in text:
        more = rides.assign(note="none", ride=range(300))
        more.to_csv(folder / "rides" / "3.csv", index=False, sep=";")
    if "path/to/folder" in text:
        (folder / "path" / "to" / "folder").mkdir(parents=True)
        np.savez(folder / "path" / "to" / "folder" / "letter.npz", X=rng.normal(size=(50, 16)), y=np.arange(50) % 26)
    return rides


@pytest.fixture
def scheduler(page):
    """The address of a real scheduler, where a page speaks of one."""
    if SCHEDULER not in page.read_text(encoding="utf-8"):
        yield SCHEDULER
        return
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_python_runs(page, names, scheduler, tmp_path, monkeypatch):
    """And prints what the page says, where it says so."""
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    rides = write_files(tmp_path, page.read_text(encoding="utf-8"))
    names["model"].save("small.fly")
    if page.name in {"streams.md", "large-data.md"}:
        names |= {"X": rides.drop(columns="paid_by"), "y": rides["paid_by"]}
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    for line, block in blocks_of(page):
        code = block.replace(SCHEDULER, scheduler)
        for written, run in INSTEAD.items():
            code = code.replace(written, run)
        if code.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(code, {}, page.name, str(page), line)
            test.globs = names  # not a copy, so that later blocks know what was defined
            runner.run(test, clear_globs=False)
        else:
            exec(compile("\n" * line + code, str(page), "exec"), names)  # noqa: S102
    if isinstance(names.get("client"), Client):
        names["client"].close()
    assert runner.summarize(verbose=False).failed == 0


def calls_of(page):
    """The calls within sentences of a page, as far as they are Python."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for span in INLINE.findall(text):
        with suppress(SyntaxError):
            tree = ast.parse(span.strip(), mode="eval")
            yield from ((span, node) for node in ast.walk(tree) if isinstance(node, ast.Call))


def meant(function, names):
    """What a call within a sentence calls: a public name, something inside it, or a method of any estimator."""
    if isinstance(function, ast.Name):
        return [names[function.id]] if function.id in names else []
    if not isinstance(function, ast.Attribute):
        return []
    root = ast.unparse(function.value)
    if root.split(".")[0] in {"flybloom", *flybloom.__all__} and "(" not in root:
        with suppress(ImportError):
            import_module(root)  # flybloom.plots and others are imported by those who need them
        return [eval(ast.unparse(function), dict(names))]  # noqa: S307 - a name that a page has; AttributeError is a finding
    public = [getattr(flybloom, name) for name in flybloom.__all__]
    return [getattr(one, function.attr) for one in public if hasattr(one, function.attr)] if root == "model" else []


def fits(function, call):
    """Whether a function takes the arguments of a call, by number and name."""
    arguments = [None for one in call.args if not isinstance(one, ast.Starred)]
    try:
        signature(function).bind_partial(*arguments, **{one.arg: None for one in call.keywords if one.arg})
    except (TypeError, ValueError):
        return False
    return True


@pytest.mark.parametrize("page", [ROOT / "README.md", *WRITTEN], ids=lambda page: page.stem)
def test_calls_within_sentences_are_right(page, names):
    """Their names are there and take such arguments; what is made of constants alone can be made."""
    for span, call in calls_of(page):
        found = meant(call.func, names)
        assert not found or any(fits(function, call) for function in found), span
        values = [*call.args, *(one.value for one in call.keywords)]
        if len(found) == 1 and isinstance(found[0], type) and all(isinstance(one, ast.Constant) for one in values):
            keywords = {one.arg: one.value.value for one in call.keywords}
            if ... not in [*(one.value for one in call.args), *keywords.values()]:
                found[0](*(one.value for one in call.args), **keywords)


def test_most_blocks_are_run():
    """Only what needs a network, or another machine, may say that it is not."""
    n_blocks = sum(len(BLOCK.findall(page.read_text(encoding="utf-8"))) for page in PAGES)
    n_run = sum(len(blocks_of(page)) for page in PAGES)
    assert n_run >= 20
    assert n_run >= 0.9 * n_blocks


@pytest.mark.parametrize(
    "module",
    [
        "",
        ".distributed",
        ".export",
        ".federated",
        ".paper.baselines",
        ".paper.datasets",
        ".paper.theory",
        ".plots",
        ".report",
    ],
)
def test_every_public_name_is_in_the_api(module):
    """Classes and functions; constants are told of in the guides."""
    public = import_module(f"flybloom{module}")
    listed = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").split()
    names = [name for name in public.__all__ if callable(getattr(public, name))]
    assert [name for name in names if name not in listed] == []
