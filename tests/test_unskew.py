"""Skewed columns are straightened: the slow truth, and all that models promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

import flybloom
import reference
from flybloom import Encoding, FlyBloomNovelty
from flybloom.core.encoding.unskew import Unskew
from flybloom.core.sketch import Sample
from flybloom.export import predictor, to_onnx
from forgetting import after_forgetting

TAILS = np.random.default_rng(0).standard_normal((300, 4)) * [1, 1, 2, 3]
TAILS[:, 1:] = np.exp(TAILS[:, 1:])
TAILS[::17, 2] = np.nan
values = st.one_of(st.floats(-10, 10, width=32), st.integers(-2, 2).map(float), st.just(np.nan))


@given(
    arrays(np.float32, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=values),
    st.data(),
)
@settings(max_examples=50, deadline=None)
def test_quantiles_and_values_are_the_slow_truth(rows, data):
    """With missing values, copies and ties; columns that are not skewed stay as they are."""
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows))), np.float64)
    step = Unskew.fit(Sample(rows, None, weights, float(weights.sum())))
    expected = [reference.quantiles_of_skewed(column, weights) for column in rows.T]
    assert step.columns.tolist() == [i for i, quantiles in enumerate(expected) if quantiles is not None]
    straightened = step.apply(rows)
    for i, quantiles in enumerate(expected):
        if quantiles is None:
            assert_array_equal(straightened[:, i], rows[:, i])
            continue
        assert_allclose(step.knots[:, step.columns.tolist().index(i)], quantiles, rtol=1e-6, atol=1e-6)
        slow = [np.nan if np.isnan(v) else reference.straightened(float(v), quantiles) for v in rows[:, i]]
        assert_allclose(straightened[:, i], slow, rtol=1e-4, atol=1e-3)


@given(arrays(np.float32, (20, 2), elements=st.floats(-10, 10, width=32)), st.floats(0, 3))
@settings(max_examples=30, deadline=None)
def test_order_and_bounds_hold(rows, radius):
    """A larger value is never smaller afterwards, and no difference grows more than the slope."""
    step = Unskew.fit(Sample(np.exp(rows / 4), None, np.ones(20), 20.0))
    low, high = step.between(rows, rows + np.float32(radius))
    assert (low <= high).all()
    steepest = step.slopes(np.ones(2))
    assert (high - low <= steepest * radius * (1 + 1e-4) + 1e-2).all()


def test_a_long_tail_is_drawn_in():
    """Half of a lognormal distribution is as wide as the other half."""
    column = np.exp(np.random.default_rng(1).standard_normal((1000, 1))).astype(np.float32)
    found = np.quantile(Unskew.fit(Sample(column, None, np.ones(1000), 1000.0)).apply(column), [0.05, 0.5, 0.95])
    assert_allclose(found, [-1.64, 0, 1.64], atol=0.25)


def small(**settings):
    """A detector with few components."""
    return FlyBloomNovelty(96, n_winners=24, random_state=3, **settings)


def test_all_forms_score_the_same(tmp_path):
    """Bit for bit: saved, frozen, by numpy alone, as ONNX."""
    onnxruntime = pytest.importorskip("onnxruntime")
    model = small().fit(TAILS[:200])
    assert model.encoder_.step(Unskew).columns.tolist() == [1, 2, 3]
    novelty = model.novelty(TAILS)
    model.save(tmp_path / "model.fly")
    assert_array_equal(flybloom.load(tmp_path / "model.fly").novelty(TAILS), novelty)
    model.freeze().save(tmp_path / "frozen.fly")
    assert_array_equal(predictor.load(tmp_path / "frozen.fly").novelty(TAILS), novelty)
    session = onnxruntime.InferenceSession(to_onnx(model, dtype="float64").SerializeToString())
    assert_array_equal(session.run(["scores"], {"X": TAILS})[0], model.decision_function(TAILS))


def test_models_add_up_and_forget(tmp_path):
    """The file of a merged detector, and of one that forgot, is that of a plain fit."""

    def bytes_of(model):
        model.save(tmp_path / "model.fly")
        return (tmp_path / "model.fly").read_bytes()

    whole = bytes_of(small().fit(TAILS[:200]))
    assert bytes_of(small().fit(TAILS[:90]) + small().fit(TAILS[90:200])) == whole
    assert bytes_of(after_forgetting(small().fit(TAILS), TAILS[200:])) == whole


def test_what_is_wrong_is_refused():
    """Settings and files."""
    for options in ({"unskew": 1}, {"unskew": True, "scaling": "none"}, {"unskew": True, "grid_shape": (2, 2)}):
        with pytest.raises(ValueError, match="unskew"):
            Encoding(**options)
    assert Encoding.from_json(Encoding(unskew=True).to_json()) == Encoding.parse("unskew")
    knots = np.arange(5, dtype=np.float32)[:, None]
    assert Unskew.from_dict({"skewed": [1], "skewed_quantiles": knots}, 2).columns.tolist() == [1]
    for stored in ({"skewed": [2], "skewed_quantiles": knots}, {"skewed": [1], "skewed_quantiles": -knots}, {}):
        with pytest.raises(ValueError, match="skewed columns"):
            Unskew.from_dict(stored, 2)
