"""Properties that are computed once, without a lock.

Before Python 3.12, `functools.cached_property` holds a lock, one for all instances: threads that compute those of other
instances wait for each other, and a process that is forked meanwhile waits forever. Remove this file with Python 3.11.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801 - as in functools
    """A property that is computed when first asked for, perhaps by several threads, of which each gets the same."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Keep the name."""
        self._name = name

    def __get__(self, instance: Any, owner: type) -> T:
        """Return the value; afterwards it is an ordinary attribute."""
        if instance is None:
            return self  # type: ignore[return-value]
        value: T = instance.__dict__.setdefault(self._name, self._compute(instance))  # atomic
        return value
