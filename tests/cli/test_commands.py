"""The command line: what each command does to files, and how each failure ends."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import parquet
from sklearn.datasets import make_friedman1
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from typer.testing import CliRunner

import flybloom
from flybloom.cli import commands
from flybloom.cli.app import app
from flybloom.cli.errors import EXIT_CODES
from flybloom.cli.options import size
from laws.test_learning import assert_same_model

NAMES = sorted(path.stem for path in Path(commands.__path__[0]).glob("[a-z]*.py"))
DOCS = Path(__file__).parents[2] / "docs" / "command-line.md"
SIZES = ["--components", "200", "--winners", "8"]


def run(*arguments, code=0, **options):
    """Run the command line in this process, and return what it prints to stdout."""
    result = CliRunner().invoke(app, [*map(str, arguments)], **options)
    assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
    return result.stdout if code == 0 else result.stderr


@pytest.fixture
def frame(digits):
    """Digits as a table."""
    X, y = digits
    return pd.DataFrame(X, columns=[f"p{i}" for i in range(64)]).assign(label=y)


@pytest.fixture
def data(frame, tmp_path):
    """A Parquet file of Digits."""
    frame.to_parquet(tmp_path / "digits.parquet", row_group_size=500)
    return tmp_path / "digits.parquet"


@pytest.fixture
def model(data, tmp_path):
    """A model that was trained on the command line."""
    run("train", data, "-t", "label", "-o", tmp_path / "model.fly", *SIZES)
    return tmp_path / "model.fly"


def fitted(frame):
    """The model that the library makes of the same rows."""
    model = flybloom.FlyBloomClassifier(200, n_winners=8, random_state=0)
    return model.fit(frame.drop(columns="label"), frame["label"])


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_and_a_section_with_an_example(name):
    """Each option is explained; the page shows the command at work."""
    name = name.replace("_", "-")
    printed = run(name, "--help", env={"COLUMNS": "200"})
    assert f"flybloom {name}" in printed or "Usage" in printed
    for option in re.findall(r"^  (?:-\w, )?(--[\w-]+)(?: <[\w ]+>)?(.*)$", printed, re.MULTILINE):
        assert option[1].strip(), option
    section = DOCS.read_text().split(f"\n## {name}\n")[1].split("\n## ")[0]
    assert re.search(f"flybloom {name}\\b", section)


def test_help_imports_nothing_heavy():
    """So it answers at once."""
    code = """
import sys
from flybloom.cli import main
sys.argv = ["flybloom", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
heavy = {"numba", "numpy", "pandas", "pyarrow", "scipy", "sklearn", "safetensors"} & set(sys.modules)
assert not heavy, heavy
"""
    for arguments in (["--help"], ["train", "--help"], ["--version"]):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_a_missing_extra_says_how_to_install_it(tmp_path):
    """On stderr, with exit code 1."""
    for module in ("typer", "pyarrow"):
        code = f"""
import sys, importlib.util
sys.modules[{module!r}] = None
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == {module!r} else find(name, *rest)
from flybloom.cli import main
sys.argv = ["flybloom", "train", "x.csv", "--target", "y", "--output", "m.fly"]
open("x.csv", "w").write("a,y\\n1,2\\n")
main()
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 1
        assert "pip install 'flybloom[" in done.stderr
        assert "Traceback" not in done.stderr


def test_sizes_are_spelled_in_three_ways():
    """And nothing else."""
    assert [size(text, "--winners") for text in ("64", "10%", "auto")] == [64, 0.1, "auto"]
    assert size("20x", "--components", takes_multiple=True) == 20.0
    assert isinstance(size("20x", "--components", takes_multiple=True), float)
    assert "expected a number such as 64" in run("train", "a", "-t", "b", "-o", "c", "--winners", "many", code=2)
    assert "expected seconds such as 60s" in run("train", "a", "-t", "b", "-o", "c", "--every", "day", code=2)


def test_train_makes_the_model_of_fit(frame, model):
    """Bit for bit."""
    loaded = flybloom.load(model)
    assert_same_model(loaded, fitted(frame))
    assert loaded.feature_names_in_.tolist() == list(frame)[:-1]


def test_train_from_standard_input_takes_a_single_pass(frame, tmp_path):
    """Two passes are refused with the way out."""
    text = frame.to_csv(index=False)
    arguments = ["train", "-", "-t", "label", "-o", tmp_path / "m.fly", *SIZES]
    assert "--single-pass" in run(*arguments, input=text, code=3)
    printed = json.loads(run(*arguments, "--single-pass", "--json", input=text))
    assert printed["rows"] == 1797
    assert flybloom.load(tmp_path / "m.fly").class_count_.sum() == 1797


def test_train_can_be_resumed(data, model, tmp_path):
    """And ends with the same model; other settings are refused."""
    arguments = ["train", data, "-t", "label", "-o", tmp_path / "m.fly", *SIZES, "--checkpoint", tmp_path / "saved"]
    run(*arguments, "--every", "500")
    assert "earlier training" in run(*arguments, code=6)
    run(*arguments, "--resume")
    assert_same_model(flybloom.load(tmp_path / "m.fly"), flybloom.load(model))
    assert "random_state was '0' and is '1'" in run(*arguments, "--resume", "--seed", "1", code=6)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--components", "77"], "--components"),
        (["--seed", "5", "--encoding", "none"], "--encoding, --seed"),
        (["--winners", "5", "--connections", "9"], "--connections, --winners"),
        (["--unsigned"], "--unsigned"),
    ],
)
def test_what_like_fixes_cannot_be_given_beside_it(data, model, tmp_path, options, named):
    """Rather than being ignored; what only matters when scoring is taken."""
    like = ["train", data, "-t", "label", "-o", tmp_path / "new.fly", "--encoding-from", model]
    assert named in run(*like, *options, code=2, env={"COLUMNS": "300"})
    assert not (tmp_path / "new.fly").exists()
    run(*like, "--decay", "0.9", "--readout", "bayes")
    loaded = flybloom.load(tmp_path / "new.fly")
    assert (loaded.decay, loaded.readout_) == (0.9, "bayes")
    assert_same_model(loaded, flybloom.load(model))


