"""Validation and conversion of user input."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from flybloom._internal.frame_cells import FrameColumn, as_rows, table_columns, table_kinds, table_numbers
from flybloom._internal.sklearn_compat import check_feature_names, feature_names, safe_indexing
from flybloom._internal.typing import Array, Features

PLAIN_TYPES = frozenset("bhilqBHILQfd")  # integers and floats of the usual widths
MAX_PLAIN_VALUES = 2**14  # above, what looking costs does not matter
MAX_PLAIN_LABELS = 64
MAX_EXACT = 2**53  # up to which floats hold every whole number
VECTOR = 1  # dimensions of targets that have one output


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Restore the attributes of an estimator if an error occurs inside."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        estimator.__dict__ = before  # at once: no other thread sees it empty
        raise


class NamedRows(NamedTuple):
    """Rows with feature names, without the cost of a frame."""

    array: Array
    names: list[str]
    kinds: tuple[str, ...] | None = None  # what columns are, see `cells`, whose numbers they hold; None for numbers

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.array.shape

    def taken(self, which: Any) -> NamedRows:
        """Return some of the rows."""
        return self._replace(array=self.array[which])


def taken(X: Any, which: Any) -> Any:
    """Return some of the rows of any supported type."""
    if isinstance(X, NamedRows):
        return X.taken(which)
    return safe_indexing(X.tocsr() if sparse.issparse(X) else X, which)


class NewRows(NamedTuple):
    """Validated first rows with feature names and kinds."""

    rows: Features
    names: tuple[str, ...] | None
    kinds: tuple[str, ...] | None = None


class KnownFeatures(Protocol):
    """Expected features: number of columns, and names if any."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Their names."""

    @property
    def kinds(self) -> tuple[str, ...] | None:
        """Their kinds, if not all are numeric."""

    @property
    def takes_sparse(self) -> bool:
        """Whether rows may be sparse."""


def check_new_rows(X: Any, owner: str, *, takes_sparse: bool, min_rows: int = 1) -> NewRows:
    """Validate the first rows of an estimator: a numeric array or canonical CSR matrix, with names and kinds."""
    if isinstance(X, NamedRows):
        return NewRows(np.asarray(_checked_array(X.array, owner)), tuple(X.names), X.kinds)
    names = kinds = None
    if not isinstance(X, np.ndarray) or X.dtype == object:
        X = as_rows(X)
        names, kinds = feature_names(X), table_kinds(X)
        if kinds is not None:
            X = table_numbers(table_columns(X) or [], kinds)
    rows = _checked_array(X, owner, min_rows)
    if sparse.issparse(rows):
        rows = _checked_sparse(rows, takes_sparse=takes_sparse)
    return NewRows(rows, None if names is None else tuple(map(str, names)), kinds)


def check_rows(
    X: Any, owner: str, known: KnownFeatures, *, min_rows: int = 1, takes_sparse: bool | None = None
) -> Features:
    """Validate rows with known features: a numeric array or canonical CSR matrix.

    Values may be missing (NaN), but not infinite.
    """
    if (
        type(X) is np.ndarray
        and X.dtype.char in PLAIN_TYPES
        and X.ndim == 2  # noqa: PLR2004
        and 0 < X.size <= MAX_PLAIN_VALUES
        and X.shape[1] == known.n_features
        and known.names is None
        and known.kinds is None
        and np.isfinite(X).all()
    ):
        return X  # as scikit-learn would, after 0.1 ms of looking
    if isinstance(X, NamedRows):
        if known.names is not None and tuple(X.names) != known.names:
            msg = (
                f"The feature names should match those that were passed during fit, {list(known.names)}. "
                f"Got {X.names} instead. Choose the columns by name, in this order."
            )
            raise ValueError(msg)
        _require_kinds(X.kinds, known, owner)
        X = X.array
    else:
        X = as_rows(X) if not isinstance(X, np.ndarray) or X.dtype == object else X
        columns = None if known.kinds is None else _columns_of_frame(X, owner)
        if known.names is not None or feature_names(X) is not None:
            check_feature_names(_stand_in(owner, known), X, reset=False)
        if columns is not None:
            X = table_numbers(columns, known.kinds or ())
    rows = _checked_array(X, owner, min_rows)
    if rows.shape[1] != known.n_features:
        msg = f"X has {rows.shape[1]} features, but {owner} is expecting {known.n_features} features as input."
        raise ValueError(msg)
    if sparse.issparse(rows):
        rows = _checked_sparse(rows, takes_sparse=known.takes_sparse if takes_sparse is None else takes_sparse)
    return rows


