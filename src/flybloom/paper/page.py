"""Pages of results: HTML, and Markdown for the repository."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from flybloom._internal.atomic_write import atomic_write
from flybloom._internal.html_page import render_page
from flybloom.paper.profile import caution
from flybloom.paper.registry import EXPERIMENTS
from flybloom.paper.run import RESULT
from flybloom.paper.work import processor_seconds

VERDICTS = {"yes": "yes", "noise": "within noise", "no": "**no**"}
MAX_ROWS = 20  # a longer table is folded away
HEAD = """\
# The paper, reproduced

Each part of *Neural Neighborhood Encoding for Classification* (Sinha and Ram), made by the command beside it: the
paper's figures, those of its method here, and how far this library gets beyond. This file and `index.html`, one page
with all figures and tables, are written by `flybloom reproduce`. `result.json` and `raw.json` in each folder have the
numbers with settings, seeds and versions.
""".splitlines()


def write_page(folder: Path, profile: str = "quick") -> Path:
    """Write the results of all experiments of a folder as a self-contained ``index.html`` and ``README.md``.

    Parameters
    ----------
    folder : Path
        Holds a folder for each experiment that was run.
    profile : str, default="quick"
        The profile that it was run with, for the commands on the page.

    Returns
    -------
    Path
        The page.
    """
    parts = read_parts(folder)
    folder.mkdir(parents=True, exist_ok=True)
    atomic_write(folder / "README.md", markdown(parts, profile))
    page = folder / "index.html"
    atomic_write(page, html(parts, folder, profile))
    return page


def read_parts(folder: Path) -> list[dict[str, Any]]:
    """Return the experiments with results, in the order of the paper."""
    return [
        json.loads((folder / name / RESULT).read_text(encoding="utf-8"))
        | {"experiment": experiment, "minutes": processor_seconds(folder / name) / 60}
        for name, experiment in EXPERIMENTS.items()
        if (folder / name / RESULT).exists()
    ]


def html(parts: list[dict[str, Any]], folder: Path, profile: str) -> str:
    """Return the HTML page with embedded figures."""

    def picture(part: dict[str, Any], name: str) -> str:
        return _data_uri(folder / part["experiment"].name / f"{name}.png")

    context = {
        "parts": parts,
        "profile": profile,
        "caution": caution(profile),
        "max_rows": MAX_ROWS,
        "together": together(parts),
        "held_of": held_of,
        "verdict_of": verdict_of,
        "picture": picture,
    }
    return render_page("flybloom.paper", "paper", context, (cell,))


def _data_uri(path: Path) -> str:
    """Return a figure as a data URL."""
    return "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()


def markdown(parts: list[dict[str, Any]], profile: str) -> str:
    """Return the page as Markdown with linked figures, without long tables."""
    said = caution(profile)
    lines = [
        *HEAD,
        *(["", f"**{said}**"] if said else []),
        "",
        "| in the paper | command | minutes of one core | its statements that hold | goals beyond it reached |",
        "|---|---|---:|---|---|",
    ]
    for part in parts:
        experiment = part["experiment"]
        held, reached = held_of(part["checks"])
        lines.append(
            f"| {', '.join(experiment.items)} | `flybloom reproduce {experiment.name} --profile {profile}` "
            f"| {part['minutes']:.0f} | [{held}](#{experiment.name}) | {reached} |"
        )
    lines += ["", f"Together {together(parts)}."]
    for part in parts:
        lines += _markdown_part(part)
    return "\n".join(lines) + "\n"


def together(parts: list[dict[str, Any]]) -> str:
    """Return the total time of all experiments."""
    minutes = sum(part["minutes"] for part in parts)
    return f"{minutes:.0f} minutes of one core, {minutes / 60:.1f} hours; with --jobs 2 two cores share them"


def _markdown_part(part: dict[str, Any]) -> list[str]:
    """Return the lines of one experiment."""
    experiment = part["experiment"]
    lines = ["", f'<a id="{experiment.name}"></a>', "", f"## {experiment.title} ({', '.join(experiment.items)})", ""]
    lines += [experiment.explanation, ""]
    lines += [f"![{experiment.title}]({experiment.name}/{name}.png)" for name in part["figures"]]
    if part["checks"]:
        header = ["statement", "paper", "here", "holds", "note"]
        rows = [[c["claim"], c["theirs"], c["ours"], VERDICTS[verdict_of(c)], c["note"]] for c in part["checks"]]
        lines += ["", *_markdown_table(header, rows)]
    for table in part["tables"]:
        if len(table["rows"]) <= MAX_ROWS:
            lines += ["", f"**{table['title']}**", "", *_markdown_table(table["header"], table["rows"])]
    return lines


def _markdown_table(header: list[str], rows: list[list[Any]]) -> list[str]:
    """Return the lines of a table."""
    lines = [header, ["---"] * len(header), *([cell(value) for value in row] for row in rows)]
    return ["| " + " | ".join(str(value).replace("|", "\\|") for value in line) + " |" for line in lines]


def verdict_of(check: dict[str, Any]) -> str:
    """Return the outcome of a check: yes, within noise, or no."""
    return "yes" if check["holds"] else "noise" if check.get("within_noise") else "no"


def held_of(checks: list[dict[str, Any]]) -> tuple[str, str]:
    """Return the numbers of the paper's statements that hold and of this library's goals that are reached."""
    papers = [verdict_of(check) for check in checks if check["theirs"] != "-"]
    own = [verdict_of(check) for check in checks if check["theirs"] == "-"]
    return _counted(papers) or "nothing to check", _counted(own)


def _counted(verdicts: list[str]) -> str:
    """Return the number of checks that hold and of those within noise."""
    if not verdicts:
        return ""
    held = f"{verdicts.count('yes')} of {len(verdicts)}"
    return f"{held}, {verdicts.count('noise')} within noise" if "noise" in verdicts else held


def cell(value: Any) -> str:
    """Format a value; None is empty."""
    return "" if value is None else str(value)
