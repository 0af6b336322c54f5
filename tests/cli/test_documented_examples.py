"""Every example of docs/command-line.md, run as a user would, with the output it promises."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

DOCS = Path(__file__).parents[2] / "docs" / "command-line.md"
CONSOLE = re.compile(r"```console\n\$ (.*?)\n(.*?)```", re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that the page speaks of."""
    folder = tmp_path_factory.mktemp("examples")
    iris = load_iris(as_frame=True).frame
    iris["species"] = iris.pop("target").map(dict(enumerate(["setosa", "versicolor", "virginica"])))
    iris.to_csv(folder / "iris.csv", index=False)
    iris[iris.index % 3 != 0].to_csv(folder / "old.csv", index=False)
    iris[iris.index % 3 == 0].to_csv(folder / "new.csv", index=False)
    iris[::50].assign(species="virginica").to_csv(folder / "wrong.csv", index=False)
    return folder


def run(command, folder):
    """Run a line of shell, with the flybloom of this environment."""
    scripts = Path(sys.executable).parent
    return subprocess.run(  # noqa: S602
        command, shell=True, cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip


def test_every_example_prints_what_the_page_says(folder):
    """In the order of the page; errors too, with their exit code."""
    examples = CONSOLE.findall(DOCS.read_text())
    assert len(examples) >= 11
    for command, expected in examples:
        done = run(command, folder)
        printed = done.stdout + done.stderr
        assert doctest.OutputChecker().check_output(expected, printed, FLAGS), f"$ {command}\n{printed}"
        assert done.returncode == (5 if expected.startswith("Error") else 0)
