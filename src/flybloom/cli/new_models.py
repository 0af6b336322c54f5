"""Models that have learned nothing yet, from options; a setting that cannot be is an error of the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from flybloom.cli.options import Kind, refuse_together

if TYPE_CHECKING:
    from flybloom.estimators.counting import CountingEstimator

ESTIMATORS = {
    Kind.CLASSES: "FlyBloomClassifier",
    Kind.PAIRS: "FlyRidgeClassifier",
    Kind.REGRESSION: "FlyRidgeRegressor",
    Kind.NOVELTY: "FlyBloomNovelty",
}
FOR_KINDS = {  # settings that not every kind has
    "decay": (Kind.CLASSES, Kind.NOVELTY),
    "readout": (Kind.CLASSES,),
    "scaling": (Kind.CLASSES, Kind.PAIRS, Kind.NOVELTY),
    "alpha": (Kind.PAIRS, Kind.REGRESSION),
    "class_weight": (Kind.CLASSES, Kind.PAIRS),
    "contamination": (Kind.NOVELTY,),
    "forget_after": (Kind.NOVELTY,),
}
OPTIONS = {
    "n_components": "--components", "n_connections": "--connections", "n_winners": "--winners", "signed": "--unsigned",
    "random_state": "--seed",
}  # fmt: skip
WRONG = re.compile(r"The '(\w+)' parameter of \w+ must be (.*)", re.DOTALL)

Model = TypeVar("Model")


def new_model(kind: Kind, settings: dict[str, Any], given: set[str]) -> CountingEstimator:
    """Return a model of a kind, with those of the settings that it has; others must not be given."""
    from flybloom.core.files.registry import estimator_of  # noqa: PLC0415 - heavy

    wrong = tuple(name for name, kinds in FOR_KINDS.items() if kind not in kinds)
    refuse_together(given, f"--kind {kind.value}", wrong)
    model: CountingEstimator = estimator_of(ESTIMATORS[kind])(
        **{name: value for name, value in settings.items() if name not in wrong}
    )
    return checked(model)


def checked(model: Model, option: str | None = None) -> Model:
    """Return a model whose parameters are fine; others are blamed on their options, or on this one."""
    try:
        for check in ("_check_parameters", "_checked_grid"):  # only searches have a grid
            if hasattr(model, check):
                getattr(model, check)()
    except ValueError as error:
        found = WRONG.fullmatch(str(error))
        if found is None:
            raise typer.BadParameter(str(error), param_hint=option) from None
        hint = option or OPTIONS.get(found[1], f"--{found[1].replace('_', '-')}")
        named = f"{found[1]}: " if option else ""
        msg = f"{named}expected {found[2]}"
        raise typer.BadParameter(msg, param_hint=hint) from None
    return model
