"""The laws of counting, over every kind of counts: one pass, any blocks, sums, exact forgetting, files, clusters."""

import pickle
from copy import copy, deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

import flybloom
from flybloom.exceptions import IncompatibleHashError, ModelFileError, NeverLearnedError
from forgetting import after_forgetting
from laws.kinds import KINDS, assert_same_state, counting_kinds, state_of
from laws.strategies import block_cuts, labelled_rows

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
kinds_without_order = pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if not kind.has_order], ids=lambda kind: kind.name
)


def learned_in_blocks(kind, rows, cuts, **options):
    """A model that met the rows block by block, with a scaling that needs none of them."""
    model = kind.model(encoding="none", **options)
    for cut in cuts:
        model.partial_fit(rows.X[cut], **kind.labels(rows.y[cut]))
    return model


def test_every_kind_that_files_know_is_listed():
    """So that no kind escapes the laws."""
    assert counting_kinds() == {kind.estimator for kind in KINDS}


@every_kind
@given(data=st.data(), rows=labelled_rows())
def test_blocks_do_not_matter(kind, data, rows):
    """Any cut into blocks, and any number of threads."""
    whole = learned_in_blocks(kind, rows, [slice(None)])
    cuts = data.draw(block_cuts(len(rows.y)))
    assert_same_state(learned_in_blocks(kind, rows, cuts), whole)
    assert_same_state(learned_in_blocks(kind, rows, cuts, n_jobs=2), whole)


@kinds_without_order
@given(data=st.data(), rows=labelled_rows())
def test_order_does_not_matter(kind, data, rows):
    """Any order of the rows."""
    order = np.array(data.draw(st.permutations(range(len(rows.y)))))
    shuffled = rows._replace(X=rows.X[order], y=rows.y[order])
    everything = [slice(None)]
    assert_same_state(learned_in_blocks(kind, shuffled, everything), learned_in_blocks(kind, rows, everything))


