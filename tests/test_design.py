"""What docs/design.md says of adding things, done: a step, a read-out, a file format, a command, an experiment.

A kind of counts is added in tests/toy_kind.py, and proven by the laws.
"""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import flybloom
from flybloom.blocks.finder import FILES
from flybloom.blocks.parts import FilePart, RawBlock
from flybloom.blocks.schema import PartFacts
from flybloom.core.encoding.encoder import STEPS
from flybloom.core.encoding.encoding import Encoding
from flybloom.core.encoding.step import Step
from flybloom.estimators.access import scoring
from flybloom.exceptions import IncompatibleHashError
from flybloom.paper.experiment import Check, Experiment, Summary
from flybloom.paper.run import run_experiment
from flybloom.paper.work import Unit
from laws.kinds import assert_same_state

ROOT = Path(__file__).parents[1]
COMMAND = '''
"""flybloom hello: greet."""

import typer


def command(name: str) -> None:
    """Greet NAME."""
    typer.echo(f"hello {name}")
'''


class Largest(Step):
    """Divides each column by its largest absolute value."""

    kind = "largest"

    def __init__(self, largest):
        self.largest = largest

    @classmethod
    def fit(cls, sample):
        """Take the largest values of the sample."""
        return cls(np.maximum(abs(sample.rows).max(axis=0).astype(np.float64), 1e-300))

    def apply(self, rows):
        """Return the rows between -1 and 1."""
        return (rows / self.largest).astype(np.float32)

    def to_dict(self):
        """Return what files hold."""
        return {"largest": self.largest}

    @classmethod
    def from_dict(cls, stored, n_inputs):
        """Return the step that a file holds."""
        if stored["largest"].shape != (n_inputs,) or not (stored["largest"] > 0).all():
            msg = "largest is not positive"
            raise ValueError(msg)
        return cls(stored["largest"])


def test_a_step_of_the_encoding(digits, monkeypatch, tmp_path):
    """Fit, training in blocks, Dask, files and the refusal to merge follow."""
    da, distributed = pytest.importorskip("dask.array"), pytest.importorskip("flybloom.distributed")
    monkeypatch.setitem(STEPS, "largest", Largest)
    monkeypatch.setattr(Encoding, "fitted", lambda _, features, sample: replace(features, steps=(Largest.fit(sample),)))
    X, y = digits
    settings = {"n_components": 200, "n_winners": 8, "random_state": 0}
    model = flybloom.FlyBloomClassifier(**settings).fit(X, y)
    blocks = flybloom.train(flybloom.FlyBloomClassifier(**settings), (X, y), "y", block_rows=100)
    cluster = distributed.fit(
        flybloom.FlyBloomClassifier(**settings), da.from_array(X, chunks=(500, 64)), da.from_array(y, chunks=500)
    )
    model.save(tmp_path / "model.fly")
    for other in (blocks, cluster, flybloom.load(tmp_path / "model.fly")):
        assert_same_state(other, model)
        assert_array_equal(other.predict(X), model.predict(X))
    with pytest.raises(IncompatibleHashError, match="largest"):
        model.like().merge(flybloom.FlyBloomClassifier(**settings).fit(2 * X, y).like())


def test_a_read_out(digits):
    """A pure function of counts and winners: here, for each row, the share of its winners that ever won."""
    X, _ = digits
    model = flybloom.FlyBloomNovelty(200, n_winners=8, random_state=0).fit(X)
    with scoring(model, X) as (rows, learned):
        is_known = learned.counts.table.any(axis=1)[learned.hasher.winners(rows)]
    assert is_known.all()


class RowsFile(FilePart):
    """Four float64 to a row, the last of which is the label."""

    def inspect(self, options):
        """Return what the rows are."""
        return PartFacts(np.dtype(np.float64), 3, labels=None if options.target is None else "int64")

    def read(self, options, schema):
        """Yield blocks."""
        rows = np.fromfile(self.path).reshape(-1, 4)
        for begin in range(0, len(rows), options.block_rows):
            some = rows[begin : begin + options.block_rows]
            yield RawBlock(some[:, :3], None if schema.labels is None else some[:, 3].astype(np.int64))


def test_a_file_format(tmp_path, monkeypatch, rng):
    """One reader and its suffix; folders of such files are learned from as others are."""
    monkeypatch.setitem(FILES, ".rows", RowsFile)
    X, y = rng.standard_normal((300, 3)), rng.integers(0, 2, 300)
    for i, part in enumerate(np.array_split(np.c_[X, y], 3)):
        part.tofile(tmp_path / f"{i}.rows")
    settings = {"n_components": 200, "n_winners": 8, "random_state": 0}
    model = flybloom.train(flybloom.FlyBloomClassifier(**settings), tmp_path, "y", block_rows=70)
    assert_same_state(model, flybloom.FlyBloomClassifier(**settings).fit(X, y))


def test_a_command(tmp_path):
    """One file in cli/commands is all."""
    (tmp_path / "hello.py").write_text(COMMAND)
    code = f"""
import sys
from flybloom.cli import commands, main
commands.__path__.append({str(tmp_path)!r})
sys.argv = ["flybloom", "hello", "house"]
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "hello house\n"), done.stderr


def squared(x):
    """Return the result of a unit."""
    return {"square": x * x}


def test_an_experiment(tmp_path):
    """A plan of units, a summary, and figures; what it found is kept."""
    experiment = Experiment(
        name="squares",
        title="Squares",
        items=("Figure 0",),
        plan=lambda settings, _data: [Unit(f"{x}", squared, {"x": x}) for x in settings["numbers"]],
        summarise=lambda _, results: Summary(
            checks=[Check("squares grow", "yes", "yes", results["3"]["square"] > results["2"]["square"])]
        ),
        draw=lambda _: {},
        explanation="Numbers are squared.",
    )
    assert run_experiment(experiment, {"numbers": [2, 3]}, tmp_path).checks[0].holds
    assert json.loads((tmp_path / "result.json").read_text())["experiment"] == "squares"


def test_every_room_is_on_the_map():
    """docs/design.md names each folder of the package, and CONTRIBUTING points to it."""
    page = (ROOT / "docs" / "design.md").read_text()
    package = Path(flybloom.__file__).parent
    rooms = [path for path in (*package.iterdir(), *(package / "core").iterdir()) if (path / "__init__.py").exists()]
    missing = [path.name for path in rooms if f"`{path.relative_to(package).as_posix()}/`" not in page]
    assert not missing
    assert "docs/design.md" in (ROOT / "CONTRIBUTING.md").read_text()
    for mentioned in ("tests/toy_kind.py", "tests/test_design.py", "tests/laws/kinds.py"):
        assert mentioned in page
        assert (ROOT / mentioned).exists()
