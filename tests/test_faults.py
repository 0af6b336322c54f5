"""The faults that attacks on 0.1.0 found, each of which must stay away: what is torn, lost, rounded, hung or too large.

Those of reading data are in test_blocks.py, those of writing files in test_atomic_write.py.
"""

import contextlib
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import flybloom
from flybloom import (
    FlyBloomClassifier,
    FlyBloomClassifierCV,
    FlyBloomNovelty,
    FlyHash,
    FlyRidgeClassifier,
    FlyRidgeMultiOutputClassifier,
    OpenSetClassifier,
    load,
)
from flybloom.estimators.access import n_rows_learned
from flybloom.exceptions import ModelFileError
from flybloom.report import class_profiles, class_similarity
from forgetting import after_forgetting
from mutations import described, parts, repaired

BIG = 2**53
posix = pytest.mark.skipif(os.name != "posix", reason="signals, forks and limits of POSIX")


@pytest.fixture
def rows():
    """Sixty rows of five features."""
    return np.random.default_rng(0).standard_normal((60, 5))


def small(**settings):
    """A classifier of few components that learns as it is told."""
    return FlyBloomClassifier(**{"n_components": 40, "n_winners": 4, "random_state": 0, **settings})


def in_turn(*labels, dtype=None):
    """Sixty labels."""
    return np.array(list(labels) * (60 // len(labels)), dtype)


@contextmanager
def within(megabytes):
    """What happens inside takes no more memory than that, however much was taken before."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("needs the peak of memory as Linux tells it")

    def read(name):
        return next(int(line.split()[1]) for line in status.read_text(encoding="ascii").splitlines() if name in line)

    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
    before = read("VmRSS")
    yield
    grown = (read("VmHWM") - before) / 1024
    assert grown < megabytes, f"memory grew by {grown:.0f} MB"


# 1. Torn models


@posix
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a signal may come in a clean-up
def test_an_interrupt_leaves_counts_and_rows_that_belong_together():
    """With 2000 classes, where version 0.1.0 was torn by one signal in forty."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, 4)), np.arange(2000)
    model = FlyBloomClassifier(64, n_winners=4, encoding="none", random_state=0).fit(X, y)
    rest = pickle.dumps(model)
    model.partial_fit(X[:1], y[:1]).forget(X[:1], y[:1])  # compiled: numba itself does not bear a signal

    class Interrupt(BaseException):
        pass

    is_work = False

    def interrupt(_number, _frame):
        if is_work:  # else it came late, after all was done
            raise Interrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for trial in range(150):
            model = pickle.loads(rest)  # noqa: S301
            model.partial_fit(X[:1], y[:1])
            with contextlib.suppress(Interrupt):
                is_work = True
                signal.setitimer(signal.ITIMER_REAL, 1e-6 + trial * 2e-5)
                for i in range(20):
                    model.partial_fit(X[i : i + 3], y[i : i + 3])
                    model.forget(X[i : i + 3], y[i : i + 3])
                is_work = False
            is_work = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert_array_equal(model.counts_.sum(axis=1), 4 * model.class_count_)
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kind", [FlyBloomClassifier, FlyBloomNovelty])
def test_a_training_that_fails_after_small_blocks_leaves_an_empty_model_empty(kind, rows):
    """What others see is not changed in place by a part of the rows."""
    labels = [in_turn(0, 1, 2)] if kind is FlyBloomClassifier else []
    model = kind(400, n_winners=4, encoding="none", random_state=0).partial_fit(rows, *labels)
    model.forget(rows, *labels)
    n_blocks = 0

    def fail(stage, _rows):
        nonlocal n_blocks
        n_blocks += stage == "learning"
        if n_blocks == 4:
            raise KeyboardInterrupt

    source = [(rows[i : i + 2], in_turn(0, 1)[i : i + 2]) for i in range(0, 20, 2)]
    target = "y" if labels else None
    with pytest.raises(KeyboardInterrupt):
        flybloom.train(model, iter(source if labels else [X for X, _ in source]), target, on_progress=fail)
    assert n_rows_learned(model) == 0
    assert model.counts_.sum() == 0


@pytest.mark.parametrize("encoding", ["auto", "none"])
def test_an_open_set_classifier_has_a_threshold_for_each_class(rows, encoding):
    """Also for classes that come later, and where thresholds do not follow from a sketch."""
    model = OpenSetClassifier(small(encoding=encoding), per_class=True).fit(rows, in_turn(0, 1, 2))
    model.partial_fit(rows, in_turn(3, 4, 5))
    assert model.classes_.size == model.threshold_.size == model.estimator_.classes_.size == 6
    assert set(model.predict(rows).tolist()) <= {-1, *range(6)}


# 3. Labels


@pytest.mark.parametrize("kind", ["Int64", "UInt64", "int64[pyarrow]", "frame", "list"])
def test_labels_beyond_floats_stay_apart(rows, kind):
    """However they come."""
    pd = pytest.importorskip("pandas")
    labels = in_turn(BIG, BIG + 1, BIG + 2)
    given = {
        "frame": lambda: pd.DataFrame({"y": pd.Series(labels, dtype="Int64")}),
        "list": lambda: [2**63 + 1, 2**63, 1] * 20,
    }.get(kind, lambda: pd.Series(labels, dtype=kind))()
    expected = [1, 2**63, 2**63 + 1] if kind == "list" else [BIG, BIG + 1, BIG + 2]
    ignored = pytest.warns(match="column-vector") if kind == "frame" else _nothing()
    with ignored:
        model = small(encoding="none").fit(rows, given)
    assert model.classes_.tolist() == expected
    assert model.class_count_.tolist() == [20, 20, 20]
    if kind != "frame":
        search = FlyBloomClassifierCV([40], n_connections=[2], n_winners=[4], decay=[0.4], random_state=0)
        assert search.fit(rows, given).classes_.tolist() == expected
        assert after_forgetting(model, rows[:30], given[:30]).class_count_.tolist() == [10, 10, 10]


class _nothing:  # noqa: N801 - a context
    def __enter__(self):
        return self

    def __exit__(self, *_error):
        return None


def test_labels_of_two_types_are_united_exactly(rows):
    """In partial_fit, merge, subtract, forget and scores."""
    signed, unsigned = in_turn(BIG, BIG + 1, -1), in_turn(BIG + 1, BIG + 3, BIG + 5, dtype=np.uint64)
    a, b = small(encoding="none").fit(rows, signed), small(encoding="none").fit(rows, unsigned)
    expected = [-1, BIG, BIG + 1, BIG + 3, BIG + 5]
    assert (a + b).classes_.tolist() == (b + a).classes_.tolist() == expected
    assert small(encoding="none").fit(rows, signed).partial_fit(rows, unsigned).classes_.tolist() == expected
    assert_array_equal(((a + b) - b).counts_, a.counts_)
    assert_array_equal(after_forgetting(a + b, rows, unsigned).counts_, a.counts_)
    assert a.leave_one_out_novelty(rows[:2], signed[:2]).shape == (2, 3)


def test_labels_that_no_type_holds_are_refused(rows):
    """And nothing changes."""
    model = small(encoding="none").fit(rows, in_turn(2**63, 2**63 + 1, dtype=np.uint64))
    for labels in (in_turn(-1, 2), in_turn(2.0**60, 1.0)):
        with pytest.raises(ValueError, match="no type holds all of them"):
            model.partial_fit(rows, labels)
        with pytest.raises(ValueError, match="no type holds all of them"):
            model.merge(small(encoding="none").fit(rows, labels))
    assert model.class_count_.tolist() == [30, 30]
    with pytest.raises(ValueError, match="no float is 9007199254740993"):
        small().fit(rows, [BIG + 1, BIG, 2.0] * 20)


def test_the_label_of_the_unknown_leaves_the_others_as_they_are(rows):
    """Where -1 and the labels fit into no type, another number is taken."""
    for labels in (in_turn(5, 7, 2**63 + 2, dtype=np.uint64), in_turn(-(2**63), 0, 2**63 - 1)):
        model = OpenSetClassifier(small(), quantile=0.5).fit(rows, labels)
        predicted = model.predict(np.vstack([rows, 100 * rows]))
        assert predicted.dtype == labels.dtype
        assert set(predicted.tolist()) <= {*labels.tolist(), model.unknown_}
        assert model.unknown_ in predicted.tolist()
    model = OpenSetClassifier(small()).fit(rows, in_turn(1, 2))
    with pytest.raises(ValueError, match="no type holds"):
        model.partial_fit(rows, in_turn(1, 2**63, dtype=np.uint64))


# 5, 6. Files


@posix
def test_what_is_no_file_is_refused_at_once(tmp_path):
    """Folders, FIFOs, devices and sockets."""
    os.mkfifo(tmp_path / "fifo")
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()  # noqa: PTH109
    os.chdir(tmp_path)
    try:
        listener.bind("socket")
    finally:
        os.chdir(here)
    for path in (tmp_path, tmp_path / "fifo", tmp_path / "socket", "/dev/zero"):
        with pytest.raises(ModelFileError, match="is not a file, but a folder, a device or a pipe"):
            load(path)
    listener.close()


@posix
def test_a_file_that_is_cut_while_it_is_loaded_is_an_error_and_no_crash(tmp_path, rows):
    """In a process of its own, which 0.1.0 ended with SIGBUS."""
    model = FlyBloomClassifier(20_000, n_winners=4, random_state=0).fit(rows, in_turn(0, 1, 2))
    model.save(tmp_path / "model.fly")
    script = f"""
import os, threading, flybloom
path, data = {str(tmp_path / "model.fly")!r}, open({str(tmp_path / "model.fly")!r}, "rb").read()
def rewrite():
    for _ in range(300):
        os.truncate(path, 100)
        with open(path, "r+b") as file:
            file.write(data)
thread = threading.Thread(target=rewrite)
thread.start()
while thread.is_alive():
    try:
        flybloom.load(path)
    except flybloom.exceptions.ModelFileError:
        pass
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_a_decay_near_zero_takes_neither_time_nor_memory(rows):
    """0.1.0 took 28 s and 4.4 GB for the first, 7.6 s and 2.2 GB a call for the second."""
    for decay, weight in ((1.2e-16, 2**28), (2e-6, 2**29), (5e-324, 2**29)):
        for class_weight in (None, {0: 1e-6, 1: 1e6}):
            model = small(decay=decay, encoding="none", class_weight=class_weight)
            model.fit(rows[:2], [0, 1], sample_weight=[weight, weight])
            with within(300):
                assert np.isfinite(model.predict_proba(rows[:1])).all()
                model.explain(rows[:1])
                class_similarity(model)
                model.leave_one_out_novelty(rows[:2], [0, 1])


def changed_file(path, change):
    """Write a file again with another description, and the checksum that it should have."""
    header, arrays = parts(path.read_bytes())
    description = described(header)
    change(description)
    path.write_bytes(repaired(header, description, arrays))


def test_max_memory_bounds_what_a_hash_may_need(tmp_path, rows):
    """A file of a few hundred bytes may say that there are 2**32 - 1 components."""
    path = tmp_path / "hash.fly"
    FlyHash(40, n_winners=4, random_state=0, encoding="none").fit(rows).save(path)
    assert load(path, max_memory=10_000).n_components_ == 40
    with pytest.raises(ModelFileError, match="max_memory allows more"):
        load(path, max_memory=100)
    changed_file(path, lambda description: description.update(n_components_=2**32 - 1))
    with pytest.raises(ModelFileError):
        load(path, max_memory=2**20)


@pytest.mark.parametrize(
    "bomb",
    ["[" * 10**5 + "]" * 10**5, "[[],[],[]," * 300_000, "[0," * 2_000_000, '["ab",' + '"ab",' * 10**6],
    ids=["deep", "lists", "numbers", "strings"],
)
def test_a_bomb_of_json_is_refused_before_it_goes_off(tmp_path, bomb):
    """Sixty megabytes of nested lists took 1.7 GB, and then loaded."""
    text = json.dumps({"__metadata__": {"flybloom": "0" * 64 + ' {"a":' + bomb}}).encode()
    (tmp_path / "bomb.fly").write_bytes(len(text).to_bytes(8, "little") + text)
    with within(100 + 4 * len(text) / 2**20), pytest.raises(ModelFileError):
        load(tmp_path / "bomb.fly")


def test_labels_full_of_brackets_are_no_bomb(tmp_path):
    """What can be saved can be loaded."""
    n = 40_000
    labels = np.array([f"[{{{i},,,,,,,,,,,,,,,,,,,," for i in range(n)])
    X = np.random.default_rng(0).random((n, 3))
    model = FlyBloomClassifier(8, n_winners=2, encoding="none", random_state=0)
    model.fit(np.repeat(X, 3, axis=0), np.repeat(labels, 3)).save(tmp_path / "model.fly")
    assert_array_equal(load(tmp_path / "model.fly").classes_, model.classes_)


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    """Far more text in labels than counts."""
    n = 400
    labels = np.array([str(i) + "x" * 50_000 for i in range(n)])
    X = np.random.default_rng(0).random((n, 3))
    model = FlyBloomClassifier(8, n_winners=2, encoding="none", random_state=0)
    model.fit(np.repeat(X, 3, axis=0), np.repeat(labels, 3))
    with pytest.raises(ValueError, match="Use fewer classes, shorter labels"):
        model.save(tmp_path / "model.fly")
    assert not any(tmp_path.iterdir())


def test_a_training_that_says_nothing_is_refused(tmp_path, rows):
    """`inspect` had a traceback for it."""
    small().fit(rows, in_turn(0, 1)).save(tmp_path / "model.fly")
    changed_file(tmp_path / "model.fly", lambda description: description.update(training={}))
    with pytest.raises(ModelFileError, match="how many rows were learned"):
        load(tmp_path / "model.fly")


def test_a_search_whose_best_setting_is_not_that_of_its_model_is_refused(tmp_path, rows):
    """It loaded, and failed when it was used."""
    search = FlyBloomClassifierCV([40], n_connections=[2], n_winners=[4], decay=[0.4, 1.0], random_state=0)
    search.fit(rows, in_turn(0, 1, 2)).save(tmp_path / "search.fly")
    assert load(tmp_path / "search.fly").best_params_ == search.best_params_
    changed_file(tmp_path / "search.fly", lambda found: found["settings"][found["best"]].update(decay=-1e-300))
    with pytest.raises(ModelFileError):
        load(tmp_path / "search.fly")


@pytest.mark.parametrize("wrong", [{"announced": {}}, {"labels": {}}, {"labels": None}, {"is_whole": 1}, {"bound": 7}])
def test_a_sketch_that_says_what_cannot_be_is_refused(tmp_path, rows, wrong):
    """A KeyError came out."""
    path = tmp_path / "model.fly"
    small().partial_fit(rows, in_turn(0, 1, 2), classes=[0, 1, 2]).save(path)
    assert load(path).classes_.tolist() == [0, 1, 2]
    changed_file(path, lambda description: description["sketch"].update(wrong))
    with pytest.raises(ModelFileError, match="is damaged"):
        load(path)


def test_a_detector_whose_readout_does_not_fit_its_parameters_is_refused(tmp_path, rows):
    """It loaded, and could not score."""
    path = tmp_path / "model.fly"
    FlyBloomNovelty(64, n_winners=6, random_state=0).fit(rows).save(path)
    changed_file(path, lambda description: description["parameters"].update(forget_after=24))
    with pytest.raises(ModelFileError):
        load(path)


@pytest.mark.parametrize("label", [7, 2**31, -(2**63)])
@pytest.mark.parametrize("kind", [FlyRidgeClassifier, FlyRidgeMultiOutputClassifier])
def test_a_sketch_with_labels_that_were_not_counted_is_refused(tmp_path, rows, kind, label):
    """It loaded, and could not predict; or it was an OverflowError."""

    def other(description):
        labels = description["sketch"]["labels"]
        labels.get("classes", labels)["values"][-1] = label

    y = np.array(in_turn(0, 1, 2), np.uint8)
    y = y if kind is FlyRidgeClassifier else np.stack([y, y > 0], axis=1)
    kind(64, n_winners=6).fit(rows, y).save(tmp_path / "model.fly")
    changed_file(tmp_path / "model.fly", other)
    with pytest.raises(ModelFileError, match="is damaged"):
        load(tmp_path / "model.fly")


@pytest.mark.parametrize("unknown", [0, False, 1.5, None, "unknown"])
def test_a_rejected_label_that_is_that_of_a_class_is_not_believed(tmp_path, rows, unknown):
    """It loaded, and could not learn on: files of older versions hold the label, which follows from the classes."""
    OpenSetClassifier(small()).fit(rows, in_turn(0, 1, 2)).save(tmp_path / "model.fly")
    changed_file(tmp_path / "model.fly", lambda found: found.update(unknown=unknown))
    model = load(tmp_path / "model.fly")
    assert model.unknown_ == -1
    assert model.partial_fit(rows[:3], in_turn(0, 1, 2)[:3]).unknown_ == -1


# 8. Forks


@posix
def test_a_process_that_is_forked_while_a_thread_learns_learns_on(rows):
    """The child of 0.1.0 waited for ever, 30 times of 30."""
    labels = in_turn(0, 1, 2)
    model = small(encoding="none").fit(rows, labels)
    done = Event()

    def learn():
        while not done.is_set():
            model.partial_fit(rows, labels)

    thread = Thread(target=learn)
    thread.start()
    try:
        for _ in range(5):
            time.sleep(0.01)
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    signal.alarm(20)
                    model.partial_fit(rows[:2], labels[:2])
                    code = int((model.counts_.sum(axis=1) != 4 * model.class_count_).any())
                finally:
                    os._exit(code)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        thread.join()


# 10. Values


def test_the_largest_floats_are_standardised(rows):
    """Whose squares, and whose differences, are beyond them."""
    plain = small().fit(rows, in_turn(0, 1, 2))
    large = small().fit(rows * 2.0**515, in_turn(0, 1, 2))
    assert_array_equal(plain.predict(rows), large.predict(rows * 2.0**515))
    rows[:, 0] = np.where(np.arange(60) % 3 == 0, 1.7e308, -1.7e308)
    model = small().fit(rows, in_turn(0, 1, 2))
    assert np.isfinite(model.scale_).all()
    halved = small().fit(rows / [4, 1, 1, 1, 1], in_turn(0, 1, 2))
    assert_array_equal(model.counts_, halved.counts_)


@pytest.mark.parametrize("encoding", ["standard", "bins", "auto"])
def test_a_deviation_below_the_least_float_is_saved_and_loaded(tmp_path, rows, encoding):
    """That of 0 and 5e-324 became 0: files could not be loaded, nor could models be pickled or copied."""
    rows[:, 0] = np.where(np.arange(60) % 2, 5e-324, 0.0)
    rows[:, 1] = np.where(np.arange(60) % 3, 1e-310, 0.0)  # one over its deviation is beyond the largest float
    model = small(encoding=encoding).fit(rows, in_turn(0, 1, 2))
    assert (model.scale_ > 0).all()
    model.save(tmp_path / "model.fly")
    for twin in (load(tmp_path / "model.fly"), pickle.loads(pickle.dumps(model)), deepcopy(model)):  # noqa: S301
        assert_array_equal(twin.novelty(rows), model.novelty(rows))


# 11. Caches


@posix
def test_a_full_disk_under_the_cache_of_kernels_stops_nothing(tmp_path):
    """Nor do damaged files there."""
    script = """
import resource, signal, sys
if sys.argv[1] == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import numpy as np
from flybloom.core import _kernels
table, rows = np.zeros((4, 2), np.int32), np.zeros(2, np.int64)
_kernels.count.add_counts(np.zeros((1, 2), np.uint32), np.zeros(1, np.int64), np.ones(1, np.int64), table, rows)
assert table.sum() == 2
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def run(how):
        subprocess.run([sys.executable, "-c", script, how], check=True, env=environment, timeout=120)

    run("full")
    run("usual")
    files = [path for path in tmp_path.rglob("*") if path.suffix in (".nbi", ".nbc")]
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[:20])
    run("usual")


# 12. Sizes and sparse rows


def test_65536_features_without_signs_are_all_reached():
    """The last number that 16 bits hold is 65 535."""
    X = np.random.default_rng(0).random((4, 65_536)).astype(np.float32)
    model = FlyBloomClassifier(3000, n_winners=4, n_connections=60, signed=False, encoding="none", random_state=0)
    model.fit(X, [0, 1, 0, 1])
    assert model.connections_.max() == 65_535
    assert model.explain(X[:1]).shape == (1, 65_536)
    assert class_profiles(model).shape == (2, 65_536)


def test_as_many_rows_as_can_be_counted_can_be_saved(tmp_path, rows):
    """And no more can be learned or merged."""
    model = small(encoding="none").fit(rows[:2], [0, 1], sample_weight=[2**29, 2**29])
    while model.class_count_[0] < 2**62:
        model = model + model
    model.save(tmp_path / "model.fly")
    assert load(tmp_path / "model.fly").class_count_.tolist() == [2**62, 2**62]
    one = small(encoding="none").fit(rows[:2], [0, 1])
    for more in (lambda: model.partial_fit(rows[:1], [0]), lambda: model.merge(one), lambda: model + one):
        with pytest.raises(ValueError, match="cannot be counted"):
            more()
    assert model.class_count_.tolist() == [2**62, 2**62]


def test_what_is_learned_cannot_be_changed_from_outside(rows):
    """It is shared with copies, and with who hashes alike."""
    model = small().fit(rows, in_turn(0, 1, 2))
    for name in ("counts_", "class_count_", "classes_", "center_", "scale_"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[...] = 1


def test_wide_sparse_integers_stay_sparse():
    """Whose sums need 64 bits: 0.1.0 made them dense, 1.7 GB for 15 KB."""
    n, d = 50, 3_000_000
    indices = np.random.default_rng(0).integers(0, d, n * 4).astype(np.int32)
    X = sparse.csr_matrix((np.full(n * 4, 2**40), indices, np.arange(0, n * 4 + 1, 4)), shape=(n, d))
    model = FlyBloomClassifier(64, n_winners=4, n_connections=10, encoding="none", random_state=0)
    with within(400):
        model.fit(X, np.arange(n) % 2).predict(X)


@pytest.mark.parametrize(
    ("damage", "match"),
    [
        (lambda X: X.indices.__setitem__(1, 5), "Got column 5"),
        (lambda X: X.indices.__setitem__(1, -1), "Got column -1"),
        (lambda X: setattr(X, "indptr", np.array([0, 2, 1, 3], np.int32)), "ends before it begins"),
    ],
)
def test_sparse_rows_that_point_outside_are_refused(rows, damage, match):
    """Instead of read out of bounds."""
    model = small(encoding="none").fit(sparse.csr_matrix(rows), in_turn(0, 1, 2))
    X = sparse.csr_matrix((np.ones(3), np.array([0, 4, 2], np.int32), np.array([0, 1, 2, 3], np.int32)), shape=(3, 5))
    damage(X)
    for call in (model.predict, lambda X: model.partial_fit(X, [0, 1, 2])):
        with pytest.raises(ValueError, match=match):
            call(X.copy())
