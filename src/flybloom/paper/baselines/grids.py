"""What the paper compares with, and the settings it tries.

There are four profiles. "full" is the authors' own grids, with the invalid combinations that they skipped. "standard"
is the same for all but SBFC, which it tries up to m = 128 d, LR and MLPC. "quick" is a handful for each, and "images"
another handful of CC, LR and MLPC, for rows of many pixels.

The first six settings of the standard grids of LR (of 640 valid ones) and MLPC (of 720) were picked one after the
other, each time the setting that helped most where the authors' grids were measured; docs/baselines.md says on what,
and what was lost. The last three of each are those that were best on the paper's synthetic rows of 100 dimensions:
strong penalties without class weights for LR, wide networks with batches of two and short steps for MLPC.

Where today's scikit-learn differs from the one of the paper: with two classes, "multinomial" is the same model as
"ovr"; and "balanced" liblinear weighs the rest as well as the class, where it used to weigh the class alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from flybloom.paper.baselines.prototypes import PrototypeClassifier
from flybloom.paper.baselines.simhash import SimHashBloomClassifier

Params = dict[str, Any]

PROFILES = ("quick", "images", "standard", "full")


def make_neighbours(params: Params, seed: int) -> Any:  # noqa: ARG001
    """Make kNNC: scikit-learn's, with its defaults for all but k."""
    return KNeighborsClassifier(**params)


def make_prototypes(params: Params, seed: int) -> Any:
    """Make CC or CC1."""
    return PrototypeClassifier(**params, random_state=seed)


def make_simhash(params: Params, seed: int) -> Any:
    """Make SBFC."""
    return SimHashBloomClassifier(**params, random_state=seed)


def make_logistic_regression(params: Params, seed: int) -> Any:
    """Make LR of one epoch from the authors' words for its settings."""
    settings = dict(params)
    penalty, multi_class = settings.pop("penalty"), settings.pop("multi_class")
    if multi_class == "multinomial" and settings["solver"] == "liblinear":
        msg = "The solver 'liblinear' knows no multinomial loss. Use multi_class='ovr', or the solver 'sag' or 'saga'."
        raise ValueError(msg)
    if penalty == "l1" and settings["solver"] == "sag":
        msg = "The solver 'sag' knows no l1 penalty. Use penalty='l2', or the solver 'liblinear' or 'saga'."
        raise ValueError(msg)
    model = LogisticRegression(**settings, **_penalty(penalty), max_iter=1, random_state=seed)
    return OneVsRestClassifier(model) if multi_class == "ovr" else model


def _penalty(penalty: str) -> Params:
    """Return the argument for a penalty: its name up to scikit-learn 1.7, the share of l1 from 1.8 on."""
    parameter = signature(LogisticRegression).parameters.get("penalty")
    if parameter is None or parameter.default == "deprecated":
        return {"l1_ratio": {"l1": 1.0, "l2": 0.0}[penalty]}
    return {"penalty": penalty}


def make_perceptron(params: Params, seed: int) -> Any:
    """Make MLPC of one epoch."""
    return MLPClassifier(**params, max_iter=1, random_state=seed)


@dataclass(frozen=True)
class Baseline:
    """A method to compare with, and the settings to try.

    Parameters
    ----------
    name : str
        The paper's name.
    make : callable
        ``make(params, seed)`` gives an estimator; a ValueError from it, or from its fit, means that the setting is not
        valid.
    grids : mapping of str to tuple of dict
        The settings of each profile.

    Examples
    --------
    >>> from flybloom.paper.baselines import BASELINES
    >>> [(name, len(baseline.grids["full"])) for name, baseline in BASELINES.items()]
    [('kNNC', 9), ('1NNC', 1), ('CC1', 1), ('CC', 7), ('SBFC', 21), ('LR', 960), ('MLPC', 720)]
    >>> BASELINES["CC"].make({"n_prototypes": 4}, seed=0)
    PrototypeClassifier(n_prototypes=4, random_state=0)
    """

    name: str
    make: Callable[[Params, int], Any]
    grids: Mapping[str, tuple[Params, ...]]


def _grid(**choices: Any) -> tuple[Params, ...]:
    """Return all combinations."""
    return tuple(ParameterGrid(choices))


