"""Tables in the documentation: what the README says is what was measured."""

import importlib
import json
import shutil
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]


@pytest.fixture
def table(monkeypatch):
    """The script that writes the tables."""
    if not (PROJECT / "benchmarks" / "table.py").exists():
        pytest.skip("a source distribution has no benchmarks")
    monkeypatch.setattr(sys, "path", [str(PROJECT / "benchmarks"), *sys.path])
    module = importlib.import_module("table")
    yield module
    for name in [name for name in sys.modules if name == "table" or name.split(".")[0] == "peers"]:
        del sys.modules[name]


@pytest.fixture
def results(tmp_path):
    """A folder with the results of a small comparison."""
    fly = {
        "fit_seconds": 2.0,
        "predict_us": 40.0,
        "accuracy": 0.9451,
        "bytes": 1_000_000,
        "deflated_bytes": 250_000,
        "peak_mb": 8.0,
        "rows": 60_000,
        "queries": 10_000,
        "skills": ["one pass", "merge", "forget"],
    }
    knn = {**fly, "fit_seconds": 0.5, "predict_us": 2000.0, "accuracy": 0.966, "queries": 2000, "skills": []}
    sets = {"float32_bytes": 188_000_000, "stored_bytes": 47_000_000}
    sets["contestants"] = {"flybloom, 64 d, s = 24": fly, "kNN, brute": {**knn, "bytes": 188_000_000}}
    machine = {"processor": "P", "cores": 2, "python": "3.14", "versions": {"numpy": "2.4", "river": None}}
    (tmp_path / "classify.json").write_text(json.dumps({"machine": machine, "result": {"mnist": sets}}))
    return tmp_path


def test_pages_say_what_the_results_say(table):
    """Making the tables anew changes nothing, and each page has some."""
    for page in table.PAGES:
        text = page.read_text()
        assert table.BLOCK.search(text)
        assert table.filled(text) == text, f"run scripts/bench table: {page.name} is out of date"


def test_every_table_is_on_a_page(table):
    """And every mark is closed, and names a table that exists."""
    texts = [page.read_text() for page in table.PAGES]
    named = [match[2] for text in texts for match in table.BLOCK.finditer(text)]
    assert sorted(named) == sorted(table.TABLES)
    assert sum(text.count("<!-- scripts/bench table:") for text in texts) == len(named)


def test_ratios_follow_from_the_results(table, results):
    """Computed by hand: 2000 / 40 us, 188 MB / 1 MB, 47 MB / 0.25 MB."""
    claims = table.table("claims", results)
    assert "| predict: kNN, brute over flybloom | 25 x | 50.0 x |" in claims
    assert "| training rows as float32 over the saved model | 100 x | 188 x |" in claims
    assert "| training rows as bytes over the saved model after zlib |  | 188 x |" in claims
    assert "hnswlib" not in claims, "what was not measured is left out"
    assert "| kNN, brute | 0.966 | 0.50 | 2000 | 188 |  |" in table.table("summary", results)
    assert table.table("machine", results) == "P, 2 cores; Python 3.14; numpy 2.4."


def test_who_is_better_is_not_hidden(table, results):
    """A peer that is more accurate is named, in the column that its speed puts it in."""
    line = "| mnist | flybloom, 64 d, s = 24: 0.945, 40.0 us | {} | {} |"
    knn = "kNN, brute: 0.966, {} us"
    assert line.format("none", knn.format("2000")) in table.table("better", results)
    path = results / "classify.json"
    path.write_text(path.read_text().replace('"predict_us": 2000.0', '"predict_us": 4.0'))
    assert line.format(knn.format("4.00"), "none") in table.table("better", results)


def test_a_page_follows_the_results(table, results):
    """Between the marks everything is replaced; the text around them stays."""
    page = "before\n<!-- scripts/bench table: summary -->\nold\n<!-- end of table -->\nafter\n"
    now = table.filled(page, results)
    assert now.startswith("before\n<!-- scripts/bench table: summary -->\n\n| MNIST")
    assert now.endswith("|\n\n<!-- end of table -->\nafter\n")
    assert "old" not in now
    assert table.filled(now, results) == now
    shutil.rmtree(results)
    assert table.NOT_MEASURED in table.filled(now, results)


def test_an_unknown_table_is_refused(table):
    """With the names of those that exist."""
    with pytest.raises(ValueError, match=r"A table must be one of summary, .* Got 'nothing' instead"):
        table.table("nothing")
