"""One reader for all sources: the same rows from each, in blocks of any size, and errors that name the place."""

import gzip
import io
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import feather
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from flybloom import FlyBloomClassifier, read_blocks
from flybloom._internal.validation import NamedRows
from flybloom.exceptions import SourceError

N = 250
NAMES = ["length", "width", "height"]


@pytest.fixture
def frame(rng):
    """A table with a text label; the values have few digits, so that text holds them exactly."""
    X = rng.integers(-99, 99, (N, 3)) / 4
    return pd.DataFrame(
        {**dict(zip(NAMES, X.T, strict=True)), "label": np.array(["ant", "bee", "wasp"])[np.arange(N) % 3]}
    )


def write_ipc_stream(frame, path):
    """Write an Arrow stream, in several batches."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=90)


def gathered(blocks):
    """All rows and labels of a source, in one piece."""
    X, y, at = [], [], 0
    for block in blocks:
        assert block.begin == at
        at += len(block)
        X.append(block.X.array if isinstance(block.X, NamedRows) else block.X)
        y.append(block.y)
    stack = sparse.vstack if sparse.issparse(X[0]) else np.concatenate
    return stack(X), None if y[0] is None else np.concatenate(y)


TABLES = {
    "a.parquet": lambda frame, path: frame.to_parquet(path, row_group_size=100),
    "a.csv": lambda frame, path: frame.to_csv(path, index=False),
    "a.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "a.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "a.tsv.gz": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "a.csv.zst": lambda frame, path: path.write_bytes(
        pa.compress(frame.to_csv(index=False).encode(), "zstd", asbytes=True)
    ),
    "a.feather": feather.write_feather,
    "a.arrow": write_ipc_stream,
}


@pytest.mark.parametrize("block_rows", [1, 64, 10_000])
@pytest.mark.parametrize("name", TABLES)
def test_files_of_tables_give_the_same_rows(tmp_path, frame, name, block_rows):
    """Features in the order of the table or of the options, labels as strings."""
    TABLES[name](frame, tmp_path / name)
    blocks = read_blocks(tmp_path / name, "label", block_rows=block_rows)
    for _ in range(2):
        X, y = gathered(blocks)
        assert_array_equal(X, frame[NAMES])
        assert_array_equal(y, frame["label"].to_numpy(str))
    assert blocks.can_repeat
    assert all(len(block) <= block_rows for block in blocks)
    X, y = gathered(read_blocks(str(tmp_path / name), features=["height", "length"]))
    assert_array_equal(X, frame[["height", "length"]])
    assert y is None


@pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas, lambda f: pa.Table.from_pandas(f, preserve_index=False)])
def test_frames_give_the_same_rows(frame, make):
    """Of pandas, polars and Arrow; categories are the labels they stand for."""
    X, y = gathered(read_blocks(make(frame.astype({"label": "category"})), "label", block_rows=64))
    assert_array_equal(X, frame[NAMES])
    assert_array_equal(y, frame["label"].to_numpy(str))


def test_arrays_give_the_same_rows(tmp_path, rng):
    """In memory, in NPY and NPZ files of any order and compression, and in blocks of somebody else."""
    X, y = rng.integers(0, 50, (N, 4)).astype(np.float32), np.arange(N) % 5
    np.save(tmp_path / "a.npy", np.column_stack([X, y]))
    np.savez(tmp_path / "b.npz", X=X, y=y)
    np.savez_compressed(tmp_path / "c.npz", X=np.asfortranarray(X), y=y)
    pieces = [(X[:100], y[:100]), (X[100:], y[100:])]
    for source, target in [
        (tmp_path / "a.npy", -1),
        (tmp_path / "b.npz", "y"),
        (tmp_path / "c.npz", "y"),
        ((X, y), "y"),
        (pieces, "y"),
        (iter(pieces), "y"),
    ]:
        got = gathered(read_blocks(source, target, block_rows=64))
        assert_array_equal(got[0], X)
        assert_array_equal(got[1], y)
        assert got[1].dtype == np.int64
    assert not read_blocks(iter(pieces), "y").can_repeat
    assert read_blocks(pieces, "y").can_repeat
    assert_array_equal(gathered(read_blocks(X))[0], X)


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("name", ["a.svm", "a.libsvm.gz"])
def test_svmlight_files_give_sparse_rows(tmp_path, rng, name, zero_based):
    """Compressed or not, with indices from 0 or from 1."""
    X = rng.integers(0, 3, (N, 6)) * rng.integers(0, 2, (N, 6))
    X[0] = 1
    y = np.arange(N) % 4
    buffer = io.BytesIO()
    dump_svmlight_file(X, y, buffer, zero_based=zero_based)
    (tmp_path / name).write_bytes(gzip.compress(buffer.getvalue()) if name.endswith(".gz") else buffer.getvalue())
    rows, labels = gathered(read_blocks(tmp_path / name, "y", block_rows=60))
    assert_array_equal(rows.toarray(), X)
    assert_array_equal(labels, y)
    assert gathered(read_blocks(tmp_path / name, n_features=9))[0].shape == (N, 9)


def test_folders_and_patterns_are_read_in_order(tmp_path, frame):
    """File by file, by name; hidden files and others are left alone."""
    (tmp_path / "deeper").mkdir()
    frame[:100].to_parquet(tmp_path / "1.parquet")
    frame[100:180].to_parquet(tmp_path / "2.parquet")
    frame[180:].to_csv(tmp_path / "deeper" / "3.csv", index=False)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "notes.md").touch()
    frame.to_csv(tmp_path / ".hidden.csv")
    blocks = read_blocks(tmp_path, "label", block_rows=64)
    assert_array_equal(gathered(blocks)[0], frame[NAMES])
    assert read_blocks(tmp_path / "*.parquet", "label").n_rows() == 180
    assert blocks.n_rows() is None
    assert len(blocks.identity()) == 3


@pytest.mark.parametrize("row", [0, 1, 99, 100, 130, 249, 250])
def test_reading_can_begin_at_any_row(tmp_path, frame, row):
    """With the same rows as if those before had been read."""
    frame[:100].to_parquet(tmp_path / "1.parquet")
    frame[100:].to_csv(tmp_path / "2.csv", index=False)
    blocks = list(read_blocks(tmp_path, "label", block_rows=40).starting_at(row))
    assert sum(map(len, blocks)) == N - row
    if blocks:
        assert blocks[0].begin == row
        assert_array_equal(np.concatenate([block.X.array for block in blocks]), frame[NAMES][row:])


def test_standard_input_is_csv(monkeypatch, frame):
    """Once."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(frame.to_csv(index=False).encode())))
    blocks = read_blocks("-", "label")
    assert not blocks.can_repeat
    assert blocks.identity() is None
    assert_array_equal(gathered(blocks)[0], frame[NAMES])


