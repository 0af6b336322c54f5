"""Flybloom beside its peers: the same data, threads and rounds for all."""

import os

# for libraries that are loaded later than threadpoolctl looks, such as the matrix products of faiss
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
