"""Deprecated import paths of 0.2, which work through 0.3; remove this file afterwards."""

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
    "privacy": "core.privacy",
    "river": "streams.river",
    "theory": "paper.theory",
}


class MovedModules:
    """Import hook that maps old module names to the same module objects as new ones."""

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        """Return a module spec for an old name; None for other names."""
        package, *inside = name.split(".")
        if package != "flybloom" or not inside or inside[0] not in NEW:
            return None
        return ModuleSpec(name, self)  # type: ignore[arg-type] # importlib.abc.Loader would double the time of importing

    def create_module(self, _: ModuleSpec) -> None:
        """Return None for the default module, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Replace the module by that of the new name."""
        old = module.__name__
        _, name, *inside = old.split(".")
        new = ".".join(("flybloom", NEW[name], *inside))
        if not inside:  # once, not for each module inside as well
            msg = f"{old} is {new} now. The old name works through flybloom 0.3."
            warnings.warn(msg, FutureWarning, stacklevel=2)  # frames of importlib do not count
        sys.modules[old] = import_module(new)


def install() -> None:
    """Install the hook first, or submodules of moved packages would be loaded twice."""
    sys.meta_path.insert(0, MovedModules())
