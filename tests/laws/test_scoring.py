"""Lists of classes give the bits that the table gives, whatever was counted."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

import reference
from flybloom import FlyBloomClassifier
from flybloom.core.readout import filters as made
from flybloom.core.readout.filters import Filters
from flybloom.core.readout.linear import ListedWeights, choose
from laws.strategies import labelled_rows

# between 0 and 1 with many bits, powers of two, and so small that classes differ by rounding only
DECAYS = st.one_of(st.floats(0.001, 1.0), st.sampled_from([1.0, 0.5, 0.25, 2.0**-30, 1e-9, 1e-15, 1e-16, 5e-324]))


def listing():
    """Make lists wherever rows are scored."""
    return patch.multiple(made, MANY_CLASSES=1, MAX_LISTED=1, WORTH_LISTING=0)


@st.composite
def counted(draw):
    """Counts, and rows of winners to be scored with them."""
    m, n_classes = draw(st.integers(1, 150)), draw(st.integers(1, 40))
    rho = draw(st.integers(1, m))
    most = draw(st.sampled_from([1, 3, 5000]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    share = draw(st.sampled_from([0.02, 0.2, 1.0]))
    counts = np.where(rng.random((m, n_classes)) < share, rng.integers(0, most + 1, (m, n_classes)), 0)
    # columns that hold the same counts for other components: sums that differ by their order alone
    order = draw(hnp.arrays(np.int64, n_classes, elements=st.integers(0, n_classes - 1)))
    counts[:, order] = counts[rng.permutation(m)][:, order] if draw(st.booleans()) else counts[:, order[::-1]]
    winners = np.array([rng.permutation(m)[:rho] for _ in range(5)], np.uint32)
    return counts.astype(np.int32), winners


@given(counted(), DECAYS, st.integers(0, 2**64 - 1))
def test_lists_and_table_agree(drawn, decay, seed):
    """With each other and with the reference."""
    counts, winners = drawn
    expected = reference.novelty(reference.filters(counts.T, decay), winners)
    with listing():
        lists = Filters(counts, counts.max(axis=0), decay).read_out(winners.shape[1], seed)
    assert isinstance(lists.weights, ListedWeights)
    others = [Filters(counts, counts.max(axis=0), decay).read_out(winners.shape[1], seed, n) for n in (0, len(counts))]
    for read_out in (lists, *others):
        assert_array_equal(read_out.scores(winners[:, ::-1].copy()) / -winners.shape[1], expected)
        assert_array_equal(read_out.labels(winners), choose(-expected, winners, seed))


@given(labelled_rows(), DECAYS, st.sampled_from([None, 2]))
def test_a_model_scores_the_same_by_lists(rows, decay, n_jobs):
    """From rows to labels, on any number of threads."""
    model = FlyBloomClassifier(48, n_winners=6, random_state=3, decay=decay, n_jobs=n_jobs).fit(*rows)
    predicted, novelty = model.predict(rows.X), model.novelty(rows.X)
    with listing():
        assert_array_equal(model.predict(rows.X), predicted)
        assert_array_equal(model.novelty(rows.X), novelty)
