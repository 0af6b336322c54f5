"""Damage model files in 20 000 seeded ways: each must be refused or load to a model that works.

Bit flips, cuts, swapped headers, absurd shapes and numbers, with a wrong checksum or a right one. Prints how many of
each kind were refused, and by how much the peak memory of the process grew. Ends with an error at the first file that
raises anything but flybloom's own error.

    python benchmarks/fuzz_files.py [NUMBER]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from mutations import mutated, sample_files, survives

MOST_MEGABYTES = 200


def peak_megabytes() -> float:
    """Return the peak resident memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Damage, load, count."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    outcomes: Counter[tuple[str, bool]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        files = sample_files(Path(folder))
        survives(Path(folder) / "0.fly")  # compiles what is needed to run a model
        before, start = peak_megabytes(), time.perf_counter()
        slowest = 0.0
        for seed in range(number):
            data, kind = mutated(files, seed)
            path = Path(folder) / "mutated.fly"
            path.write_bytes(data)
            began = time.perf_counter()
            try:
                outcomes[kind, survives(path)] += 1
            except BaseException:
                print(f"seed {seed}, {kind}", file=sys.stderr)
                raise
            slowest = max(slowest, time.perf_counter() - began)
    for kind in sorted({kind for kind, _ in outcomes}):
        print(f"{kind}: {outcomes[kind, False]} refused, {outcomes[kind, True]} loaded and worked")
    grown = peak_megabytes() - before
    print(f"{number} files in {time.perf_counter() - start:.0f} s, the slowest {1000 * slowest:.0f} ms; no crash")
    print(f"peak memory grew by {grown:.0f} MB")
    if grown > MOST_MEGABYTES:
        sys.exit(f"more than {MOST_MEGABYTES} MB")


if __name__ == "__main__":
    main()
