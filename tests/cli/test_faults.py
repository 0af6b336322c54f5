"""The faults of the command line that attacks on 0.1.0 found: lost data, tracebacks, and silence."""

import os
import signal
import stat
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from flybloom import FlyBloomClassifier, cli
from flybloom.cli.app import app
from flybloom.cli.errors import EXIT_CODES

posix = pytest.mark.skipif(os.name != "posix", reason="closed streams and signals of POSIX")
MAIN = "import sys; from flybloom.cli import main; sys.argv[0] = 'flybloom'; main()"


@pytest.fixture
def data(tmp_path):
    """A CSV file of 60 rows, and a model of them."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)).round(3), np.arange(60) % 3
    lines = ["a,b,c,y", *(",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y, strict=True))]
    (tmp_path / "x.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert run("train", tmp_path / "x.csv", "-t", "y", "-o", tmp_path / "m.fly", "--components", "64").exit_code == 0
    return tmp_path


def run(*arguments):
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def started(*arguments, **options):
    """Run a command in a process of its own."""
    return subprocess.Popen([sys.executable, "-c", MAIN, *map(str, arguments)], **options)


@pytest.mark.parametrize(
    "command",
    [
        ("train", "x.csv", "-t", "y", "-o", "x.csv"),
        ("train", "*.csv", "-t", "y", "-o", "x.csv"),
        ("train", "x.csv", "-t", "y", "-o", "link.csv"),
        ("train", "x.csv", "-t", "y", "--like", "m.fly", "-o", "m.fly"),
        ("learn", "m.fly", "x.csv", "-t", "y", "-o", "x.csv"),
        ("forget", "m.fly", "x.csv", "-t", "y", "-o", "x.csv"),
        ("tune", "x.csv", "-t", "y", "-o", "x.csv"),
        ("tune", "x.csv", "-t", "y", "-o", "n.fly", "--picture", "x.csv"),
        ("predict", "m.fly", "x.csv", "-o", "x.csv"),
    ],
    ids=" ".join,
)
def test_an_input_is_never_the_output(data, command, monkeypatch):
    """And it is refused before any work is done."""
    monkeypatch.chdir(data)
    (data / "link.csv").symlink_to(data / "x.csv")
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    result = run(*command)
    assert result.exit_code == 1
    assert "it is also an input, which would be lost" in result.output
    assert {path.name: path.read_bytes() for path in data.iterdir()} == before


@posix
@pytest.mark.parametrize("command", ["train", "learn", "forget", "merge", "tune", "predict"])
def test_outputs_that_cannot_be_written_are_refused_before_any_work(data, command, monkeypatch):
    """A folder, or a device."""
    monkeypatch.chdir(data)
    (data / "folder.csv").mkdir()
    arguments = {
        "train": ["x.csv", "-t", "y"], "learn": ["m.fly", "x.csv", "-t", "y"], "forget": ["m.fly", "x.csv", "-t", "y"],
        "merge": ["m.fly", "m.fly"], "tune": ["x.csv", "-t", "y"], "predict": ["m.fly", "x.csv"],
    }[command]  # fmt: skip
    result = run(command, *arguments, "-o", "folder.csv")
    assert result.exit_code == 1
    assert "it is a folder" in result.output
    if command != "predict":
        assert "it is a device" in run(command, *arguments, "-o", "/dev/null").output


@posix
def test_predictions_keep_the_mode_of_the_file_they_replace(data, monkeypatch):
    """And a run that fails leaves the file as it was."""
    monkeypatch.chdir(data)
    output = data / "p.csv"
    output.write_text("old", encoding="utf-8")
    output.chmod(0o600)
    assert run("predict", "m.fly", "no.csv", "-o", "p.csv").exit_code == 3
    assert output.read_text(encoding="utf-8") == "old"
    assert run("predict", "m.fly", "x.csv", "-o", "p.csv").exit_code == 0
    assert len(output.read_text(encoding="utf-8").splitlines()) == 61
    assert stat.S_IMODE(output.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
def test_labels_from_two_to_the_63_are_predicted(data, name, monkeypatch):
    """They were an OverflowError."""
    monkeypatch.chdir(data)
    X = np.random.default_rng(0).standard_normal((60, 3))
    labels = np.array([1, 2**63, 2**63 + 1] * 20, np.uint64)
    FlyBloomClassifier(64, random_state=0).fit(X, labels).save(data / "big.fly")
    assert run("predict", "big.fly", "x.csv", "--target", "y", "-o", name).exit_code == 0
    parquet = pytest.importorskip("pyarrow.parquet")
    if name == "p.parquet":
        assert set(parquet.read_table(data / name)["prediction"].to_pylist()) <= set(labels.tolist())


def test_spreadsheets_run_nothing_of_safe_csv(data, monkeypatch):
    """Text that begins as formulas do has an apostrophe before it, whether label, identifier or name of a column."""
    monkeypatch.chdir(data)
    words = np.array(["=cmd|calc", "+1", "-2", "@x", "\tt", "ok", "1=1"] * 10)
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((70, 3)), columns=list("abc"))
    model = FlyBloomClassifier(64, random_state=0).fit(X, words)
    model.save(data / "words.fly")
    X.assign(**{"=id": words}).to_csv("words.csv", index=False)
    command = ["predict", "words.fly", "words.csv", "--id", "=id"]
    for options, mark in (([], ""), (["--safe-csv"], "'")):
        expected = [
            [label if label in ("ok", "1=1") else mark + label for label in y] for y in (words, model.predict(X))
        ]
        assert run(*command, *options, "-o", "out.csv").exit_code == 0
        found = pd.read_csv("out.csv")
        assert list(found) == [f"{mark}=id", "prediction"]
        assert [column.tolist() for _, column in found.items()] == expected
        assert run(*command, *options).output == Path("out.csv").read_text(encoding="utf-8")
    assert "is about CSV" in " ".join(run(*command, "--safe-csv", "-o", "out.parquet").output.split())


@pytest.mark.parametrize("kind", ["classes", "pairs", "novelty"])
def test_enormous_values_pass_without_warnings(data, kind, monkeypatch):
    """Sums of them leave the range of floats in the checks of scikit-learn, and they become infinite as float32."""
    monkeypatch.chdir(data)
    X = np.random.default_rng(0).standard_normal((60, 3))
    X[3], X[4], X[5, 1] = 1e308, -1e308, 1e308
    pd.DataFrame(X, columns=list("abc")).assign(y=np.arange(60) % 3).to_csv("large.csv", index=False)
    target = ["--exclude", "y"] if kind == "novelty" else ["--target", "y"]
    for command in (["train", "large.csv", "-o", "l.fly", "--kind", kind, *target], ["predict", "l.fly", "large.csv"]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            done = run(*command)
        assert (done.exit_code, done.stderr) == (0, "")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FlyBloomClassifier(64, random_state=0).fit(X, np.arange(60) % 3).predict(X)


def test_an_interrupt_is_said_in_a_word(monkeypatch):
    """It was an empty error."""

    def interrupted(_path):
        raise KeyboardInterrupt

    def out_of_memory(_path):
        raise MemoryError

    monkeypatch.setattr("flybloom.core.files.model_file.load_in_training", interrupted)
    result = run("inspect", "m.fly")
    assert (result.exit_code, result.output) == (130, "Interrupted.\n")
    monkeypatch.setattr("flybloom.core.files.model_file.load_in_training", out_of_memory)
    assert run("inspect", "m.fly").output.startswith("Error: not enough memory.")
    assert EXIT_CODES[KeyboardInterrupt] == cli.INTERRUPTED


@posix
def test_ctrl_c_ends_a_command(data):
    """While it waits for rows."""
    process = started(
        "train", "-", "-t", "y", "--single-pass", "-o", data / "n.fly", stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdin.write(b"a,b,y\n")
    process.stdin.flush()
    time.sleep(5)
    process.send_signal(signal.SIGINT)
    assert (process.wait(60), process.stderr.read()) == (130, b"Interrupted.\n")
    process.stdin.close()
    process.stderr.close()
    assert not (data / "n.fly").exists()


@posix
def test_closed_streams_are_no_reason_to_fail(data):
    """Unless what is asked for would go there."""

    def close(*numbers):
        return lambda: [os.close(number) for number in numbers]

    process = started("train", data / "x.csv", "-t", "y", "-o", data / "n.fly", "--components", "64",
                      preexec_fn=close(0, 1, 2))  # fmt: skip
    assert process.wait(120) == 0
    assert (data / "n.fly").read_bytes() == (data / "m.fly").read_bytes()
    process = started("predict", data / "m.fly", data / "x.csv", preexec_fn=close(1), stderr=subprocess.PIPE)
    assert (process.wait(120), b"standard output is closed" in process.stderr.read()) == (1, True)
    process.stderr.close()
    process = started("train", "-", "-t", "y", "--single-pass", "-o", data / "q.fly", preexec_fn=close(0),
                      stderr=subprocess.PIPE)  # fmt: skip
    assert (process.wait(120), b"Traceback" in process.stderr.read()) == (3, False)
    process.stderr.close()
