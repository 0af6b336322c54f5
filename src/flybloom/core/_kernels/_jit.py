"""How every kernel is compiled: serial, GIL released, typed on first call, cached on disk."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba

P = ParamSpec("P")
R = TypeVar("R")

CACHE_ON_DISK = os.getenv("FLYBLOOM_NUMBA_CACHE", "1") != "0"
JIT_IS_OFF = bool(vars(numba.config)["DISABLE_JIT"])

_machines: list[Any] = []  # numba's word for this kind of machine, from when it first loaded or compiled a kernel
_caches: dict[str, list[Any]] = {}  # of the kernels of each file that are called from outside


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` when first called, without a disk cache where none can be written."""
    try:
        compiled: Any = numba.njit(nogil=True, cache=CACHE_ON_DISK)(function)
    except RuntimeError:  # numba found no writable place for its cache
        return numba.njit(nogil=True)(function)
    if CACHE_ON_DISK and not JIT_IS_OFF:
        cache: Any = compiled._cache  # noqa: SLF001 - numba has no public way
        _let_fail(cache)
        if not function.__name__.startswith("_"):
            _caches.setdefault(function.__module__, []).append(cache)
    return compiled  # type: ignore[no-any-return]


def _let_fail(cache: Any) -> None:
    """Let a cache fail, on a full disk or with damaged files: what cannot be loaded is compiled, and all continues."""
    load, save = cache.load_overload, cache.save_overload

    def load_overload(signature: Any, context: Any) -> Any:
        try:
            return load(signature, context)
        except Exception:  # noqa: BLE001 - whatever is raised by what a damaged file unpickles to
            return None
        finally:
            if not _machines:
                _machines.append(context.codegen().magic_tuple())

    def save_overload(*arguments: Any) -> None:
        try:
            save(*arguments)
        except Exception:  # noqa: BLE001 - of the disk, or of an index that is damaged
            with suppress(OSError, AttributeError):  # its index may name a file of an older kernel
                Path(cache._cache_file._index_path).unlink(missing_ok=True)  # noqa: SLF001

    cache.load_overload, cache.save_overload = load_overload, save_overload


def has_begun() -> bool:
    """Return whether numba has loaded or compiled a kernel in this process: the first takes much longer."""
    return bool(_machines)


def are_cached(module: str) -> bool:
    """Return whether the cache on disk has a kernel of a file for this machine, once numba has begun.

    It may be one for other types of arguments than those to come, which are then compiled.
    """
    return any(_has_entry(cache) for cache in _caches.get(module, ()))


def _has_entry(cache: Any) -> bool:
    """Return whether a cache has a kernel, of any types, for this machine."""
    try:
        return any(_machines[0] in entry for entry in cache._cache_file._load_index())  # noqa: SLF001
    except Exception:  # noqa: BLE001 - whatever is raised by what a damaged index unpickles to
        return False
