"""Models in commands: create, load, save and describe them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from flybloom.cli.console import Stopwatch, note
from flybloom.cli.errors import usage_errors
from flybloom.cli.options import Kind, LabelKind, LabelReading, Reading, refuse_options
from flybloom.cli.sources import for_each_block, look_at, open_source
from flybloom.estimators.access import n_rows_learned
from flybloom.exceptions import ModelFileError

if TYPE_CHECKING:
    from flybloom.blocks import Blocks
    from flybloom.estimators.counting import CountingEstimator


ESTIMATORS = {
    Kind.CLASSES: "FlyBloomClassifier",
    Kind.PAIRS: "FlyRidgeClassifier",
    Kind.REGRESSION: "FlyRidgeRegressor",
    Kind.NOVELTY: "FlyBloomNovelty",
}
FOR_KINDS = {  # settings that not every kind has
    "decay": (Kind.CLASSES, Kind.NOVELTY),
    "readout": (Kind.CLASSES, Kind.NOVELTY),
    "scaling": (Kind.CLASSES, Kind.PAIRS, Kind.NOVELTY),
    "alpha": (Kind.PAIRS, Kind.REGRESSION, Kind.NOVELTY),
    "class_weight": (Kind.CLASSES, Kind.PAIRS),
    "contamination": (Kind.NOVELTY,),
    "forget_after": (Kind.NOVELTY,),
}
OPTIONS = {
    "n_components": "--components", "n_connections": "--connections", "n_winners": "--winners", "signed": "--unsigned",
    "random_state": "--seed",
}  # fmt: skip
TRAINED = "as `flybloom train` makes it"
Model = TypeVar("Model")


def load_any(path: Path) -> tuple[Any, dict[str, Any] | None]:
    """Return the content of a model file, and the progress of a checkpoint."""
    from flybloom.core.files.model_file import load_in_training  # noqa: PLC0415 - heavy

    try:
        return load_in_training(path)
    except FileNotFoundError:
        msg = f"There is no model file {path}. Check the path."
        raise ModelFileError(msg) from None
    except PermissionError:
        msg = f"There is no permission to read {path}. Change its mode."
        raise ModelFileError(msg) from None


def load_model(path: Path, n_jobs: int, expected: str, *methods: str) -> Any:
    """Load a model that has some methods."""
    model, _ = load_any(path)
    if not all(hasattr(model, method) for method in methods):
        msg = f"{path} is a {type(model).__name__}. Expected {expected}."
        raise ModelFileError(msg)
    inside(model).set_params(n_jobs=n_jobs)
    return model


def load_learner(path: Path, n_jobs: int) -> Any:
    """Load a model that can learn and forget."""
    return load_model(path, n_jobs, f"a model that learns, {TRAINED}", "partial_fit", "forget")


def load_predictor(path: Path, n_jobs: int) -> Any:
    """Load a model that can predict."""
    return load_model(path, n_jobs, f"a model that predicts, {TRAINED}", "predict")


def load_classifier(path: Path, n_jobs: int = 1, *, or_regressor: bool = False) -> Any:
    """Load a classifier, or a regressor if wanted; of a search, the best one."""
    model = inside(load_any(path)[0])
    if not (hasattr(model, "explain") or (or_regressor and hasattr(model, "leave_one_out_predict"))):
        expected = "a FlyBloomClassifier, a FlyRidgeClassifier or a FlyRidgeRegressor"
        expected = expected if or_regressor else "a FlyBloomClassifier or a FlyRidgeClassifier"
        msg = f"{path} is a {type(model).__name__}. Expected {expected}. Choose another file."
        raise ModelFileError(msg)
    return model.set_params(n_jobs=n_jobs)


def save_model(model: Any, path: Path) -> None:
    """Save a model with n_jobs=None, so that equal models have equal files."""
    inside(model).set_params(n_jobs=1)
    model.save(path)


def inside(model: Any) -> Any:
    """Return the inner model of a search, an open-set classifier or a window, or the model itself."""
    for name in ("best_estimator_", "estimator_", "model_"):
        if hasattr(model, name):
            return getattr(model, name)
    return model


def new_model(kind: Kind, settings: dict[str, Any], given: set[str]) -> CountingEstimator:
    """Return a new model of a kind; settings that it lacks are refused."""
    from flybloom.core.files.registry import estimator_of  # noqa: PLC0415 - heavy

    wrong = tuple(name for name, kinds in FOR_KINDS.items() if kind not in kinds)
    refuse_options(given, wrong, f"--kind {kind.value} does not go with {{}}. Leave them out.")
    model: CountingEstimator = estimator_of(ESTIMATORS[kind])(
        **{name: value for name, value in settings.items() if name not in wrong}
    )
    return checked(model)


def checked(model: Model, option: str | None = None) -> Model:
    """Validate the parameters of a model; errors name the option."""
    with usage_errors(OPTIONS, option):
        for check in ("_check_parameters", "_checked_grid"):  # only searches have a grid
            if hasattr(model, check):
                getattr(model, check)()
    return model


def blocks_for(
    model: Any,
    source: str,
    target: str | None,
    reading: Reading,
    **options: Any,
) -> Blocks:
    """Return the blocks of a source with the features and label type of the model."""
    hashes = inside(model)
    known = getattr(hashes, "feature_names_in_", None)
    for option in ("exclude", "categories"):
        if known is not None and getattr(reading, option) is not None:
            msg = "this model finds its columns by their names, and knows what they are. Leave it out."
            raise typer.BadParameter(msg, param_hint=f"--{option}")
    if isinstance(reading, LabelReading) and reading.label_type == LabelKind.AUTO and _is_text(model):
        reading = replace(reading, label_type=LabelKind.TEXT)
    return open_source(
        source,
        target,
        reading,
        features=None if known is None else known.tolist(),
        n_features=hashes.n_features_in_,
        kinds=known_kinds(hashes),
        first_index=hashes.encoder_.first_index,
        **options,
    )


def known_kinds(model: Any) -> dict[str, str]:
    """Return the kinds of the named columns of a model."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return {}
    kinds = model.encoder_.kinds
    return dict(zip(names.tolist(), ["number"] * len(names) if kinds is None else kinds, strict=True))


def change_file(
    path: Path, output: Path | None, blocks_of: Callable[[Any], Blocks], jobs: int, *, stage: str, by: str
) -> tuple[Any, dict[str, Any]]:
    """Load a model, apply a method to each block of a source, and save it."""
    model = load_learner(path, jobs)
    blocks = blocks_of(model)
    look_at(blocks, output or path)
    watch, change = Stopwatch(), getattr(model, by)
    n_rows = for_each_block(blocks, stage, lambda block: change(block.X, block.y))
    facts = watch.facts(n_rows)
    save_model(model, output or path)
    return model, {"model": str(output or path), **facts}


def learned_facts(model: Any) -> dict[str, int]:
    """Return facts about a model: classes, if any, and rows."""
    broken = [label for label in model.classes_.tolist() if "\n" in label] if _is_text(model) else []
    if broken:
        note(f"{len(broken)} labels have line breaks, such as {broken[0][:30]!r}. Is a quote in a file never closed?")
    classes = {"classes": model.classes_.size} if hasattr(model, "classes_") else {}
    return {**classes, "rows": n_rows_learned(inside(model)) or 0}


def _is_text(model: Any) -> bool:
    """Return whether the labels of a model are text."""
    classes = getattr(model, "classes_", None)
    return classes is not None and classes.size > 0 and classes.dtype.kind in "OUST"
