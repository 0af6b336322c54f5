"""Classification in one pass with Fly Bloom Filters.

The flow: rows -> winners (FlyHash) -> counts, the only learned state -> novelty -> labels and probabilities.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flybloom.blocks import read_blocks
    from flybloom.classifier import FlyBloomClassifier
    from flybloom.densify import Densify
    from flybloom.hashing import FlyHash
    from flybloom.novelty import FlyBloomNovelty
    from flybloom.openset import OpenSetClassifier
    from flybloom.persistence import load
    from flybloom.training import train
    from flybloom.tuning import FlyBloomClassifierCV

__all__ = [
    "Densify",
    "FlyBloomClassifier",
    "FlyBloomClassifierCV",
    "FlyBloomNovelty",
    "FlyHash",
    "OpenSetClassifier",
    "load",
    "read_blocks",
    "train",
]
__version__ = "0.1.0"

# Imported when first asked for, so that `flybloom --help` need not wait for numba and scikit-learn.
_MODULES = {
    "Densify": "flybloom.densify",
    "FlyBloomClassifier": "flybloom.classifier",
    "FlyBloomClassifierCV": "flybloom.tuning",
    "FlyBloomNovelty": "flybloom.novelty",
    "FlyHash": "flybloom.hashing",
    "OpenSetClassifier": "flybloom.openset",
    "load": "flybloom.persistence",
    "read_blocks": "flybloom.blocks",
    "train": "flybloom.training",
}


def __getattr__(name: str) -> Any:
    """Import a public name from the module it lives in."""
    if name not in _MODULES:
        msg = f"module 'flybloom' has no attribute {name!r}"
        raise AttributeError(msg)
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__})
