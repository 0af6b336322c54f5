"""Sparse rows whose indices are what they say: a wrong one would be read out of bounds by compiled loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flybloom.exceptions import SourceError


def checked_csr(X: Any, where: str, *, takes_all: bool = False) -> Any:
    """Return a sparse matrix or array as CSR, after a look at every index.

    Parameters
    ----------
    X : sparse matrix or array
        Of any format.
    where : str
        What errors call it.
    takes_all : bool, default=False
        Whether values may be infinite.

    Returns
    -------
    CSR matrix or array
        `X` itself if it is CSR.
    """
    if len(X.shape) != 2:  # noqa: PLR2004
        msg = f"{where}: sparse values of shape {X.shape}. Expected rows and columns."
        raise SourceError(msg)
    try:
        if X.format in ("csr", "csc", "bsr"):
            X.check_format(full_check=True)
        elif isinstance(X, sparse.coo_matrix | sparse.coo_array):
            for indices, size in zip((X.row, X.col), X.shape, strict=True):
                _require_within(indices, size)
        X = sparse.csr_array(X) if isinstance(X, sparse.sparray) else sparse.csr_matrix(X)
    except (ValueError, IndexError) as error:
        msg = f"{where}: the sparse rows are damaged ({error}). Expected indices below {X.shape[1]}. Rebuild them."
        raise SourceError(msg) from error
    if not takes_all and X.dtype.kind == "f" and np.isinf(X.data).any():
        msg = (
            f"{where}: {int(np.isinf(X.data).sum())} values are infinite. Make them missing (NaN), or drop these rows."
        )
        raise SourceError(msg)
    return X


def _require_within(indices: Any, size: int) -> None:
    """Refuse indices outside of a size."""
    if indices.size and not 0 <= indices.min() <= indices.max() < size:
        msg = f"an index is {int(indices.max() if indices.max() >= size else indices.min())}, the size is {size}"
        raise ValueError(msg)
