"""Small files that unpack to very much: refused, or read in little memory."""

from __future__ import annotations

import gzip
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import flybloom
from attack.promises import promise
from flybloom.exceptions import SourceError

MEGABYTE = 2**20
MOST_MEGABYTES = 400  # with the array that a block is
BLOCKS = 3  # that are read of what can be read


def nothing(folder: Path) -> Path:
    """A folder, and a first look at a file of each kind, which imports what is needed."""
    rows = b"a,b\n1,2\n"
    (folder / "t.csv.gz").write_bytes(gzip.compress(rows))
    (folder / "t.svm.gz").write_bytes(gzip.compress(b"1 1:1\n"))
    np.savez(folder / "t.npz", X=np.eye(2))
    for name in ("t.csv.gz", "t.svm.gz", "t.npz"):
        list(flybloom.read_blocks(folder / name))
    return folder


def packed(path: Path, begin: bytes, piece: bytes, n: int) -> None:
    """Write a gzip file of so many megabytes of a piece."""
    with gzip.open(path, "wb", 1) as file:
        file.write(begin)
        for _ in range(n):
            file.write(piece * (MEGABYTE // len(piece)))


def archive(path: Path, shape: tuple[int, ...], n: int, *, by_columns: bool) -> None:
    """Write an NPZ file whose array has this shape, it says, and so many megabytes of zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as whole, whole.open("X.npy", "w") as file:
        header = {"descr": "<f8", "fortran_order": by_columns, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(n):
            file.write(bytes(MEGABYTE))


def an_array(folder: Path, rng: np.random.Generator, n: int) -> Path:
    """Rows of zeros, as many as there are or far more."""
    width = int(rng.integers(1, 200))
    rows = n * MEGABYTE // (8 * width) if rng.random() < 0.5 else int(2 ** rng.integers(30, 60))
    archive(folder / "b.npz", (rows, width), n, by_columns=bool(rows < 2**30 and n < 100 and rng.integers(2)))
    return folder / "b.npz"


def a_lie(folder: Path, rng: np.random.Generator, _n: int) -> Path:
    """An array of absurd shape, with hardly any values."""
    shape = tuple(int(2 ** rng.integers(20, 61)) for _ in range(2))
    archive(folder / "b.npz", shape, 1, by_columns=bool(rng.integers(2)))
    return folder / "b.npz"


def a_header(folder: Path, rng: np.random.Generator, _n: int) -> Path:
    """An NPY file whose header says that it is enormous, or is no literal."""
    words = [b"(" * 5000, b"[" * 50_000, b"{'descr': '<f8', 'fortran_order': False, 'shape': (" + b"9," * 5000 + b")}"]
    text = words[rng.integers(len(words))]
    length = [len(text), 2**31 - 1, 2**32 - 1][rng.integers(3)]
    (folder / "b.npy").write_bytes(b"\x93NUMPY\x02\x00" + length.to_bytes(4, "little") + text + bytes(64))
    return folder / "b.npy"


def a_text(folder: Path, rng: np.random.Generator, n: int) -> Path:
    """Lines, values, records or names without an end."""
    begins = [b"", b"a,b\n1,2\n", b'a,b\n"', b'a,b\n1,2\n3,"', b"a,y\n"]
    pieces = [b"1", b"a,", b"\n1,2,3,4", b"\0", b'""', b" ", b"\n", b"1,2\n", b"\xff"]
    name = ["b.csv.gz", "b.tsv.gz"][rng.integers(2)]
    packed(folder / name, begins[rng.integers(len(begins))], pieces[rng.integers(len(pieces))], n)
    return folder / name


def a_sparse_text(folder: Path, rng: np.random.Generator, n: int) -> Path:
    """Lines without an end, and rows without values."""
    pieces = [b"1", b"1:1 ", b"\n", b"1\n", b"#", b"1 1:1\n", b" "]
    packed(folder / "b.svm.gz", b"1 ", pieces[rng.integers(len(pieces))], 1 + n // 200)  # lines are read one by one
    return folder / "b.svm.gz"


KINDS: list[Callable[[Path, np.random.Generator, int], Path]] = [an_array, a_lie, a_header, a_text, a_sparse_text]


def peak(*, anew: bool = False) -> float:
    """Megabytes that this process had at most, since it was last asked anew where the system can tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if anew:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    lines = status.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


@promise("a small file that unpacks to very much is refused, or read in little memory", nothing)
def unpack(folder: Path, rng: np.random.Generator) -> str:
    """Megabytes of the same, packed a thousandfold, and headers that lie."""
    kind = KINDS[rng.integers(len(KINDS))]
    path = kind(folder, rng, int(rng.integers(16, 300)))
    before = peak(anew=True)
    refused = ""
    try:
        for i, block in enumerate(flybloom.read_blocks(path, block_rows=int(rng.integers(1, 5000)))):
            assert len(block)
            if i == BLOCKS:
                break
    except SourceError as error:
        refused = str(error)
    grown = peak() - before
    path.unlink()
    assert len(refused) < 1000, f"{kind.__name__}: an error of {len(refused)} characters"
    assert grown <= MOST_MEGABYTES, f"{kind.__name__}: memory grew by {grown:.0f} MB ({refused[:200]})"
    return "read" if not refused else "refused"
