"""The command line: parse, call the library, print. One file for each command in `commands`.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys

from flybloom.exceptions import require_extra


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    try:
        for module in ("typer", "rich"):
            require_extra(module, "cli", "flybloom's command line")
    except ModuleNotFoundError as error:
        sys.exit(str(error))  # prints it to stderr, and ends with 1

    from flybloom.cli.app import app  # noqa: PLC0415 - needs the extra

    app()
