"""flybloom release: write a differentially private model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flybloom._internal.atomic_write import check_writable
from flybloom.cli import options
from flybloom.cli.console import note, print_result
from flybloom.cli.models import load_classifier, save_model

Epsilon = Annotated[float, typer.Option("--epsilon", help="How much may leak: e.g. 1.", show_default=False)]
Delta = Annotated[float, typer.Option("--delta", help="But for a part of this size; 0 gives Laplace noise.")]
Mechanism = Annotated[str, typer.Option("--mechanism", help="auto, laplace, gaussian, or top.")]
Kept = Annotated[int | None, typer.Option("--kept", min=1, help="How many counts --mechanism top keeps.")]
Classes = Annotated[
    str | None, typer.Option("--classes", help="The labels as they were known beforehand, separated by commas.")
]
Public = Annotated[
    str, typer.Option("--public", help="What is no secret although it came from the rows: classes, encoding.")
]
MaxRows = Annotated[int, typer.Option("--max-rows", min=1, help="How many rows one person may have.")]
Limit = Annotated[
    float | None, typer.Option("--limit", help="The epsilon that all releases of MODEL may reach, at --limit-delta.")
]
LimitDelta = Annotated[float, typer.Option("--limit-delta", help="The delta of --limit.")]


def command(
    model: options.Model,
    output: options.Output,
    epsilon: Epsilon,
    delta: Delta = 0.0,
    mechanism: Mechanism = "auto",
    kept: Kept = None,
    classes: Classes = None,
    public: Public = "",
    max_rows: MaxRows = 1,
    limit: Limit = None,
    limit_delta: LimitDelta = 0.0,
    json: options.Json = False,
) -> None:
    """Write a differentially private release of MODEL, with noisy counts.

    Its cost is added to the ledger in MODEL. Never publish MODEL itself.
    """
    from flybloom.estimators.releasing import privacy_spent  # noqa: PLC0415 - heavy

    check_writable(output, [model])
    loaded = load_classifier(model)
    released = loaded.release(
        epsilon,
        delta=delta,
        mechanism=mechanism,
        n_kept=kept,
        classes=_labels(classes, loaded.classes_),
        public=options.names(public) or (),
        max_rows=max_rows,
        limit=None if limit is None else (limit, limit_delta),
    )
    save_model(loaded, Path(model))  # first what was spent, then what it was spent on
    save_model(released, output)
    note(f"{model} has entered what this cost. Publish {output}, and keep {model} to yourself.")
    spent = released.releases_[0]
    exactly = (lambda number: number) if json else "{:g}".format  # a delta is far below the digits that are shown
    facts = {
        "model": str(output),
        "classes": released.classes_.size,
        "mechanism": spent["mechanism"],
        "epsilon": exactly(epsilon),
        "delta": exactly(delta),
        "noise_deviation": exactly(round(spent["variance"] ** 0.5, 3)),
        "epsilon_of_all_releases": exactly(privacy_spent(loaded, max(delta, limit_delta))),
    }
    print_result(facts, as_json=json)


def _labels(classes: str | None, learned: object) -> list[str] | list[float] | None:
    """Return the labels of the option in the type of the model."""
    given = options.names(classes)
    if given is None or getattr(learned, "dtype", None) is None or learned.dtype.kind in "OUST":  # type: ignore[attr-defined]
        return given
    try:
        return [int(label) if label.lstrip("-").isdigit() else float(label) for label in given]
    except ValueError:
        msg = f"this model has numbers for labels. Got {classes!r}."
        raise typer.BadParameter(msg, param_hint="--classes") from None
