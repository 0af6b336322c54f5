"""What hypothesis draws: small labelled data with many ties, and ways to cut it."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


class Labelled(NamedTuple):
    """Rows and their labels."""

    X: np.ndarray
    y: np.ndarray


@st.composite
def labelled_rows(draw, *, least=2, integers=False):
    """Between `least` and 40 rows of a few features, of two to four classes."""
    n, d = draw(st.integers(least, 40)), draw(st.integers(1, 6))
    whole = hnp.arrays(np.int64, (n, d), elements=st.integers(-4, 4))
    real = hnp.arrays(np.float64, (n, d), elements=st.floats(-100, 100, width=32))
    X = draw(whole if integers else st.one_of(whole, real))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 3)).filter(lambda y: np.unique(y).size > 1))
    return Labelled(X, y)


@st.composite
def block_cuts(draw, n):
    """A way to cut n rows into blocks, one of which may be a single row."""
    inner = draw(st.lists(st.integers(1, max(1, n - 1)), max_size=4))
    edges = sorted({0, n, *(cut for cut in inner if cut < n)})
    return [slice(a, b) for a, b in pairwise(edges)]
