"""The history of benchmarks: what the page shows is what asv wrote."""

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import flybloom

ROOT = Path(__file__).parents[1]
SPEC = spec_from_file_location("history_table", ROOT / "benchmarks" / "history_table.py")
history_table = module_from_spec(SPEC)
SPEC.loader.exec_module(history_table)


def test_the_table_is_that_of_the_results():
    """`scripts/bench history_table` writes it; by hand it would differ."""
    page = (ROOT / "docs" / "benchmarks" / "history.md").read_text(encoding="utf-8")
    assert page.split(history_table.BEGIN)[1].split(history_table.END)[0].strip() == history_table.table().strip()


def test_this_version_has_been_measured():
    """And the one before, so that there is something to compare with; both are releases of the changelog."""
    versions = list(json.loads((history_table.RESULTS / "versions.json").read_text()))
    released = re.findall(r"^## (\d\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert versions == released[::-1]
    assert versions[-1] == flybloom.__version__


def test_results_in_words():
    """Three digits, and a dash for what a version does not have."""
    times = [history_table.in_words(value, "seconds") for value in (None, float("nan"), 12.345, 0.0123, 0.0000421)]
    assert times == ["-", "-", "12.3 s", "12.3 ms", "42 us"]
    assert history_table.in_words(1.31e6, "bytes") == "1.31 MB"
    assert history_table.in_words(0.98765, "accuracy") == "0.988"
