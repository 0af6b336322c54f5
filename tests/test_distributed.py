"""flybloom.distributed: the same model on every scheduler, whatever the blocks are like, and through failures."""

import inspect
import os
import pickle
import signal
import subprocess
import sys
import weakref
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from flybloom import FlyBloomClassifier
from flybloom.estimators.access import learning

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
cluster_library = pytest.importorskip("distributed")

from flybloom import distributed  # noqa: E402
from flybloom.distributed import _dask, _worker  # noqa: E402


def small(**parameters):
    """A small classifier."""
    return FlyBloomClassifier(
        **{"n_components": 200, "n_winners": 8, "random_state": 0, "encoding": "standard+clip=inf", **parameters}
    )


def assert_same_model(a, b):
    """Everything learned is equal, bit for bit and in its types."""
    for name in ("classes_", "class_count_", "counts_", "center_", "scale_"):
        assert_array_equal(getattr(a, name), getattr(b, name))
    assert a.counts_.dtype == b.counts_.dtype
    assert a.classes_.dtype == b.classes_.dtype
    assert a.seed_ == b.seed_
    assert a.n_features_in_ == b.n_features_in_


@pytest.fixture(scope="module")
def processes():
    """Two processes for Dask's own scheduler."""
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def cluster():
    """A real cluster of two worker processes."""
    with cluster_library.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture(params=["synchronous", "threads", "processes", "cluster"])
def scheduler(request):
    """Each scheduler in turn, active."""
    if request.param == "cluster":
        with cluster_library.Client(request.getfixturevalue("cluster")):
            yield request.param
    else:
        pool = {"pool": request.getfixturevalue("processes")} if request.param == "processes" else {}
        with dask.config.set(scheduler=request.param, **pool):
            yield request.param


