"""Kill a training with checkpoints 30 times at random moments, resume each: all models must be identical.

Trains on generated Parquet files in a process of its own, kills it with SIGKILL after a random time, then resumes it in
another process. Compares the bytes of each model file with those of a training that was never interrupted.

    python benchmarks/kill_resume.py [NUMBER OF KILLS]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np

from flybloom import FlyBloomClassifier, load, train
from stream import write_file

PROCESSES = get_context("forkserver")  # has imported everything, so that a kill meets work and no imports


def train_to(folder: Path, output: Path, saved: Path | None) -> None:
    """Train, going on from a checkpoint if there is one, and save the model."""
    model = FlyBloomClassifier(4096, random_state=0)
    options = {} if saved is None else {"checkpoint": saved, "checkpoint_rows": 4096, "resume": True}
    train(model, folder / "data", "label", block_rows=2048, **options).save(output)


def start(folder: Path, output: Path, saved: Path | None = None) -> BaseProcess:
    """Start a training in another process."""
    process = PROCESSES.Process(target=train_to, args=(folder, output, saved))
    process.start()
    return process


def finished(process: BaseProcess) -> bool:
    """Wait for a process, and return whether it came to its end."""
    process.join()
    return process.exitcode == 0


def main() -> None:
    """Kill, resume, compare."""
    n_kills = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    rng = np.random.default_rng(0)
    PROCESSES.set_forkserver_preload(["flybloom.learning.train", "pyarrow.parquet"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        output, saved = folder / "resumed.fly", folder / "saved"
        (folder / "data").mkdir()
        write_file(folder / "data", 0)
        for _ in range(2):  # the first time starts the server
            began = time.perf_counter()
            if not finished(start(folder, folder / "whole.fly")):
                sys.exit("the uninterrupted training failed")
            seconds = time.perf_counter() - began
        print(f"uninterrupted: {seconds:.1f} s", flush=True)

        n_same = n_killed = 0
        while n_killed < n_kills:
            process = start(folder, output, saved)
            time.sleep(rng.uniform(0.0, 1.0) * seconds)
            process.kill()
            if finished(process):  # had ended before the kill
                shutil.rmtree(saved)
                continue
            n_killed += 1
            has_saved = (saved / "checkpoint.fly").exists()
            rows = load(saved / "checkpoint.fly").class_count_.sum() if has_saved else "no"
            if not finished(start(folder, output, saved)):
                sys.exit("the resumed training failed")
            is_same = output.read_bytes() == (folder / "whole.fly").read_bytes()
            n_same += is_same
            print(f"{n_killed}: {rows} rows had been saved, {'identical' if is_same else 'DIFFERENT'}", flush=True)
            output.unlink()
            shutil.rmtree(saved)
    print(f"{n_same} of {n_kills} models identical to the uninterrupted one")
    if n_same < n_kills:
        sys.exit(1)


if __name__ == "__main__":
    main()