@pytest.mark.parametrize(
    "options",
    [
        ["--resume"],
        ["--checkpoint", "saved"],
        ["--every", "9s"],
        ["--single-pass"],
        ["--block-rows", "64"],
        ["-j", "2"],
    ],
)
def test_what_a_cluster_does_not_do_cannot_be_asked_of_it(data, tmp_path, options):
    """Before there is any cluster."""
    train = ["train", data, "-t", "label", "-o", tmp_path / "new.fly", "--cluster", "nowhere:1"]
    named = "--jobs" if options[0] == "-j" else options[0]
    assert named in run(*train, *options, code=2, env={"COLUMNS": "300"})
    assert not (tmp_path / "new.fly").exists()


def test_equal_models_have_equal_files(data, model, tmp_path):
    """However many threads have learned them."""
    run("train", data, "-t", "label", "-o", tmp_path / "threads.fly", *SIZES, "-j", "2")
    assert (tmp_path / "threads.fly").read_bytes() == model.read_bytes()
    assert flybloom.load(model).n_jobs == 1


def test_learn_forget_and_merge_change_files_as_the_library_does(frame, data, model, tmp_path):
    """What is learned twice and forgotten once is the model again."""
    before = flybloom.load(model)
    run("learn", model, data, "-t", "label", "--block-rows", "500")
    assert_same_model(flybloom.load(model), before + before)
    printed = json.loads(run("forget", model, data, "-t", "label", "-o", tmp_path / "once.fly", "--json"))
    assert printed["rows_left"] == 1797
    assert_same_model(flybloom.load(tmp_path / "once.fly"), before)
    run("merge", tmp_path / "once.fly", tmp_path / "once.fly", "-o", tmp_path / "twice.fly")
    assert_same_model(flybloom.load(tmp_path / "twice.fly"), before + before)
    frame[:300].to_csv(tmp_path / "part.csv", index=False)
    run("train", tmp_path / "part.csv", "-t", "label", "-o", tmp_path / "part.fly", "--like", model)
    run("merge", tmp_path / "once.fly", tmp_path / "part.fly", "-o", tmp_path / "more.fly")
    once = fitted(frame)
    expected = once + once.like().partial_fit(frame[:300].drop(columns="label"), frame["label"][:300])
    assert_same_model(flybloom.load(tmp_path / "more.fly"), expected)


