"""Training from a folder of files: time beside pyarrow's reading alone, and memory.

    python benchmarks/files.py [--rows 10000000] [--folder FOLDER] [--repeats 2] [--kinds parquet csv]

Each line is a process of its own: pyarrow reads the files and drops what it has read; `read_blocks` makes rows and
labels of them; `flybloom train` reads them twice, to sketch and to count, or once, on two threads. Seconds are less
those that a few rows take; the best of some runs. Files in FOLDER are made once and stay there. What was measured is
kept in results/files.json, so that a second call goes on where the first was stopped.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from resumable import measured

NAME, N_COLUMNS, N_CLASSES = "files", 50, 8
ROWS_PER_FILE = 125_000
FEW_ROWS = 1000
EACH_FILE = "import sys, pathlib\nfrom pyarrow import csv, parquet\nfor path in pathlib.Path(sys.argv[1]).iterdir():"
PYARROW = {
    "parquet": f"{EACH_FILE}\n    for _ in parquet.ParquetFile(path).iter_batches(32768): pass",
    "csv": f"{EACH_FILE}\n    for _ in csv.open_csv(path): pass",
}
BLOCKS = "import sys, flybloom\nfor _ in flybloom.read_blocks(sys.argv[1], 'label'): pass"
READS = "pyarrow reads"
TRAINED = ("", "--single-pass", "--components 1000", "--components 1000 --single-pass")


def write(folder: Path, kind: str, n_rows: int) -> None:
    """Write classes that overlap, in numbers of four decimals, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(N_CLASSES, N_COLUMNS))
    for number, begin in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        labels = rng.integers(0, N_CLASSES, min(ROWS_PER_FILE, n_rows - begin))
        rows = np.round(centers[labels] + rng.normal(size=(labels.size, N_COLUMNS)), 4)
        path, half = folder / f"{number:03}.{kind}", folder.with_suffix(".half")
        if not path.exists():
            table = pa.table({**{f"c{j}": rows[:, j] for j in range(N_COLUMNS)}, "label": labels})
            (parquet.write_table if kind == "parquet" else csv.write_csv)(table, half)
            half.rename(path)


def run(*arguments: str) -> dict[str, float]:
    """Run Python with these arguments; return seconds, and bytes of memory."""
    begin = time.perf_counter()
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    number = os.posix_spawn(sys.executable, [sys.executable, *arguments], os.environ, file_actions=nowhere)
    _, status, used = os.wait4(number, 0)
    if status:
        sys.exit(f"{arguments} failed")
    wall = time.perf_counter() - begin
    return {"wall": wall, "processor": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * 1024}


def taken(arguments: tuple[str, ...], paths: tuple[Path, Path], repeats: int) -> dict[str, Any]:
    """Return what a process takes for all rows, less the seconds for a few; the fastest of some."""
    best, start = (
        min((run(*(str(path) if part == "{}" else part for part in arguments)) for _ in range(repeats)),
            key=lambda one: one["wall"])
        for path in paths
    )  # fmt: skip
    return {**{name: best[name] - start[name] for name in ("wall", "processor")}, "peak": best["peak"]}


def main() -> None:
    """Print a table for each kind of file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--kinds", nargs="+", default=["parquet", "csv"])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "flybloom_files")
    options = parser.parse_args()
    print("| files, rows | work | wall, s | beside pyarrow | processor, s | beside pyarrow | peak, MB |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for kind in options.kinds:
        paths = options.folder / f"{kind}_{options.rows}", options.folder / f"{kind}_{FEW_ROWS}"
        write(paths[0], kind, options.rows)
        write(paths[1], kind, FEW_ROWS)
        model = str(options.folder / "model.fly")
        train = ("-m", "flybloom", "train", "{}", "-t", "label", "-o", model, "--jobs", "2", "--json")
        work = {READS: ("-c", PYARROW[kind], "{}"), "`read_blocks`": ("-c", BLOCKS, "{}")}
        work |= {f"`flybloom train SOURCE {how}`".replace(" `", "`"): (*train, *how.split()) for how in TRAINED}
        base: dict[str, Any] = {}
        for name, arguments in work.items():
            key = f"{kind} {options.rows} {name}"
            one = measured(NAME, key, lambda a=arguments, p=paths: taken(a, p, options.repeats))
            base = base or one
            cells = [f"{one[what]:.1f} | {one[what] / base[what]:.1f}" for what in ("wall", "processor")]
            print(f"| {kind}, {options.rows:,} | {name} | {' | '.join(cells)} | {one['peak'] / 1e6:.0f} |", flush=True)


if __name__ == "__main__":
    main()
