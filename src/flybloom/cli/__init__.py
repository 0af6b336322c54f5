"""The command line: parse, call the library, print. One file for each command in `commands`.

Heavy modules are imported only when a command runs, so that ``--help`` is fast.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from pathlib import Path

from flybloom.exceptions import require_extra

INTERRUPTED = 130  # the exit code that shells give to what was stopped with Ctrl-C

NEW_OBJECTS = 200_000  # between two looks for garbage in cycles: imports make none, and looking takes an eighth of them

closed: set[str] = set()
"""Which of the standard streams were closed when we were started."""


def main() -> None:
    """Run the command line, or print how to install missing packages."""
    _replace_closed_streams()
    gc.set_threshold(NEW_OBJECTS)
    atexit.register(gc.freeze)  # nor look once more at the end
    try:
        for module in ("typer", "rich"):
            require_extra(module, "cli", "flybloom's command line")
    except ModuleNotFoundError as error:
        sys.exit(str(error))  # prints it to stderr, and ends with 1
    try:
        from flybloom.cli.app import app  # noqa: PLC0415 - needs the extra
        from flybloom.cli.errors import raise_at_sigterm  # noqa: PLC0415
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    raise_at_sigterm()
    app()


def _replace_closed_streams() -> None:
    """Redirect closed standard streams to the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            closed.add(name)
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - until we end
