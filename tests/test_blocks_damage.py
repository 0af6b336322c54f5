"""Damaged and misnamed files: one kind of error, which names the file, what was expected, and what to do."""

import gzip
import io
import os
from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from flybloom import read_blocks
from flybloom.blocks import csv_files
from flybloom.blocks.byte_stream import ByteStream
from flybloom.exceptions import SourceError
from test_blocks import gathered


def npy(array):
    """An array as the bytes of an NPY file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def npz(**arrays):
    """Arrays as the bytes of an NPZ file."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def table(n=1000):
    """A table as the bytes of a Parquet and of an Arrow file."""
    rows = pa.table({"a": np.arange(n) * 0.5, "y": np.arange(n) % 3})
    file, other = io.BytesIO(), io.BytesIO()
    parquet.write_table(rows, file)
    with pa.ipc.new_file(other, rows.schema) as writer:
        writer.write_table(rows)
    return file.getvalue(), other.getvalue()


TEXT = b"a,y\n" + b"".join(b"%d,%d\n" % (i, i % 3) for i in range(20_000))
SPARSE = b"".join(b"%d 1:%d 3:2\n" % (i % 3, i) for i in range(20_000))
PACKED, ZSTD = gzip.compress(TEXT), pa.compress(TEXT, "zstd", asbytes=True)
WHOLE = npz(X=np.ones((90, 3)), y=np.arange(90))
PARQUET, ARROW = table()
STRINGS = io.BytesIO()
with pa.ipc.new_stream(STRINGS, pa.schema({"a": pa.float64(), "y": pa.string()})) as writer_:
    writer_.write_table(pa.table({"a": [1.0, 2.0], "y": ["p", "q"]}))
OFFSETS = STRINGS.getvalue().replace(np.array([0, 1, 2], "<i4").tobytes(), np.array([0, 2**30, 2], "<i4").tobytes())
SPOILED = bytearray(PARQUET)
SPOILED[100:400] = bytes(300)

BAD = {
    "an archive named .npy": (
        "t.npy",
        WHOLE,
        r"t.npy cannot be read .*magic.* Expected an array of numbers, as numpy.save",
    ),
    "an empty array": ("t.npy", b"", r"t.npy cannot be read .*Expected an array"),
    "an array that is cut": (
        "t.npy",
        npy(np.eye(9))[:-8],
        r"t.npy has 640 bytes of values. Expected 648 for the shape \(9, 9",
    ),
    "an array of objects": ("t.npy", npy(np.array([[None]])), r"t.npy holds Python objects, which are never loaded"),
    "an array of strings": ("t.npy", npy(np.array([["a"]])), r"t.npy holds values of type <U1. Expected numbers"),
    "a number": ("t.npy", npy(np.array(3)), r"t.npy holds an array of shape \(\). Expected rows and columns"),
    "labels alone": ("t.npy", npy(np.eye(1)), r"t.npy: there is no column besides the target"),
    "0-d rows": (
        "t.npz",
        npz(X=np.array(3), y=[1]),
        r"t.npz: the array 'X' holds an array of shape \(\). Expected rows and",
    ),
    "0-d labels": (
        "t.npz",
        npz(X=np.eye(1), y=1),
        r"t.npz: the array 'y' holds an array of shape \(\). Expected one val",
    ),
    "3-d rows": (
        "t.npz",
        npz(X=np.ones((2, 2, 2)), y=[1, 2]),
        r"'X' holds an array of shape \(2, 2, 2\). Expected rows",
    ),
    "bytes as rows": ("t.npz", npz(X=np.array([[b"1"]]), y=[1]), r"'X' holds values of type \|S1. Expected numbers"),
    "bytes as labels": (
        "t.npz",
        npz(X=np.eye(1), y=np.array([b"1"])),
        r"t.npz: the labels 'y' are of type \|S1. .*Decode",
    ),
    "dates as labels": ("t.npz", npz(X=np.eye(1), y=np.array(["2020"], "M8[Y]")), r"'y' are of type datetime64"),
    "fewer labels": ("t.npz", npz(X=np.eye(3), y=[1, 2]), r"t.npz: X, y differ in length"),
    "an archive that is cut": ("t.npz", WHOLE[:-60], r"t.npz cannot be read .*Expected arrays, as numpy.savez"),
    "a spoiled archive": ("t.npz", WHOLE[:300] + b"\1\2\3" + WHOLE[303:], r"t.npz cannot be read .*CRC"),
    "no archive": ("t.npz", b"nothing", r"t.npz cannot be read \(File is not a zip file\)"),
    "index 3e9": (
        "t.svm",
        b"1 1:1\n2 3000000000:1\n",
        r"t.svm, line 2: the index 3000000000. Expected 0 to \d+. Repair",
    ),
    "index 2e9": (
        "t.svm",
        b"1 1:1\n2 2000000000:1\n",
        r"t.svm: the largest index is 2000000000. Expected at most .*n_feat",
    ),
    "index -1": ("t.svm", b"1 -1:1\n", r"t.svm, line 1: the index -1. Expected 0 to"),
    "a word as label": ("t.svm", b"1 1:1\nant 1:1\n", r"t.svm, line 2: the label 'ant'. Expected a number"),
    "unsorted indices": ("t.svm", b"1 3:1 2:1\n", r"t.svm, lines 1-1: .*sorted"),
    "cut .gz": ("t.csv.gz", PACKED[:-30], r"t.csv.gz cannot be read \(Compressed file ended.* Fetch or pack it again"),
    "cut .gz in the header": ("t.csv.gz", PACKED[:12], r"t.csv.gz cannot be read"),
    "spoiled .gz": ("t.csv.gz", PACKED[:900] + b"\0" * 99 + PACKED[999:], r"t.csv.gz cannot be read \(.* packed file"),
    "no .gz": (
        "t.csv.gz",
        TEXT,
        r"t.csv.gz cannot be read \(Not a gzipped file .* Expected a packed file that is whole",
    ),
    "cut .zst": ("t.csv.zst", ZSTD[:-30], r"t.csv.zst cannot be read \(Truncated compressed stream.*Fetch"),
    "no .zst": ("t.csv.zst", TEXT, r"t.csv.zst cannot be read \(ZSTD decompress failed"),
    "cut svmlight .gz": ("t.svm.gz", gzip.compress(SPARSE)[:-30], r"t.svm.gz cannot be read \(Compressed file ended"),
    "cut Parquet": ("t.parquet", PARQUET[:-9], r"t.parquet cannot be read .*Check that it is whole"),
    "spoiled Parquet": ("t.parquet", bytes(SPOILED), r"t.parquet cannot be read"),
    "empty Parquet": ("t.parquet", b"", r"t.parquet cannot be read"),
    "cut Arrow": ("t.arrow", ARROW[:-900], r"t.arrow cannot be read"),
    "Arrow with a wrong offset": ("t.arrow", OFFSETS, r"t.arrow cannot be read \(.*offset"),
    "empty Arrow": ("t.arrow", b"", r"t.arrow cannot be read"),
    "CSV named Feather": ("t.feather", TEXT, r"t.feather cannot be read"),
}


