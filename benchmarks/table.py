"""Write the tables of README.md and docs/benchmarks/peers.md, and their picture, from what benchmarks/results holds.

A table stands between two comments, the first of which names it: everything between them is replaced.

    python benchmarks/table.py
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from peers import tables

PROJECT = Path(__file__).resolve().parents[1]
RESULTS = PROJECT / "benchmarks" / "results"
PAGES = (PROJECT / "README.md", PROJECT / "docs" / "benchmarks" / "peers.md")
BLOCK = re.compile(r"(<!-- scripts/bench table: ([^>]*?) -->\n).*?(<!-- end of table -->)", re.DOTALL)
NOT_MEASURED = "Not measured yet: `scripts/bench peers` does it."
# by name: the file of results, the path of keys in it, and what makes text of what is there
TABLES = {
    "summary": ("classify", ["result", "mnist"], tables.summary_table),
    "machine": ("classify", ["machine"], tables.machine_line),
    "claims": ("classify", ["result", "mnist"], tables.claims_table),
    "better": ("classify", ["result"], tables.better_table),
    "skills": ("classify", ["result", "letter"], tables.skills_table),
    "tasks": ("class_incremental", ["result"], tables.tasks_table),
    **{
        f"classify {name}": ("classify", ["result", name], tables.classify_table)
        for name in ("mnist", "fashion_mnist", "letter", "stream")
    },
    **{
        f"{word} {name}": ("partial_fit", ["result", name], make)
        for name in ("stream", "mnist")
        for word, make in (("learning", tables.learning_table), ("latency", tables.latency_table))
    },
    **{f"tune {name}": ("tune_peers", ["result", name], tables.tune_table) for name in ("digits", "letter", "mnist")},
    "startup": ("startup", ["result"], tables.startup_table),
}


def table(name: str, folder: Path = RESULTS) -> str:
    """Return one table by name, made from a folder of results."""
    if name not in TABLES:
        msg = f"A table must be one of {', '.join(TABLES)}. Got {name!r} instead."
        raise ValueError(msg)
    file, keys, make = TABLES[name]
    path = folder / f"{file}.json"
    found: Any = json.loads(path.read_text()) if path.exists() else {}
    for key in keys:
        found = found.get(key, {})
    return make(found) if found else NOT_MEASURED


def filled(text: str, folder: Path = RESULTS) -> str:
    """Return a page with all its tables made anew."""
    return BLOCK.sub(lambda match: f"{match[1]}\n{table(match[2], folder)}\n\n{match[3]}", text)


def main() -> None:
    """Write the pages and the picture."""
    for page in PAGES:
        page.write_text(filled(page.read_text()))
        print(f"wrote {page.relative_to(PROJECT)}", file=sys.stderr)
    path = RESULTS / "classify.json"
    if path.exists():
        from peers.picture import draw  # noqa: PLC0415 - needs matplotlib, which the tables do not

        draw(json.loads(path.read_text())["result"], PROJECT / "docs" / "images" / "peers.png")


if __name__ == "__main__":
    main()
