"""The laws of tables: the slow truth, any order, blocks, clusters and files; every kind of counts."""

import pickle
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import flybloom
import reference
from flybloom import FlyBloomClassifier
from flybloom._internal.cells import cells
from flybloom._internal.validation import NamedRows
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import Encoding
from flybloom.core.sketch import Sketch
from flybloom.exceptions import IncompatibleHashError
from laws.kinds import KINDS, assert_same_state
from laws.strategies import block_cuts

at = datetime.fromisoformat
WORDS = st.sampled_from(["a", "b", "c", "d", " a ", "é", "NA", None])
MOMENTS = st.one_of(
    st.none(), st.datetimes(at("1900-01-01T00:00:00"), at("2100-01-01T00:00:00")), st.just(at("2026-01-31T00:00:00"))
)
every_kind = pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if hasattr(kind.estimator, "fit")], ids=lambda kind: kind.name
)


@st.composite
def tables(draw, *, least=2, most=30):
    """A frame as people have them, and labels of two classes or more."""
    n = draw(st.integers(least, most))
    columns = {
        "word": (WORDS, "category"),
        "number": (st.one_of(st.none(), st.integers(-5, 5)), float),
        "when": (MOMENTS, "datetime64[us]"),
        "is": (st.booleans(), bool),
        "grade": (st.sampled_from([1, 2, 3, 40]), "category"),
    }
    values = {name: draw(st.lists(elements, min_size=n, max_size=n)) for name, (elements, _) in columns.items()}
    frame = pd.DataFrame({name: pd.Series(values[name], dtype=dtype) for name, (_, dtype) in columns.items()})
    y = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(lambda y: len(set(y)) > 1)))
    return frame, y


@settings(max_examples=40)
@given(case=tables(), most=st.integers(2, 5), data=st.data())
def test_the_table_is_the_slow_truth(case, most, data):
    """Categories exactly, and the parts of dates up to rounding; weights and missing values included."""
    frame, _ = case
    n = len(frame)
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any)))
    rows, names, kinds = flybloom._internal.validation.check_new_rows(frame, "x", takes_sparse=False)
    features = Encoder(rows.shape[1], names, kinds=kinds)
    encoder = Encoding("none", max_categories=most).fitted(features, Sketch.of(rows, None, weights).sample())
    expected = reference.table_columns(rows, kinds, weights, most)
    assert_allclose(encoder.encode(rows, keeps_missing=True), expected, atol=1e-9)
    assert encoder.n_outputs == expected.shape[1]


@every_kind
@settings(max_examples=6)
@given(case=tables(least=4), data=st.data())
def test_any_order_and_blocks(kind, case, data):
    """Rows in another order, in blocks of a stream, or read from a frame: the same model."""
    frame, y = case
    whole = kind.model().fit(frame, **kind.labels(y))
    if not kind.has_order:
        order = np.array(data.draw(st.permutations(range(len(y)))))
        assert_same_state(kind.model().fit(frame.iloc[order], **kind.labels(y[order])), whole)
    in_blocks = kind.model()
    for cut in data.draw(block_cuts(len(y))):
        in_blocks.partial_fit(frame.iloc[cut], **kind.labels(y[cut]))
    assert_same_state(in_blocks, whole)
    labelled = frame.assign(y=y)
    kinds = {"word": "category", "grade": "category"}  # polars has text where pandas has categories
    for source in (labelled, pl.from_pandas(labelled.astype({"grade": str}))):
        target = "y" if kind.labels(y) else None
        blocks = flybloom.read_blocks(source, target, features=list(frame.columns), kinds=kinds)
        n = data.draw(st.integers(2, 30))
        assert_same_state(flybloom.train(kind.model(), blocks, target, block_rows=n), whole)


@every_kind
@settings(max_examples=2)
@given(case=tables(least=4), n_blocks=st.integers(1, 3))
def test_blocks_on_dask(kind, case, n_blocks):
    """Partitions that are counted apart give the model of one process."""
    dask = pytest.importorskip("dask")
    dd = pytest.importorskip("dask.dataframe")
    from flybloom import distributed  # noqa: PLC0415

    frame, y = case
    whole = kind.model().fit(frame, **kind.labels(y))
    with dask.config.set(scheduler="synchronous"):
        parts = dd.from_pandas(frame.assign(y=y), npartitions=n_blocks, sort=False)
        rows, labels = parts.drop(columns="y"), parts["y"] if kind.labels(y) else None
        assert_same_state(distributed.fit(kind.model(), rows, labels), whole)


