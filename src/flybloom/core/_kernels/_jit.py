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


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` when first called, without a disk cache where none can be written."""
    try:
        compiled: Any = numba.njit(nogil=True, cache=CACHE_ON_DISK)(function)
    except RuntimeError:  # numba found no writable place for its cache
        return numba.njit(nogil=True)(function)
    if CACHE_ON_DISK and not JIT_IS_OFF:
        _let_fail(compiled._cache)  # noqa: SLF001 - numba has no public way
    return compiled  # type: ignore[no-any-return]


def _let_fail(cache: Any) -> None:
    """Let a cache fail, on a full disk or with damaged files: what cannot be loaded is compiled, and all goes on."""
    load, save = cache.load_overload, cache.save_overload

    def load_overload(*arguments: Any) -> Any:
        try:
            return load(*arguments)
        except Exception:  # noqa: BLE001 - whatever is raised by what a damaged file unpickles to
            return None

    def save_overload(*arguments: Any) -> None:
        try:
            save(*arguments)
        except Exception:  # noqa: BLE001 - of the disk, or of an index that is damaged
            with suppress(OSError, AttributeError):  # its index may name a file of an older kernel
                Path(cache._cache_file._index_path).unlink(missing_ok=True)  # noqa: SLF001

    cache.load_overload, cache.save_overload = load_overload, save_overload
