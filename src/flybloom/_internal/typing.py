"""Array aliases, named by the role they play."""

import sys
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Features: TypeAlias = Any  # (n, d): ndarray or CSR, of any numeric type
Winners: TypeAlias = NDArray[np.uint32]  # (n, rho): which components win
Values: TypeAlias = NDArray[np.int8]  # (n, m): what each component has, where none wins
Codes: TypeAlias = NDArray[np.int64]  # (n,): each row's class, as a position in classes_
Weights: TypeAlias = NDArray[np.int64]  # (n,): how many copies each row stands for, or fractions of one
CountTable: TypeAlias = NDArray[Any]  # (m, n_classes): how often each component won, int32 or int64
Novelty: TypeAlias = NDArray[np.float64]  # (n, n_classes): small is familiar

Size: TypeAlias = int | float | Literal["auto"]  # what users ask for: a number, a multiple or a share, or a default
Scaling: TypeAlias = Literal["none", "center", "standard"]
WantedUnit: TypeAlias = float | Literal["auto"] | None  # the weight that counts as one row


def issparse(rows: Any) -> bool:
    """Return whether rows are a sparse matrix of scipy."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(rows))