def _checked_array(X: Any, owner: str, min_rows: int = 1) -> Any:
    """Call `check_array`, ignoring overflow in its test for infinity."""
    with np.errstate(invalid="ignore"):
        return check_array(
            X, accept_sparse="csr", input_name="X", ensure_all_finite="allow-nan", estimator=owner,
            ensure_min_samples=min_rows,
        )  # fmt: skip


def _columns_of_frame(X: Any, owner: str) -> list[FrameColumn]:
    """Return the columns of a frame; other objects raise an error."""
    columns = table_columns(X)
    if columns is None:
        msg = (
            f"This {owner} has learned from a table whose columns are not all numbers. Expected a frame of pandas or "
            f"polars, or a table of Arrow, with the same columns. Got {type(X).__name__} instead."
        )
        raise TypeError(msg)
    return columns


def _require_kinds(found: tuple[str, ...] | None, known: KnownFeatures, owner: str) -> None:
    """Raise an error for rows with other kinds of columns than expected."""
    if found == known.kinds:
        return
    n = known.n_features
    usual = ("number",) * n
    pairs = zip(known.names or range(n), found or usual, known.kinds or usual, strict=True)
    name, got, expected = next(entry for entry in pairs if entry[1] != entry[2])
    msg = (
        f"The column {name!r} was read as {got}. Expected {expected}, as {owner} has learned it. Read the source for "
        "this model: read_blocks(..., kinds={...})."
    )
    raise ValueError(msg)


def _stand_in(owner: str, known: KnownFeatures) -> Any:
    """Return a stand-in for the estimator, for scikit-learn's check of feature names."""
    attributes: dict[str, Any] = {"n_features_in_": known.n_features}
    if known.names is not None:
        attributes["feature_names_in_"] = np.array(known.names, object)
    return type(owner, (), attributes)()


