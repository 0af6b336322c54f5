"""The paper's experiments, baselines, data sets and theory; one command reproduces every table and figure.

`flybloom reproduce` on the command line; from Python, `run_experiment` with one of ``EXPERIMENTS`` and its settings
from `read_profile`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flybloom.paper.page import write_page
    from flybloom.paper.profile import PROFILES, caution, read_profile
    from flybloom.paper.registry import EXPERIMENTS, experiments_of
    from flybloom.paper.run import check_can_run, run_experiment

__all__ = [
    "EXPERIMENTS",
    "PROFILES",
    "caution",
    "check_can_run",
    "experiments_of",
    "read_profile",
    "run_experiment",
    "write_page",
]

# Imported when first asked for, so that theory and data sets need none of what experiments need.
_MODULES = {
    "EXPERIMENTS": "registry",
    "PROFILES": "profile",
    "caution": "profile",
    "check_can_run": "run",
    "experiments_of": "registry",
    "read_profile": "profile",
    "run_experiment": "run",
    "write_page": "page",
}


def __getattr__(name: str) -> Any:
    """Import a public name from the module it lives in."""
    if name not in _MODULES:
        msg = f"module 'flybloom.paper' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"flybloom.paper.{_MODULES[name]}"), name)
