"""Atomic writes: concurrent readers, and readers after a crash, see either the old file or the new one.

The content goes to a temporary file beside the target, to the disk, and only then under the target's name. A file that
is replaced keeps its mode and its owner; names that link to it otherwise (hard links) keep the old content.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias

AnyPath: TypeAlias = str | os.PathLike[str]
Content: TypeAlias = bytes | bytearray | memoryview | str | Callable[[BinaryIO], object]

MAX_NAME_BYTES = 255  # of a file, on all usual file systems
TOKEN = re.compile(r"\.[0-9a-f]{16}\.tmp")  # how the name of a temporary file ends
TOKEN_BYTES = 21
DIGEST_DIGITS = 16  # stand for the rest of a name that is too long
KINDS = {
    stat.S_IFBLK: "a device",
    stat.S_IFCHR: "a device",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
}


def atomic_write(path: AnyPath, content: Content) -> None:
    """Write bytes, text or the output of a function atomically.

    For a symbolic link, its target is replaced. If anything fails, the old file is unchanged.
    """
    check_writable(path)
    target = _target(path)
    temporary = target.with_name(f"{_prefix(target.name)}.{secrets.token_hex(8)}.tmp")
    try:
        with _created(temporary, target) as file:
            if callable(content):
                content(file)
            else:
                file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def check_writable(path: AnyPath, inputs: Iterable[AnyPath] = ()) -> None:
    """Raise an error for a path that cannot be written or is also an input; call it before any work is done."""
    target, named = _target(path), os.fspath(path)
    folder = os.path.dirname(named) or "."  # noqa: PTH120 - as the user wrote it
    found = _stat(target)
    if found is not None and stat.S_ISDIR(found.st_mode):
        msg = f"Cannot write {named}: it is a folder. Name a file in it."
        raise IsADirectoryError(msg)
    if found is not None and not stat.S_ISREG(found.st_mode):
        kind = KINDS.get(stat.S_IFMT(found.st_mode), "no plain file")
        msg = f"Cannot write {named}: it is {kind}, and only plain files can be replaced. Name a file."
        raise OSError(msg)
    if not target.parent.is_dir():
        if target.parent.exists():
            msg = f"Cannot write {named}: {folder} is not a folder. Choose another path."
            raise NotADirectoryError(msg)
        missing = target.parent if os.path.islink(path) else folder  # noqa: PTH114
        msg = f"Cannot write {named}: there is no folder {missing}. Make it first, or choose another path."
        raise FileNotFoundError(msg)
    if not os.access(target.parent, os.W_OK | os.X_OK):
        msg = f"Cannot write {named}: there is no permission to make files in {target.parent}. Choose another path."
        raise PermissionError(msg)
    if found is not None and not os.access(target, os.W_OK):
        msg = f"Cannot write {named}: it is write-protected. Change its mode, or choose another path."
        raise PermissionError(msg)
    for source in inputs:
        other = _stat(Path(source))
        if found is not None and other is not None and os.path.samestat(found, other):
            msg = f"Cannot write {named}: it is also an input, which would be lost. Choose another path."
            raise ValueError(msg)


def remove_leftovers(path: AnyPath) -> None:
    """Remove temporary files of killed writers; there must be no concurrent writer."""
    target = _target(path)
    prefix = _prefix(target.name)
    with suppress(FileNotFoundError):
        for entry in list(os.scandir(target.parent)):
            if entry.name.startswith(prefix) and TOKEN.fullmatch(entry.name, len(prefix)):
                Path(entry.path).unlink(missing_ok=True)


def _target(path: AnyPath) -> Path:
    """Return the path to replace, with symbolic links resolved."""
    return Path(os.path.realpath(path))


def _stat(path: Path) -> os.stat_result | None:
    """Return the status of a file, or None if it does not exist."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _prefix(name: str) -> str:
    """Return the prefix of temporary files: the file name, shortened if necessary."""
    room = MAX_NAME_BYTES - 1 - TOKEN_BYTES
    encoded = os.fsencode(name)
    if len(encoded) > room:
        digest = hashlib.sha256(encoded).hexdigest()[:DIGEST_DIGITS]
        name = f"{encoded[: room - DIGEST_DIGITS - 1].decode(errors='ignore')}~{digest}"
    return f".{name}"


def _created(temporary: Path, target: Path) -> BinaryIO:
    """Open a new file with the mode and owner of the file to be replaced, or the default ones."""
    old = _stat(target)
    mode = 0o666 if old is None else 0o600  # private until it has its owner
    file: BinaryIO = open(temporary, "xb", opener=lambda path, flags: os.open(path, flags, mode))  # noqa: SIM115
    try:  # closed by nobody else: an interrupt must not close a number that by then is another file
        if old is not None and os.name == "posix":
            _give(file.fileno(), old)
    except BaseException:
        file.close()
        raise
    return file


def _give(number: int, old: os.stat_result) -> None:
    """Set mode and owner of an open file; permissions of a group that cannot be set are removed."""
    mode, new = stat.S_IMODE(old.st_mode) & 0o777, os.fstat(number)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(number, old.st_uid, old.st_gid)
        except PermissionError:  # only root may give files away
            try:
                os.fchown(number, -1, old.st_gid)
            except PermissionError:
                mode &= ~stat.S_IRWXG
    os.fchmod(number, mode)


def _sync_folder(folder: Path) -> None:
    """Flush the folder to disk, so that the new name survives a power failure."""
    if os.name == "posix":
        with suppress(OSError):
            number = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(number)
            finally:
                os.close(number)
