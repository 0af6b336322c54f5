"""The state of a training on disk: model and position in one file, so that they can never disagree."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from flybloom.exceptions import CheckpointError
from flybloom.files.model_file import load_in_training, save
from flybloom.files.safetensors_file import remove_leftovers

NAME = "checkpoint.fly"


class Checkpoint:
    """A folder that holds how far a training has come.

    Parameters
    ----------
    folder : str or path-like
        Where to. It is made if it is not there.
    identity : dict
        What the training depends on: source and settings. A training with another one is not continued.
    every_rows, every_seconds : number or None
        After how many rows or seconds to save, whichever comes first.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        identity: dict[str, Any],
        every_rows: int | None,
        every_seconds: float | None,
    ) -> None:
        self.path = Path(folder) / NAME
        self.identity = json.loads(json.dumps(identity))  # as it will be read back
        self.every_rows = every_rows
        self.every_seconds = every_seconds
        self._rows_saved = 0
        self._time_saved = time.monotonic()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(self.path)

    def resumed(self) -> tuple[Any, int] | None:
        """Return the model and the number of rows it has learned, or None if there is no checkpoint yet."""
        if not self.path.exists():
            return None
        model, training = load_in_training(self.path)
        if training is None or not isinstance(training.get("rows"), int):
            msg = f"{self.path} is a model, but no checkpoint of a training. Choose another folder."
            raise CheckpointError(msg)
        found = _differences(training.get("identity"), self.identity)
        if found:
            msg = (
                f"Cannot resume from {self.path}: {'; '.join(found)}. "
                "Resume with the same data and settings, or remove the folder to start again."
            )
            raise CheckpointError(msg)
        self._rows_saved = training["rows"]
        return model, training["rows"]

    def refuse_to_overwrite(self) -> None:
        """Refuse to begin anew where an earlier training could be resumed."""
        if self.path.exists():
            msg = f"{self.path.parent} holds a checkpoint of an earlier training. Resume it, or remove the folder."
            raise CheckpointError(msg)

    def save_if_due(self, model: Any, rows: int) -> None:
        """Save if enough rows or seconds have passed."""
        is_due = self.every_rows is not None and rows - self._rows_saved >= self.every_rows
        is_due |= self.every_seconds is not None and time.monotonic() - self._time_saved >= self.every_seconds
        if is_due:
            self.save(model, rows)

    def save(self, model: Any, rows: int) -> None:
        """Save the model, which has learned the first `rows` rows."""
        save(model, self.path, {"rows": rows, "identity": self.identity})
        self._rows_saved, self._time_saved = rows, time.monotonic()


def _differences(before: Any, now: dict[str, Any]) -> list[str]:
    """Return what has changed since a checkpoint was saved, a phrase for each."""
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
