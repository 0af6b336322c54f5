"""All experiments, in the order of the paper."""

from __future__ import annotations

from flybloom.reproduce.experiment import Experiment
from flybloom.reproduce.experiments import (
    agreement,
    hyperparameters,
    noise,
    openml,
    similarity,
    synthetic,
    threads,
    vision,
)

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (hyperparameters, synthetic, openml, vision, threads, similarity, noise, agreement)
}
