"""The loops of prediction in numpy: nothing to compile, slower, and the same bits.

Each file is the twin of a compiled one. They are for the first few rows of a process, which are scored sooner than a
kernel is compiled, and for machines that have no numba at all; `_choice.py` chooses.
"""

from flybloom.core._kernels._plain import connections, content_hash, encode, fill, leverage, linear, score, winners

__all__ = ["connections", "content_hash", "encode", "fill", "leverage", "linear", "score", "winners"]
