"""flybloom inspect: what is in a model file."""

from __future__ import annotations

from typing import Any

import typer

from flybloom.cli.console import print_result, print_table
from flybloom.cli.options import Json, Model

MOST_CLASSES = 30


def command(model: Model, json: Json = False) -> None:
    """Show what is in MODEL: how it hashes, and what it has learned."""
    from flybloom import FlyBloomClassifier  # noqa: PLC0415 - heavy
    from flybloom.core.hashing.fingerprint import construction, fingerprint  # noqa: PLC0415
    from flybloom.files.model_file import load_in_training  # noqa: PLC0415

    loaded, training = load_in_training(model)
    names = getattr(loaded, "feature_names_in_", None)
    facts: dict[str, Any] = {
        "kind": type(loaded).__name__,
        "bytes": model.stat().st_size,
        "fingerprint": fingerprint(construction(loaded)),
        "features": loaded.n_features_in_,
        "components": loaded.n_components_,
        "connections": loaded.n_connections_,
        "winners": loaded.n_winners_,
        "signed": loaded.signed_,
        "seed": str(loaded.seed_),
        "scaling": "none" if loaded.center_ is None else "center" if loaded.scale_ is None else "standard",
        "feature_names": None if names is None else names.tolist(),
        "parameters": loaded.get_params(),
    }
    if training is not None:
        facts["checkpoint_after_rows"] = training["rows"]
    if isinstance(loaded, FlyBloomClassifier):
        classes, rows, counts = loaded.classes_.tolist(), loaded.class_count_.tolist(), loaded.counts_
        facts |= {"rows": sum(rows), "classes": len(classes)}
        used = (counts > 0).mean(axis=1).tolist() if classes else []
        facts["per_class"] = [
            {"label": label, "rows": n, "components_used": round(share, 4)}
            for label, n, share in zip(classes, rows, used, strict=True)
        ]
    print_result(facts, as_json=json)
    if not json and facts.get("per_class"):
        typer.echo()
        shown = facts["per_class"][:MOST_CLASSES]
        print_table(
            ["class", "rows", "components used"], [[str(entry["label"]), *[*entry.values()][1:]] for entry in shown]
        )
        if len(shown) < len(facts["per_class"]):
            typer.echo(f"... and {len(facts['per_class']) - len(shown)} more; --json lists all")
