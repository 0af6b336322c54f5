"""Files are written at once or not at all, and stay what they were in mode, owner and links."""

import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from flybloom._internal.atomic_write import atomic_write, check_writable, remove_leftovers

posix = pytest.mark.skipif(os.name != "posix", reason="modes, owners and FIFOs of POSIX")
NOBODY = 65534
WRITE_FOREVER = """
import sys
from flybloom._internal.atomic_write import atomic_write
print("ready", flush=True)
for i in range(10**6):
    atomic_write(sys.argv[1], bytes([i % 2]) * 2_000_000)
"""


def mode_of(path):
    """The permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def leftovers(folder):
    """Temporary files in a folder."""
    return [path.name for path in folder.iterdir() if path.name.endswith(".tmp")]


@pytest.mark.parametrize("content", [b"\x00new", bytearray(b"\x00new"), memoryview(b"\x00new"), "\x00new"])
def test_bytes_text_and_writers_are_written(tmp_path, content):
    """Over nothing and over an old file; nothing is left beside it."""
    path = tmp_path / "a"
    for _ in range(2):
        atomic_write(path, content)
        assert path.read_bytes() == b"\x00new"
    atomic_write(str(path), lambda file: file.writelines([b"one", b"two"]))
    assert path.read_bytes() == b"onetwo"
    assert os.listdir(tmp_path) == ["a"]  # noqa: PTH208


def test_text_is_utf_8_and_line_breaks_stay(tmp_path):
    """On every system."""
    atomic_write(tmp_path / "a", "ü\n\r\n")
    assert (tmp_path / "a").read_bytes() == b"\xc3\xbc\n\r\n"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError])
def test_a_writer_that_fails_changes_nothing(tmp_path, error):
    """The old file is as it was, a new one is not there, and nothing is left beside them."""
    (tmp_path / "old").write_text("old")

    def fail(file):
        file.write(b"half")
        raise error

    for name in ("old", "new"):
        with pytest.raises(error):
            atomic_write(tmp_path / name, fail)
    assert os.listdir(tmp_path) == ["old"]  # noqa: PTH208
    assert (tmp_path / "old").read_text() == "old"


def test_a_kill_in_the_middle_leaves_the_old_or_the_new_file(tmp_path):
    """Never a mixture; what is left beside it can be removed."""
    path = tmp_path / "model[1].fly"
    path.write_bytes(b"\x01" * 2_000_000)
    for number in range(8):
        with subprocess.Popen([sys.executable, "-c", WRITE_FOREVER, path], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(0.01 * number + 0.003)
            process.send_signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
        content = path.read_bytes()
        assert len(content) == 2_000_000
        assert len(set(content)) == 1
    (tmp_path / f".{path.name}.{'0' * 16}.tmp").touch()  # kills may have hit other moments
    remove_leftovers(path)
    assert os.listdir(tmp_path) == [path.name]  # noqa: PTH208


def test_leftovers_of_other_files_stay(tmp_path):
    """Names that begin alike, and temporary files of others."""
    mine = [f".a.{'0' * 16}.tmp", f".a.{'f' * 16}.tmp"]
    others = [
        "a",
        ".a",
        f".a.b.{'0' * 16}.tmp",
        f".a.{'g' * 16}.tmp",
        f".b.{'0' * 16}.tmp",
        ".a.tmp",
        f"a.{'0' * 16}.tmp",
    ]
    for name in mine + others:
        (tmp_path / name).touch()
    remove_leftovers(tmp_path / "a")
    assert sorted(os.listdir(tmp_path)) == sorted(others)  # noqa: PTH208
    remove_leftovers(tmp_path / "missing" / "a")


@posix
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o755])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, mode):
    """What was private stays private."""
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(mode)
    atomic_write(path, "new")
    assert mode_of(path) == mode


@posix
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path, umask):
    """Like one that open() makes."""
    before = os.umask(umask)
    try:
        atomic_write(tmp_path / "a", "new")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "a") == 0o666 & ~umask


@posix
def test_a_file_that_is_replaced_keeps_its_owner(tmp_path):
    """If whoever writes may give files away."""
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o640)
    try:
        os.chown(path, NOBODY, NOBODY)
    except PermissionError:
        pytest.skip("only root may give files away")
    atomic_write(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid, mode_of(path)) == (NOBODY, NOBODY, 0o640)


@posix
def test_a_group_that_cannot_be_kept_gets_no_other_one_in(tmp_path, monkeypatch):
    """The mode was meant for the old group."""
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o664)
    try:
        os.chown(path, NOBODY, NOBODY)
    except PermissionError:
        pytest.skip("only root may give files away")

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    atomic_write(path, "new")
    assert (path.stat().st_uid, mode_of(path)) == (os.getuid(), 0o604)


@posix
def test_what_a_link_points_to_is_replaced(tmp_path):
    """The link stays, even one that points to nothing yet."""
    (tmp_path / "there").mkdir()
    (tmp_path / "old").symlink_to("there/old")
    (tmp_path / "new").symlink_to("there/new")
    (tmp_path / "there" / "old").write_text("old")
    for name in ("old", "new"):
        atomic_write(tmp_path / name, "text")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "there" / name).read_text() == "text"
    (tmp_path / "astray").symlink_to("nowhere/a")
    with pytest.raises(FileNotFoundError, match=r"astray: there is no folder .*nowhere\. Make it first"):
        atomic_write(tmp_path / "astray", "text")


@pytest.mark.parametrize("name", ["a" * 233, "a" * 234, "a" * 255, "ü" * 127, "a" + "ü" * 127, "日" * 85])
def test_names_of_any_length_work(tmp_path, name):
    """Up to what the file system takes; leftovers of one long name are not those of another."""
    assert len(os.fsencode(name)) <= 255
    path, seen = tmp_path / name, []
    atomic_write(path, lambda file: (seen.extend(leftovers(tmp_path)), file.write(b"new")))
    assert path.read_text() == "new"
    assert len(os.fsencode(seen[0])) <= 255
    for other in (name, name[:-1] + "b"):
        (tmp_path / _temporary(tmp_path, other)).touch()
    assert len(leftovers(tmp_path)) == 2
    remove_leftovers(path)
    assert len(leftovers(tmp_path)) == 1


def _temporary(folder, name):
    """Return the name of the temporary file that is there while a file is written."""
    before, seen = set(leftovers(folder)), []
    with pytest.raises(ZeroDivisionError):
        atomic_write(folder / name, lambda _: seen.extend(set(leftovers(folder)) - before) or 1 / 0)
    return seen[0]


def test_a_name_that_is_too_long_is_refused(tmp_path):
    """By the system."""
    with pytest.raises(OSError, match="too long"):
        atomic_write(tmp_path / ("a" * 256), "new")


def refused(path, error, match):
    """Both functions refuse a path, and no writer is called."""
    with pytest.raises(error, match=match):
        check_writable(path)
    with pytest.raises(error, match=match):
        atomic_write(path, lambda _: pytest.fail("called"))


def test_folders_and_paths_into_nowhere_are_refused(tmp_path, monkeypatch):
    """In the user's words, before anything is written."""
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    refused(tmp_path, IsADirectoryError, r"it is a folder\. Name a file in it")
    refused("no/such/a", FileNotFoundError, r"Cannot write no/such/a: there is no folder no/such\. Make it first")
    refused("file/a", NotADirectoryError, "Cannot write file/a: file is not a folder")
    refused("", IsADirectoryError, "it is a folder")
    assert os.listdir() == ["file"]  # noqa: PTH208


