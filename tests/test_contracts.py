"""The import contracts of pyproject.toml refuse what they are there for: each bad import is tried, in a copy."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("importlinter", reason="import-linter is what refuses")
ROOT = Path(__file__).parents[1]
LINT = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
CONTRACT = re.compile(r"^(.+) (KEPT|BROKEN)\b", re.MULTILINE)

REFUSED = [  # who must not import what
    ("flybloom.plots.tuning", "flybloom.distributed"),
    ("flybloom.plots._axes", "flybloom.distributed._worker"),
    ("flybloom.report.html", "flybloom.plots._axes"),
    ("flybloom.report.summary", "flybloom.plots.similarity"),
    ("flybloom.paper.charts", "flybloom.plots._axes"),
    ("flybloom.report.html", "matplotlib"),
    ("flybloom.report.html", "matplotlib.pyplot"),  # which the page imports
    ("flybloom._internal.html_page", "matplotlib"),
    ("flybloom.paper.experiments.noise", "flybloom.paper.experiments.vision"),
    ("flybloom.paper.experiments.noise", "flybloom.paper.registry"),  # and through it all others
    ("flybloom.paper.datasets.groups", "flybloom.paper.registry"),
    ("flybloom.paper.baselines.grids", "flybloom.paper.experiments.noise"),
    ("flybloom.paper.baselines.grids", "flybloom.paper.datasets"),
    ("flybloom.paper.theory.capacity", "flybloom.core.readout.filters"),
    ("flybloom.core._kernels.score", "flybloom.core._kernels.winners"),
    ("flybloom.distributed._worker", "dask"),
    ("flybloom.core.readout.filters", "flybloom.core.hashing.projection"),
    ("flybloom.core.counts.by_age", "flybloom.core.encoding.standardise"),
    ("flybloom.core.counts.by_age", "flybloom.core.hashing.projection"),
    ("flybloom.core.counts.by_age", "flybloom._internal.validation"),
    ("flybloom.cli.commands.learn", "flybloom.cli.commands.train"),
    ("flybloom.cli.app", "numba"),
    ("flybloom.estimators.learning.checkpoint", "pandas"),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package and its contracts, and the contracts that are broken to begin with."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(ROOT / "src" / "flybloom", folder / "flybloom", ignore=shutil.ignore_patterns("__pycache__"))
    return folder, broken_contracts(folder)


def broken_contracts(folder):
    """Run lint-imports in a folder, and return the names of the contracts that are broken."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "500"}
    command = [sys.executable, "-c", LINT, "--no-cache", "--no-logo"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    found = dict(CONTRACT.findall(done.stdout))
    assert found, done.stdout + done.stderr
    broken = {name for name, state in found.items() if state == "BROKEN"}
    assert (done.returncode == 0) is (not broken), done.stdout
    return broken


@contextmanager
def importing(folder, importer, imported):
    """Let a module import another inside a with statement."""
    path = folder.joinpath(*importer.split(".")).with_suffix(".py")
    text = path.read_text()
    path.write_text(f"{text}\n\ndef late():\n    import {imported}\n")
    try:
        yield
    finally:
        path.write_text(text)


@pytest.mark.parametrize(
    ("importer", "imported"),
    REFUSED,
)
def test_bad_imports_are_refused(copy, importer, imported):
    """A contract that was kept is broken by the import, wherever in the file it stands."""
    folder, before = copy
    with importing(folder, importer, imported):
        assert broken_contracts(folder) - before


@pytest.mark.parametrize(
    ("importer", "imported"), [("flybloom.report.summary", "flybloom.plots"), ("flybloom.plots.tuning", "matplotlib")]
)
def test_good_imports_are_not_refused(copy, importer, imported):
    """Rooms use each other by their public names."""
    folder, before = copy
    with importing(folder, importer, imported):
        assert broken_contracts(folder) == before
