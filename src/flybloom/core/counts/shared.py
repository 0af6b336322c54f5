"""Many threads may read a value while one replaces it: each sees it whole, before or after.

What is shared is replaced, never changed, while anybody reads it. Nobody reading is the usual case; then a learner may
change it in place, because copying a table would cost far more than counting a row.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import compress
from operator import methodcaller
from threading import Lock, RLock
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from flybloom.core.counts.base import Counts

T = TypeVar("T")

MAX_SECONDS = 10.0  # that a fork waits for a change that is under way

_all: WeakSet[Shared[Any]] = WeakSet()
_registering = RLock()  # held to add to them, and to go through them


class Shared(Generic[T]):
    """One reference, with those who read it and the one who replaces it kept apart."""

    def __init__(self, value: T) -> None:
        self.learning = RLock()  # one learner at a time
        self.deriving = Lock()  # held while something is derived from the value, so that it is done once
        self.derived: Any = None  # what was derived last, with what it was derived from
        self.calibrating = RLock()  # the same for what is calibrated, which takes what was derived
        self.calibration: Any = None
        self.edition = 0  # grows with every change, so that what was derived before is known to be old
        self.value = value  # to look at: for what never changes, and for the learner, who holds `learning`
        self.looking = Lock()  # held for moments: to begin or end reading, and to change or replace
        self._readers: set[object] = set()  # one for each, and no number: an interrupt can come before it is lowered
        self._is_handed_out = True  # the value may belong to somebody else as well
        with _registering:
            _all.add(self)

    @contextmanager
    def reading(self) -> Iterator[T]:
        """Yield the value, which stays as it is until the end of the block."""
        reader = object()
        try:
            with self.looking:
                value = self.value
                self._readers.add(reader)
            yield value
        finally:
            self._readers.discard(reader)

    def hand_out(self) -> T:
        """Return the value, which stays as it is for good: the next change makes a new one."""
        with self.looking:
            self._is_handed_out = True
            return self.value

    def replace(self, value: T, *, is_own: bool = True) -> None:
        """Put a new value in place, at once; `is_own` says that nobody else has it."""
        with self.looking:
            self._is_handed_out = True
            self.edition += 1
            self.value = value
            self._is_handed_out = not is_own

    def amend(self, value: T) -> None:
        """Put a value in place that has the same counts, whoever else has these."""
        with self.looking:
            self.edition += 1
            self.value = value

    def change(self, counts: Counts, delta: Any, sign: int) -> bool:
        """Change counts, a part of the value, in place if nobody has it; return whether that was done.

        Only for who holds `learning`.
        """
        with self.looking:
            self.edition += 1
            return not self._readers and not self._is_handed_out and counts.change_in_place(delta, sign)

    def exchange(self, counts: Counts, came: Any, went: Any) -> bool:
        """Change counts in place by two deltas, one that comes and one that goes; both, or neither.

        Only for who holds `learning`, and where no signal can interrupt.
        """
        with self.looking:
            self.edition += 1
            if self._readers or self._is_handed_out or not counts.change_in_place(came, 1):
                return False
            is_done = False
            try:
                is_done = counts.change_in_place(went, -1)
            finally:
                if not is_done:
                    counts.change_in_place(came, -1)
            return is_done

    def exchange_at_once(self, counts: Counts, came: Any, went: Any, bounds: Any) -> bool:
        """Do the same by one call of a kernel, which nothing interrupts, where the counts have one."""
        with self.looking:
            self.edition += 1
            return not self._readers and not self._is_handed_out and counts.exchange_at_once(came, went, bounds)

    def renew(self) -> None:
        """Forget who reads and who learns: in a copied process they are threads that stayed behind."""
        self.learning, self.deriving, self.looking, self._readers = RLock(), Lock(), Lock(), set()
        self.calibrating = RLock()


class SharedOnDemand(Generic[T]):
    """An attribute that is made when first asked for, once for all threads; afterwards it is an ordinary one."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Keep the name."""
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Shared[T | None]:
        """Return a new one, unless another thread was faster."""
        shared: Shared[T | None] = instance.__dict__.setdefault(self._name, Shared(None))  # atomic
        return shared


_held: list[Lock] = []
_compiling: list[Any] = []  # the lock of numba's compiler
_forking = RLock()  # one process at a time is copied


def _before_fork() -> None:
    """Wait until nothing is being changed, so that the new process gets every value whole."""
    _forking.acquire()
    with _registering:
        locks = [shared.looking for shared in _all]
    # in a single call, which no signal interrupts between taking a lock and noting that
    _held.extend(compress(locks, map(methodcaller("acquire", True, MAX_SECONDS), locks)))
    numba: Any = sys.modules.get("numba.core.compiler_lock")  # or the child would wait for what another thread compiles
    if hasattr(numba, "global_compiler_lock"):
        _compiling.append(numba.global_compiler_lock)
        _compiling[0].acquire()


def _let_compile() -> None:
    """Release the compiler, if a signal did not interrupt waiting for it."""
    with suppress(RuntimeError):
        while _compiling:
            _compiling.pop().release()


def _after_fork_in_parent() -> None:
    """Go on."""
    _let_compile()
    while _held:
        _held.pop().release()
    with suppress(RuntimeError):
        _forking.release()


def _after_fork_in_child() -> None:
    """Begin again, with every value as it was."""
    global _registering, _forking
    _registering, _forking = RLock(), RLock()
    _let_compile()
    _held.clear()
    for shared in list(_all):
        shared.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
