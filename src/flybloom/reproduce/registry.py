"""All experiments, in the order of the paper."""

from __future__ import annotations

from flybloom.reproduce.experiment import Experiment
from flybloom.reproduce.experiments import openml, synthetic, vision

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT for module in (synthetic, openml, vision)
}
