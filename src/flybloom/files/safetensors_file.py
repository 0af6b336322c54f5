"""Files of arrays with a description: safetensors, written at once or not at all, and read with distrust.

A file holds named arrays, a description in JSON, and a checksum over both. Nothing in it is ever executed. What the
description means is the business of `persistence`.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
from typing import Any

import numpy as np
import safetensors
from safetensors.numpy import load as deserialized
from safetensors.numpy import save as serialized

from flybloom._internal.atomic_write import atomic_write
from flybloom._internal.typing import Array
from flybloom.exceptions import ModelFileError

KEY = "flybloom"  # of the metadata of safetensors: the checksum, a space, and the description
LENGTH_BYTES = 8  # safetensors begins with the length of its header
MAX_HEADER_BYTES = 2**23  # beyond what the arrays need: enough for long descriptions, small enough to be read
MAX_CONTAINERS = 10_000  # lists and objects in a header: in memory they take far more than the brackets of text
TYPES = {"U8": np.uint8, "U16": np.uint16, "U32": np.uint32, "U64": np.uint64, "F32": np.float32, "F64": np.float64}


def write_file(path: str | os.PathLike[str], description: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write a file so that a crash at any moment leaves the old one or the new one."""
    text = json.dumps(description, allow_nan=False)
    metadata = {KEY: f"{_checksum(text, arrays)} {text}"}  # one entry: safetensors would order several at random
    atomic_write(path, serialized(arrays, metadata))


def read_file(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Array], bool]:
    """Return the description, the arrays, and whether the checksum is right.

    The arrays are no larger than the file. That it is a file of this kind, whole, is checked here; a wrong checksum is
    left to the caller, who may know better what is wrong. All is read before anything is looked at: a mapped file that
    somebody overwrites meanwhile would end the process.
    """
    content = _content(path)
    header = _header(path, content)
    for name, entry in header.items():
        if name != "__metadata__" and not (isinstance(entry, dict) and entry.get("dtype") in TYPES):
            msg = f"{path} is damaged: the array {name!r} has a type that no flybloom model has."
            raise ModelFileError(msg)
    metadata = header.get("__metadata__")
    checksum, _, text = str(metadata.get(KEY, "") if isinstance(metadata, dict) else "").partition(" ")
    if not text:
        raise ModelFileError(_not_ours(path))
    try:
        arrays = {name: np.array(values) for name, values in deserialized(content).items()}  # their own memory
    except (safetensors.SafetensorError, ValueError, KeyError, OverflowError) as error:
        msg = f"{path} is not a whole safetensors file ({error}). Copy it again, or save the model again."
        raise ModelFileError(msg) from error
    description = _parsed(path, text)
    return (
        description,
        arrays,
        secrets.compare_digest(checksum.encode("utf-8", "replace"), _checksum(text, arrays).encode()),
    )


def _content(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file; what is no file, such as a device or a FIFO, is refused and not waited for."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            msg = f"{path} is not a file, but a folder, a device or a pipe. Expected the output of model.save(path)."
            raise ModelFileError(msg)
        return file.read()


def _header(path: str | os.PathLike[str], content: bytes) -> dict[str, Any]:
    """Return the header of safetensors; one that is longer than the file, or than it needs to be, is not even read."""
    length = int.from_bytes(content[:LENGTH_BYTES], "little")
    n_array_bytes = len(content) - LENGTH_BYTES - length
    if len(content) < LENGTH_BYTES or length == 0 or n_array_bytes < 0:
        raise ModelFileError(_not_ours(path))
    if length > MAX_HEADER_BYTES + n_array_bytes:
        msg = (
            f"{path} has a description of {length} bytes, for arrays of {n_array_bytes}. No model of flybloom has "
            "that. Expected the output of model.save(path)."
        )
        raise ModelFileError(msg)
    try:
        text = content[LENGTH_BYTES : LENGTH_BYTES + length].decode()
    except UnicodeDecodeError:
        raise ModelFileError(_not_ours(path)) from None
    return _parsed(path, text)


def _parsed(path: str | os.PathLike[str], text: str) -> dict[str, Any]:
    """Return a JSON object of text that is no bomb."""
    if text.count("[") + text.count("{") > MAX_CONTAINERS:
        msg = f"{path} is damaged: its description is nested beyond measure. Copy it again, or save the model again."
        raise ModelFileError(msg)
    try:
        parsed = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        msg = f"{path} is damaged: its description is not JSON ({error}). Copy it again, or save the model again."
        raise ModelFileError(msg) from error
    if not isinstance(parsed, dict):
        raise ModelFileError(_not_ours(path))
    return parsed


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
