"""What is said of the paper in README.md is what the committed results say."""

import re
from pathlib import Path

import pytest

from flybloom.paper.page import held_of, read_parts, verdict_of

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "paper"

pytestmark = pytest.mark.skipif(not RESULTS.exists(), reason="needs a checkout with paper/")


def rows_of(text):
    """Return the cells of all rows of Markdown tables."""
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:1] == "|"]


@pytest.mark.parametrize(
    "part", read_parts(RESULTS) if RESULTS.exists() else [], ids=lambda part: part["experiment"].name
)
def test_readme_counts_what_holds(part):
    """As many statements and goals as in the results, and a reason wherever one does not hold."""
    wanted = ", ".join(part["experiment"].items)
    [row] = [row for row in rows_of((ROOT / "README.md").read_text()) if row[0] == wanted]
    held, reached = held_of(part["checks"])
    assert [re.sub(r"\[(.*)\]\(.*\)", r"\1", row[1]), row[2]] == [held, reached]
    misses = any(verdict_of(check) == "no" for check in part["checks"])
    assert bool(row[3]) or not misses
