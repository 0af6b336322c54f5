"""The commands that write pages: they fail before they work, and print what fits."""

import json
import os
import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

import flybloom
from flybloom.cli.app import app
from flybloom.cli.commands import reproduce
from flybloom.paper.experiment import Check, Summary

WRONG_TIME = "started to work"


def run(*arguments, code=0):
    """Run the command line in this process, and return what it prints."""
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
    return result.stdout if code == 0 else result.stderr


@pytest.fixture
def files(tmp_path, digits, monkeypatch):
    """A model and rows to test it with, in the folder where the command runs."""
    X, y = digits
    monkeypatch.chdir(tmp_path)
    flybloom.FlyBloomClassifier(256, n_winners=8, random_state=0).fit(X[:300], y[:300]).save("model.fly")
    pd.DataFrame(X[300:400]).assign(label=y[300:400]).to_csv("rows.csv", index=False)
    return tmp_path


@pytest.fixture
def idle(monkeypatch):
    """Fails if a command gets as far as working."""

    def fail(*_, **__):
        raise AssertionError(WRONG_TIME)

    monkeypatch.setattr("flybloom.cli.commands.report.load_classifier", fail)
    monkeypatch.setattr("flybloom.paper.run.run_units", fail)


@pytest.mark.usefixtures("files", "idle")
def test_report_without_its_extra_is_one_sentence(monkeypatch):
    """Before the model is loaded."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    said = run("report", "model.fly", "--data", "rows.csv", "-t", "label", code=1)
    assert said == (
        "Error: flybloom report needs jinja2, which is not installed. Run: pip install 'flybloom[report]'\n"
    )


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("no/page.html", "there is no folder no"),
        (".", "it is a folder"),
        ("model.fly", "it is also an input"),
        pytest.param("/dev/null", "it is a device", marks=pytest.mark.skipif(os.name != "posix", reason="a device")),
    ],
)
def test_report_refuses_an_output_before_it_works(files, output, said):
    """And leaves what is there."""
    before = (files / "model.fly").read_bytes()
    assert said in run("report", "model.fly", "--data", "rows.csv", "-t", "label", "-o", output, code=1)
    assert (files / "model.fly").read_bytes() == before


@pytest.mark.parametrize("source", ["rows.csv", ".", "*.csv"])
def test_report_does_not_overwrite_the_rows(files, source):
    """However they are named."""
    before = (files / "rows.csv").read_bytes()
    said = run("report", "model.fly", "--data", source, "-t", "label", "-o", "rows.csv", code=1)
    assert "it is also an input, which would be lost" in said
    assert (files / "rows.csv").read_bytes() == before


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("module", ["matplotlib", "jinja2"])
def test_reproduce_without_its_extra_does_not_start(tmp_path, monkeypatch, module):
    """No experiment runs, and no folder is made."""
    monkeypatch.setitem(sys.modules, module, None)
    said = run("reproduce", "all", "--output", tmp_path / "out", code=1)
    assert said == (
        f"Error: Reproducing the paper needs {module}, which is not installed. Run: pip install 'flybloom[paper]'\n"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("idle")
def test_the_authors_search_is_asked_for_where_a_profile_needs_it(tmp_path, monkeypatch):
    """The profile full does, in tables within tables; quick does not."""
    monkeypatch.setitem(sys.modules, "skopt", None)
    for item in ("synthetic", "openml", "vision"):
        said = run("reproduce", item, "--profile", "full", "--output", tmp_path / "out", code=1)
        assert "needs skopt" in said
    assert WRONG_TIME in run("reproduce", "synthetic", "--output", tmp_path, code=1)


@pytest.mark.usefixtures("idle")
def test_reproduce_refuses_a_folder_that_is_a_file(tmp_path):
    """Before it works."""
    (tmp_path / "out").touch()
    assert "exists" in run("reproduce", "agreement", "--output", tmp_path / "out", code=1)


def test_the_table_of_reproduce_fits_and_says_how_far_to_trust_it(tmp_path, monkeypatch):
    """100 columns, however long the statements are; whole words; and no doubt about what quick is worth."""
    long = Check("a claim of " + "many words " * 12, "binary-100-20 " * 4, "spread 0.030 to 0.093, " * 3, holds=False)
    checks = {"similarity": [], "vision": [Check("short", "1", "2", holds=True), long]}
    monkeypatch.setattr("flybloom.paper.run_experiment", lambda one, *_, **__: Summary(checks=checks[one.name]))
    printed = run("reproduce", "vision", "--output", tmp_path).removeprefix(f"page     {tmp_path}")
    lines = printed.splitlines()
    assert max(map(len, lines[1:])) <= reproduce.WIDTH == 100
    assert printed.count("binary-100-20") == 4
    assert printed.count("words") == 12
    assert lines[-1].startswith("The profile quick is too small to judge the paper by")
    assert "hold     1\n" in printed
    nothing = run("reproduce", "similarity", "--output", tmp_path)
    assert "hold     -\n" in nothing
    told = json.loads(run("reproduce", "vision", "--output", tmp_path, "--json"))
    assert told["caution"] == lines[-1]
    assert [outcome["holds"] for outcome in told["outcomes"]] == [True, False]
    monkeypatch.setattr("flybloom.paper.read_profile", lambda _: {"vision": {}})
    assert "too small" not in run("reproduce", "vision", "--profile", "standard", "--output", tmp_path)


def test_an_item_that_the_profile_lacks_is_refused(tmp_path):
    """As a wrong option."""
    profile = tmp_path / "mine.toml"
    profile.write_text("[noise]\n")
    said = run("reproduce", "vision", "--profile", profile, code=2)
    assert "has no table [vision]. It has noise" in " ".join(said.replace("│", " ").split())
    assert list(reproduce._settings("all", str(profile))) == ["noise"]
