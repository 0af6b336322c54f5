"""Whether rows are sparse, without importing scipy: where nobody has, none are."""

import sys
from typing import Any


def issparse(rows: Any) -> bool:
    """Return whether rows are a sparse matrix of scipy."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(rows))
