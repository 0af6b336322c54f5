"""A model on disk that loses nothing: saved states, and a journal of what came after each.

``state-7.fly`` is a whole model; ``journal-7.log`` has the changes since, one line each, flushed to the disk before
they are answered. To save, a new journal is begun, then state 8 is written, then what is older is deleted. Whenever the
process dies, the newest state and all journals from its number on make up the model.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flybloom
from flybloom.core.files.receipt import forget_with_receipt


class State:
    """The model, and the folder it lives in; it begins with a file, or with an estimator that has learned nothing."""

    def __init__(self, folder: Path, first: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        states = _numbers(folder, r"state-(\d+)\.fly")
        self.number = max(states, default=0)
        file = folder / f"state-{self.number}.fly" if states else first
        self.model = flybloom.load(file) if isinstance(file, Path) else file
        self.n_replayed = 0
        for number in sorted(n for n in _numbers(folder, r"journal-(\d+)\.log") if n >= self.number):
            for change in _changes(folder / f"journal-{number}.log"):
                self.n_replayed += 1
                try:
                    self._apply(**change)
                except ValueError:  # it was refused when it came, too
                    continue
        self.n_unsaved = 0
        self._journal: Any = None
        self.save()

    def change(self, action: str, rows: list[list[float | None]], labels: list[Any]) -> Any:
        """Write a change down, flush it to the disk, then learn the rows, or forget them and return the receipt.

        ValueError where that cannot be.
        """
        text = json.dumps({"action": action, "rows": rows, "labels": labels}).encode()
        self._journal.write(b"%08x %s\n" % (zlib.crc32(text), text))
        self._journal.flush()
        os.fsync(self._journal.fileno())
        self.n_unsaved += 1
        return self._apply(action, rows, labels)

    @property
    def has_learned(self) -> bool:
        """Whether there is anything to save, or to predict with."""
        return hasattr(self.model, "classes_")

    def save(self) -> None:
        """Save the model, and delete what is older; nothing is to be saved before the first rows."""
        if not self.has_learned and self._journal is not None:
            return
        before = self._journal
        number = max([self.number, *_numbers(self.folder, r"journal-(\d+)\.log")]) + 1
        self._journal = (self.folder / f"journal-{number}.log").open("ab")
        if not self.has_learned:
            return
        self.model.save(self.folder / f"state-{number}.fly")
        self.number, self.n_unsaved = number, 0
        if before is not None:
            before.close()
        for old in self.folder.iterdir():
            found = re.fullmatch(r"(?:state|journal)-(\d+)\.(?:fly|log)", old.name)
            if found and int(found[1]) < number:
                old.unlink()

    def close(self) -> None:
        """Save for the last time."""
        self.save()
        self._journal.close()

    def _apply(self, action: str, rows: list[list[float | None]], labels: list[Any]) -> Any:
        """Learn or forget; a missing value is None in JSON and NaN here."""
        numbers = [[float("nan") if value is None else value for value in row] for row in rows]
        if action == "learn":
            return self.model.partial_fit(numbers, labels)
        return forget_with_receipt(self.model, numbers, labels)


def _numbers(folder: Path, pattern: str) -> list[int]:
    """Return the numbers of files in a folder."""
    return [int(found[1]) for path in folder.iterdir() if (found := re.fullmatch(pattern, path.name))]


def _changes(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the changes of a journal, up to a line that was not written to its end."""
    for line in path.read_bytes().splitlines(keepends=True):
        checksum, _, text = line.rstrip(b"\n").partition(b" ")
        if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(text):
            return
        yield json.loads(text)
