"""What surrounds every model file: its format, whether it is whole, and how the model in it hashes.

It needs numpy and safetensors alone, so that those who only predict need no more.
"""

from __future__ import annotations

import os
from typing import Any

from flybloom._internal.memory import available_memory
from flybloom._internal.typing import Array
from flybloom.core.files.safetensors_file import read_file
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.projection import WINDOW_VERSION
from flybloom.exceptions import ModelFileError

FORMAT = 6
"""The newest format. To raise it: write a new number only for models that the formats before cannot hold, so that older
versions of flybloom go on reading the others; read all formats; keep a file of each in tests/data; say in docs/files.md
what is new."""


def open_file(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the description and the arrays of a whole file of a known format."""
    description, arrays, is_intact = read_file(path)
    _check_versions(path, description)
    if not is_intact:
        raise damaged(path, "its checksum is wrong")
    return description, arrays


def damaged(path: str | os.PathLike[str], what: object) -> ModelFileError:
    """Return what is raised where a file says something that no model can have."""
    return ModelFileError(f"{path} is damaged: {what}. Copy it again, or save the model again.")


def hasher_of(
    description: dict[str, Any], arrays: dict[str, Array], max_memory: int | None
) -> tuple[Hasher, dict[str, Array]]:
    """Return the hasher of a description, and the arrays that are not its own; ValueError if it is invalid."""
    hasher, arrays = Hasher.from_parts(description, arrays)
    if description.get("fingerprint") != hasher.fingerprint:
        msg = "its fingerprint is wrong"
        raise ValueError(msg)
    most = available_memory() if max_memory is None else max_memory
    if most is not None and hasher.projection.n_bytes > most:
        msg = (
            f"its connections would need {hasher.projection.n_bytes / 2**30:.3g} GiB, more than there are; "
            "max_memory allows more"
        )
        raise ValueError(msg)
    return hasher, arrays


def _check_versions(path: str | os.PathLike[str], description: dict[str, Any]) -> None:
    """Raise an error for files of a later flybloom, and what is no file of a model at all."""
    for name, known in (("format", FORMAT), ("hash_version", WINDOW_VERSION)):
        version: Any = description.get(name, 1 if name == "hash_version" else None)
        if not (type(version) is int and version > 0):
            msg = f"{path} is damaged: it names no {name}. Copy it again, or save the model again."
            raise ModelFileError(msg)
        if version > known:
            msg = (
                f"{path} is of {name} {version}; this flybloom reads up to {known}. "
                "Upgrade flybloom (pip install -U flybloom)."
            )
            raise ModelFileError(msg)