def test_predict_writes_what_the_library_predicts(frame, data, model, tmp_path):
    """As CSV to stdout and to a file, and as Parquet, with probabilities on request."""
    loaded = flybloom.load(model)
    X = frame.drop(columns="label")
    for suffix, read in (("csv", pd.read_csv), ("parquet", pd.read_parquet)):
        run("predict", model, data, "-o", tmp_path / f"out.{suffix}", "--probabilities", "--block-rows", "500")
        written = read(tmp_path / f"out.{suffix}")
        assert_array_equal(written["prediction"], loaded.predict(X))
        assert list(written)[1:] == [f"probability_{label}" for label in range(10)]
        assert_array_equal(written.iloc[:, 1:], loaded.predict_proba(X))
    assert run("predict", model, data).split() == ['"prediction"', *map(str, loaded.predict(X))]
    assert parquet.read_schema(tmp_path / "out.parquet").names[0] == "prediction"


def test_a_prediction_that_fails_leaves_no_file(frame, model, tmp_path):
    """Not even a part of one."""
    frame.assign(p3=np.where(frame.index > 1000, np.inf, 1)).to_csv(tmp_path / "bad.csv", index=False)
    before = set(tmp_path.iterdir())
    options = ["-o", tmp_path / "out.csv", "--block-rows", "400", "--strict"]
    assert "column 'p3' has" in run("predict", model, tmp_path / "bad.csv", *options, code=3)
    assert set(tmp_path.iterdir()) == before


def test_evaluate_agrees_with_scikit_learn(frame, data, model):
    """Accuracy, balanced accuracy, and what holds for each class; labels never met count as wrong."""
    predicted = flybloom.load(model).predict(frame.drop(columns="label"))
    printed = json.loads(run("evaluate", model, data, "-t", "label", "--json"))
    assert printed["accuracy"] == pytest.approx(accuracy_score(frame["label"], predicted))
    assert printed["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(frame["label"], predicted))
    assert sum(entry["rows"] for entry in printed["confusion"]) == 1797
    frame.assign(label=77).to_parquet(data)
    assert json.loads(run("evaluate", model, data, "-t", "label", "--json"))["accuracy"] == 0


def test_inspect_shows_models_hashes_and_checkpoints(model, tmp_path, data):
    """All of it as JSON as well."""
    printed = json.loads(run("inspect", model, "--json"))
    assert printed["rows"] == 1797
    assert printed["parameters"]["n_components"] == 200
    assert printed["bytes_on_disk"] == model.stat().st_size
    assert printed["bytes_in_memory"] == sum(flybloom.load(model).memory_usage().values())
    assert printed["bytes_for_another_million_rows"] == 0
    assert printed["feature_names"] == [f"p{i}" for i in range(64)]
    assert "p0, p1, p2" in run("inspect", model)
    flybloom.FlyHash(20, random_state=0).fit(np.eye(5)).save(tmp_path / "hash.fly")
    assert "FlyHash" in run("inspect", tmp_path / "hash.fly")
    run("train", data, "-t", "label", "-o", tmp_path / "m.fly", *SIZES, "--checkpoint", tmp_path / "saved")
    assert re.search("checkpoint after rows +1,797", run("inspect", tmp_path / "saved" / "checkpoint.fly"))


def test_tune_saves_the_best_model_of_the_search(frame, data, tmp_path):
    """The same scores and counts as the library's search, a picture, and a table."""
    (tmp_path / "grid.toml").write_text(
        "n_components = [100, 200]\nn_connections = [8]\nn_winners = [4, 8]\ndecay = [0.4]"
    )
    options = ["--grid", tmp_path / "grid.toml", "--cv", "3", "--picture", tmp_path / "heat.png", "--json"]
    found = json.loads(run("tune", data, "-t", "label", "-o", tmp_path / "best.fly", *options))
    search = flybloom.FlyBloomClassifierCV(
        [100, 200], n_connections=[8], n_winners=[4, 8], decay=[0.4], cv=3, random_state=0
    ).fit(frame.drop(columns="label"), frame["label"])
    assert found["best_score"] == search.best_score_
    assert found["settings"] == 4
    assert len(found["best"]) == 4
    assert_same_model(flybloom.load(tmp_path / "best.fly"), search.best_estimator_)
    assert (tmp_path / "heat.png").read_bytes().startswith(b"\x89PNG")


def test_class_weights_are_handed_on(frame, data, tmp_path):
    """By train, also with --like, and by tune."""
    X, y = frame.drop(columns="label"), frame["label"]
    run("train", data, "-t", "label", "-o", tmp_path / "even.fly", *SIZES, "--class-weight", "balanced")
    model = flybloom.load(tmp_path / "even.fly")
    assert model.class_weight == "balanced"
    run("train", data, "-t", "label", "-o", tmp_path / "plain.fly", *SIZES)
    plain = flybloom.load(tmp_path / "plain.fly")
    assert plain.class_weight is None
    np.testing.assert_array_equal(plain.set_params(class_weight="balanced").novelty(X), model.novelty(X))
    options = ["--like", tmp_path / "plain.fly", "--class-weight", "balanced"]
    run("train", data, "-t", "label", "-o", tmp_path / "like.fly", *options)
    np.testing.assert_array_equal(flybloom.load(tmp_path / "like.fly").novelty(X), model.novelty(X))
    (tmp_path / "grid.toml").write_text("n_components = [100]\nn_connections = [8]\nn_winners = [4, 8]\ndecay = [0.4]")
    options = ["--grid", tmp_path / "grid.toml", "--cv", "3", "--class-weight", "balanced", "--json"]
    found = json.loads(run("tune", data, "-t", "label", "-o", tmp_path / "best.fly", *options))
    search = flybloom.FlyBloomClassifierCV(
        [100], n_connections=[8], n_winners=[4, 8], decay=[0.4], cv=3, class_weight="balanced", random_state=0
    ).fit(X, y)
    assert found["best_score"] == search.best_score_
    assert flybloom.load(tmp_path / "best.fly").class_weight == "balanced"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--grid", "nowhere", "which is no file"),
        ("--grid", "bad.toml", "is not TOML"),
        ("--grid", "other.toml", "names m. Expected lists for n_components"),
        ("--cv", "many", "expected a number of folds such as 10, or loo"),
    ],
)
def test_tune_refuses_what_it_cannot_read(data, tmp_path, monkeypatch, option, value, message):
    """With the exit code of a wrong command line."""
    monkeypatch.chdir(tmp_path)
    Path("bad.toml").write_text("n_winners = [")
    Path("other.toml").write_text("m = [3]")
    assert message in run("tune", data, "-t", "label", "-o", "best.fly", option, value, code=2)


