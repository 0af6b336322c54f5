"""What the paper compares with: kNNC, 1NNC, CC1, CC, SBFC, LR and MLPC, with the authors' grids."""

from flybloom.baselines.grids import BASELINES, PROFILES, Baseline
from flybloom.baselines.prototypes import PrototypeClassifier
from flybloom.baselines.search import Record, Search, best_of
from flybloom.baselines.simhash import SimHashBloomClassifier

__all__ = [
    "BASELINES",
    "PROFILES",
    "Baseline",
    "PrototypeClassifier",
    "Record",
    "Search",
    "SimHashBloomClassifier",
    "best_of",
]