@every_kind
@settings(max_examples=6)
@given(case=tables(least=4))
def test_files_pickles_and_forgetting(kind, case, tmp_path_factory):
    """A saved model is the same, as is a pickled one; rows are forgotten as if they had never come."""
    frame, y = case
    model = kind.model().fit(frame, **kind.labels(y))
    path = tmp_path_factory.mktemp("table") / "model.fly"
    model.save(path)
    again = flybloom.load(path)
    assert_same_state(again, model)
    assert again.encoder_.kinds == ("category", "number", "date", "number", "category")
    assert_same_state(pickle.loads(pickle.dumps(model)), model)  # noqa: S301
    if not kind.has_order:
        half = slice(0, len(y) // 2)
        more = kind.model(encoding=model.encoder_).fit(frame, **kind.labels(y))
        more.partial_fit(frame.iloc[half], **kind.labels(y[half])).forget(frame.iloc[half], **kind.labels(y[half]))
        assert_same_state(more, kind.model(encoding=model.encoder_).fit(frame, **kind.labels(y)))


def frame_of(**columns):
    """A frame of forty rows."""
    return pd.DataFrame({name: (values * 40)[:40] for name, values in columns.items()})


def test_merge_names_the_column_that_differs():
    """Models of different categories do not add up."""
    y = np.arange(40) % 2
    a = FlyBloomClassifier(64, random_state=0, encoding="none").fit(frame_of(c=["x", "y", "z"], n=[1.0]), y).like()
    b = FlyBloomClassifier(64, random_state=0, encoding="none").fit(frame_of(c=["x", "y", "v", "w"], n=[1.0]), y).like()
    with pytest.raises(IncompatibleHashError, match=r"column 'c' \('3 categories, \w+' and '4 categories, \w+'\)"):
        a.merge(b)


def test_models_that_hold_rows_back_merge():
    """As if one had met the rows of both."""
    frames = frame_of(c=["x", "y", "z"], n=[1.0, 2.0, 5.0]), frame_of(c=["x", "v"], n=[2.0, 3.0])
    y = np.arange(40) % 2
    a, b = (FlyBloomClassifier(64, random_state=0).partial_fit(frame, y) for frame in frames)
    both = FlyBloomClassifier(64, random_state=0).fit(pd.concat(frames), np.concatenate([y, y]))
    assert_same_state(a + b, both)


def test_an_unseen_category_is_a_missing_value():
    """And rare ones share a column."""
    words = ["a"] * 20 + ["b"] * 12 + ["c"] * 5 + ["d", "e", "f"]
    frame, y = pd.DataFrame({"c": words, "n": np.arange(40.0)}), np.arange(40) % 2
    model = FlyBloomClassifier(64, random_state=0, encoding="auto+categories=3").fit(frame, y)
    new = pd.DataFrame({"c": ["zzz", None, "d", "e", "a"], "n": [1.0] * 5})
    novelty = model.novelty(new)
    assert_array_equal(novelty[0], novelty[1])
    assert_array_equal(novelty[2], novelty[3])
    step = model.encoder_.steps[0]
    assert step.columns[0].common.size == 2
    assert step.columns[0].rare.size == 4
    assert step.n_outputs(2) == 4


def test_one_spelling_for_each_category():
    """Numbers are one category whatever type they come in; text is trimmed."""
    assert cells([7, 7.0, np.int8(7), "7", " 7 "], "category")[0].tolist() == [cells(["7"], "category")[0][0]] * 5
    assert np.isnan(cells([None, np.nan, pd.NaT, pd.NA, "NA", ""], "category")[0]).all()
    # fixed for ever: files hold these numbers
    assert cells(["Adelie"], "category")[0][0] == 1564298495134598.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2012/01/31", at("2012-01-31T00:00:00")),
        ("2012-1-3", at("2012-01-03T00:00:00")),
        ("2012-01-31T12:30", at("2012-01-31T12:30:00")),
        ("2012-01-31 12:30:05.25+02:00", at("2012-01-31T12:30:05.250000")),
        ("31.01.2012", at("2012-01-31T00:00:00")),
        ("31.04.2012", None),
        ("01/02/2012", None),  # which of the two is the month?
        ("2012-13-01", None),
    ],
)
def test_dates_that_are_written(text, expected):
    """The year first, or days with dots; what a clock there showed."""
    numbers, wrong = cells([text], "date")
    if expected is None:
        assert wrong == 0
    else:
        assert numbers[0] == (expected - at("1970-01-01T00:00:00")) / timedelta(seconds=1)


def test_rows_that_were_read_as_something_else_are_refused():
    """With the column, and what it should be."""
    frame, y = frame_of(c=["x", "y", "z"], n=[1.0, 2.0]), np.arange(40) % 2
    model = FlyBloomClassifier(64, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match=r"column 'c' was read as number. Expected category"):
        model.predict(NamedRows(np.zeros((1, 2)), ["c", "n"]))
    with pytest.raises(TypeError, match="Expected a frame"):
        model.predict(np.zeros((1, 2)))
    with pytest.raises(ValueError, match=r"column 'n' of X holds 'two'. Expected numbers"):
        model.predict(pd.DataFrame({"c": ["x"], "n": ["two"]}))
    with pytest.raises(ValueError, match="holds numbers, but also text such as 'two'"):
        FlyBloomClassifier().fit(pd.DataFrame({"n": ["1", "2", "3", "two"]}), [0, 1, 0, 1])
