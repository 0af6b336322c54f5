"""Classification in one pass with Fly Bloom Filters.

The flow: rows -> winners (FlyHash) -> counts, the only learned state -> novelty -> labels and probabilities.
"""

from flybloom.classifier import FlyBloomClassifier
from flybloom.hashing import FlyHash
from flybloom.novelty import FlyBloomNovelty
from flybloom.openset import OpenSetClassifier

__all__ = ["FlyBloomClassifier", "FlyBloomNovelty", "FlyHash", "OpenSetClassifier"]
__version__ = "0.1.0"
