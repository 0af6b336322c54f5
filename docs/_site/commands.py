"""Write a page with every command and option, as ``--help`` tells them."""

from __future__ import annotations

from pathlib import Path

import click
import typer

from flybloom.cli.app import app

TOP = """# Commands

Every command with its options, written by `flybloom COMMAND --help`. Examples with what they print are on
[the page of the command line](command-line.md).
"""


def write(path: Path) -> None:
    """Write the page, unless it says the same already: then Sphinx need not read it again."""
    program = typer.main.get_command(app)
    context = click.Context(program, info_name="flybloom", max_content_width=100, terminal_width=100)
    parts = [TOP, _block(program.get_help(context))]
    for name in program.list_commands(context):
        command = program.get_command(context, name)
        inner = click.Context(command, parent=context, info_name=name, max_content_width=100, terminal_width=100)
        parts += [f"## {name}", _block(command.get_help(inner))]
    text = "\n\n".join(parts) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _block(text: str) -> str:
    """Return text as a block that is shown as it is."""
    return f"```text\n{text.rstrip()}\n```"
