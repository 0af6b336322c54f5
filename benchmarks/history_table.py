"""Write the table of docs/benchmarks/history.md from what asv measured in each version.

    scripts/bench history run --machine NAME "COMMIT^!"     # for each version; then enter it in versions.json
    scripts/bench history_table

`benchmarks/results/history` holds the results of one machine, and `versions.json` there says which commit is which
version. What a version does not have, asv leaves out, and the table has a dash.
"""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[1]
RESULTS = PROJECT / "benchmarks" / "results" / "history"
PAGE = PROJECT / "docs" / "benchmarks" / "history.md"
BEGIN, END = "<!-- scripts/bench history_table -->\n", "<!-- end of table -->\n"
KINDS = {"timeraw_": "", "time_": "", "peakmem_": "peak memory, ", "track_": ""}  # what names of asv begin with


def in_words(value: float | None, unit: str) -> str:
    """Return a result with three digits, in the unit that people read."""
    if value is None or math.isnan(value):
        return "-"
    if unit == "seconds":
        return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms" if value >= 1e-3 else f"{1e6 * value:.0f} us"
    return f"{value / 1e6:.3g} MB" if unit == "bytes" else f"{value:.3f}"


def results_of(commit: str) -> dict[str, Any]:
    """Return what was measured of a commit, by the name of the benchmark."""
    found = [path for path in RESULTS.glob("*/*.json") if path.name.startswith(commit[:8])]
    if len(found) != 1:
        msg = f"Expected one file of results of {commit[:8]} in {RESULTS}. Got {len(found)}. Run asv for it."
        raise SystemExit(msg)
    return json.loads(found[0].read_text())["results"]


def cells(results: dict[str, Any], name: str) -> dict[tuple[str, ...], float | None]:
    """Return the results of one benchmark by its parameters."""
    values, parameters = results[name][:2] if name in results else (None, [])
    settings = [tuple(part.strip("'") for part in setting) for setting in itertools.product(*parameters)]
    return dict(zip(settings, values or [None] * len(settings), strict=True))


def table() -> str:
    """Return a line for each benchmark and setting, with a column for each version and the ratio of the last two."""
    versions = json.loads((RESULTS / "versions.json").read_text())
    benchmarks = json.loads((RESULTS / "benchmarks.json").read_text())
    measured = {version: results_of(commit) for version, commit in versions.items()}
    lines = ["| | | " + " | ".join(versions) + " | ratio |", "|---|---|" + "---:|" * (len(versions) + 1)]
    for name, benchmark in benchmarks.items():
        if name == "version":
            continue
        group, what = name.rsplit(".", 2)[1:]
        kind = next(kind for kind in KINDS if what.startswith(kind))
        what = KINDS[kind] + what.removeprefix(kind).replace("_", " ")
        columns = [cells(results, name) for results in measured.values()]
        for setting in dict.fromkeys(itertools.chain.from_iterable(columns)):
            values = [column.get(setting) for column in columns]
            said = ", ".join(
                f"{value} {parameter}" for parameter, value in zip(benchmark["param_names"], setting, strict=True)
            )
            shown = [in_words(value, benchmark["unit"]) for value in values]
            before, after = values[-2:]
            ratio = f"{after / before:.2f}" if "-" not in shown[-2:] and before else "-"
            lines.append(f"| {group}: {what} | {said} | {' | '.join(shown)} | {ratio} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Put the table where the page has it."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
