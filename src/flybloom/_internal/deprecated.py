"""Deprecated names of parameters and attributes, which work for one version with a `FutureWarning`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, ClassVar, TypeVar

from flybloom._internal.callers import user_level

Kind = TypeVar("Kind", bound=type)
Taken = Callable[[str, Any, dict[str, Any]], str]  # owner, value, other arguments (changed in place): what it warns

Renamed = Mapping[str, str | tuple[str, Callable[..., Any]]]  # see `OldAttributes`

ATTRIBUTE = "attribute"  # of a parameter: it is an attribute now, which clones and files keep
REMOVED_IN = "0.4"


def warn_deprecated(message: str) -> None:
    """Warn about a deprecated name, pointing to the user's line."""
    warnings.warn(f"{message} It will be removed in {REMOVED_IN}.", FutureWarning, stacklevel=user_level())


def old_functions(module: str, renamed: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module with renamed functions or classes."""

    def found(name: str) -> Any:
        if name not in renamed:
            msg = f"module {module!r} has no attribute {name!r}"
            raise AttributeError(msg)
        warn_deprecated(f"{module}.{name} is deprecated. Use {module}.{renamed[name]} instead.")
        return getattr(sys.modules[module], renamed[name])

    return found


def current_parameters(kind: Any, given: Mapping[str, Any], *, warns: bool = True) -> dict[str, Any]:
    """Return keyword arguments with current names."""
    current = dict(given)
    for old, new in getattr(kind, "_old_parameters", {}).items():
        if old not in current:
            continue
        if new == ATTRIBUTE:
            continue
        value = current.pop(old)
        if callable(new):
            message = new(kind.__name__, value, current)
        elif new in current:
            msg = f"{kind.__name__} takes {new} or {old}, not both. Leave out {old}, which is deprecated."
            raise TypeError(msg)
        else:
            current[new] = value
            message = f"{old}= of {kind.__name__} is deprecated. Use {new}= instead."
        if warns and message:
            warn_deprecated(message)
    return current


def attributes_of(kind: Any) -> set[str]:
    """Return the attributes of a class that used to be parameters."""
    return {old for old, new in getattr(kind, "_old_parameters", {}).items() if new == ATTRIBUTE}


def without_attributes(owner: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Set attributes that used to be parameters, and return the other keyword arguments."""
    for name in attributes_of(type(owner)) & set(given):
        setattr(owner, name, given.pop(name))
        warn_deprecated(f"{name}= of {type(owner).__name__} is deprecated. Set the attribute {name} instead.")
    return given


def accepts_old_parameters(kind: Kind) -> Kind:
    """Let the constructor of a class accept deprecated parameters; its signature does not change."""
    init: Any = kind.__init__  # type: ignore[misc]
    old = getattr(kind, "_old_parameters", {}).keys()

    @wraps(init)
    def made(self: Any, *args: Any, **given: Any) -> None:
        if not given.keys().isdisjoint(old):
            given = without_attributes(self, current_parameters(kind, given))
        init(self, *args, **given)

    made.deprecated_original = init  # type: ignore[attr-defined] # where scikit-learn looks for parameters
    kind.__init__ = made  # type: ignore[misc]
    return kind


class OldAttributes:
    """Mixin for deprecated names of attributes and methods.

    `_old_attributes` maps each to its new name, or to a pair of a replacement to name and a function of the
    object.
    """

    _old_attributes: ClassVar[Renamed] = {}

    def __getattr__(self, name: str) -> Any:
        """Return an attribute by its deprecated name, or raise AttributeError."""
        for kind in type(self).__mro__:
            new = vars(kind).get("_old_attributes", {}).get(name)
            if new is not None:
                break
        else:
            return super().__getattribute__(name)
        instead, function = (new, None) if isinstance(new, str) else new
        warn_deprecated(f"{name} of {type(self).__name__} is deprecated. Use {instead} instead.")
        return getattr(self, instead) if function is None else partial(function, self)


class OldNames(OldAttributes):
    """Mixin for deprecated names of parameters.

    `_old_parameters` maps each to its new name, `ATTRIBUTE`, or a function that replaces
    place.
    """

    _old_parameters: ClassVar[Mapping[str, str | Taken]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Let subclasses accept deprecated names."""
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            accepts_old_parameters(cls)

    def set_params(self, **params: Any) -> Any:
        """Set parameters.

        Parameters
        ----------
        params : dict
            Their names and values, as keyword arguments.

        Returns
        -------
        estimator
            The estimator itself.
        """
        return super().set_params(**without_attributes(self, current_parameters(type(self), params)))  # type: ignore[misc]

    def __sklearn_clone__(self) -> Any:
        """Return a clone with the attributes that used to be parameters."""
        twin = super().__sklearn_clone__()  # type: ignore[misc]
        for name in attributes_of(type(self)):
            if getattr(self, name) != getattr(twin, name):
                setattr(twin, name, getattr(self, name))
        return twin

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled state, possibly with deprecated names."""
        new = {old: name for old, name in self._old_parameters.items() if isinstance(name, str) and name != ATTRIBUTE}
        super().__setstate__({new.get(name, name): value for name, value in state.items()})  # type: ignore[misc]
