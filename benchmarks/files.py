"""Training from a folder of files: time beside pyarrow's reading alone, and memory.

    python benchmarks/files.py [--rows 2000000] [--folder FOLDER] [--repeats 3]

Each line is a process of its own: pyarrow reads the files and drops what it has read; `read_blocks` makes rows and
labels of them; `flybloom train` reads them twice, to sketch and to count, with the default number of components and
with fewer. Seconds are those of all processors, less those that a few rows take; the best of some runs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

N_COLUMNS, N_CLASSES = 50, 8
ROWS_PER_FILE = 125_000
FEW_ROWS = 1000
EACH_FILE = "import sys, pathlib\nfrom pyarrow import csv, parquet\nfor path in pathlib.Path(sys.argv[1]).iterdir():"
PYARROW = {
    "parquet": f"{EACH_FILE}\n    for _ in parquet.ParquetFile(path).iter_batches(32768): pass",
    "csv": f"{EACH_FILE}\n    for _ in csv.open_csv(path): pass",
}
BLOCKS = "import sys, flybloom\nfor _ in flybloom.read_blocks(sys.argv[1], 'label'): pass"


class Used(NamedTuple):
    """What a process took."""

    processor: float  # seconds
    wall: float
    peak: int  # bytes


def write(folder: Path, kind: str, n_rows: int) -> None:
    """Write classes that overlap, in numbers of four decimals."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(N_CLASSES, N_COLUMNS))
    for number, begin in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        labels = rng.integers(0, N_CLASSES, min(ROWS_PER_FILE, n_rows - begin))
        rows = np.round(centers[labels] + rng.normal(size=(labels.size, N_COLUMNS)), 4)
        table = pa.table({**{f"c{j}": rows[:, j] for j in range(N_COLUMNS)}, "label": labels})
        (parquet.write_table if kind == "parquet" else csv.write_csv)(table, folder / f"{number:03}.{kind}")


def run(*arguments: str) -> Used:
    """Run Python with these arguments."""
    begin = time.perf_counter()
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    number = os.posix_spawn(sys.executable, [sys.executable, *arguments], os.environ, file_actions=nowhere)
    _, status, used = os.wait4(number, 0)
    if status:
        sys.exit(f"{arguments} failed")
    return Used(used.ru_utime + used.ru_stime, time.perf_counter() - begin, used.ru_maxrss * 1024)


def main() -> None:
    """Print a table for each kind of file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", default=["parquet", "csv"])
    parser.add_argument("--folder", type=Path, help="where to make the files, which are removed afterwards")
    options = parser.parse_args()
    print("| files, rows | work | processor, s | beside pyarrow | wall, s | peak, MB |")
    print("|---|---|---:|---:|---:|---:|")
    for kind in options.kinds:
        folder = Path(tempfile.mkdtemp(dir=options.folder))
        try:
            (folder / "rows").mkdir()
            (folder / "few").mkdir()
            write(folder / "rows", kind, options.rows)
            write(folder / "few", kind, FEW_ROWS)
            train = (
                "-m",
                "flybloom",
                "train",
                "{}",
                "-t",
                "label",
                "-o",
                str(folder / "model.fly"),
                "--jobs",
                "2",
                "--json",
            )
            work = {
                "pyarrow reads": ("-c", PYARROW[kind], "{}"),
                "`read_blocks`": ("-c", BLOCKS, "{}"),
                "`flybloom train SOURCE --components 1000`": (*train, "--components", "1000"),
                "`flybloom train`": train,
            }
            base = 0.0
            for name, arguments in work.items():
                start, best = (
                    min(
                        run(*(str(folder / rows) if part == "{}" else part for part in arguments))
                        for _ in range(options.repeats)
                    )
                    for rows in ("few", "rows")
                )
                seconds = best.processor - start.processor
                base = base or seconds
                print(
                    f"| {kind}, {options.rows:,} | {name} | {seconds:.1f} | {seconds / base:.1f} "
                    f"| {best.wall - start.wall:.1f} | {best.peak / 1e6:.0f} |",
                    flush=True,
                )
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
