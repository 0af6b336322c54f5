"""What the paper compares with: kNNC, 1NNC, CC1, CC, SBFC, LR and MLPC, with the authors' grids."""

from flybloom.paper.baselines.grids import BASELINES, PROFILES, Baseline
from flybloom.paper.baselines.prototypes import PrototypeClassifier
from flybloom.paper.baselines.search import Record, Search, best_of
from flybloom.paper.baselines.simhash import SimHashBloomClassifier

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
