"""flybloom tune: choose settings by cross-validation."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from flybloom._internal.atomic_write import atomic_write, check_writable
from flybloom.cli import options
from flybloom.cli.console import Stopwatch, print_result, print_table, work_without_blocks
from flybloom.cli.errors import blaming
from flybloom.cli.models import checked, save_model
from flybloom.cli.sources import look_at, open_source, read_all
from flybloom.exceptions import require_extra

GRIDS = ("auto", "paper")
PARAMETERS = ("n_components", "n_connections", "n_winners", "decay")
WAYS = ("encoding", "signed")  # which a file may list as well


def command(
    source: options.Source,
    target: options.Target,
    output: options.Output,
    grid: Annotated[
        str, typer.Option(help="auto, paper, or a TOML file with a list for each of: " + ", ".join(PARAMETERS + WAYS))
    ] = "auto",
    cv: Annotated[str, typer.Option(help="Number of folds, or loo to leave out one row at a time.")] = "10",
    scoring: Annotated[str, typer.Option(help="What to maximise: the name of a scikit-learn score.")] = "accuracy",
    class_weight: options.ClassWeight = None,
    features: options.Features = None,
    picture: Annotated[Path | None, typer.Option(help="Draw a heat map of the scores to this PNG file.")] = None,
    unsigned: Annotated[bool, typer.Option("--unsigned", help="Connections without signs, as in the paper.")] = False,
    encoding: options.EncodingOption = "auto",
    max_categories: options.MaxCategories = None,
    max_seconds: Annotated[
        float | None, typer.Option(help="Begin no further hash after so many seconds, and take the best so far.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the connections.")] = 0,
    most: Annotated[int, typer.Option(min=1, help="How many of the best settings to print.")] = 5,
    reading: options.LabelReading = options.AS_FOUND,
    jobs: options.Jobs = 1,
    json: options.Json = False,
) -> None:
    """Try a grid of settings on SOURCE with exact cross-validation, and save the best model.

    All rows are held in memory and hashed once for each encoding and pair of sizes.
    """
    settings, folds = _grid(grid), _folds(cv)
    encoding = options.with_categories(encoding, max_categories)
    if picture is not None:
        require_extra("matplotlib", "plots", "--picture")
    for path in filter(None, (output, picture)):
        check_writable(path)

    from flybloom import FlyBloomClassifierCV  # noqa: PLC0415 - heavy
    from flybloom.estimators.tuning.results import best_settings  # noqa: PLC0415

    _require_score(scoring)
    search = checked(
        FlyBloomClassifierCV(
            **{"signed": not unsigned, "encoding": encoding, **settings}, cv=folds, scoring=scoring,
            class_weight=None if class_weight is None else "balanced",
            max_seconds=max_seconds, random_state=seed, n_jobs=jobs, verbose=True,
        ),
        None if grid in GRIDS else "--grid",
    )  # fmt: skip
    blocks = open_source(source, target, reading, features=options.names(features))
    rows, labels = read_all(look_at(blocks, output, picture))
    watch = Stopwatch()
    with work_without_blocks(), blaming(source):
        search.fit(rows, labels)
    save_model(search.best_estimator_, output)
    if picture is not None:
        _draw(search, picture)
    table = best_settings(search.cv_results_, most)
    facts = {
        "model": str(output),
        "best_score": search.best_score_,
        "temperature": search.temperature_,
        "settings": len(search.cv_results_["params"]),
        **({} if max_seconds is None else {"tried": search.n_tried_}),
        **watch.facts(len(labels)),
    }
    print_result({**facts, "best": table} if json else facts, as_json=json)
    if not json:
        typer.echo()
        print_table(
            [name.replace("_", " ") for name in table[0]],
            [[str(v) if i == 0 else v for i, v in enumerate(row.values())] for row in table],
        )


def _grid(text: str) -> dict[str, Any]:
    """Return the candidate values of each parameter."""
    if text in GRIDS:
        return dict.fromkeys(PARAMETERS, text)
    path = Path(text)
    if not path.is_file():
        msg = f"expected auto, paper, or a TOML file. Got {text!r}, which is no file."
        raise typer.BadParameter(msg, param_hint="--grid")
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        msg = f"{text} is not TOML: {error}."
        raise typer.BadParameter(msg, param_hint="--grid") from None
    unknown = sorted(settings.keys() - set(PARAMETERS + WAYS))
    if unknown:
        msg = f"{text} names {', '.join(unknown)}. Expected lists for {', '.join(PARAMETERS + WAYS)}."
        raise typer.BadParameter(msg, param_hint="--grid")
    return settings


def _folds(text: str) -> int | str:
    """Parse a number of folds or loo."""
    if text == "loo":
        return text
    if text.isdecimal() and int(text) > 1:
        return int(text)
    msg = f"expected a number of folds such as 10, or loo. Got {text!r}."
    raise typer.BadParameter(msg, param_hint="--cv")


def _require_score(name: str) -> None:
    """Raise an error for an unknown scorer."""
    from sklearn.metrics import get_scorer_names  # noqa: PLC0415 - heavy

    if name not in get_scorer_names():
        msg = f"expected the name of a scikit-learn score, such as accuracy or balanced_accuracy. Got {name!r}."
        raise typer.BadParameter(msg, param_hint="--scoring")


def _draw(search: Any, path: Path) -> None:
    """Plot a heat map of the scores."""
    import matplotlib as mpl  # noqa: PLC0415 - an extra

    mpl.use("agg")
    from flybloom.plots import TuningDisplay  # noqa: PLC0415

    figure = TuningDisplay.from_estimator(search).figure_
    atomic_write(path, lambda file: figure.savefig(file, format="png", dpi=130, bbox_inches="tight"))