@pytest.mark.parametrize("name", BAD)
def test_damage_is_told_in_one_sentence(tmp_path, name):
    """With the name of the file."""
    path, content, message = BAD[name]
    (tmp_path / path).write_bytes(content)
    with pytest.raises(SourceError, match=message):
        gathered(read_blocks(tmp_path / path, -1 if path.endswith("npy") else "y"))


def test_every_cut_of_a_file_is_refused_or_read(tmp_path, rng):
    """With no other error, wherever it is cut or a byte is changed."""
    contents = {
        "t.npy": npy(np.ones((40, 3))),
        "t.npz": WHOLE,
        "t.csv.gz": gzip.compress(TEXT[:400]),
        "t.csv.zst": pa.compress(TEXT[:400], "zstd", asbytes=True),
        "t.parquet": PARQUET,
        "t.arrow": ARROW,
        "t.svm": SPARSE[:300],
    }
    for name, content in contents.items():
        for at in rng.integers(0, len(content), 40):
            spoiled = bytearray(content)
            spoiled[at] ^= 1 << rng.integers(8)
            for wrong in (content[:at], bytes(spoiled)):
                (tmp_path / name).write_bytes(wrong)
                with suppress(SourceError):
                    list(read_blocks(tmp_path / name, -1 if name.endswith("npy") else "y"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read_are_named(tmp_path):
    """And not a traceback."""
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    (tmp_path / "t.csv").chmod(0)
    with pytest.raises(SourceError, match=r"t.csv cannot be read \(Permission denied\)"):
        gathered(read_blocks(tmp_path / "t.csv", "y"))


def damaged_csr(kind):
    """A matrix of 3 columns with a wrong index, which SciPy does not notice."""
    X = sparse.csr_matrix(np.eye(4, 3))
    if kind == "too large":
        X.indices[2] = 3
    elif kind == "negative":
        X.indices[2] = -1
    else:
        X.indptr[2] = 9
    return X


@pytest.mark.parametrize("kind", ["too large", "negative", "row"])
def test_sparse_rows_with_a_wrong_index_are_refused(kind):
    """However they come; they would be read out of bounds."""
    X, y = damaged_csr(kind), [0, 1, 0, 1]
    for source in ((X, y), X, [(X, y)], iter([(X, y)]), (sparse.csr_array(X), y)):
        with pytest.raises(SourceError, match=r"the sparse rows are damaged .*Expected indices below 3. Rebuild them"):
            gathered(read_blocks(source, None if source is X else "y", block_rows=2))


def test_sparse_rows_of_other_formats(rng):
    """Are read, after the same look."""
    X = rng.integers(0, 3, (9, 4)).astype(float)
    for other in (sparse.csc_matrix, sparse.coo_matrix, sparse.bsr_matrix, sparse.lil_matrix, sparse.dok_matrix):
        got, _ = gathered(read_blocks((other(X), np.arange(9)), "y", block_rows=4))
        np.testing.assert_array_equal(got.toarray(), X)
    for axis in ("row", "col"):
        wrong = sparse.coo_matrix(X)
        getattr(wrong, axis)[0] = 99
        with pytest.raises(SourceError, match="damaged"):
            gathered(read_blocks((wrong, np.arange(9)), "y"))
    X[3, 2] = np.inf
    with pytest.raises(SourceError, match=r"arrays: 1 values are infinite"):
        gathered(read_blocks((sparse.csr_matrix(X), np.arange(9)), "y"))


def test_blocks_of_somebody_else_must_go_together():
    """In width and type; a list is looked at as a whole."""
    with pytest.raises(SourceError, match=r"blocks, rows 2-3: 3 features. Expected 2, as at the beginning"):
        gathered(read_blocks([np.eye(2), np.ones((2, 3))]))
    floats_later = [np.eye(2, dtype=int), np.eye(2)]
    assert gathered(read_blocks(floats_later))[0].dtype == np.float64
    with pytest.raises(SourceError, match=r"blocks, rows 2-3: values of type float64. Expected int64, as at the begin"):
        gathered(read_blocks(iter(floats_later)))
    with pytest.raises(SourceError, match=r"an array of shape \(2,\). Expected rows and columns"):
        gathered(read_blocks([np.ones(2)]))


def test_svmlight_files_of_one_source_have_one_width(tmp_path):
    """That of the largest index; an index 0 in one of them tells how all count."""
    (tmp_path / "a.svm").write_text("1 1:5 2:6\n")
    (tmp_path / "b.svm").write_text("2 4:7\n")
    X, _ = gathered(read_blocks(tmp_path, "y"))
    np.testing.assert_array_equal(X.toarray(), [[5, 6, 0, 0], [0, 0, 0, 7]])
    (tmp_path / "b.svm").write_text("2 0:7\n")
    X, _ = gathered(read_blocks(tmp_path, "y"))
    np.testing.assert_array_equal(X.toarray(), [[0, 5, 6], [7, 0, 0]])
    assert read_blocks(tmp_path, "y", n_features=2**31 - 1).schema()["n_features"] == 2**31 - 1
    np.save(tmp_path / "c.npy", np.ones((1, 5)))
    with pytest.raises(SourceError, match=r"c.npy: the columns of an NPY file have no names"):
        gathered(read_blocks(tmp_path, "y"))


def test_frames_that_arrow_cannot_hold_are_refused():
    """With a word on what is in them."""
    frame = pd.DataFrame({"a": pd.Series([1, "x"], dtype=object), "y": [0, 1]})
    with pytest.raises(SourceError, match=r"pandas DataFrame: The column 'a' .* also text such as 'x'"):
        gathered(read_blocks(frame, "y"))
    with pytest.raises(SourceError, match=r"pandas DataFrame: The column 'a' .* no text, number or date"):
        gathered(read_blocks(frame.assign(a=[[1], [2]], b=[1, 2]), "y"))


def test_the_end_of_the_first_row_is_looked_for_in_little_memory(tmp_path, monkeypatch):
    """A quote that was never closed was read up to 256 MB, in 1 GB of memory, and then refused."""
    looked, peek = [], ByteStream.peek
    monkeypatch.setattr(csv_files, "LOOK_BYTES", 1000)
    monkeypatch.setattr(csv_files, "MAX_LOOK_BYTES", 4000)
    monkeypatch.setattr(ByteStream, "peek", lambda stream, n: looked.append(n) or peek(stream, n))
    (tmp_path / "rows.csv").write_bytes(b'a,b\n1,"' + b"a," * 10**5)
    with pytest.raises(SourceError, match="never closed"):
        list(read_blocks(tmp_path / "rows.csv"))
    of_rows = [n for n in looked if n < 2**22]  # others looked at the format
    assert len(of_rows) >= 2
    assert max(of_rows) < 17_000
