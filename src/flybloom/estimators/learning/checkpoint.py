"""Checkpoints: model and position in one file."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from flybloom._internal.atomic_write import check_writable, remove_leftovers
from flybloom.blocks import Blocks
from flybloom.blocks.parts import ReadOptions
from flybloom.blocks.schema import Schema
from flybloom.core.files.model_file import load_in_training, save
from flybloom.core.model import Model
from flybloom.estimators.counting import CountingEstimator
from flybloom.exceptions import CheckpointError

NAME = "checkpoint.fly"
LATER_OPTIONS = ("exclude", "label_type", "file_encoding", "delimiter", "decimal", "kinds", "first_index")
"""Ways to read that checkpoints mention only where they are not as usual: older ones have none of them."""


class Checkpoint:
    """A folder with the state of a training.

    Parameters
    ----------
    folder : str or path-like
        The folder, created if needed.
    identity : dict
        Identity of the training: source and settings. A checkpoint with another identity is refused.
    every_rows, every_seconds : number or None
        Save after this number of rows or seconds, whichever comes first.
    resume : bool
        Whether to resume. If false, an existing checkpoint is not overwritten.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        identity: dict[str, Any],
        every_rows: int | None,
        every_seconds: float | None,
        *,
        resume: bool,
    ) -> None:
        self.path = Path(folder) / NAME
        self.identity = json.loads(json.dumps(identity))  # as it will be read back
        self.every_rows = every_rows
        self.every_seconds = every_seconds
        self._rows_saved = 0
        self._time_saved = time.monotonic()
        if not resume and self.path.exists():
            msg = f"{self.path.parent} holds a checkpoint of an earlier training. Resume it, or remove the folder."
            raise CheckpointError(msg)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        check_writable(self.path)
        remove_leftovers(self.path)

    def resumed(self) -> tuple[CountingEstimator, int, dict[str, Any] | None] | None:
        """Return model, number of learned rows and schema of the source, or None without a checkpoint."""
        if not self.path.exists():
            return None
        model, training = load_in_training(self.path)
        if training is None or not isinstance(model, CountingEstimator):
            msg = f"{self.path} is a model, but no checkpoint of a training. Choose another folder."
            raise CheckpointError(msg)
        found = _differences(training.get("identity"), self.identity)
        if found:
            msg = (
                f"Cannot resume from {self.path}: {'; '.join(found)}. "
                "Resume with the same data and settings, or remove the folder to start again."
            )
            raise CheckpointError(msg)
        schema = training.get("schema")
        if not _fits(schema, model):
            msg = f"{self.path} is damaged: it was not saved as its source is read. Remove the folder to start again."
            raise CheckpointError(msg)
        self._rows_saved = training["rows"]
        return model, training["rows"], schema

    def is_due(self, rows: int) -> bool:
        """Return whether a checkpoint is due."""
        if self.every_rows is not None and rows - self._rows_saved >= self.every_rows:
            return True
        return self.every_seconds is not None and time.monotonic() - self._time_saved >= self.every_seconds

    def save(self, model: CountingEstimator, rows: int, schema: dict[str, Any]) -> None:
        """Save the model after `rows` rows, with the schema of the source."""
        save(model, self.path, {"rows": rows, "identity": self.identity, "schema": schema})
        self._rows_saved, self._time_saved = rows, time.monotonic()


def identity_of(
    model: CountingEstimator, learned: Model | None, blocks: Blocks, *, single_pass: bool
) -> dict[str, Any]:
    """Return everything that determines the result: source, settings, and initial model."""
    source = blocks.identity()
    if source is None:
        msg = (
            f"Checkpoints need files, which can be read again; {blocks.parts[0].name} cannot. Save it to a file first."
        )
        raise CheckpointError(msg)
    settings = {name: _plain(value) for name, value in model.get_params().items() if name != "n_jobs"}
    if settings.get("class_weight") == "None":
        del settings["class_weight"]  # older checkpoints do not mention it
    settings["start"] = "anew" if learned is None else learned.hasher.fingerprint
    settings |= {"target": repr(blocks.options.target), "features": repr(blocks.options.features)}
    usual = ReadOptions()
    for name in LATER_OPTIONS:
        if (value := getattr(blocks.options, name)) != getattr(usual, name):
            settings[name] = repr(value)
    settings["single_pass"] = repr(blocks.options.block_rows if single_pass else False)
    return {"source": source, **settings}


def _plain(value: Any) -> str:
    """Return a parameter as text that does not depend on the process."""
    return repr(value) if isinstance(value, int | float | str | dict | None) else type(value).__name__


def _fits(schema: Any, model: CountingEstimator) -> bool:
    """Return whether a schema matches the features of the model; older files have none."""
    if schema is None:
        return True
    try:
        found = Schema.from_dict(schema)
    except ValueError:
        return False
    names = getattr(model, "feature_names_in_", None)
    return found.n_features == model.n_features_in_ and found.names == (None if names is None else tuple(names))


def _differences(before: Any, now: dict[str, Any]) -> list[str]:
    """Return descriptions of all changes since a checkpoint."""
    if not isinstance(before, dict):
        return ["it does not say what it was made of"]
    found = [
        f"{name} was {before.get(name)!r} and is {now.get(name)!r}"
        for name in sorted({*before, *now} - {"source"})
        if before.get(name) != now.get(name)
    ]
    if before.get("source") != now["source"]:
        known = [entry for entry in before.get("source") or [] if isinstance(entry, dict)]
        names, names_now = {entry.get("name") for entry in known}, {entry["name"] for entry in now["source"]}
        changed = [entry["name"] for entry in now["source"] if entry["name"] in names and entry not in known]
        for what, files in (
            ("changed", changed),
            ("new", sorted(names_now - names)),
            ("gone", sorted(map(str, names - names_now))),
        ):
            if files:
                found.append(f"{len(files)} files of the source are {what}, such as {files[0]}")
    return found
