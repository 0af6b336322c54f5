"""What tallies must obey: they form a sum without order, and travel unharmed; blocks of a cluster are such sums."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from flybloom import FlyBloomClassifier
from flybloom.distributed._tally import Tally
from laws.strategies import labelled_rows


@st.composite
def tallies(draw):
    """Counts of three components for some of five classes; some sparse, some too large for 32 bits."""
    classes = np.array(sorted(draw(st.sets(st.integers(0, 4)))), dtype=np.int64)
    largest = draw(st.sampled_from([1, 200, 2**31 - 1, 2**40]))
    table = draw(hnp.arrays(np.int64, (3, classes.size), elements=st.integers(0, largest), fill=st.just(0)))
    class_count = table.max(axis=0, initial=0)
    dtype = np.int32 if class_count.max(initial=0) < 2**31 else np.int64
    return Tally(classes, class_count, table.astype(dtype))


def assert_same(a, b):
    """Equal in all parts, types included."""
    assert_array_equal(a.classes, b.classes)
    assert_array_equal(a.class_count, b.class_count)
    assert_array_equal(a.counts, b.counts)
    assert a.counts.dtype == b.counts.dtype


@given(tallies(), tallies(), tallies())
def test_tallies_add_up_in_any_order(a, b, c):
    """Commutative and associative, and none of them changes."""
    before = pickle.dumps((a, b, c))
    assert_same(a + b, b + a)
    assert_same((a + b) + c, a + (b + c))
    assert pickle.dumps((a, b, c)) == before


@given(tallies())
def test_tallies_travel_unharmed(tally):
    """Whatever form they travel in."""
    assert_same(pickle.loads(pickle.dumps(tally)), tally)  # noqa: S301


@given(st.integers(0, 32_000), st.sampled_from([1, 300, 100_000]))
def test_tallies_travel_in_few_bytes(n_nonzero, largest):
    """Never more than the narrowest dense table, and never more than a bit for each cell and the nonzeros."""
    counts = np.zeros((8000, 4), np.int32)
    counts.flat[:n_nonzero] = largest
    width = np.min_scalar_type(largest if n_nonzero else 0).itemsize
    sent = len(pickle.dumps(Tally(np.arange(4), np.full(4, 10**6), counts)))
    assert sent <= min(counts.size * width, counts.size // 8 + n_nonzero * width) + 1000


@given(st.data(), labelled_rows(), st.sampled_from(["none", "center", "standard"]))
def test_any_blocks_on_dask_give_the_model_of_one_process(data, rows, scaling):
    """Empty blocks and blocks of one row included."""
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    from flybloom import distributed  # noqa: PLC0415

    n = len(rows.y)
    edges = sorted(data.draw(st.lists(st.integers(0, n), max_size=6)))
    sizes = tuple(np.diff([0, *edges, n]).tolist())
    model = FlyBloomClassifier(48, n_winners=6, random_state=3, scaling=scaling)
    local = FlyBloomClassifier(48, n_winners=6, random_state=3, scaling=scaling).fit(*rows)
    with dask.config.set(scheduler="synchronous"):
        blocks = da.from_array(rows.X, chunks=(sizes, rows.X.shape[1]))
        distributed.fit(model, blocks, da.from_array(rows.y, chunks=(sizes,)))
        assert_array_equal(distributed.predict(model, blocks).compute(), local.predict(rows.X))
    for name in ("classes_", "class_count_", "counts_", "center_", "scale_"):
        assert_array_equal(getattr(model, name), getattr(local, name))
