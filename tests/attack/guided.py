"""Coverage-guided fuzzing with atheris: the loader of models, and the reader of CSV files.

Needs `pip install atheris`; without it, it says so. Runs in processes of its own, because atheris never returns.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

TARGETS = {
    "model": "a model file, guided by coverage, gives one kind of error, or a model",
    "csv": "a CSV file, guided by coverage, gives one kind of error, or rows",
}


def main(minutes: float, seed: int) -> int:
    """Fuzz each target for half of the time; return how many were broken."""
    if find_spec("atheris") is None:
        print("atheris is not installed, so nothing is guided by coverage. Run: pip install atheris", file=sys.stderr)
        return 0
    n_broken = 0
    for target, sentence in TARGETS.items():
        with tempfile.TemporaryDirectory() as folder:
            command = [
                sys.executable,
                __file__,
                target,
                folder,
                f"-max_total_time={int(30 * minutes)}",
                f"-seed={seed + 1}",
            ]
            done = subprocess.run(
                [*command, "-rss_limit_mb=2048", "-max_len=65536"], capture_output=True, text=True, check=False
            )
        runs = [line.split()[1] for line in done.stderr.splitlines() if line.startswith("Done")]
        is_broken = done.returncode != 0
        n_broken += is_broken
        print(f"| {sentence} | {int(runs[0]) if runs else 0:,} | {int(is_broken)} | |", flush=True)
        if is_broken:
            print(done.stderr[-3000:], file=sys.stderr)
    return n_broken


def fuzz(target: str, folder: Path, options: list[str]) -> None:
    """Fuzz one target, in this process, for ever or as the options say."""
    import atheris  # noqa: PLC0415 - needed here only

    with atheris.instrument_imports(include=["flybloom.core.files", "flybloom.blocks", "flybloom.core"]):
        import flybloom  # noqa: PLC0415
        import flybloom.core.files.envelope  # noqa: PLC0415
        from flybloom.exceptions import ModelFileError, SourceError  # noqa: PLC0415
    from mutations import repaired_if_possible, sample_files  # noqa: PLC0415

    corpus = folder / "corpus"
    corpus.mkdir()
    path = folder / ("fuzzed.fly" if target == "model" else "fuzzed.csv")
    if target == "model":
        (folder / "samples").mkdir()
        for i, data in enumerate(sample_files(folder / "samples")):
            (corpus / str(i)).write_bytes(data)
    else:
        for i, text in enumerate(
            ["a,b,y\n1,2,x\n3,4,z\n", '"a\nb",c\n"1",2\n', "a;b\n1;2\n", "a,y\n1e5,007\nnan,7\n", ""]
        ):
            (corpus / str(i)).write_text(text, encoding="utf-8")

    def one(data: bytes) -> None:
        if target == "model":
            path.write_bytes(repaired_if_possible(data))
            try:
                flybloom.load(path)
            except ModelFileError:
                return
        else:
            path.write_bytes(data)
            try:
                for block in flybloom.read_blocks(path, block_rows=7):
                    len(block)
            except SourceError:
                return

    atheris.Setup([sys.argv[0], *options, str(corpus)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    fuzz(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
