"""Classification in one pass with Fly Bloom Filters.

The flow: rows -> winners (FlyHash) -> counts, the only learned state -> novelty -> labels and probabilities.
"""

from flybloom.classifier import FlyBloomClassifier
from flybloom.hashing import FlyHash

__all__ = ["FlyBloomClassifier", "FlyHash"]
__version__ = "0.1.0"