@pytest.fixture(autouse=True)
def _plain_scheduler():
    """No threads, for what does not depend on the scheduler."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def frame(digits):
    """Digits as a table with names and a column of words."""
    X, y = digits
    table = pd.DataFrame(X, columns=[f"p{i}" for i in range(64)])
    return table.assign(label=np.array(["c", "bbbb", "a"])[y % 3])


def test_every_scheduler_learns_and_predicts_as_one_process_does(scheduler, digits):
    """Arrays, scaled, with weights: model, labels, probabilities and novelty."""
    X, y = digits
    weights = np.arange(len(y)) % 3
    local = small().fit(X, y, sample_weight=weights)
    blocks = da.from_array(X, chunks=(100, 40))
    model = distributed.fit(small(), blocks, da.from_array(y, chunks=170), sample_weight=weights)
    assert type(model) is FlyBloomClassifier
    assert_same_model(model, local)
    for method in ("predict", "predict_proba", "novelty"):
        assert_array_equal(getattr(distributed, method)(model, blocks).compute(), getattr(local, method)(X), scheduler)


def test_every_scheduler_takes_dataframes(scheduler, frame, tmp_path):
    """Read from files, with labels by name, and predictions with the index of the rows."""
    rows = frame.drop(columns="label")
    for at in range(5):
        frame.iloc[at * 360 : (at + 1) * 360].to_parquet(tmp_path / f"part.{at}.parquet")
    read = dd.read_parquet(tmp_path)
    local = small().fit(rows, frame["label"])
    model = distributed.fit(small(), read, "label")
    assert_same_model(model, local)
    assert_array_equal(model.feature_names_in_, local.feature_names_in_)
    assert_same_model(distributed.fit(small(), read[list(rows)], read["label"]), local)
    predicted = distributed.predict(model, read.drop(columns="label"))
    computed = predicted.compute()
    assert predicted.dtype == computed.dtype, scheduler
    assert_array_equal(computed, local.predict(rows))
    assert_array_equal(computed.index, rows.index)
    novelty = distributed.novelty(model, read.drop(columns="label"))
    assert list(novelty.columns) == ["a", "bbbb", "c"]
    assert_array_equal(novelty.compute(), local.novelty(rows))


def test_progress_is_shown_on_stderr_alone(scheduler, digits, capsys):
    """Results may be going to stdout."""
    X, y = digits
    distributed.fit(small(encoding="none"), da.from_array(X, chunks=(300, 64)), y, progress=True)
    shown = capsys.readouterr()
    assert "100% Completed" in shown.err, scheduler
    assert shown.out == ""


def test_a_cluster_is_started_and_left_again(cluster):
    """By address; afterwards Dask computes as before."""
    with _dask.connect(cluster.scheduler_address) as client:
        assert _dask.active_client() is client
    assert _dask.active_client() is None


def test_blocks_that_live_on_the_cluster_are_counted_there(cluster, frame):
    """Persisted collections hold futures, which cannot be loaded inside another task."""
    local = small().fit(frame.drop(columns="label"), frame["label"])
    with cluster_library.Client(cluster):
        persisted = dd.from_pandas(frame, npartitions=6).persist()
        assert_same_model(distributed.fit(small(), persisted, "label"), local)


def test_a_killed_worker_does_not_change_the_result(digits, tmp_path):
    """The worker that is the first to load block 7 dies in the middle of its group."""
    X, y = digits

    def load(rows, block_id):
        if block_id[0] == 7:
            try:
                (tmp_path / "killed").touch(exist_ok=False)
            except FileExistsError:
                return rows
            os.kill(os.getpid(), signal.SIGKILL)
        return rows

    blocks = da.from_array(X, chunks=(60, 64)).map_blocks(load, dtype=X.dtype, meta=X[:0])
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with cluster_library.LocalCluster(**options) as own, cluster_library.Client(own):
        model = distributed.fit(small(), blocks, da.from_array(y, chunks=60))
    assert (tmp_path / "killed").exists()
    assert_same_model(model, small().fit(X, y))


def test_learning_goes_on_from_a_fitted_model(digits):
    """partial_fit: new labels, expected labels, the scaling of before."""
    X, y = digits
    first = small().fit(X[y < 5], y[y < 5])
    local = pickle.loads(pickle.dumps(first)).partial_fit(X, y, classes=[20])  # noqa: S301
    model = distributed.partial_fit(first, da.from_array(X, chunks=(400, 64)), da.from_array(y, chunks=400), [20])
    assert_same_model(model, local)
    one = distributed.partial_fit(small(), da.from_array(X[y == 3], chunks=(50, 64)), y[y == 3])
    assert_same_model(one, small().partial_fit(X[y == 3], y[y == 3]))


def test_sizes_of_blocks_may_be_unknown_and_blocks_empty(digits):
    """As after a filter: whole blocks may be gone."""
    X, y = digits
    kept = (np.arange(len(y)) < 300) | (np.arange(len(y)) > 900)
    rows, labels, keep = (da.from_array(part, chunks=(150, *part.shape[1:])) for part in (X, y, kept))
    rows, labels = rows[keep], labels[keep]
    assert np.isnan(rows.shape[0])
    model = distributed.fit(small(), rows, labels)
    assert_same_model(model, small().fit(X[kept], y[kept]))
    assert_array_equal(distributed.predict(model, rows).compute(), model.predict(X[kept]))
    assert_array_equal(distributed.predict_proba(model, rows).compute(), model.predict_proba(X[kept]))


def test_blocks_may_miss_classes_and_labels_may_be_words(digits):
    """Sorted by class, words of different lengths."""
    X, y = digits
    order = np.argsort(y, kind="stable")
    names = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
    parts = [names[y[order][at : at + 200]].tolist() for at in range(0, len(y), 200)]
    labels = da.concatenate([da.from_array(np.array(part)) for part in parts])
    model = distributed.fit(small(), da.from_array(X[order], chunks=(200, 64)), labels)
    assert_same_model(model, small().fit(X, names[y]))
    predicted = distributed.predict(model, da.from_array(X, chunks=(200, 64)))
    assert predicted.dtype == predicted.compute().dtype == names.dtype
    assert_array_equal(predicted.compute(), model.predict(X))


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
def test_blocks_may_be_sparse(digits, container):
    """Without scaling, as always with sparse rows."""
    X, y = digits
    blocks = da.from_array(X, chunks=(300, 64)).map_blocks(container, dtype=X.dtype, meta=container((0, 64)))
    model = distributed.fit(small(encoding="none"), blocks, y)
    assert_same_model(model, small(encoding="none").fit(X, y))
    assert_array_equal(distributed.predict(model, blocks).compute(), model.predict(X))
    with pytest.raises(ValueError, match=r"Block \d \(of 0 to 5\): Cannot center sparse"):
        distributed.fit(small(), blocks, y)


def test_blocks_that_share_a_computation_are_computed_once(digits):
    """Rows minus their mean: the mean needs all blocks, and is not computed again for each."""
    X, y = digits
    calls = []

    def load(rows):
        calls.append(len(rows))
        return rows

    whole = np.rint(X * 16)
    blocks = da.from_array(whole, chunks=(300, 64)).map_blocks(load, dtype=X.dtype, meta=X[:0])
    shifted = blocks - blocks.min(axis=0)
    model = distributed.fit(small(encoding="none"), shifted, y)
    assert_same_model(model, small(encoding="none").fit(whole - whole.min(axis=0), y))
    assert len(calls) == 6


def test_labels_and_rows_of_different_kinds_of_collections_fit_together(frame):
    """A dataframe of rows with an array of labels, where Dask may read a single column in larger blocks."""
    numbers = frame.assign(label=np.arange(len(frame)) % 5)
    table = dd.from_pandas(numbers, npartitions=9)
    rows = numbers.drop(columns="label")
    model = distributed.fit(small(), table.drop(columns="label"), table["label"].to_dask_array())
    assert_same_model(model, small().fit(rows, numbers["label"]))


def test_weights_may_be_a_column_as_well(frame):
    """Which is then no feature; whole blocks may weigh nothing, and their labels are not learned."""
    weights = np.arange(len(frame)) % 4 * (np.arange(len(frame)) > 600)
    labels = np.where(np.arange(len(frame)) < 300, "early", frame["label"])
    table = dd.from_pandas(frame.assign(label=labels, weight=weights), npartitions=9)
    model = distributed.fit(small(), table, "label", "weight")
    local = small().fit(frame.drop(columns="label"), pd.Series(labels, dtype=table["label"].dtype), weights)
    assert_same_model(model, local)
    assert "early" not in model.classes_
    with pytest.raises(ValueError, match=r"sample_weight='weights' must name a column of X. Got the columns"):
        distributed.fit(small(), table, "label", "weights")


def test_fractional_weights_need_a_unit_that_all_workers_know(frame):
    """With it, the cluster counts what the model itself would."""
    weights = np.linspace(0.1, 2.0, len(frame))
    table = dd.from_pandas(frame.assign(weight=weights), npartitions=5)
    model = distributed.fit(small().set_params(weight_unit=0.5), table, "label", "weight")
    local = small().set_params(weight_unit=0.5).fit(frame.drop(columns="label"), frame["label"], weights)
    assert_same_model(model, local)
    assert model.weight_unit_ == 0.5
    with pytest.raises(ValueError, match="set weight_unit before the first rows are learned"):
        distributed.fit(small(), table, "label", "weight")


def test_a_seed_is_drawn_as_by_the_model_itself(digits):
    """A generator is advanced once."""
    X, y = digits
    random_state = np.random.RandomState(5)
    model = distributed.fit(small(random_state=random_state), da.from_array(X, chunks=(500, 64)), y)
    expected = np.random.RandomState(5)
    assert_same_model(model, small(random_state=expected).fit(X, y))
    assert random_state.randint(1000) == expected.randint(1000)


def test_predictions_are_those_of_the_model_when_asked(digits):
    """What is learned between the call and the computation does not matter."""
    X, y = digits
    model = small().fit(X[:100], y[:100])
    before = model.novelty(X)
    lazy = distributed.novelty(model, da.from_array(X, chunks=(500, 64)))
    model.partial_fit(X, y)
    assert_array_equal(lazy.compute(), before)


def test_a_group_holds_one_block_at_a_time(digits, monkeypatch):
    """When a block is loaded, those before it are gone."""
    X, y = digits
    loaded, alive, groups = [], [], []
    run = _dask._run
    monkeypatch.setattr(_dask, "_run", lambda *arguments: groups.append(len(arguments[2])) or run(*arguments))

    def load(rows):
        rows = rows.copy()
        loaded.append(weakref.ref(rows))
        alive.append(sum(reference() is not None for reference in loaded))
        return rows

    blocks = da.from_array(X, chunks=(50, 64)).map_blocks(load, dtype=X.dtype, meta=X[:0])
    with dask.config.set(num_workers=1):
        distributed.fit(small(), blocks, y)
    assert len(alive) == 2 * 36
    assert max(alive) == 1
    assert groups == [9, 9, 9, 9] * 2


def test_workers_are_sent_neither_connections_nor_counts(digits):
    """Seed and parameters only, and the connections are drawn once in a process."""
    X, y = digits
    model = small(n_components=30_000).fit(X, y)
    with learning(model) as session:
        learned = session.learned._replace(counts=session.learned.counts.emptied(), origin=None)
        encoder = learned.hasher.encoder
        job = _worker.Job(session.recipe, encoder, X.dtype, True, False, True, 1, learned=learned)
        assert len(pickle.dumps(job)) < 6000
    copies = [_worker.with_kept_projection(pickle.loads(pickle.dumps(learned.hasher))) for _ in range(2)]  # noqa: S301
    assert copies[0].projection is copies[1].projection


def test_columns_of_a_block_must_have_the_names_of_the_others(frame):
    """Dask does not compare them; we do. Errors of other kinds than of values name the block in a note."""
    rows = frame.drop(columns="label")
    table = dd.from_map(
        lambda at: rows[at * 900 : (at + 1) * 900].rename(columns={"p0": "other"} if at else {}),
        [0, 1],
        meta=rows[:0],
        enforce_metadata=False,
    )
    labels = da.from_array(np.arange(len(rows)) % 3, chunks=900)
    with pytest.raises(ValueError, match=r"Block 1 \(of 0 to 1\): The feature names should match"):
        distributed.fit(small(), table, labels)
    with pytest.raises(KeyError, match="not in index") as failure:
        distributed.fit(small(), table, "p5")
    assert failure.value.__notes__ == ["Block 1 (of 0 to 1) of the rows failed."]


def spoil(values, at, value):
    """Return a copy in which one value is another."""
    values = values.copy()
    values[at] = value
    return values


BAD = [
    (lambda X, y: (spoil(X, 950, np.inf), y), r"Block 9 \(of 0 to 17\): Input X contains infinity"),
    (lambda X, y: (X * np.where(np.arange(len(y)) > 1790, 1e300, 1)[:, None], y), r"Block 17 .*within float32"),
    (lambda X, y: (X, spoil(y.astype(float), 120, 0.5)), r"Block 1 .*Unknown label type: continuous"),
    (lambda X, y: (X, y, np.full(len(y), -1)), r"Block \d+ .*whole numbers.*Got -1 instead"),
    (lambda X, y: (X, y, np.zeros(len(y))), "at least one row with a weight above zero"),
    (lambda X, y: (X, y.astype(str)), "The labels in y are strings, those learned before are numbers"),
    (lambda X, y: (X[:, :5], y), "X has 5 features, but FlyBloomClassifier is expecting 64 features"),
    (lambda X, y: (X, y[:-1]), "X and y must be cut into the same blocks"),
    (lambda X, _: (X, "label"), "y='label' must name a column of X. Got an array"),
]


@pytest.mark.parametrize(("spoiled", "message"), BAD)
def test_bad_blocks_are_named_and_leave_the_model_as_it_was(digits, spoiled, message):
    """One clear sentence, and every attribute stays."""
    X, y = digits
    model = small(encoding="none").fit(X, y)
    before = pickle.dumps(model)
    X, y, *weights = spoiled(X, y)
    with pytest.raises(ValueError, match=message):
        distributed.partial_fit(model, da.from_array(X, chunks=(100, -1)), y, None, *weights)
    assert pickle.dumps(model) == before


def test_labels_must_be_what_the_collection_declares(digits):
    """Words in one block of a column of numbers."""
    X, y = digits
    rows = da.from_array(X, chunks=(300, 64))
    labels = da.from_array(y, chunks=300)
    labels = labels.map_blocks(lambda y, block_id: y.astype(str) if block_id == (2,) else y, dtype=y.dtype, meta=y[:0])
    with pytest.raises(ValueError, match=r"Block 2 .*: The labels are strings, y is declared to hold numbers"):
        distributed.fit(small(), rows, labels)


def test_rows_must_be_what_the_collection_declares(digits):
    """Whole floats in blocks of integers are taken as integers, others are refused."""
    X, y = digits
    whole = X.astype(np.int64)
    rows = da.from_array(whole, chunks=(300, 64))
    as_floats = rows.map_blocks(lambda rows: rows.astype(float), dtype=np.int64, meta=whole[:0])
    model = distributed.fit(small(encoding="none"), as_floats, y)
    assert_same_model(model, small(encoding="none").fit(whole, y))
    halves = rows.map_blocks(lambda rows: rows / 2, dtype=np.int64, meta=whole[:0])
    with pytest.raises(ValueError, match=r"Block \d .*: The rows are float64, X is declared to hold int64"):
        distributed.fit(small(encoding="none"), halves, y)


def test_an_error_on_the_cluster_names_the_block_too(cluster, digits):
    """Exceptions travel."""
    X, y = digits
    model = small().fit(X, y)
    before = pickle.dumps(model)
    with cluster_library.Client(cluster), pytest.raises(ValueError, match=r"Block 9 \(of 0 to 17\): Input X contains"):
        distributed.fit(model, da.from_array(spoil(X, 950, np.inf), chunks=(100, 64)), y)
    assert pickle.dumps(model) == before


def test_what_fit_refuses_is_refused_here_as_well(digits):
    """Data in memory, one class, sizes that do not fit, and unfitted models."""
    X, y = digits
    blocks = da.from_array(X, chunks=(500, 64))
    with pytest.raises(TypeError, match=r"X must be a Dask array or a Dask dataframe. Got ndarray instead"):
        distributed.fit(small(), X, y)
    with pytest.raises(ValueError, match="needs rows of at least 2 classes"):
        distributed.fit(small(), blocks, np.zeros(len(y), int))
    with pytest.raises(ValueError, match=r"n_connections=65 exceeds the 64 feature\(s\)"):
        distributed.fit(small(n_connections=65), blocks.map_blocks(pytest.fail, dtype=float, meta=X[:0]), y)
    with pytest.raises(ValueError, match="The 'decay' parameter of FlyBloomClassifier must be"):
        distributed.fit(small(decay=0), blocks, y)
    with pytest.raises(ValueError, match="is not fitted yet"):
        distributed.predict(small(), blocks)


def test_every_public_function_is_documented():
    """Each parameter by name."""
    for name in distributed.__all__:
        function = getattr(distributed, name)
        for parameter in inspect.signature(function).parameters:
            assert f"\n    {parameter} : " in function.__doc__, (name, parameter)


def test_without_dask_the_extra_is_named():
    """The error says what to install."""
    code = "import sys; sys.modules['dask'] = None; import flybloom.distributed"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'flybloom[dask]'" in done.stderr
