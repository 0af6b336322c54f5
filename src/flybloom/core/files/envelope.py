"""Files of arrays with a description: safetensors, written at once or not at all, and read with distrust.

A file holds named arrays, a description in JSON, and a checksum over both. Nothing in it is ever executed. This needs
numpy and safetensors alone, so that those who only predict need no more.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import stat
from typing import Any

import numpy as np
import safetensors
from safetensors.numpy import load as deserialized
from safetensors.numpy import save as serialized

from flybloom._internal.atomic_write import atomic_write
from flybloom._internal.memory import available_memory
from flybloom._internal.typing import Array
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.hashing.products import PRODUCTS_VERSION
from flybloom.exceptions import ModelFileError

KEY = "flybloom"  # of the metadata of safetensors: the checksum, a space, and the description
LENGTH_BYTES = 8  # safetensors begins with the length of its header
MAX_BYTES = 2**24  # of a description, beyond as many as the arrays have
MAX_CONTAINERS = 2**16  # lists and objects in a description: in memory they take far more than brackets in text
MAX_VALUES = 2**19  # in a description, beyond one for each so many bytes of arrays: they, too, take more than in text
BYTES_PER_VALUE = 32
STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)  # never goes back, so neither time nor memory explode
TYPES = {
    "U8": np.uint8, "U16": np.uint16, "U32": np.uint32, "U64": np.uint64, "I16": np.int16, "I32": np.int32,
    "I64": np.int64, "F32": np.float32, "F64": np.float64,
}  # fmt: skip
FORMAT = 7
"""The newest format. To raise it: write a new number only for models that the formats before cannot hold, so that older
versions of flybloom go on reading the others; read all formats; keep a file of each in tests/data; say in docs/files.md
what is new."""


def write_file(path: str | os.PathLike[str], description: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write a file so that a crash at any moment leaves the old one or the new one."""
    text = json.dumps(description, allow_nan=False)
    too_much = _excess(text, sum(array.nbytes for array in arrays.values()))
    if too_much:  # now, and not when it is loaded
        msg = f"Cannot save the model to {path}: {too_much}. Use fewer classes, shorter labels, or more components."
        raise ValueError(msg)
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
    metadata = header.pop("__metadata__", None)
    described = metadata.get(KEY) if isinstance(metadata, dict) else None
    if not isinstance(described, str) or not described.isascii():  # JSON escapes all else
        raise ModelFileError(_not_ours(path))
    checksum, _, text = described.partition(" ")
    if not text:
        raise ModelFileError(_not_ours(path))
    del header, metadata, described  # so that a file takes no more than a few times its size
    try:
        arrays = {name: np.array(values) for name, values in deserialized(content).items()}  # their own memory
    except (safetensors.SafetensorError, ValueError, KeyError, OverflowError) as error:
        msg = f"{path} is not a whole safetensors file ({error}). Copy it again, or save the model again."
        raise ModelFileError(msg) from error
    n_array_bytes = sum(array.nbytes for array in arrays.values())
    del content
    is_intact = secrets.compare_digest(checksum.encode(), _checksum(text, arrays).encode())
    return _parsed(path, text, n_array_bytes), arrays, is_intact


def _content(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file; what is no file, such as a device or a FIFO, is refused and not waited for."""
    if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - a socket cannot even be opened
        raise ModelFileError(_no_file(path))
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # another one by now
            raise ModelFileError(_no_file(path))
        return file.read()


def _no_file(path: str | os.PathLike[str]) -> str:
    """Return what is said of something that is no file."""
    return f"{path} is not a file, but a folder, a device or a pipe. Expected the output of model.save(path)."


def _header(path: str | os.PathLike[str], content: bytes) -> dict[str, Any]:
    """Return the header of safetensors; one that is longer than the file, or than it needs to be, is not even read."""
    length = int.from_bytes(content[:LENGTH_BYTES], "little")
    n_array_bytes = len(content) - LENGTH_BYTES - length
    if len(content) < LENGTH_BYTES or length == 0 or n_array_bytes < 0:
        raise ModelFileError(_not_ours(path))
    try:
        text = content[LENGTH_BYTES : LENGTH_BYTES + length].decode("ascii")
    except UnicodeDecodeError:
        raise ModelFileError(_not_ours(path)) from None
    return _parsed(path, text, 2 * (MAX_BYTES + n_array_bytes))  # with quotation marks escaped


def _excess(text: str, n_array_bytes: int) -> str | None:
    """Return what a description has too much of to be parsed in little memory; None if it is within bounds."""
    if len(text) > MAX_BYTES + n_array_bytes:
        return f"its description has {len(text)} bytes, for arrays of {n_array_bytes}"
    most = MAX_VALUES + n_array_bytes // BYTES_PER_VALUE
    if text.count("[") + text.count("{") > MAX_CONTAINERS or text.count(",") > most:
        structure = STRING.sub("", text)  # what is left if labels are not looked at
        if structure.count("[") + structure.count("{") > MAX_CONTAINERS or structure.count(",") > most:
            return f"its description has too many parts for arrays of {n_array_bytes} bytes"
    return None


def _parsed(path: str | os.PathLike[str], text: str, n_array_bytes: int) -> dict[str, Any]:
    """Return a JSON object of text that is no bomb."""
    too_much = _excess(text, n_array_bytes)
    if too_much:
        msg = f"{path} is damaged: {too_much}. Expected the output of model.save(path)."
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
    """Raise an error for NaN and infinities, which are not JSON."""
    msg = f"{name} is not a number of JSON"
    raise ValueError(msg)


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
    for name, known in (("format", FORMAT), ("hash_version", PRODUCTS_VERSION)):
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
