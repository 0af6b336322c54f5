"""How often a source is read: at most twice by default, once with an encoding that was fitted beforehand."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from flybloom import FlyBloomClassifier, FlyBloomNovelty, FlyRidgeClassifier, FlyRidgeRegressor, train
from flybloom.blocks.frames import PandasFrame

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(2000, 12))
GAPS = np.where(RNG.random(ROWS.shape) < 0.1, np.nan, ROWS)
LABELS = (ROWS[:, 0] + ROWS[:, 1] > 0).astype(int)
WORDS = sparse.random(2000, 3000, 0.01, format="csr", random_state=0)
TABLE = pd.DataFrame(GAPS[:, :4], columns=list("abcd")).assign(
    word=RNG.choice(["x", "y", "z"], len(ROWS)), day=pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(2000), "h")
)
CASES = {
    "counts": (FlyBloomClassifier(512, random_state=0), ROWS, LABELS),
    "pairs": (FlyRidgeClassifier(random_state=0), ROWS, LABELS),
    "novelty": (FlyBloomNovelty(512, contamination=0.1, random_state=0), ROWS, None),
    "novelty by filters": (FlyBloomNovelty(512, readout="filter", random_state=0), ROWS, None),
    "regression": (FlyRidgeRegressor(random_state=0), ROWS, ROWS @ np.arange(12.0)),
    "table": (FlyBloomClassifier(512, random_state=0), TABLE, LABELS),
    "gaps": (FlyRidgeClassifier(random_state=0), GAPS, LABELS),
    "text": (FlyBloomClassifier(2048, random_state=0), WORDS, LABELS),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


class Source:
    """Blocks of 300 rows that can be read again, and how often they were."""

    def __init__(self, X, y):
        self.X, self.y, self.n_read = X, y, 0

    def __iter__(self):
        """Read the rows once more."""
        self.n_read += 1
        for begin in range(0, self.X.shape[0], 300):
            some = slice(begin, begin + 300)
            yield self.X[some], None if self.y is None else self.y[some]


@pytest.fixture
def source_of(monkeypatch):
    """What makes a source of rows; `n_read` says how often that was read."""

    def source_of(X, y):
        if not isinstance(X, pd.DataFrame):
            source = Source(X, y)
            return source, source
        reads, read = Source(X, y), PandasFrame.read

        def counted(self, *args):
            reads.n_read += 1
            return read(self, *args)

        monkeypatch.setattr(PandasFrame, "read", counted)
        return X.assign(y=y), reads

    return source_of


def with_encoding(model):
    """A model of no rows with the encoding and the sizes of a fitted one, and where there are targets, their grid."""
    if isinstance(model, FlyRidgeRegressor):
        return model.like()
    sizes = {name: getattr(model, f"{name}_") for name in ("n_components", "n_connections", "n_winners")}
    return type(model)(**{**model.get_params(), **sizes, "encoding": model.encoder_})


def told(model):
    """What was chosen with the rows of a sketch."""
    return [getattr(model, name) for name in ("temperature_", "offset_") if hasattr(model, name)]


@every_case
def test_training_reads_a_source_at_most_twice(case, source_of):
    """And once where encoding and sizes are known; to the same model."""
    model, X, y = case
    (source, reads), target = source_of(X, y), None if y is None else "y"
    trained = train(type(model)(**model.get_params()), source, target)
    assert reads.n_read == 2
    reads.n_read = 0
    fixed = train(with_encoding(trained), source, target)
    assert reads.n_read == 1
    assert_array_equal(fixed.counts_, trained.counts_)
    assert told(fixed) == told(trained)


def test_rows_of_a_table_are_sketched_once():
    """Its columns need a pass of their own whatever the encoding, and the second pass adds nothing to the sketch."""
    model = FlyBloomClassifier(512, encoding="none", random_state=0)
    assert train(model, TABLE.assign(y=LABELS), "y").sketch_.n_rows == len(TABLE)


@every_case
def test_a_cluster_loads_blocks_at_most_twice(case):
    """And once where encoding and sizes are known; to the same model."""
    da, distributed = pytest.importorskip("dask.array"), pytest.importorskip("flybloom.distributed")
    dask = pytest.importorskip("dask")
    model, X, y = case
    loads = []

    def loaded(block):
        """Note that a block was loaded."""
        loads.append(1)
        return sparse.csr_matrix(block) if sparse.issparse(X) else block

    if isinstance(X, pd.DataFrame):
        rows = pytest.importorskip("dask.dataframe").from_pandas(X, npartitions=4).map_partitions(loaded, meta=X[:0])
    else:
        rows = da.from_array(X.toarray() if sparse.issparse(X) else X, chunks=(500, X.shape[1]))
        rows = rows.map_blocks(loaded, dtype=X.dtype, meta=X[:0])
    labels = None if y is None else da.from_array(y, chunks=500)
    with dask.config.set(scheduler="threads"):
        fitted = distributed.fit(type(model)(**model.get_params()), rows, labels)
        assert len(loads) == 2 * 4
        loads.clear()
        learn = distributed.partial_fit if isinstance(model, FlyRidgeRegressor) else distributed.fit
        fixed = learn(with_encoding(fitted), rows, labels)
        assert len(loads) == 4
    assert_array_equal(fixed.counts_, fitted.counts_)
    assert told(fixed) == told(fitted)
