"""Whatever hands out batches of Arrow is a source: read lazily, in order, and again where that is possible."""

from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import dataset, feather, parquet
from sklearn.base import clone

from flybloom import FlyBloomClassifier, read_blocks, train
from flybloom._internal.cells import cells
from flybloom.exceptions import SourceError
from laws.test_learning import assert_same_model
from test_blocks import gathered

N = 250
TABLE = pa.table({"a": np.arange(N) / 4, "b": np.arange(N) % 7, "y": np.array(["ant", "bee"])[np.arange(N) % 2]})
TABLE_ = TABLE  # what DuckDB finds by its name
MODEL = FlyBloomClassifier(200, n_winners=8, encoding="none", random_state=0)


class Query:
    """A query of a database, as DuckDB and ADBC have it: it can only be streamed."""

    def __init__(self, table):
        self.table, self.n_taken, self.n_batches = table, 0, 0

    def batches(self):
        """Yield a few rows at a time, and count."""
        for batch in self.table.to_batches(max_chunksize=20):
            self.n_batches += 1
            yield batch

    def __arrow_c_stream__(self, requested_schema=None):
        """Hand out a stream."""
        self.n_taken += 1
        reader = pa.RecordBatchReader.from_batches(self.table.schema, self.batches())
        return reader.__arrow_c_stream__(requested_schema)


def folder_of(tmp_path):
    """The table in two Parquet files, as a dataset."""
    parquet.write_table(TABLE[:100], tmp_path / "0.parquet")
    parquet.write_table(TABLE[100:], tmp_path / "1.parquet")
    return dataset.dataset(tmp_path)


SOURCES = {
    "table": (lambda _: TABLE, True),
    "batch": (lambda _: TABLE.to_batches()[0], True),
    "reader": (lambda _: TABLE.to_reader(max_chunksize=30), False),
    "query": (lambda _: Query(TABLE), False),
    "query of DuckDB": (lambda _: duckdb.sql("select * from TABLE_ order by a"), True),
    "dataset": (folder_of, True),
    "filtered dataset": (lambda path: folder_of(path).filter(dataset.field("a") >= 0), True),
    "polars": (lambda _: pl.from_arrow(TABLE), True),
    "lazy polars": (lambda _: pl.from_arrow(TABLE).lazy(), True),
    "pandas of Arrow": (lambda _: TABLE.to_pandas(types_mapper=pd.ArrowDtype), True),
}


@pytest.mark.parametrize("name", SOURCES)
def test_arrow_data_is_a_source(tmp_path, name):
    """Blocks have the rows in order, and never more than was asked for."""
    make, can_repeat = SOURCES[name]
    blocks = read_blocks(make(tmp_path), "y", block_rows=64)
    assert blocks.can_repeat == can_repeat
    assert blocks.schema()["names"] == ["a", "b"]
    for _ in range(1 + can_repeat):
        X, y = gathered(blocks)
        assert_array_equal(X, np.column_stack([TABLE["a"], TABLE["b"]]))
        assert_array_equal(y, TABLE["y"].to_numpy().astype(str))
    assert max(map(len, read_blocks(make(tmp_path), "y", block_rows=64))) <= 64
    assert_same_model(
        train(clone(MODEL), make(tmp_path), "y"), clone(MODEL).fit(TABLE.drop("y").to_pandas(), y.astype(object))
    )


@pytest.mark.parametrize("values", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("is_dictionary", [False, True])
def test_text_of_every_type_is_a_label(values, is_dictionary):
    """As polars and others hand it out; and an identifier."""
    column = pa.array(["7", "12", "7"]).cast(values)
    if is_dictionary:
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), column[:2])
    source = Query(pa.table({"a": [1, 2, 3], "y": column, "id": column}))
    (block,) = read_blocks(source, "y", id_column="id")
    assert block.y.tolist() == block.ids.tolist() == ["7", "12", "7"]
    (block,) = read_blocks(source, "y", id_column="id", label_type="number")
    assert block.y.tolist() == [7, 12, 7]


def test_a_query_is_read_lazily_and_once():
    """No batch before it is needed; a second reading is refused."""
    query = Query(TABLE)
    blocks = read_blocks(query, "y", id_column="a")
    assert query.n_taken == 0
    assert blocks.schema()["names"] == ["b"]
    reading = iter(blocks)
    next(reading)
    assert query.n_batches <= 2
    assert 1 + sum(1 for _ in reading) == query.n_batches
    assert query.n_taken == 1
    with pytest.raises(SourceError, match="can be read only once"):
        gathered(blocks)


def test_training_that_reads_twice_says_what_a_stream_needs():
    """As for every stream."""
    with pytest.raises(SourceError, match=r"Query can be read only once, but the encoding needs a pass.*--single-pass"):
        train(FlyBloomClassifier(random_state=0), Query(TABLE), "y")


