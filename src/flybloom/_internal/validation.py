"""The boundary: what users pass, checked and brought into the form the rest relies on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from flybloom._internal.sklearn_compat import validate_parameter_constraints
from flybloom._internal.typing import Array, Features, Weights

MOST_WEIGHT = 2**29
PLAIN_TYPES = frozenset("bhilqBHILQfd")  # integers and floats of the usual widths
MOST_PLAIN_VALUES = 2**14  # above, what looking costs does not matter

# Chosen by measurement, see docs/defaults.md.
AUTO_COMPONENTS = 32768
AUTO_CONNECTIONS = 64
AUTO_WINNERS = 128


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Give an estimator back the attributes it had, if anything goes wrong inside."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        after = vars(estimator)
        for name in after.keys() - before.keys():
            del after[name]
        # what did not change is not touched: other threads may be reading it
        after.update({name: value for name, value in before.items() if name not in after or after[name] is not value})
        raise


class NamedRows(NamedTuple):
    """Rows whose features have names, as blocks of a table have them, without a frame around them."""

    array: Array
    names: list[str]


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Features:
    """Return `X` as a numeric array or canonical CSR matrix, finite, and with the features the estimator knows."""
    if not reset and _are_few_plain_rows(X, estimator):
        return X
    if isinstance(X, NamedRows):
        return _check_named_rows(estimator, X, reset=reset)
    X = validate_data(estimator, X, accept_sparse="csr", reset=reset)
    if sparse.issparse(X):
        if estimator.scaling != "none":
            msg = (
                "Cannot center sparse matrices: use `scaling='none'` instead. "
                "See docstring for motivation and alternatives."
            )
            raise ValueError(msg)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    return X


def _are_few_plain_rows(X: Any, estimator: Any) -> bool:
    """Return whether `X` is so plain and small that scikit-learn would return it as it is, after 0.1 ms of looking."""
    return (
        type(X) is np.ndarray
        and X.dtype.char in PLAIN_TYPES
        and X.ndim == 2  # noqa: PLR2004
        and 0 < X.size <= MOST_PLAIN_VALUES
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and not hasattr(estimator, "feature_names_in_")
        and bool(np.isfinite(X).all())
    )


def _check_named_rows(estimator: Any, X: NamedRows, *, reset: bool) -> Array:
    """Do for rows with names what scikit-learn does for frames."""
    names = list(getattr(estimator, "feature_names_in_", X.names))
    if not reset and X.names != names:
        msg = (
            f"The feature names should match those that were passed during fit, {names}. Got {X.names} instead. "
            "Choose the columns by name, in this order."
        )
        raise ValueError(msg)
    had_names = hasattr(estimator, "feature_names_in_")
    if had_names:
        rows = np.asarray(check_array(X.array, estimator=estimator, input_name="X"))
    else:
        rows = np.asarray(validate_data(estimator, X.array, reset=reset))
    if reset:
        estimator.n_features_in_ = rows.shape[1]
        estimator.feature_names_in_ = np.array(X.names, object)
    return rows


def check_labels(y: Any, X: Features) -> Array:
    """Return `y` as a one-dimensional array of labels, one for each row."""
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return np.asarray(y)


def check_weights(sample_weight: Any, n_rows: int) -> Weights:
    """Return the weights as whole numbers, one for each row."""
    if sample_weight is None:
        return np.ones(n_rows, np.int64)
    weights = np.asarray(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        msg = (
            f"sample_weight must hold one weight for each of the {n_rows} rows. "
            f"Got an array of shape {weights.shape} instead."
        )
        raise ValueError(msg)
    is_numeric = weights.dtype.kind in "buif" and np.isfinite(weights).all()
    whole = weights.astype(np.int64) if is_numeric else None
    if whole is None or (whole != weights).any() or (whole < 0).any() or (whole > MOST_WEIGHT).any():
        msg = (
            "sample_weight must hold whole numbers from 0 to 2**29, because a row of weight w counts as w copies. "
            f"Got {_first_bad_weight(weights)!r} instead. Round or rescale the weights."
        )
        raise ValueError(msg)
    if not whole.any():
        msg = "sample_weight must not be zero for every row. Got only zeros instead. Leave the rows out, or weigh them."
        raise ValueError(msg)
    return whole


def _first_bad_weight(weights: Array) -> Any:
    """Return the first weight that is not a whole number in range."""
    for weight in weights.tolist():
        if not (isinstance(weight, int | float) and 0 <= weight <= MOST_WEIGHT and weight == int(weight)):
            return weight
    return weights.dtype.name


def united_classes(old: Array, new: Array) -> Array:
    """Return the sorted labels of both; labels of different kinds are refused."""
    if old.size == 0:
        return np.unique(new)
    if new.size == 0:
        return old
    if _kind_of_labels(old) != _kind_of_labels(new):
        msg = (
            f"The labels in y are {_kind_of_labels(new)}, those learned before are {_kind_of_labels(old)}. "
            "Convert y to the type of classes_."
        )
        raise ValueError(msg)
    return np.union1d(old, new)


def _kind_of_labels(labels: Array) -> str:
    """Return what labels are, in a word."""
    return "strings" if labels.dtype.kind in "OUST" else "numbers"


@lru_cache(maxsize=64, typed=True)
def check_parameters(owner: type, *values: Any) -> None:
    """Refuse values of an estimator's parameters that its constraints exclude; remembers what was fine."""
    constraints = owner._parameter_constraints  # type: ignore[attr-defined]  # noqa: SLF001
    validate_parameter_constraints(constraints, dict(zip(constraints, values, strict=True)), owner.__name__)


def resolve_seed(random_state: Any) -> int:
    """Return an integer `random_state` as it is, and draw one from any other."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def resolve_n_components(n_components: int | float | str, n_features: int) -> int:
    """Return m: an int as it is, a float as a multiple of the features."""
    if n_components == "auto":
        return AUTO_COMPONENTS
    if isinstance(n_components, float | np.floating):
        return max(1, round(n_components * n_features))
    return int(n_components)


def resolve_n_connections(n_connections: int | float | str, n_features: int) -> int:
    """Return s: an int as it is, a float as a share of the features."""
    if n_connections == "auto":
        return max(1, min(round(n_features / 2), AUTO_CONNECTIONS))
    if isinstance(n_connections, float | np.floating):
        return max(1, round(n_connections * n_features))
    if int(n_connections) > n_features:
        msg = (
            f"n_connections={n_connections} exceeds the {n_features} feature(s) of X. "
            "Lower n_connections, or pass a float for a share of the features."
        )
        raise ValueError(msg)
    return int(n_connections)


def resolve_n_winners(n_winners: int | float | str, n_components: int) -> int:
    """Return rho: an int as it is, a float as a share of the components."""
    if n_winners == "auto":
        return max(1, min(AUTO_WINNERS, n_components // 4))
    if isinstance(n_winners, float | np.floating):
        return max(1, round(n_winners * n_components))
    if int(n_winners) > n_components:
        msg = f"n_winners={n_winners} exceeds n_components_={n_components}. Lower n_winners or raise n_components."
        raise ValueError(msg)
    return int(n_winners)
