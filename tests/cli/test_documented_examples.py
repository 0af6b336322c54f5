"""Every command line in README and docs, run as a user would; on the page of commands with the output it promises."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from flybloom.cli.commands import reproduce

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "command-line.md"
CONSOLE = re.compile(r"```console\n\$ (.*?)\n(.*?)```", re.DOTALL)
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
INLINE = re.compile(r"(?<!`)`(flybloom [a-z-]+ [^`]+)`(?!`)")
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b|\.\.\.")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
DUCKDB = """#!{python}
# stands in for the program that may not be installed: prints the rows of the query that the page shows
import sys, pandas
assert "rides/*.parquet" in sys.argv[-1]
rides = pandas.read_parquet("rides").query("fare > 0")
print(rides.assign(ride=range(len(rides))).to_csv(index=False), end="")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that the pages speak of."""
    folder = tmp_path_factory.mktemp("examples")
    iris = load_iris(as_frame=True).frame
    iris["species"] = iris.pop("target").map(dict(enumerate(["setosa", "versicolor", "virginica"])))
    iris.to_csv(folder / "iris.csv", index=False)
    iris[iris.index % 3 != 0].to_csv(folder / "old.csv", index=False)
    iris[iris.index % 3 == 0].to_csv(folder / "new.csv", index=False)
    iris[::50].assign(species="virginica").to_csv(folder / "wrong.csv", index=False)
    german = {"sep": ";", "decimal": ",", "encoding": "cp1252", "index": False}
    iris.assign(collector="Müller").to_csv(folder / "german.csv", **german)
    odd = iris.drop(columns="species").iloc[[1, 1, 1]].assign(plant=["p1", "p2", "p3"])
    odd.iloc[1, :4], odd.iloc[2, 0] = [90, -70, 80, -60], np.inf
    odd.to_csv(folder / "odd.csv", index=False)
    grid = re.search(r"```toml\n(.*?)```", DOCS.read_text(), re.DOTALL)
    (folder / "grid.toml").write_text(grid[1])
    return folder


@pytest.fixture
def rides_folder(tmp_path):
    """A folder with what README and other pages speak of, and a stand-in for duckdb."""
    folder = tmp_path
    rng = np.random.default_rng(0)
    rides = pd.DataFrame(rng.normal(10, 3, (300, 3)), columns=["fare", "tip", "miles"])
    labelled = rides.assign(paid_by=np.where(rides["tip"] > 10, "card", "cash"))
    (folder / "rides").mkdir()
    labelled[:200].to_parquet(folder / "rides" / "1.parquet", index=False)
    labelled[200:].to_parquet(folder / "rides" / "2.parquet", index=False)
    rides[:5].to_csv(folder / "today.csv", index=False)
    labelled.rename(columns={"paid_by": "label"}).to_csv(folder / "test.csv", index=False)
    trips = labelled.assign(
        pickup=pd.date_range("2025-12-01 08:15", periods=300, freq="7h").strftime("%Y-%m-%d %H:%M"),
        zone=rng.integers(1, 60, 300),
        borough=rng.choice(["Bronx", "Queens", "NA"], 300),
        shared=rng.choice([True, False], 300),
        note=[f"note {i}" for i in range(300)],
    )
    trips.loc[::7, "fare"] = np.nan
    order = ["pickup", "zone", "borough", "shared", "fare", "note", "paid_by"]
    trips[order].to_csv(folder / "trips.csv", index=False)
    run("flybloom train test.csv --target label --output model.fly", folder)
    program = folder / "bin" / "duckdb"
    program.parent.mkdir()
    program.write_text(DUCKDB.format(python=sys.executable))
    program.chmod(0o755)
    return folder


def run(command, folder):
    """Run a line of shell, with the flybloom of this environment."""
    path = os.pathsep.join([str(Path(sys.executable).parent), str(folder / "bin"), os.environ["PATH"]])
    return subprocess.run(  # noqa: S602
        command, shell=True, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    )


def test_every_example_prints_what_the_page_says(folder):
    """In the order of the page; errors too, with their exit code."""
    examples = CONSOLE.findall(DOCS.read_text())
    assert len(examples) >= 15
    for command, expected in examples:
        done = run(command, folder)
        printed = done.stdout + done.stderr if done.stdout.startswith('"') else done.stderr + done.stdout
        assert doctest.OutputChecker().check_output(expected, printed, FLAGS), f"$ {command}\n{printed}"
        assert done.returncode == (5 if expected.startswith("Error") else 0)


def other_lines():
    """All other command lines of all pages: in blocks of shell, and in the text."""
    found = {}
    for page in (ROOT / "README.md", ROOT / "paper" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = page.read_text()
        lines = [line.split("  #")[0].strip() for block in SHELL.findall(text) for line in block.splitlines()]
        lines = [line for line in lines if "flybloom " in line and not line.startswith(("pip", "#"))]
        inline = [" ".join(line.split()) for line in INLINE.findall(re.sub(r"```.*?```", "", text, flags=re.DOTALL))]
        found |= dict.fromkeys(lines) | dict.fromkeys(line for line in inline if not PLACEHOLDER.search(line))
    return list(found)


def test_every_other_command_line_works(rides_folder):
    """Those that reproduce the paper take hours, so what they name is looked up; tests/paper runs all of it, small."""
    lines = other_lines()
    assert len(lines) >= 10
    assert any("--resume" in line for line in lines)
    for line in lines:
        if "flybloom reproduce" in line:
            _, _, item, *options = shlex.split(line)
            profile = options[options.index("--profile") + 1] if "--profile" in options else "quick"
            assert reproduce._settings(item, profile), line
            continue
        done = run(line, rides_folder)
        assert done.returncode == 0, f"$ {line}\n{done.stdout}{done.stderr}"
        assert done.stdout, line