def test_report_writes_the_page_of_the_library(frame, data, model, tmp_path):
    """The page on stdout's word, the facts as JSON."""
    options = ["-t", "label", "-o", tmp_path / "page.html", "--image", "8x8"]
    found = json.loads(run("report", model, "--data", data, *options, "--json"))
    expected = (fitted(frame).predict(frame.drop(columns="label")) == frame["label"]).mean()
    assert found["scores"]["accuracy"] == expected
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "data:image/png" in page
    assert "expected height and width" in run("report", model, "--data", data, *options[:-1], "8", code=2)


def test_a_cluster_learns_and_predicts_the_same(frame, tmp_path, model):
    """On a cluster of this machine, from CSV."""
    frame.to_csv(tmp_path / "digits.csv", index=False)
    run("train", tmp_path / "digits.csv", "-t", "label", "-o", tmp_path / "c.fly", *SIZES, "--cluster", "local")
    assert_same_model(flybloom.load(tmp_path / "c.fly"), flybloom.load(model))
    alone = run("predict", model, tmp_path / "digits.csv")
    assert run("predict", model, tmp_path / "digits.csv", "--cluster", "local") == alone


def test_a_cluster_reads_what_is_read_without_one(tmp_path, rng):
    """Whole numbers, words that pandas takes for missing values, hidden and other files; and writes the same file."""
    rows = pd.DataFrame(2**55 + rng.integers(0, 50, (200, 4)), columns=list("abcd"))
    labelled = rows.assign(label=np.array(["NA", "None", "007", "7"])[np.arange(200) % 4])
    (tmp_path / "data").mkdir()
    labelled[:90].to_csv(tmp_path / "data" / "1.csv", index=False)
    labelled[90:].to_csv(tmp_path / "data" / "2.csv", index=False, sep=";")
    labelled.to_csv(tmp_path / "data" / "_old.csv", index=False)
    (tmp_path / "data" / "notes.txt").write_text("nothing")
    command = ["train", tmp_path / "data", "-t", "label", *SIZES, "--encoding", "none"]
    run(*command, "-o", tmp_path / "alone.fly")
    run(*command, "-o", tmp_path / "cluster.fly", "--cluster", "local")
    assert (tmp_path / "cluster.fly").read_bytes() == (tmp_path / "alone.fly").read_bytes()
    assert flybloom.load(tmp_path / "alone.fly").class_count_.tolist() == [50] * 4


