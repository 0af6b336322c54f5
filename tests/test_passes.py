"""How often a source is read: at most twice by default, once with an encoding that was fitted beforehand."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from flybloom import FlyBloomClassifier, FlyBloomNovelty, FlyRidgeClassifier, train

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(2000, 12))
GAPS = np.where(RNG.random(ROWS.shape) < 0.1, np.nan, ROWS)
LABELS = (ROWS[:, 0] + ROWS[:, 1] > 0).astype(int)
WORDS = sparse.random(2000, 3000, 0.01, format="csr", random_state=0)
CASES = {
    "counts": (FlyBloomClassifier(512, random_state=0), ROWS, LABELS),
    "pairs": (FlyRidgeClassifier(random_state=0), ROWS, LABELS),
    "novelty": (FlyBloomNovelty(512, contamination=0.1, random_state=0), ROWS, None),
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


def with_encoding(model):
    """An unfitted model with the encoding and the sizes of a fitted one."""
    sizes = {name: getattr(model, f"{name}_") for name in ("n_components", "n_connections", "n_winners")}
    return type(model)(**{**model.get_params(), **sizes, "encoding": model.encoder_})


def told(model):
    """What was chosen with the rows of a sketch."""
    return [getattr(model, name) for name in ("temperature_", "offset_") if hasattr(model, name)]


@every_case
def test_training_reads_a_source_at_most_twice(case):
    """And once where encoding and sizes are known; to the same model."""
    model, X, y = case
    source, target = Source(X, y), None if y is None else "y"
    trained = train(type(model)(**model.get_params()), source, target)
    assert source.n_read == 2
    again = Source(X, y)
    fixed = train(with_encoding(trained), again, target)
    assert again.n_read == 1
    assert_array_equal(fixed.counts_, trained.counts_)
    assert told(fixed) == told(trained)


@every_case
def test_a_cluster_loads_blocks_at_most_twice(case):
    """And once where encoding and sizes are known; to the same model."""
    da, distributed = pytest.importorskip("dask.array"), pytest.importorskip("flybloom.distributed")
    dask = pytest.importorskip("dask")
    model, X, y = case
    if sparse.issparse(X):
        pytest.skip("blocks of a Dask array are declared dense here")
    loads = []
    rows = da.from_array(X, chunks=(500, X.shape[1]))
    rows = rows.map_blocks(lambda block: (loads.append(1), block)[1], dtype=X.dtype, meta=X[:0])
    labels = None if y is None else da.from_array(y, chunks=500)
    with dask.config.set(scheduler="threads"):
        fitted = distributed.fit(type(model)(**model.get_params()), rows, labels)
        assert len(loads) == 2 * 4
        loads.clear()
        fixed = distributed.fit(with_encoding(fitted), rows, labels)
        assert len(loads) == 4
    assert_array_equal(fixed.counts_, fitted.counts_)
    assert told(fixed) == told(fitted)
