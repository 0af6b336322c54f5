"""The command line as a process: killed, piped, and on a terminal."""

import os
import subprocess
import sys
import time

import pandas as pd
import pytest

import flybloom

pty = pytest.importorskip("pty", reason="terminals are tested where there are any")


@pytest.fixture
def data(digits, tmp_path):
    """Digits, several times, in Parquet files."""
    X, y = digits
    frame = pd.DataFrame(X, columns=[f"p{i}" for i in range(64)]).assign(label=y)
    (tmp_path / "data").mkdir()
    for i in range(4):
        pd.concat([frame] * 4).to_parquet(tmp_path / "data" / f"{i}.parquet")
    return tmp_path / "data"


def command(*arguments):
    """The words that start a command."""
    return [sys.executable, "-m", "flybloom.cli", *map(str, arguments)]


def test_a_killed_training_goes_on_to_the_same_model(data, tmp_path):
    """SIGKILL after the first and after a later checkpoint; the file is the same to the last byte."""
    arguments = ["train", data, "-t", "label", "--components", "2000", "--block-rows", "256"]
    subprocess.run(command(*arguments, "-o", tmp_path / "whole.fly"), check=True, capture_output=True)
    saved = tmp_path / "saved" / "checkpoint.fly"
    arguments += ["-o", tmp_path / "model.fly", "--checkpoint", saved.parent, "--every", "500", "--resume"]
    rows = 0
    for least in (1, 12_000):
        with subprocess.Popen(command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            while process.poll() is None and (rows := rows_in(saved)) < least:
                time.sleep(0.01)
            process.kill()
    assert rows > 0
    subprocess.run(command(*arguments), check=True, capture_output=True)
    assert (tmp_path / "model.fly").read_bytes() == (tmp_path / "whole.fly").read_bytes()


def rows_in(path):
    """How many rows the model of a checkpoint has learned."""
    return int(flybloom.load(path).class_count_.sum()) if path.exists() else -1


def test_progress_is_shown_on_terminals_and_only_on_stderr(data, tmp_path):
    """Rows per second on the terminal, the result alone on stdout."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command("train", data, "-t", "label", "-o", tmp_path / "m.fly", "--components", "500"),
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # the other end is closed
            pass
        printed = process.stdout.read().decode()
    os.close(ours)
    assert process.returncode == 0
    assert b"scaling" in shown
    assert b"learning" in shown
    assert b"rows/s" in shown
    assert printed.splitlines()[1] == "classes          10"


def test_a_reader_that_has_enough_gets_no_traceback(data, tmp_path):
    """As in `flybloom predict ... | head`."""
    subprocess.run(
        command("train", data, "-t", "label", "-o", tmp_path / "m.fly", "--components", "200"),
        check=True,
        capture_output=True,
    )
    with subprocess.Popen(
        command("predict", tmp_path / "m.fly", data, "--probabilities", "--block-rows", "500"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
    assert errors == b""
    assert process.returncode == 1