def _checked_sparse(rows: Features, *, takes_sparse: bool) -> Features:
    """Return sparse rows in canonical form; an error if they are not supported."""
    if not takes_sparse:
        msg = (
            "Cannot center sparse matrices: use `encoding='auto'`, 'none' or 'none+relevance' instead. "
            "See docstring for motivation and alternatives."
        )
        raise ValueError(msg)
    if rows.nnz and not 0 <= int(rows.indices.min()) <= int(rows.indices.max()) < rows.shape[1]:
        low, high = int(rows.indices.min()), int(rows.indices.max())
        msg = (
            f"X is a sparse matrix of {rows.shape[1]} columns, numbered from 0. Got column "
            f"{low if low < 0 else high} instead. Make it anew, with its true shape."
        )
        raise ValueError(msg)
    if (rows.indptr[1:] < rows.indptr[:-1]).any():
        msg = (
            "X is a sparse matrix in which a row ends before it begins (indptr decreases). "
            "Make it anew, for example from its coordinates."
        )
        raise ValueError(msg)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def check_labels(y: Any, n_rows: int | None = None) -> Array:
    """Return `y` as a one-dimensional array of labels, one for each row; integers stay exact."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuU":  # nothing can be wrong but the length
        labels = y
    elif _are_few_plain_labels(y):
        labels = np.array(y)
    else:
        labels = column_or_1d(_exact_integers(y), warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
    if n_rows is not None and labels.shape[0] != n_rows:
        msg = f"Found input variables with inconsistent numbers of samples: {[n_rows, labels.shape[0]]}"
        raise ValueError(msg)
    return np.asarray(labels)


def _are_few_plain_labels(y: Any) -> bool:
    """Return whether `y` is a short list of strings or small integers, which needs no checks."""
    if type(y) is not list or not 0 < len(y) <= MAX_PLAIN_LABELS:
        return False
    kinds = {*map(type, y)}
    return kinds == {str} or (kinds == {int} and max(map(abs, y)) <= MAX_EXACT)


def _exact_integers(y: Any) -> Any:
    """Convert integers that NumPy would round to floats; return anything else unchanged."""
    if isinstance(y, list | tuple):
        return _exact_list(y)
    columns: Any = getattr(y, "dtypes", None) if getattr(y, "ndim", 1) == 2 else None  # noqa: PLR2004 - a frame
    dtype: Any = getattr(y, "dtype", None) if columns is None or len(columns) != 1 else next(iter(columns))
    if hasattr(dtype, "numpy_dtype") and getattr(dtype, "kind", "") in "iu":  # pandas' Int64
        return y if np.asarray(y.isna()).any() else y.to_numpy(dtype.numpy_dtype)
    return y


def _exact_list(y: Any) -> Any:
    """Convert a list of labels to an array if NumPy would round integers."""
    whole = [label for label in y if isinstance(label, int | np.integer)]
    if not whole or max(map(abs, map(int, whole))) <= MAX_EXACT:
        return y
    if len(whole) == len(y):
        if np.asarray(y).dtype.kind in "iu":
            return y
        if min(map(int, whole)) >= 0 and max(map(int, whole)) < 2**64:
            return np.array(y, np.uint64)
        msg = (
            f"The labels in y are whole numbers that no 64-bit type holds together, from {min(whole)} to {max(whole)}. "
            "Convert y to strings."
        )
        raise ValueError(msg)
    rounded = [label for label in whole if int(float(label)) != int(label)]
    if rounded and all(isinstance(label, int | float | np.number) for label in y):
        msg = (
            f"The labels in y are whole numbers and floats, and no float is {rounded[0]!r}. "
            "Convert y to whole numbers, or to strings."
        )
        raise ValueError(msg)
    return y


def resolve_seed(random_state: Any) -> int:
    """Return an integer `random_state` unchanged; draw one from a generator."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def check_targets(y: Any, n_rows: int | None = None) -> Array:
    """Return targets as float64 of shape (n_rows, n_outputs), finite."""
    if y is None:
        msg = (
            "A regression requires y to be passed, but the target y is None. Pass one number, or one for each output, "
            "for each row."
        )
        raise ValueError(msg)
    targets: Array = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", ensure_min_samples=0)
    if targets.ndim == VECTOR:
        targets = targets[:, None]
    if n_rows is not None and len(targets) != n_rows:
        msg = f"Found input variables with inconsistent numbers of samples: {[n_rows, len(targets)]}"
        raise ValueError(msg)
    return targets + 0.0  # no negative zero


def check_label_outputs(y: Any, n_rows: int | None = None) -> Array:
    """Return labels of shape (n_rows, n_outputs): zeros and ones as uint8, other integers as int64, or strings."""
    if y is None:
        msg = "A classifier requires y to be passed, but the target y is None. Pass a label for each row and output."
        raise ValueError(msg)
    given = y.toarray() if sparse.issparse(y) else y
    labels: Array = check_array(given, ensure_2d=False, dtype=None, input_name="y", ensure_min_samples=0)
    if labels.ndim == VECTOR:
        labels = labels[:, None]
    if n_rows is not None and len(labels) != n_rows:
        msg = f"Found input variables with inconsistent numbers of samples: {[n_rows, len(labels)]}"
        raise ValueError(msg)
    if labels.dtype.kind in "OUT":
        values = labels.ravel().tolist()
        if all(isinstance(label, str) for label in values):
            return labels.astype(str)
    if labels.dtype.kind in "biuf" and (labels == np.rint(labels)).all():
        is_indicator = not labels.size or (labels.min() >= 0 and labels.max() <= 1)
        return labels.astype(np.uint8 if is_indicator else np.int64)
    msg = (
        f"Unknown label type: continuous or mixed {labels.dtype}. Labels of several outputs are whole numbers or "
        "strings, all of one kind. For numbers that are measured, use FlyRidgeRegressor."
    )
    raise ValueError(msg)
