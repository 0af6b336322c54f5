"""Displays in the manner of scikit-learn: computed once, drawn as often as you like. Needs ``flybloom[plots]``."""

from flybloom.plots.explanation import ClassProfileDisplay, FeatureShareDisplay
from flybloom.plots.similarity import ClassSimilarityDisplay
from flybloom.plots.stream import StreamDisplay
from flybloom.plots.tuning import TuningDisplay

__all__ = ["ClassProfileDisplay", "ClassSimilarityDisplay", "FeatureShareDisplay", "StreamDisplay", "TuningDisplay"]