def test_a_source_that_cannot_be_read_starts_no_cluster(tmp_path):
    """The sentence comes at once."""
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    printed = run("train", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "x.fly", "--cluster", "nowhere:1", code=3)
    assert "t.csv: the column 'y', the target, is not there" in printed


def test_failures_end_with_their_codes(data, model, tmp_path, frame):
    """And one sentence on stderr, which names what is wrong."""
    (tmp_path / "broken.fly").write_bytes(b"broken")
    other = tmp_path / "other.fly"
    run("train", data, "-t", "label", "-o", other, *SIZES, "--seed", "5")
    frame.assign(label="three").to_csv(tmp_path / "words.csv", index=False)
    frame.assign(label=3).to_csv(tmp_path / "threes.csv", index=False)
    flybloom.FlyHash(20, random_state=0).fit(np.eye(5)).save(tmp_path / "hash.fly")
    for code, message, arguments in [
        (3, "the column 'no', the target, is not there", ["train", data, "-t", "no", "-o", other]),
        (3, "There is no file", ["predict", model, "nowhere.csv"]),
        (2, "expected a name that ends in .csv", ["predict", model, data, "-o", tmp_path / "x.txt"]),
        (4, "is not a file that flybloom saved", ["inspect", tmp_path / "broken.fly"]),
        (4, "is a FlyHash. Expected a model that predicts", ["predict", tmp_path / "hash.fly", data]),
        (5, "seed_ (0 and 5)", ["merge", model, other, "-o", tmp_path / "x.fly"]),
        (5, "Cannot forget 1797 rows of class 3", ["forget", model, tmp_path / "threes.csv", "-t", "label"]),
        (4, "There is no model file", ["inspect", tmp_path / "none.fly"]),
        (2, "Invalid value for '--decay'", ["train", data, "-t", "label", "-o", other, "--decay", "7"]),
        (2, "Invalid value for '--readout'", ["train", data, "-t", "label", "-o", other, "--readout", "tea"]),
        (2, "'balanced'", ["train", data, "-t", "label", "-o", other, "--class-weight", "x"]),
        (3, "words.csv, rows 0-1796: The labels in y are", ["evaluate", model, tmp_path / "words.csv", "-t", "label"]),
        (2, "Missing option", ["train", data]),
    ]:
        printed = run(*arguments, code=code)
        assert message in printed
        assert "Traceback" not in printed


def test_debug_shows_where_an_error_came_from(tmp_path):
    """For whoever wants to report it."""
    printed = run("--debug", "inspect", tmp_path / "none.fly", code=4)
    assert "Traceback" in printed
    assert "There is no model file" in printed


def test_exit_codes_are_documented():
    """All of them, in the table of the page."""
    table = re.findall(r"^\| (\d+) \|", DOCS.read_text(), re.MULTILINE)
    assert {int(code) for code in table} == {0, 2, *EXIT_CODES.values()}


def test_the_default_block_size_is_that_of_the_library():
    """It is written twice, because the command line must not import the library for its help."""
    from flybloom.cli.options import AS_FOUND  # noqa: PLC0415

    assert inspect.signature(flybloom.read_blocks).parameters["block_rows"].default == AS_FOUND.block_rows


def test_numbers_are_learned_predicted_and_audited(tmp_path):
    """With --kind regression; what only labels have is refused."""
    X, y = make_friedman1(400, noise=0.5, random_state=0)
    table = pd.DataFrame(X, columns=[f"c{i}" for i in range(10)]).assign(y=y)
    table[:300].to_csv(tmp_path / "old.csv", index=False)
    table[300:].to_csv(tmp_path / "new.csv", index=False)
    model, old, new = (str(tmp_path / name) for name in ("model.fly", "old.csv", "new.csv"))
    run("train", old, "--target", "y", "--output", model, "--kind", "regression")
    found = json.loads(run("evaluate", model, new, "--target", "y", "--json"))
    expected = flybloom.FlyRidgeRegressor(random_state=0).fit(table.iloc[:300, :10], y[:300])
    assert found["r2"] == pytest.approx(expected.score(table.iloc[300:, :10], y[300:]), abs=1e-3)
    predicted = np.array(run("predict", model, new).split()[1:], float)
    assert_allclose(predicted, expected.predict(table.iloc[300:, :10]), rtol=1e-6)
    assert json.loads(run("audit", model, old, "--target", "y", "--json"))["suspicious"][0]["distance"] > 3
    run("predict", model, new, "--scores", code=2)
    run("evaluate", model, new, "-t", "y", "--test-then-train", code=2)
