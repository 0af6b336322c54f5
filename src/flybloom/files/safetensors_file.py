"""Files of arrays with a description: safetensors, written at once or not at all, and read with distrust.

A file holds named arrays, a description in JSON, and a checksum over both. Nothing in it is ever executed. What the
description means is the business of `persistence`.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from safetensors.numpy import save as serialized

from flybloom._internal.typing import Array
from flybloom.exceptions import ModelFileError

KEY = "flybloom"  # of the metadata of safetensors: the checksum, a space, and the description
LENGTH_BYTES = 8  # safetensors begins with the length of its header
MOST_HEADER_BYTES = 100_000_000  # what safetensors itself allows
TYPES = {"U8": np.uint8, "U16": np.uint16, "U32": np.uint32, "U64": np.uint64, "F64": np.float64}


def write_file(path: str | os.PathLike[str], description: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write a file so that a crash at any moment leaves the old one or the new one."""
    target = Path(os.path.realpath(path))  # what a link points to is replaced, not the link
    text = json.dumps(description, allow_nan=False)
    metadata = {KEY: f"{_checksum(text, arrays)} {text}"}  # one entry: safetensors would order several at random
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(serialized(arrays, metadata))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    if os.name == "posix":  # the new name, too, shall survive a power cut
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove what a crash in the middle of `write_file` left beside `path`."""
    target = Path(os.path.realpath(path))
    for leftover in target.parent.glob(f".{target.name}.*.tmp"):
        leftover.unlink(missing_ok=True)


def read_file(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Array], bool]:
    """Return the description, the arrays, and whether the checksum is right.

    The arrays are no larger than the file. That it is a file of this kind, whole, is checked here; a wrong checksum is
    left to the caller, who may know better what is wrong.
    """
    _check_header_length(path)
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            checksum, _, text = (file.metadata() or {}).get(KEY, "").partition(" ")
            if not text:
                raise ModelFileError(_not_ours(path))
            for name in file.keys():  # noqa: SIM118 - not a dict
                if file.get_slice(name).get_dtype() not in TYPES:
                    msg = f"{path} is damaged: the array {name!r} has a type that no flybloom model has."
                    raise ModelFileError(msg)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except safetensors.SafetensorError as error:
        msg = f"{path} is not a whole safetensors file ({error}). Copy it again, or save the model again."
        raise ModelFileError(msg) from error
    try:
        description = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        msg = f"{path} is damaged: its description is not JSON ({error}). Copy it again, or save the model again."
        raise ModelFileError(msg) from error
    if not isinstance(description, dict):
        raise ModelFileError(_not_ours(path))
    return description, arrays, secrets.compare_digest(checksum.encode(), _checksum(text, arrays).encode())


def _check_header_length(path: str | os.PathLike[str]) -> None:
    """Refuse a header that is longer than the file before anything is read of it."""
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(LENGTH_BYTES)
    length = int.from_bytes(start, "little")
    if len(start) < LENGTH_BYTES or not 0 < length <= min(size - LENGTH_BYTES, MOST_HEADER_BYTES):
        raise ModelFileError(_not_ours(path))


def _checksum(text: str, arrays: dict[str, Array]) -> str:
    """Return the SHA-256 of the description and of all arrays, each with its name, type and shape."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"\0{name} {array.dtype.str} {array.shape}\0".encode("utf-8", "surrogatepass"))
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()


def _not_ours(path: str | os.PathLike[str]) -> str:
    """Return what is said of a file that flybloom never wrote, or not to the end."""
    return f"{path} is not a file that flybloom saved, or it was cut. Expected the output of model.save(path)."


def _refuse_constant(name: str) -> None:
    """Refuse NaN and infinities, which are not JSON."""
    msg = f"{name} is not a number of JSON"
    raise ValueError(msg)
