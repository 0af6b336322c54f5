"""What each rule is worth: the page shows what was measured."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def rules(monkeypatch):
    """The benchmark, which imports others of its folder."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    spec = spec_from_file_location("rules", ROOT / "benchmarks" / "rules.py")
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "rules", module)  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


def test_the_page_is_that_of_the_results(rules):
    """`scripts/bench rules page` writes it; by hand it would differ."""
    results = rules.json.loads(rules.RESULTS.read_text())
    assert rules.PAGE.read_text(encoding="utf-8") == rules.page(results)


def test_what_rules_replace_is_there(rules):
    """A rule whose constant was renamed would seem to be worth nothing."""
    for name, rule in rules.RULES.items():
        assert rule.replaced or rule.asked, name
        for owner, constant, value in rule.replaced:
            assert getattr(owner, constant) != value, (name, constant)
