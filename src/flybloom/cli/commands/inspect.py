"""flybloom inspect: what is in a model file."""

from __future__ import annotations

from typing import Any

import typer

from flybloom.cli.console import print_result, print_table
from flybloom.cli.options import Json, Model

MAX_CLASSES = 30


def command(model: Model, json: Json = False) -> None:
    """Show what is in MODEL: how it hashes, and what it has learned."""
    from flybloom import FlyBloomClassifier  # noqa: PLC0415 - heavy
    from flybloom.files.model_file import load_in_training  # noqa: PLC0415

    loaded, training = load_in_training(model)
    inside = getattr(loaded, "best_estimator_", getattr(loaded, "estimator_", loaded))
    hasher = inside.to_parts().hasher
    names = hasher.encoder.names
    facts: dict[str, Any] = {
        "kind": type(loaded).__name__,
        "bytes": model.stat().st_size,
        "fingerprint": hasher.fingerprint,
        "features": loaded.n_features_in_,
        "components": inside.n_components_,
        "connections": inside.n_connections_,
        "winners": inside.n_winners_,
        "signed": inside.signed_,
        "seed": str(inside.seed_),
        "scaling": "none" if inside.center_ is None else "center" if inside.scale_ is None else "standard",
        "encoding": " + ".join(step.kind for step in hasher.encoder.steps) or "none",
        "feature_names": None if names is None else list(names),
        "parameters": {
            name: value if isinstance(value, int | float | str | list | dict | None) else str(value)
            for name, value in loaded.get_params().items()
        },
    }
    if training is not None:
        facts["checkpoint_after_rows"] = training["rows"]
    if hasattr(inside, "n_rows_learned"):
        facts["rows"] = inside.n_rows_learned()
    if isinstance(inside, FlyBloomClassifier):
        classes, rows, counts = inside.classes_.tolist(), inside.class_count_.tolist(), inside.counts_
        facts["classes"] = len(classes)
        used = (counts > 0).mean(axis=1).tolist() if classes else []
        facts["per_class"] = [
            {"label": label, "rows": n, "components_used": round(share, 4)}
            for label, n, share in zip(classes, rows, used, strict=True)
        ]
    print_result(facts, as_json=json)
    if not json and facts.get("per_class"):
        typer.echo()
        shown = facts["per_class"][:MAX_CLASSES]
        print_table(
            ["class", "rows", "components used"], [[str(entry["label"]), *[*entry.values()][1:]] for entry in shown]
        )
        if len(shown) < len(facts["per_class"]):
            typer.echo(f"... and {len(facts['per_class']) - len(shown)} more; --json lists all")
