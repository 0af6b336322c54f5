"""Types of a source: decided once for all of its files, the same as in fit, and no label is ever changed."""

import json
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import parquet
from sklearn.base import clone

from flybloom import FlyBloomClassifier, read_blocks, train
from flybloom.exceptions import SourceError
from laws.test_learning import assert_same_model
from test_blocks import gathered
from test_training import InterruptedTrainingError, interrupted_after

SMALL = FlyBloomClassifier(200, n_winners=8, encoding="none", random_state=0)
LARGE = 2**53 + 1  # the first whole number that is no float


@pytest.fixture
def write(tmp_path):
    """Write tables to numbered Parquet files; return their folder."""

    def write_all(*tables):
        folder = tmp_path / f"data {len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        for number, table in enumerate(tables):
            parquet.write_table(pa.table(table), folder / f"{number}.parquet")
        return folder

    return write_all


def test_rows_have_the_type_of_the_whole_source(write):
    """Whichever file comes first."""
    tables = [{"a": np.array([1, 2], dtype), "y": [0, 1]} for dtype in (np.int64, np.float32, np.int8)]
    for order in permutations(tables):
        blocks = read_blocks(write(*order), "y")
        assert blocks.schema()["dtype"] == "float64"
        assert {block.X.array.dtype for block in blocks} == {np.dtype(np.float64)}
    assert read_blocks(write(*tables[::2]), "y").schema()["dtype"] == "int64"


@pytest.mark.parametrize("types", [("f8", "i8", "i8"), ("f8", "i8", "f8"), ("i8", "f8", "i8")])
def test_a_resumed_training_of_mixed_files_ends_as_if_nothing_had_happened(write, tmp_path, rng, types):
    """At whatever block it was interrupted: what the first file of the rest is does not matter."""
    rows, y = 2**55 + rng.integers(0, 50, (3, 60, 12)), np.arange(60) % 4  # large enough to tell floats
    folder = write(
        *({**{f"x{j}": part[:, j].astype(t) for j in range(12)}, "y": y} for part, t in zip(rows, types, strict=True))
    )
    options = {"block_rows": 16, "checkpoint_rows": 1, "checkpoint_seconds": None}
    whole = train(clone(SMALL), folder, "y", **options)
    for n_calls in range(13):
        saved = {"checkpoint": tmp_path / f"checkpoint {n_calls}", "resume": True, **options}
        with pytest.raises(InterruptedTrainingError):
            train(clone(SMALL), folder, "y", on_progress=interrupted_after(n_calls), **saved)
        assert_same_model(train(clone(SMALL), folder, "y", **saved), whole)


def test_a_schema_can_be_kept(write):
    """As JSON; the files are then read in the same way, and not looked at first."""
    folder = write({"a": [1, 2], "y": ["p", "q"]}, {"a": [1.5, 2.5], "y": ["p", "r"]})
    kept = json.loads(json.dumps(read_blocks(folder, "y").schema()))
    assert kept == {"dtype": "float64", "n_features": 1, "names": ["a"], "labels": "text", "first_index": None}
    first = folder / "0.parquet"
    for blocks in (read_blocks(first, "y", schema=kept), read_blocks(first, "y").with_schema(kept)):
        blocks.parts[0].inspect = None  # would fail
        assert blocks.schema() == kept
        assert_array_equal(gathered(blocks)[0], [[1.0], [2.0]])
        assert gathered(blocks)[0].dtype == np.float64


def test_a_schema_of_other_data_is_refused(write):
    """By what is in the way."""
    folder = write({"a": [1.5, 2.5], "y": ["p", "q"]})
    kept = read_blocks(folder, "y").schema()
    for change, message in [
        ({"dtype": "int64"}, r"rows 0-1: the column 'a' is of type float64. Expected int64"),
        ({"names": ["b"]}, r"rows 0-1: the column 'b', a feature, is not there"),
        ({"labels": "int64"}, r"row 0: the target 'y' began as int64, but then came 'p'"),
    ]:
        with pytest.raises(SourceError, match=message):
            gathered(read_blocks(folder, "y", schema={**kept, **change}))
    for wrong in ({}, [], {**kept, "dtype": "str"}, {**kept, "more": 1}, {**kept, "dtype": None}):
        with pytest.raises(ValueError, match=r"A schema must be what Blocks.schema\(\) returns. Got"):
            read_blocks(folder, "y", schema=wrong)


