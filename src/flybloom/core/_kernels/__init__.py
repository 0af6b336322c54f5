"""Loops: arrays in, arrays out. The files here are compiled; `_plain` has twins in numpy, and `_choice` says which run.

Each file stands alone (numba's cache only notices a change of the file it compiled). A file is imported, and numba
with it, when one of its kernels is first asked for, and a kernel is compiled when it is first called: so importing
flybloom costs neither.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

FILES = frozenset(file.name for file in iter_modules(__path__) if not file.name.startswith("_"))


def __getattr__(name: str) -> ModuleType:
    """Import a file of kernels on first use."""
    if name not in FILES:
        msg = f"{__name__} has no file of kernels called {name!r}. There are: {', '.join(sorted(FILES))}."
        raise AttributeError(msg)
    return import_module(f"{__name__}.{name}")
