"""flybloom inspect: describe a model file."""

from __future__ import annotations

from typing import Any

import typer

from flybloom.cli import options
from flybloom.cli.console import print_result, print_table
from flybloom.cli.models import inside, load_any
from flybloom.estimators.access import hasher_of, n_rows_learned

MAX_CLASSES = 30
MAX_NAMES_WIDTH = 80
MORE_ROWS = 1_000_000


def command(model: options.Model, json: options.Json = False) -> None:
    """Describe MODEL: how it hashes, what it has learned, and its size."""
    loaded, training = load_any(model)
    hashes = inside(loaded)
    hasher = hasher_of(hashes)
    names = hasher.encoder.names
    facts: dict[str, Any] = {
        "kind": type(loaded).__name__,
        "fingerprint": hasher.fingerprint,
        "features": hashes.n_features_in_,
        "feature_names": None if names is None else list(names) if json else _some(names),
        "components": hashes.n_components_,
        "connections": hashes.n_connections_,
        "winners": hashes.n_winners_,
        "signed": hashes.signed_,
        "seed": str(hashes.seed_),
        "encoding": " + ".join(step.kind for step in hasher.encoder.steps) or "none",
        "parameters": {
            name: value if isinstance(value, int | float | str | list | dict | None) else str(value)
            for name, value in loaded.get_params().items()
        },
    }
    if training is not None:
        facts["checkpoint_after_rows"] = training["rows"]
    facts["bytes_on_disk"] = model.stat().st_size
    if hasattr(hashes, "memory_usage"):
        used = hashes.memory_usage(MORE_ROWS)
        facts["bytes_in_memory"] = used["counts"] + used["connections"]
        facts["bytes_for_another_million_rows"] = used["more_rows"]
        facts["rows"] = n_rows_learned(hashes)
        facts["rows_in_the_file"] = 0 if hashes.sketch_ is None else hashes.sketch_.n_distinct
    if hasattr(hashes, "class_count_"):
        facts |= _classes(hashes)
    print_result(facts, as_json=json)
    if not json and facts.get("per_class"):
        typer.echo()
        shown = facts["per_class"][:MAX_CLASSES]
        print_table(
            ["class", "rows", "components used"], [[str(entry["label"]), *[*entry.values()][1:]] for entry in shown]
        )
        if len(shown) < len(facts["per_class"]):
            typer.echo(f"... and {len(facts['per_class']) - len(shown)} more; --json lists all")


def _classes(model: Any) -> dict[str, Any]:
    """Return the number of classes and facts about each."""
    classes, rows = model.classes_.tolist(), model.class_count_.tolist()
    used = (model.counts_ > 0).mean(axis=1).tolist() if classes else []
    per_class = [
        {"label": label, "rows": n, "components_used": round(share, 4)}
        for label, n, share in zip(classes, rows, used, strict=True)
    ]
    return {"classes": len(classes), "per_class": per_class}


def _some(names: tuple[str, ...]) -> str:
    """Return the first names."""
    shown: list[str] = []
    for name in names:
        if shown and len(", ".join([*shown, name])) > MAX_NAMES_WIDTH:
            return f"{', '.join(shown)} and {len(names) - len(shown)} more; --json lists all"
        shown.append(name)
    return ", ".join(shown)
