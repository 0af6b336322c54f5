"""The command line as a process: killed, piped, and on a terminal."""

import os
import signal
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
    return [sys.executable, "-m", "flybloom", *map(str, arguments)]


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
    assert b"sketching" in shown
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
    assert process.returncode == 141


@pytest.mark.parametrize(("number", "code", "word"), [(signal.SIGINT, 130, "Inter"), (signal.SIGTERM, 143, "Termin")])
def test_a_signal_leaves_a_checkpoint_and_no_half_file(data, tmp_path, number, code, word):
    """Of more rows than were due; the same command goes on to the same model."""
    arguments = ["train", data, "-t", "label", "--components", "2000", "--block-rows", "64"]
    saved = tmp_path / "saved" / "checkpoint.fly"
    arguments += ["-o", tmp_path / "model.fly", "--checkpoint", saved.parent, "--every", "2000", "--resume"]
    with subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None and rows_in(saved) < 1:
            time.sleep(0.01)
        process.send_signal(number)
        printed, errors = process.communicate()
    assert process.returncode == code, errors
    assert printed == b""
    *_, first, last = errors.decode().splitlines()
    assert first.startswith("Stopping after this block, to leave a checkpoint")
    assert last.startswith(word)
    assert last.endswith("holds a checkpoint: the same command with --resume goes on from there.")
    assert rows_in(saved) % 64 == 0
    assert {path.name for path in tmp_path.iterdir()} == {"data", "saved"}
    subprocess.run(command(*arguments), check=True, capture_output=True)
    assert rows_in(tmp_path / "model.fly") == 16 * 1797


def save_small(path):
    """Save a model of two features."""
    flybloom.FlyBloomClassifier(64, n_winners=4, random_state=0).fit([[0.0, 1], [1, 0]], [0, 1]).save(path)


def test_a_prediction_that_is_terminated_leaves_nothing(tmp_path):
    """While it waits for standard input; at once, with one word."""
    save_small(tmp_path / "m.fly")
    arguments = command("predict", tmp_path / "m.fly", "-", "-o", tmp_path / "out.csv")
    for number, code, word in ((signal.SIGTERM, 143, b"Terminated.\n"), (signal.SIGINT, 130, b"Interrupted.\n")):
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdin.write(b"a,b\n1,2\n")
            process.stdin.flush()
            time.sleep(6)
            process.send_signal(number)
            errors = process.stderr.read()
        assert (process.returncode, errors) == (code, word)
        assert [path.name for path in tmp_path.iterdir()] == ["m.fly"]


def test_outputs_that_cannot_be_written_are_one_sentence(tmp_path):
    """Such as a full device."""
    save_small(tmp_path / "m.fly")
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(command("inspect", tmp_path / "m.fly"), stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"Error: No space left on device.\n")


def test_a_first_run_says_that_it_compiles(data, tmp_path):
    """On terminals, with an empty cache."""
    ours, theirs = pty.openpty()
    arguments = command("train", data, "-t", "label", "-o", tmp_path / "m.fly", "--components", "500")
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=theirs, env=environment):
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    assert b"compiling kernels (once)" in shown
