"""The page and the Markdown file show what the results say."""

import json
from dataclasses import asdict

import pytest

from flybloom.paper import EXPERIMENTS, experiments_of, read_profile, write_page
from flybloom.paper.charts import new_figure
from flybloom.paper.experiment import Check, Summary, Table
from flybloom.paper.page import markdown, read_parts


@pytest.fixture
def folder(tmp_path):
    """Results of one experiment, as a run leaves them."""
    summary = Summary(
        tables=[
            Table("Short <b>", ["method", "theirs"], [["a|b", None], ["c", 0.5]]),
            Table("Long", ["n"], [[i] for i in range(30)]),
        ],
        checks=[
            Check("it <rises>", "1", "2", holds=True),
            Check("it falls", "1", "3", holds=False, note="too few rows"),
            Check("it nearly flies", "1", "0.9", holds=False, within_noise=True),
            Check("it sings", "-", "loudly", holds=True),
        ],
    )
    description = {"experiment": "vision", "figures": ["vision"], "settings": {}, "environment": {"numpy": "2"}}
    (tmp_path / "vision").mkdir()
    (tmp_path / "vision" / "result.json").write_text(json.dumps({**description, **asdict(summary)}))
    units = {key: {"seconds": {"processor": seconds}} for key, seconds in (("a", 60), ("b", 84))}
    (tmp_path / "vision" / "raw.json").write_text(json.dumps(units))
    new_figure()[0].savefig(tmp_path / "vision" / "vision.png")
    return tmp_path


def test_the_page_is_whole_and_escaped(folder):
    """Figures are inside the file, and nothing of a table becomes markup."""
    page = write_page(folder, "standard").read_text()
    assert page.count("data:image/png;base64,") == 1
    assert "Short &lt;b&gt;" in page
    assert "it &lt;rises&gt;" in page
    assert "<td>1 of 3, 1 within noise</td><td>1 of 1</td>" in page
    assert "<details>" in page  # the long table
    assert "<script" not in page


def test_markdown_shows_what_does_not_hold(folder):
    """The command, how long it takes, the failed check with its note, and only short tables."""
    text = markdown(read_parts(folder), "standard")
    assert (
        "| Table 1 | `flybloom reproduce vision --profile standard` | 2 | [1 of 3, 1 within noise](#vision) | 1 of 1 |"
        in text
    )
    assert "Together 2 minutes of one core, 0.0 hours" in text
    assert "| it falls | 1 | 3 | **no** | too few rows |" in text
    assert "a\\|b" in text
    assert "Long" not in text


def test_where_nothing_could_be_checked_the_page_says_so(folder):
    """In words; and that the profile quick is too small to judge by."""
    result = json.loads((folder / "vision" / "result.json").read_text())
    (folder / "vision" / "result.json").write_text(json.dumps({**result, "checks": []}))
    for profile, is_small in (("quick", True), ("standard", False)):
        page = write_page(folder, profile).read_text()
        for text in (page, (folder / "README.md").read_text()):
            assert "nothing to check" in text
            assert "0 of 0" not in text
            assert ("too small to judge the paper by" in text) is is_small


def test_every_profile_has_settings_for_every_experiment():
    """So that `flybloom reproduce all` leaves nothing out."""
    for profile in ("quick", "standard", "full"):
        assert set(read_profile(profile)) == set(EXPERIMENTS)


def test_every_figure_and_table_of_the_paper_has_an_experiment():
    """By its name in the paper; Figure 1 is a drawing."""
    for item in ("Table 1", "figure-2a", "figure-2d", "Figure 3", "figure 4", "figure-s1", "Figure S4"):
        assert len(experiments_of(item)) == 1
    assert experiments_of("all") == list(EXPERIMENTS)
    with pytest.raises(ValueError, match=r"An item must be all, one of hyperparameters.*Got 'figure-9' instead"):
        experiments_of("figure-9")


@pytest.mark.parametrize(("text", "problem"), [("a = [", "is not TOML"), ("a = 1", "must hold nothing but tables")])
def test_a_profile_that_is_none_is_refused(tmp_path, text, problem):
    """With what was expected."""
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=problem):
        read_profile(str(path))
    with pytest.raises(ValueError, match="A profile must be quick, standard, full, or a TOML file"):
        read_profile("fast")