def test_csv_of_many_pieces_is_read_alike(tmp_path, rng):
    """Whole numbers come first, then others: the type does not depend on where a file is cut."""
    values = np.concatenate([np.arange(200_000) % 100, rng.integers(0, 100, 200_000) / 8])
    pd.DataFrame({"a": values, "b": values, "y": np.arange(400_000) % 2}).to_csv(tmp_path / "a.csv", index=False)
    assert len(next(iter(read_blocks(tmp_path / "a.csv", "y")))) == 32768
    X, y = gathered(read_blocks(tmp_path / "a.csv", "y"))
    assert_array_equal(X[:, 1], values)
    assert y.dtype == np.int64


def test_models_take_blocks_as_they_are(frame):
    """With the names of the features, which are kept and compared."""
    model = FlyBloomClassifier(100, n_winners=8, encoding="none", random_state=0)
    for block in read_blocks(frame, "label", block_rows=60):
        model.partial_fit(block.X, block.y)
    whole = FlyBloomClassifier(100, n_winners=8, encoding="none", random_state=0).fit(frame[NAMES], frame["label"])
    assert_array_equal(model.counts_, whole.counts_)
    assert_array_equal(model.feature_names_in_, whole.feature_names_in_)
    other = next(iter(read_blocks(frame, "label", features=NAMES[::-1])))
    with pytest.raises(ValueError, match=r"feature names should match.*Got \['height', 'width', 'length'\] instead"):
        model.predict(other.X)


def spoiled(frame, column, row, value):
    """A frame with one wrong value."""
    frame = frame.copy()
    frame[column] = frame[column].astype(object)
    frame.loc[row, column] = value
    return frame