def test_a_source_that_was_read_is_a_source():
    """So that whoever trains can say how files are read."""
    blocks = read_blocks(TABLE, label_type="text", exclude=["b"])
    assert read_blocks(blocks, "y", block_rows=10).schema() == read_blocks(TABLE, "y", exclude=["b"]).schema()
    expected = clone(MODEL).fit(TABLE.select(["a"]).to_pandas(), TABLE["y"].to_numpy())
    assert_same_model(train(clone(MODEL), blocks, "y"), expected)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([{"c": 1}] * N), "struct"),
        (pa.array([[1]] * N), "list"),
        (pa.array([b"p"] * N), "binary"),
    ],
)
def test_columns_that_nobody_can_use_are_named(column, kind):
    """As features they are refused, before anything is read; they may stay in the table."""
    table = TABLE.append_column("other", column)
    with pytest.raises(
        SourceError, match=rf"pyarrow Table: the column 'other' is of type {kind}.* Expected numbers, text"
    ):
        gathered(read_blocks(table, "y"))
    assert_array_equal(gathered(read_blocks(table, "y", exclude=["other"]))[1], TABLE["y"].to_numpy().astype(str))
    with pytest.raises(SourceError, match=rf"the target 'other' is of type {kind}.* Expected whole numbers"):
        gathered(read_blocks(table, "other", exclude=["y"]))


@pytest.mark.parametrize(
    ("column", "kind", "expected"),
    [
        (pa.array(["p", None] * (N // 2)), "category", [cells(["p"], "category")[0][0], np.nan]),
        (pa.array(["p", "NA"] * (N // 2)).dictionary_encode(), "category", [cells(["p"], "category")[0][0], np.nan]),
        (pa.array([3600, None] * (N // 2), pa.timestamp("s", "Europe/Berlin")), "date", [7200, np.nan]),
        (pa.array([1, None] * (N // 2), pa.date32()), "date", [86400, np.nan]),
        (pa.array([None] * N), "number", [np.nan, np.nan]),
        (pa.array([Decimal("1.5"), None] * (N // 2)), "number", [1.5, np.nan]),
        (pa.array([1500, None] * (N // 2), pa.duration("ms")), "number", [1.5, np.nan]),
        (pa.array([1500, None] * (N // 2), pa.time32("ms")), "number", [1.5, np.nan]),
        (pa.array([1, None] * (N // 2)), "number", [1, np.nan]),
        (pa.array([True, None] * (N // 2)), "number", [1, np.nan]),
    ],
)
def test_columns_of_every_type_that_tables_have(tmp_path, column, kind, expected):
    """By their declarations, in files; text is a fingerprint, a time what the clock there showed."""
    feather.write_feather(TABLE.append_column("other", column), tmp_path / "t.arrow")
    parquet.write_table(TABLE.append_column("other", column), tmp_path / "t.parquet")
    for name in ("t.arrow", "t.parquet"):
        blocks = read_blocks(tmp_path / name, "y", features=["other"])
        X, _ = gathered(blocks)
        assert_array_equal(X[:2, 0], expected)
        assert (blocks.schema().get("kinds") or ["number"]) == [kind]


def test_columns_are_what_is_asked_for(tmp_path):
    """Numbers as categories, text as numbers; what cannot be is refused with its row, or marked."""
    parquet.write_table(pa.table({"a": [1, 2, 3], "b": ["1", "x", "3"]}), tmp_path / "t.parquet")
    X, _ = gathered(read_blocks(tmp_path / "t.parquet", kinds={"a": "category"}, features=["a"]))
    assert_array_equal(X[:, 0], cells(["1", "2", "3"], "category")[0])
    with pytest.raises(SourceError, match=r"t.parquet, row 1: the column 'b' holds 'x'. Expected numbers"):
        gathered(read_blocks(tmp_path / "t.parquet", kinds={"b": "number"}))
    (block,) = read_blocks(tmp_path / "t.parquet", kinds={"b": "number"}, incomplete="mark")
    assert block.incomplete.tolist() == [False, True, False]
    with pytest.raises(SourceError, match="'c', whose kind is given, is not there"):
        gathered(read_blocks(tmp_path / "t.parquet", kinds={"c": "number"}))
    for kinds, message in (({"b": "word"}, "each with one of number"), ({"y": "date"}, "about features")):
        with pytest.raises(ValueError, match=message):
            read_blocks(tmp_path / "t.parquet", "y", kinds=kinds)


def test_files_that_do_not_agree_what_a_column_is(tmp_path):
    """Are refused in any order, unless it is said."""
    (tmp_path / "a.csv").write_text("c,y\n1,0\n2,1\n")
    (tmp_path / "b.csv").write_text("c,y\nx,0\nz,1\n2,1\n")
    with pytest.raises(SourceError, match=r"b.csv: the column 'c' holds categories, but numbers in .*a.csv. Say what"):
        gathered(read_blocks(tmp_path, "y"))
    X, _ = gathered(read_blocks(tmp_path, "y", kinds={"c": "category"}))
    assert_array_equal(X[:, 0], cells(["1", "2", "x", "z", "2"], "category")[0])


def test_a_query_of_duckdb_with_words_and_gaps(tmp_path):
    """Each pass runs it anew, a batch at a time; words, dates and nulls come as from the file it reads."""
    table = TABLE.append_column("word", pa.array(["x", None] * (N // 2)))
    table = table.append_column("day", pa.array(range(N), pa.date32()))
    parquet.write_table(table, tmp_path / "t.parquet")
    query = duckdb.read_parquet(str(tmp_path / "t.parquet")).filter("a >= 10")
    blocks = read_blocks(query, "y", block_rows=50)
    assert blocks.schema()["kinds"] == ["number", "number", "category", "date"]
    model = FlyBloomClassifier(200, n_winners=8, random_state=0)
    parquet.write_table(table.filter(pa.compute.field("a") >= 10), tmp_path / "some.parquet")
    assert_same_model(train(clone(model), blocks, "y"), train(clone(model), tmp_path / "some.parquet", "y"))
