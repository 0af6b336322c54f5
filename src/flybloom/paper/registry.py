"""All experiments, in the order of the paper."""

from __future__ import annotations

from flybloom.paper.experiment import Experiment
from flybloom.paper.experiments import (
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


def experiments_of(item: str) -> list[str]:
    """Return the experiments of a table or figure of the paper.

    Parameters
    ----------
    item : str
        "all", an experiment, or a figure or table of the paper, such as "figure-2a" or "Table 1".

    Returns
    -------
    list of str
        Names of experiments.

    Examples
    --------
    >>> from flybloom.paper import experiments_of
    >>> experiments_of("table-1")
    ['vision']
    """
    wanted = item.lower().replace("-", " ").strip()
    if wanted == "all":
        return list(EXPERIMENTS)
    chosen = [name for name, experiment in EXPERIMENTS.items() if wanted in (name, *map(str.lower, experiment.items))]
    if not chosen:
        items = [part for experiment in EXPERIMENTS.values() for part in experiment.items]
        msg = (
            f"An item must be all, one of {', '.join(EXPERIMENTS)}, or one of {', '.join(items)}. Got {item!r} instead."
        )
        raise ValueError(msg)
    return chosen
