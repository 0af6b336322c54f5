"""The only module that imports private names of scikit-learn."""

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import _get_feature_names as feature_names

__all__ = [
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "check_feature_names",
    "feature_names",
    "fit_context",
    "safe_indexing",
    "validate_parameter_constraints",
]

Method = TypeVar("Method", bound=Callable[..., Any])


def fit_context(method: Method) -> Method:
    """Validate the parameters of an estimator before a method; keeps its type."""
    checked: Method = _fit_context(prefer_skip_nested_validation=True)(method)
    return checked