def test_columns_may_come_in_any_order(write):
    """Their names tell which is which."""
    folder = write({"a": [1, 2], "b": [3, 4], "y": [0, 1]}, {"y": [1, 0], "b": [7, 8], "a": [5, 6]})
    assert_array_equal(gathered(read_blocks(folder, "y"))[0], [[1, 3], [2, 4], [5, 7], [6, 8]])


FRAMES = {
    "large nullable integers": lambda f: (f + 2**55).astype("Int64"),
    "one nullable column": lambda f: (f + 2**55).astype({"a": "Int64"}),
    "large objects": lambda f: (f + 2**55).astype(object),
    "nullable bools": lambda f: (f > 3).astype("boolean"),
    "nullable floats": lambda f: f.astype("Float32"),
    "narrow types": lambda f: f.astype({"a": "int8", "b": "float32"}),
    "objects": lambda f: f.astype(object),
    "arrow types": lambda f: (f + 2**55).astype("int64[pyarrow]"),
    "polars": lambda f: pl.from_pandas(f).with_columns(pl.col("a").cast(pl.Int32), pl.col("b").cast(pl.Float32)),
    "numbers as names": lambda f: f.set_axis(range(12), axis=1),
}


@pytest.mark.parametrize("name", FRAMES)
def test_training_from_a_frame_reads_what_fit_reads(rng, name):
    """Of every type that pandas and polars have for numbers."""
    frame = FRAMES[name](pd.DataFrame(1 + rng.integers(-50, 50, (90, 12)), columns=list("abcdefghijkl")))
    y = np.arange(90) % 3
    table = frame.with_columns(label=pl.Series(y)) if name == "polars" else frame.assign(label=y)
    for model in (SMALL, clone(SMALL).set_params(encoding="standard+clip=inf")):
        expected = clone(model).fit(frame.to_numpy() if name == "numbers as names" else frame, y)
        assert_same_model(train(clone(model), table, "label", block_rows=40), expected)


def labels_of(source, **options):
    """The labels of a source."""
    return gathered(read_blocks(source, "y", **options))[1]


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (("int64", "uint64"), "int64"),
        (("uint64", "uint8"), "uint64"),
        (("int32", "uint8"), "int32"),
        (("int64", "float64"), "int64"),
        (("float32", "uint64"), "int64"),
        (("bool", "bool"), "bool"),
    ],
)
def test_types_of_labels_are_united_exactly(write, types, expected):
    """Large numbers never become floats; floats become the whole numbers that they are."""
    values = [np.array([LARGE if t in ("int64", "uint64") else 1, 0]).astype(t) for t in types]
    for order in (1, -1):
        y = labels_of(write(*({"a": [1.0, 2.0], "y": part} for part in values[::order])))
        assert y.dtype == expected
        assert y.tolist() == [label for part in values[::order] for label in part.tolist()]


def test_labels_that_cannot_be_united_are_refused(write):
    """With both files, or with the label that is in the way."""

    def table(*labels, dtype=None):
        return {"a": [0.0] * len(labels), "y": pa.array(labels, dtype)}

    with pytest.raises(
        SourceError, match=r"1.parquet: the labels are strings, those of .*0.parquet are numbers. Write"
    ):
        labels_of(write(table(1), table("1")))
    with pytest.raises(SourceError, match=r"the labels are bools, those of .* are numbers"):
        labels_of(write(table(1), table(True)))
    with pytest.raises(SourceError, match=r"1.parquet, rows 0-0: the labels have 0.5, which int64 does not hold"):
        labels_of(write(table(1), table(0.5)))
    with pytest.raises(SourceError, match=rf"the labels have {2**63}, which int64 does not hold"):
        labels_of(write(table(-1), table(2**63, dtype=pa.uint64())))
    with pytest.raises(SourceError, match="NUL character"):
        labels_of(write(table("a", "a\0")))
    assert labels_of(write(table(1), table("1")), label_type="text").tolist() == ["1", "1"]
    assert labels_of(write(table("007", "7")), label_type="number").tolist() == [7, 7]


