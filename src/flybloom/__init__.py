"""Machine learning in one pass with Fly Bloom Filters, in the API of scikit-learn.

The flow: rows -> winners (FlyHash) -> counts, the only learned state -> novelty -> labels and probabilities.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from flybloom._internal import moved as _moved

if TYPE_CHECKING:
    from flybloom.blocks import read_blocks
    from flybloom.core.encoding.encoding import Encoding
    from flybloom.core.files.model_file import load
    from flybloom.core.privacy.sizes import private_sizes
    from flybloom.estimators.adaptive_window import AdaptiveWindow
    from flybloom.estimators.classifier import FlyBloomClassifier
    from flybloom.estimators.conformal import CrossConformal
    from flybloom.estimators.densify import Densify
    from flybloom.estimators.fly_hash import FlyHash
    from flybloom.estimators.frozen import FrozenClassifier, FrozenNovelty, FrozenRegressor
    from flybloom.estimators.learning.progress import progress
    from flybloom.estimators.learning.train import train
    from flybloom.estimators.multi_output import FlyRidgeMultiOutputClassifier
    from flybloom.estimators.novelty import FlyBloomNovelty
    from flybloom.estimators.open_set import OpenSetClassifier
    from flybloom.estimators.regressor import FlyRidgeRegressor
    from flybloom.estimators.releasing import ReleasedClassifier
    from flybloom.estimators.ridge import FlyRidgeClassifier
    from flybloom.estimators.transformers import RelevanceScaler, SoftBins
    from flybloom.estimators.tuning import FlyBloomClassifierCV
    from flybloom.estimators.window import SlidingWindow

__all__ = [
    "AdaptiveWindow",
    "CrossConformal",
    "Densify",
    "Encoding",
    "FlyBloomClassifier",
    "FlyBloomClassifierCV",
    "FlyBloomNovelty",
    "FlyHash",
    "FlyRidgeClassifier",
    "FlyRidgeMultiOutputClassifier",
    "FlyRidgeRegressor",
    "FrozenClassifier",
    "FrozenNovelty",
    "FrozenRegressor",
    "OpenSetClassifier",
    "ReleasedClassifier",
    "RelevanceScaler",
    "SlidingWindow",
    "SoftBins",
    "load",
    "private_sizes",
    "progress",
    "read_blocks",
    "train",
]
__version__ = "0.2.0"

# Imported when first asked for, so that `flybloom --help` need not wait for numba and scikit-learn.
_MODULES = {
    "AdaptiveWindow": "flybloom.estimators.adaptive_window",
    "CrossConformal": "flybloom.estimators.conformal",
    "Densify": "flybloom.estimators.densify",
    "Encoding": "flybloom.core.encoding.encoding",
    "FlyBloomClassifier": "flybloom.estimators.classifier",
    "FlyBloomClassifierCV": "flybloom.estimators.tuning",
    "FlyBloomNovelty": "flybloom.estimators.novelty",
    "FlyHash": "flybloom.estimators.fly_hash",
    "FlyRidgeClassifier": "flybloom.estimators.ridge",
    "FlyRidgeMultiOutputClassifier": "flybloom.estimators.multi_output",
    "FlyRidgeRegressor": "flybloom.estimators.regressor",
    "FrozenClassifier": "flybloom.estimators.frozen",
    "FrozenNovelty": "flybloom.estimators.frozen",
    "FrozenRegressor": "flybloom.estimators.frozen",
    "OpenSetClassifier": "flybloom.estimators.open_set",
    "ReleasedClassifier": "flybloom.estimators.releasing",
    "RelevanceScaler": "flybloom.estimators.transformers",
    "SlidingWindow": "flybloom.estimators.window",
    "SoftBins": "flybloom.estimators.transformers",
    "load": "flybloom.core.files.model_file",
    "private_sizes": "flybloom.core.privacy.sizes",
    "progress": "flybloom.estimators.learning.progress",
    "read_blocks": "flybloom.blocks",
    "train": "flybloom.estimators.learning.train",
}

_RENAMED = {"BestWindow": "AdaptiveWindow"}  # old names, which work through 0.3

_moved.install()


def __getattr__(name: str) -> Any:
    """Import a public name lazily from its module."""
    if name in _RENAMED:
        from flybloom._internal.deprecated import warn_deprecated  # noqa: PLC0415 - seldom needed

        warn_deprecated(f"flybloom.{name} is deprecated. Use flybloom.{_RENAMED[name]} instead.")
        return __getattr__(_RENAMED[name])
    if name not in _MODULES:
        msg = f"module 'flybloom' has no attribute {name!r}"
        raise AttributeError(msg)
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__})
