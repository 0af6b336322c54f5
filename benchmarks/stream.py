"""Train from a generated Parquet folder of 5 000 000 x 20 float32 rows: memory, rows per second, and the same model.

Runs `flybloom train` in processes of their own, on the first 100 000 rows and on all, and compares their peak resident
memory. Then trains on the first 200 000 rows and compares with `fit` on the whole array, bit for bit.

    python benchmarks/stream.py [NUMBER OF FILES OF 100 000 ROWS]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from flybloom import FlyBloomClassifier, load

ROWS_PER_FILE, FEATURES, CLASSES = 100_000, 20, 5
MOST_MEGABYTES = 500


def write_file(folder: Path, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Write one file of the data set, and return what is in it."""
    rng = np.random.default_rng(number)
    y = rng.integers(0, CLASSES, ROWS_PER_FILE)
    X = rng.standard_normal((ROWS_PER_FILE, FEATURES), np.float32)
    X[np.arange(ROWS_PER_FILE), y] += 3
    columns = {f"x{j}": X[:, j] for j in range(FEATURES)}
    parquet.write_table(pa.table({**columns, "label": y}), folder / f"part-{number:03}.parquet")
    return X, y


def train(source: Path, output: Path) -> tuple[dict, float]:
    """Run the command line on a source; return what it prints, and its peak resident memory in MB."""
    command = [sys.executable, "-m", "flybloom", "train", source, "--target", "label", "--output", output, "--json"]
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True) as process:
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"flybloom train ended with {process.returncode}")
    return json.loads(printed), usage.ru_maxrss / 1024


def main() -> None:
    """Generate, train, compare."""
    n_files = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").mkdir()
        first = [write_file(folder / "data", number) for number in range(2)]
        for number in range(2, n_files):
            write_file(folder / "data", number)

        small, megabytes = train(folder / "data" / "part-000.parquet", folder / "small.fly")
        print(f"{small['rows']} rows: {small['rows_per_second']} rows/s, peak {megabytes:.0f} MB", flush=True)
        large, megabytes_of_all = train(folder / "data", folder / "large.fly")
        print(f"{large['rows']} rows: {large['rows_per_second']} rows/s, peak {megabytes_of_all:.0f} MB", flush=True)
        print(f"difference of the peaks: {megabytes_of_all - megabytes:.0f} MB")

        train(folder / "data" / "part-00[01].parquet", folder / "streamed.fly")
        X, y = (np.concatenate(parts) for parts in zip(*first, strict=True))
        fitted, streamed = FlyBloomClassifier(random_state=0).fit(X, y), load(folder / "streamed.fly")
        is_same = all(
            np.array_equal(getattr(fitted, name), getattr(streamed, name))
            for name in ("counts_", "class_count_", "classes_", "center_", "scale_")
        )
        print(f"the first {len(y)} rows: {'the same model as' if is_same else 'NOT the model of'} fit")
    if not is_same or megabytes_of_all - megabytes > MOST_MEGABYTES:
        sys.exit(1)


if __name__ == "__main__":
    main()
