"""Training from sources: the same model as fit, and as if nothing had happened after any interruption."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import flybloom
from flybloom import FlyBloomClassifier, read_blocks, train
from flybloom._internal.parallel import ahead
from flybloom.estimators.access import n_rows_learned
from flybloom.exceptions import CheckpointError, SourceError
from laws.test_learning import assert_same_model

SMALL = FlyBloomClassifier(200, n_winners=8, encoding="standard+clip=inf", random_state=0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_files_are_read_ahead_and_errors_come_when_it_is_their_turn(n_jobs):
    """With a thread and without one."""

    def rows():
        yield from range(1, 5)
        raise SourceError

    items = ahead(rows(), n_jobs)
    assert [next(items) for _ in range(4)] == [1, 2, 3, 4]
    with pytest.raises(SourceError):
        next(items)
    assert next(ahead(iter(range(1, 10**9)), n_jobs)) == 1  # the rest is not waited for


@pytest.fixture
def frame(digits):
    """Digits as a table."""
    X, y = digits
    return pd.DataFrame(X, columns=[f"p{i}" for i in range(64)]).assign(label=y)


@pytest.fixture
def folder(frame, tmp_path):
    """Digits in three Parquet files."""
    (tmp_path / "data").mkdir()
    for i, rows in enumerate((slice(0, 700), slice(700, 720), slice(720, None))):
        frame[rows].to_parquet(tmp_path / "data" / f"{i}.parquet", row_group_size=300)
    return tmp_path / "data"


def assert_same(a, b):
    """Everything learned, the scaling and the names."""
    assert_same_model(a, b)
    assert_array_equal(a.feature_names_in_, b.feature_names_in_)
    assert_array_equal(a.center_, b.center_)
    assert_array_equal(a.scale_, b.scale_)


def test_labels_that_a_model_has_no_use_for_change_nothing(digits, tmp_path):
    """They had a part in the sketch, and so in the last bits of what gaps are filled with."""
    X, y = digits[0][:100, 20:24].copy(), digits[1][:100]
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    files = []
    for i, labels in enumerate((None, y)):
        model = flybloom.FlyBloomNovelty(64, n_winners=8, encoding="standard+fill", random_state=0)
        train(model, (X, labels)).save(tmp_path / f"{i}.fly")
        files.append((tmp_path / f"{i}.fly").read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("scaling", ["none", "center", "standard"])
@pytest.mark.parametrize("block_rows", [50, 10**6])
def test_training_equals_fit_of_all_rows(frame, folder, scaling, block_rows):
    """Whatever the blocks; two passes where there is a scaling."""
    told = []
    model = clone(SMALL).set_params(encoding=scaling)
    trained = train(
        clone(model), folder, "label", block_rows=block_rows, on_progress=lambda what, rows: told.append((what, rows))
    )
    assert_same(trained, model.fit(frame.drop(columns="label"), frame["label"]))
    for what, passes in (("sketching", scaling != "none"), ("learning", 1)):
        assert sum(rows for stage, rows in told if stage == what) == passes * len(frame)


def test_a_single_pass_is_a_stream(frame, folder):
    """As partial_fit is, whatever the blocks; what can be read only once needs it."""
    stream = ((block.X.array, block.y) for block in read_blocks(folder, "label", block_rows=100))
    with pytest.raises(SourceError, match=r"can be read only once.*--single-pass"):
        train(clone(SMALL), stream, "label")
    model = train(clone(SMALL), folder, "label", single_pass=True, block_rows=100)
    whole = clone(SMALL).fit(frame.drop(columns="label"), frame["label"])
    assert_array_equal(model.center_, whole.center_)
    assert_array_equal(model.counts_, whole.counts_)


def test_a_model_of_no_rows_keeps_its_scaling(folder):
    """So that parts of the data can be learned apart and merged."""
    whole = train(clone(SMALL), folder, "label")
    empty = whole - whole
    parts = [train(flybloom.load(_saved(empty, folder)), folder / f"{i}.parquet", "label") for i in range(3)]
    assert_same(sum(parts), whole)


def _saved(model, folder):
    """The path of a saved model."""
    model.save(folder.parent / "empty.fly")
    return folder.parent / "empty.fly"


def test_what_was_learned_before_is_forgotten(folder):
    """As fit does."""
    model = clone(SMALL).fit(np.eye(4), [0, 1, 0, 1])
    assert_same(train(model, folder, "label"), train(clone(SMALL), folder, "label"))


class InterruptedTrainingError(Exception):
    """Something that ends a training in the middle."""


def interrupted_after(n_calls):
    """A progress that fails at the n-th call."""
    calls = iter(range(n_calls))

    def progress(_what, _rows):
        if next(calls, None) is None:
            raise InterruptedTrainingError

    return progress


@pytest.mark.parametrize("single_pass", [False, True])
def test_an_interrupted_training_ends_as_if_nothing_had_happened(folder, tmp_path, single_pass):
    """At whatever block it was interrupted, and however often."""
    options = {"block_rows": 128, "checkpoint_rows": 300, "checkpoint_seconds": None, "single_pass": single_pass}
    whole = train(clone(SMALL), folder, "label", **options)
    for n_calls in (0, 1, 9, 17, 20, 25, 33):
        checkpoint = tmp_path / f"checkpoint {n_calls}"
        finished = False
        for _ in range(200):
            try:
                model = train(
                    clone(SMALL), folder, "label", **options, checkpoint=checkpoint, resume=True,
                    on_progress=interrupted_after(n_calls),
                )  # fmt: skip
                finished = True
                break
            except InterruptedTrainingError:
                n_calls += 1  # noqa: PLW2901 - or it would never come further
        assert finished
        assert_same(model, whole)
        assert_same(train(clone(SMALL), folder, "label", **options, checkpoint=checkpoint, resume=True), whole)


def test_changed_data_and_settings_are_refused(folder, frame, tmp_path):
    """With what has changed; nothing is overwritten."""
    options = {"checkpoint": tmp_path / "checkpoint", "checkpoint_rows": 100}
    train(clone(SMALL), folder, "label", **options)
    with pytest.raises(CheckpointError, match=r"holds a checkpoint of an earlier training. Resume it, or remove"):
        train(clone(SMALL), folder, "label", **options)
    options["resume"] = True
    with pytest.raises(CheckpointError, match=r"n_winners was '8' and is '9'; random_state was '0' and is '3'"):
        train(clone(SMALL).set_params(n_winners=9, random_state=3), folder, "label", **options)
    with pytest.raises(CheckpointError, match=r"target was \"'label'\" and is \"'p3'\""):
        train(clone(SMALL), folder, "p3", **options)
    with pytest.raises(CheckpointError, match="features was"):
        train(clone(SMALL), folder, "label", features=["p1", "p2"], **options)
    train(clone(SMALL).set_params(n_jobs=2), folder, "label", **options)
    frame[:700].assign(p3=1).to_parquet(folder / "0.parquet")
    frame.to_parquet(folder / "9.parquet")
    (folder / "1.parquet").unlink()
    with pytest.raises(
        CheckpointError,
        match=r"1 files of the source are changed.*0.parquet; 1 files .* new.*9.parquet; 1 files .* gone.*1.parquet",
    ):
        train(clone(SMALL), folder, "label", **options)


def test_a_start_from_another_model_of_no_rows_is_refused(folder, tmp_path):
    """Its scaling would be another one."""
    names = [f"p{i}" for i in range(64)]
    a, b = (clone(SMALL).fit(pd.DataFrame(np.eye(64) * k, columns=names), np.arange(64) % 2) for k in (1, 2))
    options = {"checkpoint": tmp_path / "checkpoint", "features": names}
    train(a - a, folder, "label", **options)
    train(a - a, folder, "label", **options, resume=True)
    with pytest.raises(CheckpointError, match="start was"):
        train(b - b, folder, "label", **options, resume=True)


def test_checkpoints_that_cannot_work_are_refused(folder, tmp_path, frame):
    """Sources that are no files, folders that hold other things, resuming from nothing."""
    with pytest.raises(CheckpointError, match="Checkpoints need files"):
        train(clone(SMALL), frame, "label", checkpoint=tmp_path / "checkpoint")
    with pytest.raises(CheckpointError, match="nothing to resume without a checkpoint"):
        train(clone(SMALL), folder, "label", resume=True)
    (tmp_path / "checkpoint").mkdir(exist_ok=True)
    train(clone(SMALL), folder, "label").save(tmp_path / "checkpoint" / "checkpoint.fly")
    with pytest.raises(CheckpointError, match="no checkpoint of a training"):
        train(clone(SMALL), folder, "label", checkpoint=tmp_path / "checkpoint", resume=True)


def test_a_source_without_rows_is_refused(tmp_path):
    """By name."""
    (tmp_path / "a.csv").write_text("a,y\n")
    for scaling in ("none", "standard"):
        with pytest.raises(SourceError, match=r"a.csv: no rows. Expected at least one"):
            train(FlyBloomClassifier(encoding=scaling), tmp_path / "a.csv", "y")


def learned_with(way, model, X, y):
    """The model after learning these rows in one of the three ways."""
    if way == "fit":
        return model.fit(X, y)
    if way == "train":
        return train(model, (X, y), "y", block_rows=100)
    da = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("flybloom.distributed")
    return distributed.fit(model, da.from_array(X, chunks=(100, 64)), da.from_array(y, chunks=100))


@pytest.mark.parametrize("scaling", ["none", "standard"])
@pytest.mark.parametrize("way", ["fit", "train", "distributed"])
def test_every_way_to_learn_from_scratch_has_the_rules_of_fit(digits, way, scaling):
    """One class, or class weights for other labels, are refused, and the model stays as it was."""
    X, y = digits[0][:300], digits[1][:300]
    model = clone(SMALL).set_params(encoding=scaling)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"FlyBloomClassifier.fit needs rows of at least 2 classes. Got one class"):
        learned_with(way, model, X, np.zeros_like(y))
    assert pickle.dumps(model) == before
    model.set_params(class_weight={"three": 2.0})
    with pytest.raises(ValueError, match=r"must name labels of y. Got \['three'\] instead, while .* have no weight"):
        learned_with(way, model, X, y)
    assert not hasattr(model, "classes_")
    model.set_params(class_weight={3: 2.0})
    assert_same_model(learned_with(way, model, X, y), clone(model).fit(X, y))


@pytest.mark.parametrize("scaling", ["none", "standard"])
def test_a_training_that_fails_leaves_the_model_as_it_was(frame, folder, scaling):
    """Whether it had learned anything before or not; the fault may be in the last row."""
    frame[:1].assign(p5=np.inf).to_parquet(folder / "9.parquet")
    X, y = frame.drop(columns="label"), frame["label"]
    for model in (clone(SMALL), clone(SMALL).fit(X[:50], y[:50])):
        model.set_params(encoding=scaling)
        before = pickle.dumps(model)
        with pytest.raises(SourceError, match=r"9.parquet.*p5"):
            train(model, folder, "label", block_rows=128)
        assert pickle.dumps(model) == before


def test_sparse_rows_need_no_scaling(tmp_path):
    """The error says so."""
    (tmp_path / "a.svm").write_text("0 1:1\n1 2:1\n" * 30)
    with pytest.raises(ValueError, match="use `encoding='auto'`"):
        train(clone(SMALL), tmp_path / "a.svm", "y")
    assert train(clone(SMALL).set_params(encoding="none"), tmp_path / "a.svm", "y").n_features_in_ == 2


@pytest.mark.parametrize("kind", [flybloom.FlyBloomClassifier, flybloom.FlyRidgeClassifier])
def test_a_training_that_is_stopped_between_blocks_leaves_a_checkpoint(digits, tmp_path, kind):
    """Of all rows so far; it goes on to the same model."""
    X, y = digits
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    model = kind(128, n_winners=8, random_state=0)
    options = {"checkpoint": tmp_path / "saved", "block_rows": 300, "resume": True}

    def stop(stage, n_rows):
        if stage == "learning" and n_rows:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        flybloom.train(clone(model), tmp_path / "rows.npz", "y", on_progress=stop, **options)
    assert n_rows_learned(flybloom.load(tmp_path / "saved" / "checkpoint.fly")) == 300
    resumed = flybloom.train(clone(model), tmp_path / "rows.npz", "y", **options)
    whole = flybloom.train(model, tmp_path / "rows.npz", "y")
    assert_array_equal(resumed.counts_, whole.counts_)
    assert_array_equal(resumed.predict_proba(X), whole.predict_proba(X))


def test_a_checkpoint_knows_how_text_was_read(tmp_path):
    """Another delimiter or other columns are another training."""
    (tmp_path / "rows.csv").write_text("a,b,y\n1,2,0\n2,1,1\n")
    model = FlyBloomClassifier(8, n_winners=2, random_state=0)
    train(model, read_blocks(tmp_path / "rows.csv", "y"), "y", checkpoint=tmp_path / "saved")
    blocks = read_blocks(tmp_path / "rows.csv", "y", exclude=["b"])
    with pytest.raises(CheckpointError, match="exclude was None and is"):
        train(clone(model), blocks, "y", checkpoint=tmp_path / "saved", resume=True)


@pytest.mark.parametrize("kind", [flybloom.FlyBloomClassifier, flybloom.FlyRidgeClassifier, flybloom.FlyBloomNovelty])
def test_memory_does_not_grow_with_rows(digits, kind):
    """Bytes are those of the arrays; a count of more than 31 bits may double them."""
    X, y = digits
    model = kind(128, n_winners=8, random_state=0).fit(X, y)
    before = model.memory_usage(more_rows=1_000_000)
    assert before["more_rows"] == 0
    assert before["counts"] >= model.counts_.nbytes
    assert before["connections"] == model.connections_.size * 2
    assert model.partial_fit(X, y).memory_usage() == before
    assert model.memory_usage(more_rows=2**31)["more_rows"] == before["counts"]