@posix
def test_devices_fifos_and_sockets_are_refused(tmp_path, monkeypatch):
    """They would be replaced by a file, and whoever listens would hear nothing."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/dev/null")
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        refused("socket", OSError, "it is a socket, and only plain files can be replaced")
    refused(tmp_path / "fifo", OSError, "it is a FIFO, and only plain files")
    refused("/dev/null", OSError, "Cannot write /dev/null: it is a device, and only plain files")
    refused(tmp_path / "link", OSError, "it is a device")


@posix
def test_without_permission_nothing_is_started():
    """Neither in a folder of others, nor over a file that is write-protected."""
    code = f"""
import os, sys
from flybloom._internal.atomic_write import atomic_write
if os.getuid() == 0:  # who may do anything
    os.chown(sys.argv[1], {NOBODY}, {NOBODY})
    os.setgid({NOBODY})
    os.setuid({NOBODY})
for name in ("closed/a", "protected"):
    try:
        atomic_write(os.path.join(sys.argv[1], name), "new")
    except PermissionError as error:
        print(error)
"""
    with tempfile.TemporaryDirectory() as name:  # not in a folder that only its owner may look into
        folder = Path(name)
        (folder / "closed").mkdir(mode=0o555)
        (folder / "protected").write_text("old")
        (folder / "protected").chmod(0o444)
        done = subprocess.run([sys.executable, "-c", code, name], capture_output=True, text=True, check=True)
        assert (folder / "protected").read_text() == "old"
        assert sorted(path.name for path in folder.iterdir()) == ["closed", "protected"]
    first, second = done.stdout.splitlines()
    assert "there is no permission to make files in" in first
    assert second.endswith("it is write-protected. Change its mode, or choose another path.")


def test_an_output_that_is_also_an_input_is_refused(tmp_path):
    """By whatever name; inputs that are not there are no matter."""
    data = tmp_path / "x.csv"
    data.write_text("a,b\n")
    names = [data, str(data), tmp_path / "." / "x.csv", tmp_path / "no" / ".." / "x.csv"]
    if os.name == "posix":
        (tmp_path / "link").symlink_to("x.csv")
        os.link(data, tmp_path / "twin")
        names += [tmp_path / "link", tmp_path / "twin"]
    (tmp_path / "no").mkdir()
    for name in names:
        with pytest.raises(ValueError, match="it is also an input, which would be lost"):
            check_writable(name, [tmp_path / "missing.csv", data])
    check_writable(tmp_path / "new.fly", [data, "missing.csv", "rides/*.parquet"])
    check_writable(data)
    assert data.read_text() == "a,b\n"
