"""Hashing against the sums alone in C, and against matrix products with argpartition; one thread.

Needs gcc. Prints microseconds of processor time per row, interleaved and best of several rounds, and flybloom's ratio
to each.

    python benchmarks/projection.py
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from flybloom.core.hashing.projection import Projection

SHAPES = [  # d, m, s, rho, type, rows
    (784, 16384, 78, 64, "float32", 1024),
    (784, 16384, 78, 64, "uint8", 1024),
    (784, 170128, 20, 17, "uint8", 512),
    (100, 20480, 10, 32, "float32", 2048),
    (20, 8192, 8, 64, "float32", 4096),
]
ROUNDS, WARM = 8, 3
FEW = 64


def compiled() -> ctypes.CDLL:
    """Compile the yardstick."""
    library = Path(tempfile.mkdtemp()) / "projection.so"
    source = Path(__file__).with_name("projection.c")
    command = ["gcc", "-O3", "-march=native", "-funroll-loops", "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def aligned(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Return an array that starts on a cache line."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(dtype).reshape(shape)


def main() -> None:
    """Time all shapes."""
    library, rng = compiled(), np.random.default_rng(0)
    print("| d | m | s | rho | type | C sums, us | flybloom, us | ratio | x faster than scipy | x faster than BLAS |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for d, m, s, rho, dtype, n in SHAPES:
        X = rng.integers(0, 256, (n, d)).astype(dtype) if dtype == "uint8" else rng.random((n, d), dtype=np.float32)
        projection = Projection(0, d, m, s, signed=False)
        connections = projection.connections()[0].astype(np.uint16)
        kind = "uint16" if dtype == "uint8" else "float32"
        block, sums = aligned((d, FEW), kind), aligned((m, FEW), kind)
        block[:] = X[:FEW].T
        arguments = [
            ctypes.c_void_p(block.ctypes.data), ctypes.c_void_p(connections.ctypes.data), ctypes.c_long(m),
            ctypes.c_long(s), ctypes.c_void_p(sums.ctypes.data),
        ]  # fmt: skip
        links = (np.ones(m * s, np.float32), connections.ravel().astype(np.int32), np.arange(0, m * s + 1, s))
        matrix = csr_matrix(links, shape=(m, d)).T.tocsr()
        dense, few = matrix.toarray(), X[:FEW].astype(np.float32)
        project = getattr(library, f"project_{dtype}")
        jobs = {
            "c": (lambda f=project, a=arguments: f(*a), FEW),
            "fly": (lambda p=projection, X=X, r=rho: p.winners(X, r), n),
            "scipy": (lambda x=few, M=matrix, r=rho: np.argpartition(x @ M, -r, axis=1)[:, -r:], FEW),
            "blas": (lambda x=few, M=dense, r=rho: np.argpartition(x @ M, -r, axis=1)[:, -r:], FEW),
        }
        best = dict.fromkeys(jobs, np.inf)
        with threadpool_limits(1):
            for _ in range(ROUNDS):
                for name, (job, rows) in jobs.items():
                    for _ in range(WARM):  # the first finds the cache full of what others left
                        start = time.thread_time()
                        job()
                        best[name] = min(best[name], 1e6 * (time.thread_time() - start) / rows)
        c, fly, scipy, blas = (best[name] for name in ("c", "fly", "scipy", "blas"))
        times = f"{c:.1f} | {fly:.1f} | {fly / c:.2f} | {scipy / fly:.0f} | {blas / fly:.0f}"
        print(f"| {d} | {m} | {s} | {rho} | {dtype} | {times} |", flush=True)


if __name__ == "__main__":
    main()