@pytest.mark.parametrize(
    "labels",
    [
        pd.array([LARGE, LARGE - 1, 3], "Int64"),
        pd.array([2**64 - 1, 2**64 - 2, 3], "UInt64"),
        pd.Series([LARGE, 2**63, 0], dtype=object),
        pd.Series([LARGE, 1.0, -1], dtype=object),
        pl.Series([LARGE, LARGE - 1, 3]),
        [2**63, 2**63 + 1, 0],
        [True, False, True],
        np.array(["a", "b", "a"], object),
    ],
)
def test_labels_in_memory_stay_what_they_are(labels):
    """In frames and beside arrays, whatever holds them."""
    values = list(labels)
    sources = [(np.eye(3), labels)]
    if isinstance(labels, pl.Series):
        sources.append(pl.DataFrame({"a": [0.0, 1.0, 2.0], "y": labels}))
    elif not isinstance(labels, list):
        sources.append(pd.DataFrame({"a": [0.0, 1.0, 2.0]}).assign(y=labels))
    for source in sources:
        y = labels_of(source, block_rows=2)
        assert [type(label)(found) for label, found in zip(values, y.tolist(), strict=True)] == values
        assert y.dtype.kind != "f"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([None, "a"], "1 missing"),
        (pd.array([1, None], "Int64"), "1 missing"),
        ([1, 2.5, None], "1 missing"),
        (pd.Series([1, "a"], dtype=object), "of the type int and str. Expected"),
        (pd.Series([-1, 2**63], dtype=object), "do not all go into 64 bits"),
        (pd.Series([LARGE, 0.5], dtype=object), "have 0.5 among whole numbers"),
        (np.array([b"a", b"b"]), "are of type .*S1. Expected whole numbers, strings or bools. Decode"),
        (np.array([1 + 2j, 0]), "complex128"),
        (np.ones((2, 2, 2)), r"the shape \(2, 2, 2\). Expected one label for each row"),
    ],
)
def test_what_is_no_label_is_refused(labels, message):
    """With what it is."""
    with pytest.raises(SourceError, match=message):
        labels_of((np.eye(len(labels)), labels))


CSV_LABELS = {  # what is written, as what it is read, and as numbers
    "plain": (["7", "12", "-3"], [7, 12, -3], [7, 12, -3]),
    "leading zeros": (["007", "7", "12"], ["007", "7", "12"], [7, 7, 12]),
    "a plus": (["+7", "7", "0"], ["+7", "7", "0"], [7, 7, 0]),
    "zero twice": (["-0", "0", "1"], ["-0", "0", "1"], [0, 0, 1]),
    "large": ([str(LARGE), str(LARGE - 1), "3"], [LARGE, LARGE - 1, 3], [LARGE, LARGE - 1, 3]),
    "unsigned": ([str(2**64 - 1), str(2**64 - 2), "3"], [2**64 - 1, 2**64 - 2, 3], [2**64 - 1, 2**64 - 2, 3]),
    "huge": (["9" * 40, "9" * 39 + "8", "3"], ["9" * 40, "9" * 39 + "8", "3"], None),
    "floats": (["1.0", "-2.25", "0.0"], [1.0, -2.25, 0.0], [1.0, -2.25, 0.0]),
    "a float twice": (["1.0", "1.00", "1"], ["1.0", "1.00", "1"], [1.0, 1.0, 1.0]),
    "long floats": (["0.1", "0.1000000000000000001", "1.0"], ["0.1", "0.1000000000000000001", "1.0"], [0.1, 0.1, 1.0]),
    "spaces": ([" 7", "7 ", "8"], [7, 7, 8], [7, 7, 8]),
    "bools": (["True", "False", "True"], [True, False, True], None),
    "words": (["NA", "None", "x"], ["NA", "None", "x"], None),
    "dates": (["2020-01-01", "2020-01-02", "x"], ["2020-01-01", "2020-01-02", "x"], None),
}


