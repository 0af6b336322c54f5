"""Import paths of 0.2 that lead elsewhere now; they work through 0.3, and this file goes after it."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

NEW = {  # modules and packages of flybloom, by their old names
    "baselines": "paper.baselines",
    "datasets": "paper.datasets",
    "evaluate": "streams.evaluate",
    "predictor": "export.predictor",
    "river": "streams.river",
    "theory": "paper.theory",
}


class MovedModules:
    """Finds and loads modules by their old names: the very modules that have the new ones, not copies of them."""

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        """Return how to import an old name; nothing for all others."""
        package, *inside = name.split(".")
        if package != "flybloom" or not inside or inside[0] not in NEW:
            return None
        return ModuleSpec(name, self)  # type: ignore[arg-type] # importlib.abc.Loader would double the time of importing

    def create_module(self, _: ModuleSpec) -> None:
        """Let Python make a module, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of the new name in the place of the one that was to be loaded."""
        old = module.__name__
        _, name, *inside = old.split(".")
        new = ".".join(("flybloom", NEW[name], *inside))
        if not inside:  # once, not for each module inside as well
            msg = f"{old} is {new} now. The old name works through flybloom 0.3."
            warnings.warn(msg, FutureWarning, stacklevel=2)  # frames of importlib do not count
        sys.modules[old] = import_module(new)


def install() -> None:
    """Ask for old names first: what is inside a package that has moved would else be found, and loaded twice."""
    sys.meta_path.insert(0, MovedModules())