@every_kind
@given(data=st.data(), rows=labelled_rows())
def test_models_add_up(kind, data, rows):
    """A sum has learned what both have, and leaves both as they were."""
    n = len(rows.y)
    at = data.draw(st.integers(1, n - 1))
    if kind.has_order:  # streams can be joined where an epoch ends: after multiples of 24 / 8 rows
        at = max(3, at // 3 * 3)
        if at >= n:
            return
    a, b = (learned_in_blocks(kind, rows, [cut]) for cut in (slice(at), slice(at, None)))
    before = pickle.dumps((state_of(a), state_of(b)))
    assert_same_state(a + b, learned_in_blocks(kind, rows, [slice(None)]))
    assert pickle.dumps((state_of(a), state_of(b))) == before
    assert_same_state(sum([a, b]), a.merge(b))


@kinds_without_order
@given(data=st.data(), rows=labelled_rows())
def test_what_is_forgotten_was_never_learned(kind, data, rows):
    """Taken away as rows or as a model, at once or one by one."""
    n = len(rows.y)
    at = data.draw(st.integers(1, n - 1))
    never = learned_in_blocks(kind, rows, [slice(at)])
    model, other = learned_in_blocks(kind, rows, [slice(None)]), learned_in_blocks(kind, rows, [slice(at, None)])
    assert_same_state(model - other, never)
    one_by_one = copy(model)
    for row in range(at, n):
        one_by_one.forget(rows.X[row : row + 1], **kind.labels(rows.y[row : row + 1]))
    assert_same_state(one_by_one, never)
    assert_same_state(after_forgetting(model, rows.X[at:], **kind.labels(rows.y[at:])), never)


@kinds_without_order
@given(rows=labelled_rows())
def test_what_was_not_learned_cannot_be_forgotten(kind, rows):
    """Refused, and nothing changes."""
    model = learned_in_blocks(kind, rows, [slice(None)])
    before = pickle.dumps(state_of(model))
    with pytest.raises(NeverLearnedError):
        model.forget(np.repeat(rows.X, 2, axis=0), **kind.labels(np.repeat(rows.y, 2)))
    with pytest.raises(NeverLearnedError):
        model - (model + model)
    assert pickle.dumps(state_of(model)) == before


@every_kind
@given(rows=labelled_rows(), scaling=st.sampled_from(["none", "center", "standard"]))
def test_files_pickles_and_copies_hold_everything(kind, rows, scaling, tmp_path_factory):
    """And go on learning where the model was."""
    model = kind.model(encoding=scaling).partial_fit(rows.X, **kind.labels(rows.y))
    path = tmp_path_factory.mktemp("model") / "model.fly"
    model.save(path)
    copies = [flybloom.load(path), pickle.loads(pickle.dumps(model)), copy(model), deepcopy(model)]  # noqa: S301
    model.partial_fit(rows.X, **kind.labels(rows.y))
    for again in copies:
        assert again.get_params() == model.get_params()
        again.partial_fit(rows.X, **kind.labels(rows.y))
        assert_same_state(again, model)
        assert_array_equal(again.predict(rows.X), model.predict(rows.X))


@every_kind
def test_every_bit_of_a_file_is_guarded(kind, digits, tmp_path):
    """One flipped bit anywhere is noticed."""
    X, y = digits
    kind.model().partial_fit(X[:50], **kind.labels(y[:50])).save(tmp_path / "model.fly")
    intact = (tmp_path / "model.fly").read_bytes()
    for at in np.random.default_rng(0).integers(0, len(intact), 100):
        damaged = bytearray(intact)
        damaged[at] ^= 1 << int(at) % 8
        (tmp_path / "damaged.fly").write_bytes(damaged)
        with pytest.raises(ModelFileError):
            flybloom.load(tmp_path / "damaged.fly")


@every_kind
@settings(max_examples=10)
@given(data=st.data(), rows=labelled_rows(), scaling=st.sampled_from(["none", "standard"]))
def test_blocks_on_dask_give_the_model_of_one_process(kind, data, rows, scaling):
    """Empty blocks and blocks of one row included."""
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    from flybloom import distributed  # noqa: PLC0415

    n = len(rows.y)
    edges = sorted(data.draw(st.lists(st.integers(0, n), max_size=6)))
    sizes = tuple(np.diff([0, *edges, n]).tolist())
    local = kind.model(encoding=scaling).partial_fit(rows.X, **kind.labels(rows.y))
    with dask.config.set(scheduler="synchronous"):
        blocks = da.from_array(rows.X, chunks=(sizes, rows.X.shape[1]))
        labels = kind.labels(da.from_array(rows.y, chunks=(sizes,)))
        model = distributed.partial_fit(kind.model(encoding=scaling), blocks, **labels)
        assert_same_state(model, local)
        assert_array_equal(distributed.predict(model, blocks).compute(), local.predict(rows.X))
        distributed.partial_fit(model, blocks, **labels)
    assert_same_state(model, local.partial_fit(rows.X, **kind.labels(rows.y)))


@every_kind
def test_training_that_was_killed_goes_on(kind, digits, tmp_path):
    """From files, with checkpoints, to the same bits."""
    pytest.importorskip("pyarrow")
    X, y = digits
    np.savez(tmp_path / "rows.npz", X=X[:400], y=y[:400])
    target = "y" if kind.estimator._has_labels else None
    source = tmp_path / "rows.npz" if target else tmp_path / "rows.npy"
    if target is None:
        np.save(source, X[:400])
    options = {"block_rows": 50, "checkpoint": tmp_path / "checkpoint", "checkpoint_rows": 100}
    whole = flybloom.train(kind.model(encoding="standard+clip=inf"), source, target, block_rows=70)
    n_calls = 0

    def interrupt(stage, _rows):
        nonlocal n_calls
        n_calls += stage == "learning"
        if n_calls == 5:
            raise KeyboardInterrupt

    model = kind.model(encoding="standard+clip=inf")
    with pytest.raises(KeyboardInterrupt):
        flybloom.train(model, source, target, on_progress=interrupt, **options)
    with pytest.raises(NotFittedError):
        model.predict(X)
    flybloom.train(model, source, target, resume=True, **options)
    assert_same_state(model, whole)
    assert_array_equal(model.predict(X), whole.predict(X))


@every_kind
def test_mistakes_have_the_same_errors(kind, digits):
    """Merging what does not fit, and using what is not fitted."""
    X, y = digits
    model = kind.model(encoding="none").partial_fit(X, **kind.labels(y))
    other = kind.model(encoding="none", random_state=4).partial_fit(X, **kind.labels(y))
    name = kind.estimator.__name__
    with pytest.raises(IncompatibleHashError, match="seed_"):
        model.merge(other)
    with pytest.raises(IncompatibleHashError, match="seed_"):
        model - other
    with pytest.raises(TypeError, match=f"expected another {name}. Got int instead"):
        model.merge(3)
    for unfitted in (lambda: kind.model().predict(X), lambda: model.merge(kind.model()), lambda: kind.model() + model):
        with pytest.raises(NotFittedError, match=f"This {name} instance is not fitted yet"):
            unfitted()


@every_kind
def test_counts_cannot_be_changed_from_outside(kind, digits):
    """What is handed out is read-only, and stays as it is."""
    X, y = digits
    model = kind.model().partial_fit(X, **kind.labels(y))
    counts = model.counts_
    before = counts.copy()
    with pytest.raises(ValueError, match="read-only"):
        counts[0, 0] = 1
    model.partial_fit(X, **kind.labels(y))
    assert_array_equal(counts, before)