@pytest.mark.parametrize("name", CSV_LABELS)
def test_labels_of_csv_are_numbers_only_if_each_has_one_spelling(tmp_path, name):
    """Else they are strings; on request they are always the one or the other."""
    words, expected, numbers = CSV_LABELS[name]
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *(f"1,{word}" for word in words)]))
    found = labels_of(tmp_path / "t.csv")
    assert found.tolist() == expected
    assert found.dtype.kind in {int: "iu", float: "f", str: "U", bool: "b"}[type(expected[0])]
    assert labels_of(tmp_path / "t.csv", label_type="text").tolist() == words
    if numbers is not None:
        assert labels_of(tmp_path / "t.csv", label_type="number").tolist() == numbers


def test_missing_labels_of_csv_are_refused(tmp_path):
    """Empty ones always; what stands for a missing number only among numbers."""
    for words in (["1", "NA"], ["1.5", "nan"], ["x", ""], ["True", ""]):
        (tmp_path / "t.csv").write_text("\n".join(["a,y", *(f"1,{word}" for word in words)]))
        with pytest.raises(SourceError, match=r"t.csv, rows 0-1: the target 'y' has 1 missing values"):
            labels_of(tmp_path / "t.csv")


@pytest.mark.parametrize("late", ["007", "x", "1.0", str(2**63), "9" * 30])
def test_a_label_of_another_kind_is_refused_wherever_it_comes(tmp_path, late):
    """With row and advice; and the advice helps."""
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *["1,3"] * 1_100_000, f"1,{late}"]))
    with pytest.raises(SourceError, match=rf"t.csv, row 1100000: the target 'y' began as int64.*'{late}'.*label_type="):
        labels_of(tmp_path / "t.csv")
    assert labels_of(tmp_path / "t.csv", label_type="text")[-1] == late


def test_labels_of_several_csv_files_have_one_type(tmp_path):
    """Strings, if any file has strings; text beside Parquet goes by what Parquet declares."""
    (tmp_path / "1.csv").write_text("a,y\n1,7\n2,8\n")
    (tmp_path / "2.csv").write_text("a,y\n1,x\n2,8\n")
    (tmp_path / "0.csv").write_text("a,y\n")
    assert labels_of(tmp_path).tolist() == ["7", "8", "x", "8"]
    (tmp_path / "2.csv").unlink()
    parquet.write_table(pa.table({"a": [3.0], "y": ["z"]}), tmp_path / "3.parquet")
    assert labels_of(tmp_path).tolist() == ["7", "8", "z"]
    parquet.write_table(pa.table({"a": [3.0], "y": pa.array([9], pa.uint8())}), tmp_path / "3.parquet")
    assert labels_of(tmp_path).tolist() == [7, 8, 9]


def test_numbers_in_npy_and_svmlight_files_are_whole(tmp_path):
    """Labels that share an array with floats, or are parsed beside them."""
    np.save(tmp_path / "a.npy", np.array([[0.5, 3.0], [1.5, 4.0]]))
    y = gathered(read_blocks(tmp_path / "a.npy", -1, block_rows=1))[1]
    assert y.tolist() == [3, 4]
    assert y.dtype == np.int64
    with pytest.raises(SourceError, match=r"a.npy, rows 0-0: the labels have 0.5, which int64 does not hold"):
        gathered(read_blocks(tmp_path / "a.npy", 0, block_rows=1))
    (tmp_path / "a.svm").write_text(f"{LARGE} 1:1\n# nothing\n{LARGE - 1} 2:1\n+1 1:1\n2.0 1:1\n")
    assert labels_of(tmp_path / "a.svm", block_rows=1 + 1).tolist() == [LARGE, LARGE - 1, 1, 2]
    (tmp_path / "a.svm").write_text("1 1:1\n2 2:1\n0.5 1:1\n")
    assert labels_of(tmp_path / "a.svm", block_rows=1).dtype == np.float64
