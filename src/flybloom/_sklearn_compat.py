"""The only place that imports names which scikit-learn does not call public."""

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)

__all__ = ["HasMethods", "Interval", "RealNotInt", "StrOptions", "fit_context", "validate_parameter_constraints"]
