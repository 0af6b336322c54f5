"""All comparisons with the peers, one after the other, then the tables and pictures made from them: about half an hour.

python benchmarks/peers [--quick]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[1]
STEPS = ("startup", "classify", "partial_fit", "tune_peers")


def main() -> None:
    """Run each benchmark in a process of its own, and stop at the first that fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rows and rounds; nothing is saved, no tables")
    quick = parser.parse_args().quick
    start = time.perf_counter()
    for name in STEPS + (() if quick else ("table",)):
        print(f"== {name}, after {(time.perf_counter() - start) / 60:.1f} minutes", file=sys.stderr, flush=True)
        command = [sys.executable, BENCHMARKS / f"{name}.py", *["--quick"] * quick]
        if subprocess.run(command, check=False).returncode:
            sys.exit(f"{name} failed; what was measured before it is saved.")
    print(f"== done after {(time.perf_counter() - start) / 60:.1f} minutes", file=sys.stderr)


if __name__ == "__main__":
    main()
