"""flybloom export: a model as what only predicts."""

from __future__ import annotations

from flybloom._internal.atomic_write import check_writable
from flybloom.cli.console import print_result
from flybloom.cli.models import load_any, save_model
from flybloom.cli.options import Json, Model, Output
from flybloom.exceptions import ModelFileError


def command(model: Model, output: Output, json: Json = False) -> None:
    """Write a small file that only predicts, and predicts what MODEL does.

    It has the weights without the counts, so it can neither learn nor forget. MODEL stays as it is.
    """
    check_writable(output, [model])
    loaded, _ = load_any(model)
    if not hasattr(loaded, "freeze"):
        msg = (
            f"{model} is a {type(loaded).__name__}, which needs its counts to predict. "
            "Expected a model of `flybloom train --kind pairs`."
        )
        raise ModelFileError(msg)
    save_model(loaded.freeze(), output)
    facts = {
        "model": str(output),
        "classes": loaded.classes_.size,
        "bytes_before": model.stat().st_size,
        "bytes": output.stat().st_size,
    }
    print_result(facts, as_json=json)