BAD = [
    (
        lambda f: f.rename(columns={"label": "other"}),
        r"t.csv: the column 'label', the target, is not there. The col.*'o",
    ),
    (lambda f: f.drop(columns="width"), r"t.csv: the column 'width', a feature, is not there"),
    (lambda f: spoiled(f, "width", 70, "wide"), r"t.csv, line 72: the column 'width' does not hold numbers .*'wide'"),
    (
        lambda f: spoiled(f, "width", 70, "inf"),
        r"t.csv, rows 0-249: column 'width' has 1 infinite values. Make them missing",
    ),
    (lambda f: spoiled(f, "label", 70, None), r"t.csv, rows 0-249: the target 'label' has 1 missing values. .* one l"),
]


@pytest.mark.parametrize(("spoil", "message"), BAD)
def test_bad_tables_are_refused_with_place_and_advice(tmp_path, frame, spoil, message):
    """File, rows or line, and column."""
    spoil(frame).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(SourceError, match=message):
        gathered(read_blocks(tmp_path / "t.csv", "label", features=NAMES))


def test_labels_that_change_their_type_are_refused(tmp_path):
    """A CSV file that begins with numbers."""
    lines = ["a,y", *["1,3"] * 1_500_000, "1,new"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(SourceError, match=r"t.csv, row 1500000: the target 'y' began as int64, but then came 'new'"):
        gathered(read_blocks(tmp_path / "t.csv", "y"))


def test_bad_parquet_columns_are_named(tmp_path, frame):
    """Missing labels, files that differ, files that are no Parquet."""
    spoiled(frame, "label", 201, None).to_parquet(tmp_path / "a.parquet", row_group_size=100)
    with pytest.raises(SourceError, match=r"a.parquet, rows 200-249: the target 'label' has 1 missing"):
        gathered(read_blocks(tmp_path / "a.parquet", "label", block_rows=100))
    frame.rename(columns={"width": "w"}).to_parquet(tmp_path / "b.parquet")
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(SourceError, match=r"b.parquet: the columns .*'w'.* are not those of .*a.parquet"):
        gathered(read_blocks(tmp_path, "label"))
    frame[:10].astype({"width": int}).to_parquet(tmp_path / "0.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(SourceError, match=r"b.parquet cannot be read"):
        gathered(read_blocks(tmp_path, "label"))


def test_bad_arrays_are_refused(tmp_path):
    """Shapes, types, names, and labels that are not there."""
    np.save(tmp_path / "a.npy", np.zeros(3))
    np.save(tmp_path / "b.npy", np.zeros((3, 2)))
    np.savez(tmp_path / "c.npz", X=np.zeros((3, 2)), y=np.zeros(2))
    np.savez(tmp_path / "d.npz", X=np.array([[None]]), y=np.zeros(1))
    (tmp_path / "e.svm").write_text("1 1:2\n2 x:3\n")
    for name, target, message in [
        ("a.npy", None, r"a.npy holds an array of shape \(3,\)"),
        ("b.npy", "label", r"Expected the number of the target column, from 0 to 1 or -1.*Got 'label'"),
        ("c.npz", "y", "2 labels for 3 rows|differ in length"),
        ("c.npz", "label", r"no array 'label'. It holds X, y"),
        ("d.npz", "y", "holds Python objects, which are never loaded"),
        ("e.svm", "y", "e.svm, line 2: .*Expected 'label index:value"),
        ("f.csv", "y", "There is no file, folder or pattern"),
        ("*.csv", "y", "no files to read"),
    ]:
        with pytest.raises(SourceError, match=message):
            gathered(read_blocks(tmp_path / name, target))
    with pytest.raises(SourceError, match="columns have no names"):
        gathered(read_blocks(tmp_path / "b.npy", features=["a"]))
    with pytest.raises(SourceError, match=r"column 1 has 1 infinite values"):
        gathered(read_blocks((np.array([[1, np.inf]]), [0]), "y"))
    with pytest.raises(SourceError, match="0 labels for 1 rows"):
        gathered(read_blocks([np.zeros((1, 2))], "y"))
    with pytest.raises(TypeError, match="Expected a path, a frame, arrays or an iterable"):
        read_blocks(3)
