"""Kill a training with checkpoints 30 times at random moments, resume each: all models must be identical.

Runs `flybloom train --checkpoint` on generated Parquet files, kills it with SIGKILL after a random time, then runs it
with `--resume` until it ends. Compares the bytes of each model file with that of a training that was never interrupted.

    python benchmarks/kill_resume.py [NUMBER OF KILLS]
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from flybloom import load
from stream import write_file

N_FILES = 1


def start(folder: Path, output: Path, *options: str) -> subprocess.Popen:
    """Start a training."""
    command = [
        sys.executable, "-m", "flybloom.cli", "train", folder / "data", "--target", "label", "--output", output,
        "--components", "1024", "--block-rows", "2048", *options,
    ]  # fmt: skip
    return subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL)


def main() -> None:
    """Kill, resume, compare."""
    n_kills = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").mkdir()
        for number in range(N_FILES):
            write_file(folder / "data", number)
        began = time.perf_counter()
        if start(folder, folder / "whole.fly").wait():
            sys.exit("the uninterrupted training failed")
        seconds = time.perf_counter() - began
        print(f"uninterrupted: {seconds:.1f} s", flush=True)

        n_same = 0
        for kill in range(n_kills):
            output, saved = folder / "resumed.fly", folder / "saved"
            options = ("--checkpoint", str(saved), "--every", "4096")
            process = start(folder, output, *options)
            time.sleep(rng.uniform(0.1, 1.0) * seconds)
            process.kill()
            was_killed = process.wait() != 0
            rows = load(saved / "checkpoint.fly").class_count_.sum() if (saved / "checkpoint.fly").exists() else None
            if start(folder, output, *options, "--resume").wait():
                sys.exit("the resumed training failed")
            is_same = output.read_bytes() == (folder / "whole.fly").read_bytes()
            n_same += is_same
            state = f"killed after {rows} saved rows" if was_killed else "had ended before the kill"
            print(f"{kill + 1}: {state}, {'identical' if is_same else 'DIFFERENT'}", flush=True)
            output.unlink()
            shutil.rmtree(saved)
    print(f"{n_same} of {n_kills} models identical to the uninterrupted one")
    if n_same < n_kills:
        sys.exit(1)


if __name__ == "__main__":
    main()
