"""Displays in the manner of scikit-learn: computed once, drawn as often as you like. Needs ``flybloom[plots]``."""

from flybloom.plots.explanation import ClassProfileDisplay, FeatureShareDisplay
from flybloom.plots.similarity import ClassSimilarityDisplay

__all__ = ["ClassProfileDisplay", "ClassSimilarityDisplay", "FeatureShareDisplay"]
