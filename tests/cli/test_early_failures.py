"""What is wrong with a command line, an output or an installation is said before any work is done."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import flybloom
from flybloom.cli.app import app


def run(*arguments, code=0):
    """Run the command line in this process, and return what it prints."""
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
    return result.stdout if code == 0 else " ".join(result.stderr.split())


@pytest.fixture
def files(tmp_path, digits, monkeypatch):
    """Rows and a model of each kind, in the folder where commands run."""
    monkeypatch.chdir(tmp_path)
    X, y = digits
    frame = pd.DataFrame(X[:300, 20:30], columns=[f"p{i}" for i in range(10)])
    settings = {"n_components": 64, "n_winners": 4, "random_state": 0}
    flybloom.FlyBloomClassifier(**settings).fit(frame, y[:300]).save("model.fly")
    flybloom.FlyRidgeClassifier(**settings).fit(frame, y[:300]).save("pairs.fly")
    flybloom.FlyBloomNovelty(**settings).fit(frame).save("usual.fly")
    flybloom.OpenSetClassifier(flybloom.FlyBloomClassifier(**settings)).fit(frame, y[:300]).save("open.fly")
    grid = {"n_connections": [4], "n_winners": [4, 8], "decay": [0.4], "cv": 3, "random_state": 0}
    flybloom.FlyBloomClassifierCV([32], **grid).fit(frame, y[:300]).save("best.fly")
    frame.assign(label=y[:300]).to_csv("rows.csv", index=False)
    frame.assign(label=y[:300]).to_parquet("rows.parquet")
    return tmp_path


@pytest.fixture
def idle(monkeypatch):
    """Fails if a block of rows is read."""

    def fail(*_, **__):
        pytest.fail("started to work")

    monkeypatch.setattr("flybloom.blocks.source.Blocks.starting_at", fail)


TRAIN = ["train", "rows.csv", "-t", "label"]
WRONG_OPTIONS = [
    (["--decay", "2"], "'--decay'"),
    (["--readout", "tea"], "'--readout'"),
    (["--winners", "10x"], "--winners: expected a number such as 64, a share such as 10%, or auto. Got '10x'"),
    (["--winners", "100%"], "--winners: expected a number"),
    (["--components", "10%"], "--components: expected a number such as 64, a multiple such as 20x, or auto"),
    (["--connections", "0"], "--connections: expected a number"),
    (["--seed", "-1"], "'--seed'"),
    (["--jobs", "0"], "expected a number of threads"),
    (["--kind", "trees"], "'--kind'"),
    (["--kind", "pairs", "--decay", "0.5"], "--kind pairs does not go with --decay"),
    (["--kind", "pairs", "--readout", "bayes"], "--kind pairs does not go with --readout"),
    (["--alpha", "0.1"], "--kind classes does not go with --alpha"),
    (["--kind", "pairs", "--alpha", "0"], "--alpha: expected a number above 0"),
    (["--kind", "novelty"], "this model learns without labels. Leave out --target; --exclude"),
    (["--contamination", "0.1"], "--kind classes does not go with --contamination"),
    (["--class-weight", "even"], "'--class-weight'"),
    (["--every", "0"], "--every: expected seconds"),
    (["--every", "10s"], "--every needs --checkpoint"),
    (["--resume"], "--resume needs --checkpoint"),
    (["--delimiter", "ab"], "--delimiter: expected a single character"),
    (["--decimal", ";"], "--decimal: expected '.' or ','"),
    (["--file-encoding", "klingon"], "--file-encoding: expected an encoding that Python knows"),
    (["--exclude", "label"], "--exclude: expected columns that are not asked for elsewhere"),
    (["--label-type", "date"], "'--label-type'"),
    (["--like", "model.fly", "--seed", "3"], "--encoding-from does not go with --seed"),
    (["--like", "pairs.fly", "--decay", "0.3"], "a FlyRidgeClassifier does not go with --decay"),
    (["--block-rows", "0"], "'--block-rows'"),
]


@pytest.mark.usefixtures("files", "idle")
def test_wrong_options_of_train_exit_with_2():
    """Before a row is read; and the option is named."""
    for options, said in WRONG_OPTIONS:
        printed = run(*TRAIN, "-o", "m.fly", *options, code=2)
        assert said in printed, (options, printed)


@pytest.mark.usefixtures("files", "idle")
def test_wrong_options_of_others_exit_with_2():
    """Among them options that would be ignored."""
    Path("bad.toml").write_text("n_winners = [0]\n")
    for arguments, said in [
        (["predict", "model.fly", "rows.csv", "--json"], "--json: reports about a file"),
        (["predict", "model.fly", "rows.csv", "-o", "x.txt"], "expected a name that ends in .csv"),
        (["predict", "model.fly", "rows.parquet", "--delimiter", ";"], "--delimiter: is for CSV and TSV files"),
        (["predict", "model.fly", "rows.csv", "--exclude", "label"], "--exclude: this model finds its columns"),
        (["predict", "model.fly", "rows.csv", "--id", "p1"], "--id: expected neither the target nor a feature"),
        (["predict", "usual.fly", "rows.csv", "--probabilities"], "--probabilities: a FlyBloomNovelty has none"),
        (
            ["predict", "model.fly", "rows.csv", "--cluster", "local", "--jobs", "2"],
            "--cluster does not go with --jobs",
        ),
        (["learn", "usual.fly", "rows.csv", "-t", "label"], "this model learns without labels"),
        (["learn", "pairs.fly", "rows.csv"], "this model learns from labels"),
        (["tune", *TRAIN[1:], "-o", "m.fly", "--cv", "1"], "--cv: expected a number of folds"),
        (["tune", *TRAIN[1:], "-o", "m.fly", "--scoring", "beauty"], "--scoring: expected the name of a scikit-learn"),
        (["tune", *TRAIN[1:], "-o", "m.fly", "--grid", "bad.toml"], "--grid"),
        (["report", "model.fly", "-d", "rows.csv", "-t", "label", "--image", "0x8"], "--image: expected height"),
    ]:
        printed = run(*arguments, code=2)
        assert said in printed, (arguments, printed)


@pytest.mark.usefixtures("files", "idle")
@pytest.mark.parametrize(
    "command",
    [
        [*TRAIN, "-o"],
        ["learn", "model.fly", "rows.csv", "-t", "label", "-o"],
        ["forget", "model.fly", "rows.csv", "-t", "label", "-o"],
        ["predict", "model.fly", "rows.csv", "-o"],
        ["tune", *TRAIN[1:], "-o"],
        ["tune", *TRAIN[1:], "-o", "m.fly", "--picture"],
        ["merge", "model.fly", "model.fly", "-o"],
        ["report", "model.fly", "-d", "rows.csv", "-t", "label", "-o"],
        ["export", "pairs.fly", "-o"],
    ],
    ids=" ".join,
)
def test_outputs_are_checked_first(command):
    """A folder that is not there, and rows that would be overwritten."""
    assert "there is no folder no" in run(*command, "no/x.csv", code=1)
    if command[0] not in ("merge", "export"):
        assert "it is also an input, which would be lost" in run(*command, "rows.csv", code=1)


@pytest.mark.usefixtures("files", "idle")
@pytest.mark.parametrize(
    ("module", "extra", "command"),
    [
        ("pyarrow", "files", [*TRAIN, "-o", "m.fly"]),
        ("pyarrow", "files", ["predict", "model.fly", "rows.csv"]),
        ("pyarrow", "files", ["evaluate", "model.fly", "rows.csv", "-t", "label"]),
        ("jinja2", "report", ["report", "model.fly", "-d", "rows.csv", "-t", "label"]),
        ("matplotlib", "plots", ["tune", *TRAIN[1:], "-o", "m.fly", "--picture", "p.png"]),
        ("dask", "dask", [*TRAIN, "-o", "m.fly", "--cluster", "local"]),
        ("distributed", "dask", ["predict", "model.fly", "rows.csv", "--cluster", "local"]),
    ],
)
def test_missing_extras_are_one_sentence(monkeypatch, module, extra, command):
    """Which says what to install."""
    monkeypatch.setitem(sys.modules, module, None)
    said = run(*command, code=1)
    assert said.startswith("Error: ")
    assert said.endswith(f"needs {module}, which is not installed. Run: pip install 'flybloom[{extra}]'")


@pytest.mark.usefixtures("files")
def test_every_kind_does_what_it_can():
    """Learns, forgets, merges, predicts, is evaluated and inspected; what it cannot do is one sentence."""
    for model in ("model.fly", "pairs.fly", "usual.fly", "open.fly", "best.fly"):
        target = [] if model == "usual.fly" else ["-t", "label"]
        loaded = flybloom.load(model)
        predicted = run("predict", model, "rows.csv", "--scores").splitlines()[1:]
        rows = pd.read_csv("rows.csv").drop(columns="label").astype(float)
        assert [line.split(",")[0] for line in predicted] == list(map(str, loaded.predict(rows)))
        printed = json.loads(run("inspect", model, "--json"))
        assert printed["kind"] == type(loaded).__name__
        assert printed["feature_names"] == list(rows)
        assert printed["bytes_in_memory"] > 0
        if model == "best.fly":
            assert "Expected a model that learns" in run("learn", model, "rows.csv", "-t", "label", code=4)
            assert "of which there is no sum" in run("merge", model, model, "-o", "x.fly", code=4)
        else:
            run("learn", model, "rows.csv", *target, "-o", "twice.fly")
            assert json.loads(run("forget", "twice.fly", "rows.csv", *target, "--json"))["rows_left"] == 300
            assert np.array_equal(flybloom.load("twice.fly").predict(rows), loaded.predict(rows))
    for model in ("model.fly", "pairs.fly", "open.fly", "best.fly"):
        assert json.loads(run("evaluate", model, "rows.csv", "-t", "label", "--json"))["accuracy"] > 0.3
    small = json.loads(run("export", "pairs.fly", "-o", "small.fly", "--json"))
    assert small["bytes"] < small["bytes_before"]
    assert run("predict", "small.fly", "rows.csv", "--scores") == run("predict", "pairs.fly", "rows.csv", "--scores")
    assert json.loads(run("inspect", "small.fly", "--json"))["kind"] == "FrozenClassifier"
    assert "Expected a model that learns" in run("learn", "small.fly", "rows.csv", "-t", "label", code=4)
    assert "also an input" in run("export", "pairs.fly", "-o", "pairs.fly", code=1)
    for model in ("open.fly", "best.fly", "small.fly"):
        assert "Expected a model of `flybloom train`." in run("export", model, "-o", "x.fly", code=4)
    assert "Expected models of one kind" in run("merge", "model.fly", "pairs.fly", "-o", "x.fly", code=5)
    assert "Expected a FlyBloomClassifier" in run("report", "usual.fly", "-d", "rows.csv", "-t", "label", code=4)
    told = json.loads(run("report", "pairs.fly", "-d", "rows.csv", "-t", "label", "--json"))
    assert told["penalty"]["alpha"] == flybloom.load("pairs.fly").alpha_


@pytest.mark.usefixtures("files")
def test_text_labels_are_compared_as_text():
    """A model of labels 007 and 7 is evaluated with rows that all have the label 7."""
    rows = pd.read_csv("rows.csv")
    rows.assign(label=np.where(rows.index % 2, "007", "7")).to_csv("text.csv", index=False)
    run("train", "text.csv", "-t", "label", "-o", "text.fly", "--components", "64")
    rows[1::2].assign(label=7).to_csv("sevens.csv", index=False)
    for command in ("evaluate", "learn"):
        run(command, "text.fly", "sevens.csv", "-t", "label")
    assert flybloom.load("text.fly").classes_.tolist() == ["007", "7"]


@pytest.mark.usefixtures("files")
def test_what_nobody_expected_is_a_sentence_as_well(monkeypatch):
    """With the way to more."""

    def fail(_):
        raise TypeError

    monkeypatch.setattr("flybloom.cli.commands.inspect.load_any", fail)
    assert "This should not happen. Please report it" in run("inspect", "model.fly", code=1)


@pytest.mark.usefixtures("files")
def test_warm_up_says_where_kernels_went(monkeypatch):
    """Or that they went nowhere."""
    monkeypatch.setattr("flybloom.cli.commands.warm_up.TYPES", ("float64",))
    printed = json.loads(run("warm-up", "--json"))
    assert "__pycache__" in printed["folder"] or "_kernels" in printed["folder"]
    assert printed["compiled"] + printed["were_there"] > 5
