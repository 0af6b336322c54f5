"""Sums without rounding, against fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from flybloom.core.encoding import moments as scaling
from flybloom.core.encoding.moments import ColumnMoments, column_moments

EXTREMES = [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1.0, -1.0, 1e-30, 1e16, 3.0, 0.1, -1e150, 1.7e308, math.pi]


def exact(column, weights):
    """The sum and the sum of squares in the units of ColumnMoments."""
    values = [Fraction(float(x)) for x in column]
    total = sum((w * x for w, x in zip(weights, values, strict=True)), Fraction(0)) * 2**1074
    square = sum((w * x * x for w, x in zip(weights, values, strict=True)), Fraction(0)) * 2**2148
    assert total.denominator == square.denominator == 1
    return int(total), int(square)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, bool])
def test_moments_are_exact(rng, dtype):
    """For every type, negative and positive, with weights."""
    rows = (rng.standard_normal((40, 3)) * 100).astype(dtype)
    weights = rng.integers(0, 5, 40)
    moments = column_moments(rows, weights)
    assert moments.n_rows == weights.sum()
    for f in range(3):
        assert (moments.sums[f], moments.squares[f]) == exact(rows[:, f], weights.tolist())


def test_moments_are_exact_over_the_whole_range_of_floats():
    """From the smallest number there is to nearly the largest, in one column."""
    rows = np.array(EXTREMES)[:, None]
    moments = column_moments(rows, np.ones(len(rows), np.int64))
    assert (moments.sums[0], moments.squares[0]) == exact(rows[:, 0], [1] * len(rows))


def test_limbs_are_carried_before_they_overflow(rng):
    """Weights near the limit force a carry between blocks of rows."""
    rows, weights = rng.standard_normal((9, 2)), np.full(9, 2**29 - 1)
    moments = column_moments(rows, weights)
    assert (moments.sums[1], moments.squares[1]) == exact(rows[:, 1], weights.tolist())


def test_moments_of_parts_add_up(rng, monkeypatch):
    """To those of the whole, in any order, with nothing as the empty element, and for any cut of the columns."""
    rows = rng.standard_normal((30, 4)) * 1e5
    whole = column_moments(rows, np.ones(len(rows), np.int64))
    assert (
        ColumnMoments()
        + column_moments(rows[20:], np.ones(len(rows[20:]), np.int64))
        + column_moments(rows[:20], np.ones(len(rows[:20]), np.int64))
        == whole
    )
    monkeypatch.setattr(scaling, "COLUMNS_AT_ONCE", 3)
    assert column_moments(rows, np.ones(len(rows), np.int64)) == whole


def test_mean_and_deviation_survive_a_large_offset():
    """Where the naive formula loses every digit."""
    rows = np.array([[1e9 + 1], [1e9 + 2], [1e9 + 3]])
    moments = column_moments(rows, np.ones(len(rows), np.int64))
    assert_array_equal(moments.means(), [1e9 + 2])
    assert_array_equal(moments.deviations(), [math.sqrt(2 / 3)])


def test_constant_columns_have_deviation_one():
    """So that nothing is divided by zero."""
    assert_array_equal(column_moments(np.full((5, 2), 0.1), np.ones(5, np.int64)).deviations(), [1.0, 1.0])
