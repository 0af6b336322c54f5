"""Whatever hands out batches of Arrow is a source: read lazily, in order, and again where that is possible."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import dataset, parquet
from sklearn.base import clone

from flybloom import FlyBloomClassifier, read_blocks, train
from flybloom.exceptions import SourceError
from laws.test_learning import assert_same_model
from test_blocks import gathered

N = 250
TABLE = pa.table({"a": np.arange(N) / 4, "b": np.arange(N) % 7, "y": np.array(["ant", "bee"])[np.arange(N) % 2]})
MODEL = FlyBloomClassifier(200, n_winners=8, scaling="none", random_state=0)


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


class DuckDBPyRelation:
    """A query of DuckDB, as far as it is used: each relation can be read once, and a projection of it is another."""

    def __init__(self, table):
        self.table, self.is_read = table, False

    def project(self, columns):
        """Return a new relation."""
        assert columns == "*"
        return DuckDBPyRelation(self.table)

    def fetch_record_batch(self, rows_per_batch):
        """Run the query."""
        assert not self.is_read
        self.is_read = True
        return self.table.to_reader(max_chunksize=min(rows_per_batch, 20))


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
    "query that can be repeated": (lambda _: DuckDBPyRelation(TABLE), True),
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
    with pytest.raises(SourceError, match=r"Query can be read only once, but the scaling needs a pass.*--single-pass"):
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
        (pa.array(["p"] * N), "string"),
        (pa.array([{"c": 1}] * N), "struct"),
        (pa.array([[1]] * N), "list"),
        (pa.array(["p"] * N).dictionary_encode(), "dictionary"),
        (pa.array([0] * N, pa.timestamp("s", "UTC")), "timestamp"),
        (pa.array([None] * N), "null"),
        (pa.array([1] * N, pa.decimal128(5)), "decimal"),
    ],
)
def test_columns_that_are_no_numbers_are_named(column, kind):
    """As features they are refused, before anything is read; they may stay in the table."""
    table = TABLE.append_column("other", column)
    with pytest.raises(SourceError, match=rf"pyarrow Table: the column 'other' is of type {kind}.* Expected numbers"):
        gathered(read_blocks(table, "y"))
    assert_array_equal(gathered(read_blocks(table, "y", exclude=["other"]))[1], TABLE["y"].to_numpy().astype(str))
    if kind in ("struct", "list", "timestamp", "decimal"):
        with pytest.raises(SourceError, match=rf"the target 'other' is of type {kind}.* Expected whole numbers"):
            gathered(read_blocks(table, "other", exclude=["y"]))
