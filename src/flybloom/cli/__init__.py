"""The command line: parse, call the library, print. One file for each command in `commands`.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys

NEEDED = ("typer", "rich", "click")


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    try:
        from flybloom.cli.app import app  # noqa: PLC0415 - needs an extra
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        sys.stderr.write(
            f"flybloom's command line needs {error.name}, which is not installed. Run: pip install 'flybloom[cli]'\n"
        )
        sys.exit(1)
    app()
