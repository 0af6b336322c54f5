"""Displays in the style of scikit-learn. Needs ``flybloom[plots]``."""

from flybloom.plots.certificate import CertificateDisplay
from flybloom.plots.counts import CountsDisplay
from flybloom.plots.explanation import ClassProfileDisplay, FeatureShareDisplay
from flybloom.plots.novelty import NoveltyDisplay
from flybloom.plots.privacy import PrivacyDisplay
from flybloom.plots.similarity import ClassSimilarityDisplay
from flybloom.plots.stream import StreamDisplay
from flybloom.plots.tuning import TuningDisplay

__all__ = [
    "CertificateDisplay",
    "ClassProfileDisplay",
    "ClassSimilarityDisplay",
    "CountsDisplay",
    "FeatureShareDisplay",
    "NoveltyDisplay",
    "PrivacyDisplay",
    "StreamDisplay",
    "TuningDisplay",
]