STRENGTHS = np.geomspace(2**-10, 2**10, 20).tolist()  # values of C
LR_FULL = _grid(
    penalty=["l1", "l2"],
    C=STRENGTHS,
    fit_intercept=[True, False],
    class_weight=[None, "balanced"],
    solver=["liblinear", "sag", "saga"],
    multi_class=["ovr", "multinomial"],
)
MLPC_FULL = _grid(
    hidden_layer_sizes=[(16,), (64,), (128,), (16, 16), (64, 64), (128, 128)],
    activation=["tanh", "relu"],
    alpha=np.geomspace(2**-10, 2**10, 5).tolist(),
    batch_size=np.geomspace(2, 2**8, 4, dtype=int).tolist(),
    learning_rate_init=[1e-5, 1e-3, 1e-1],
)
LR_STANDARD = tuple(
    {
        "solver": solver,
        "multi_class": multi_class,
        "penalty": penalty,
        "C": STRENGTHS[at],
        "fit_intercept": intercept,
        "class_weight": class_weight,
    }
    for solver, multi_class, penalty, at, intercept, class_weight in (
        ("liblinear", "ovr", "l2", 17, True, "balanced"),
        ("liblinear", "ovr", "l1", 17, False, "balanced"),
        ("liblinear", "ovr", "l2", 17, False, "balanced"),
        ("saga", "multinomial", "l1", 13, False, None),
        ("liblinear", "ovr", "l2", 9, True, "balanced"),
        ("sag", "multinomial", "l2", 5, False, None),
        ("liblinear", "ovr", "l1", 5, False, None),
        ("liblinear", "ovr", "l2", 1, False, None),
        ("liblinear", "ovr", "l1", 9, True, None),
    )
)
MLPC_STANDARD = tuple(
    {
        "hidden_layer_sizes": layers,
        "activation": activation,
        "alpha": 2**-10,
        "batch_size": batch,
        "learning_rate_init": step,
    }
    for layers, activation, batch, step in (
        ((128,), "relu", 10, 1e-1),
        ((64,), "relu", 10, 1e-1),
        ((16,), "relu", 50, 1e-1),
        ((64,), "tanh", 256, 1e-3),
        ((64,), "tanh", 10, 1e-1),
        ((16,), "tanh", 50, 1e-1),
        ((128,), "relu", 2, 1e-3),
        ((128, 128), "relu", 2, 1e-3),
        ((128, 128), "tanh", 2, 1e-3),
    )
)
# One epoch of rows of many pixels: on held-out rows of MNIST and Fashion-MNIST saga was ahead of sag and liblinear.
LR_IMAGES = tuple(
    {
        "solver": "saga",
        "multi_class": multi_class,
        "penalty": penalty,
        "C": STRENGTHS[at],
        "fit_intercept": intercept,
        "class_weight": None,
    }
    for multi_class, penalty, at, intercept in (
        ("multinomial", "l1", 13, False),
        ("multinomial", "l2", 13, True),
        ("multinomial", "l2", 11, True),
        ("multinomial", "l1", 13, True),
        ("ovr", "l2", 16, True),
    )
)
# Of rows of unit length, each of hundreds of pixels is small: long steps diverge, and small batches make up for one
# epoch. On held-out rows of MNIST a second layer helped most (0.949 after 0.929), tanh and batches of 2 or 50 did not.
MLPC_IMAGES = tuple(
    {
        "hidden_layer_sizes": layers,
        "activation": "relu",
        "alpha": 2**-10,
        "batch_size": batch,
        "learning_rate_init": 1e-3,
    }
    for layers, batch in (((128,), 10), ((128, 128), 10), ((128, 128), 50))
)
KS = tuple({"n_neighbors": 2**i} for i in range(9))
PROTOTYPES = tuple({"n_prototypes": 2**i} for i in range(7))
SIZES = tuple(
    {"n_components": multiple}
    for multiple in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, *(2.0**i for i in range(1, 12)))
)


def _profiles(
    full: tuple[Params, ...],
    quick: tuple[Params, ...],
    standard: tuple[Params, ...] | None = None,
    images: tuple[Params, ...] | None = None,
) -> Any:
    """Return the grids by profile."""
    return {
        "quick": quick,
        "images": quick if images is None else images,
        "standard": full if standard is None else standard,
        "full": full,
    }


BASELINES: dict[str, Baseline] = {
    baseline.name: baseline
    for baseline in (
        Baseline("kNNC", make_neighbours, _profiles(KS, KS[:7:2])),
        Baseline("1NNC", make_neighbours, _profiles(KS[:1], KS[:1])),
        Baseline("CC1", make_prototypes, _profiles(PROTOTYPES[:1], PROTOTYPES[:1])),
        Baseline("CC", make_prototypes, _profiles(PROTOTYPES, PROTOTYPES[:5:2], images=PROTOTYPES[4::2])),
        Baseline("SBFC", make_simhash, _profiles(SIZES, SIZES[5:14:4], SIZES[:17])),
        Baseline("LR", make_logistic_regression, _profiles(LR_FULL, LR_STANDARD[2:4], LR_STANDARD, LR_IMAGES)),
        Baseline("MLPC", make_perceptron, _profiles(MLPC_FULL, MLPC_STANDARD[4:6], MLPC_STANDARD, MLPC_IMAGES)),
    )
}
"""The baselines by the paper's names, in its order."""
