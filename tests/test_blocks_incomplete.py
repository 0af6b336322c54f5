"""Rows with a value that is no number are marked where that is asked for; missing values are NaN everywhere."""

import numpy as np
import pyarrow as pa
import pytest

import flybloom
from flybloom.exceptions import SourceError


def marks_of(source, **options):
    """The marks of all rows of a small source, and the values of the others."""
    (block,) = flybloom.read_blocks(source, incomplete="mark", **options)
    marks = np.zeros(len(block), bool) if block.incomplete is None else block.incomplete
    X = getattr(block.X, "array", block.X)
    return marks.tolist(), (X.toarray() if hasattr(X, "toarray") else X)[~marks].tolist()


def test_text_files_mark_what_is_no_number(tmp_path):
    """Words, infinities; an identifier may be called NA. Others are what a strict reader reads, missing ones too."""
    path = tmp_path / "rows.csv"
    path.write_text("id,a,b,f\nNA,1,2,True\nx,,3,False\ny,abc,4,1\nz,5,inf,0\nw,1,NaN,True\nv, +2,.5,False\n")
    marks, rows = marks_of(path, id_column="id", kinds={"a": "number"})
    assert marks == [False, False, True, True, False, False]
    np.testing.assert_array_equal(rows, [[1, 2, 1], [np.nan, 3, 0], [1, np.nan, 1], [2, 0.5, 0]])
    path.write_text("a;b\n1,5;2\n1.5;3\n")
    assert marks_of(path, decimal=",") == ([False, True], [[1.5, 2]])


def test_text_is_read_as_a_strict_reader_does(tmp_path, rng):
    """Bit for bit, however numbers are spelled."""
    values = rng.standard_normal((200, 3)) * 10.0 ** rng.integers(-300, 300, (200, 3))
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n" + "\n".join(",".join(map(repr, row)) for row in values.tolist()))
    (strict,), (marked,) = flybloom.read_blocks(path), flybloom.read_blocks(path, incomplete="mark")
    assert strict.X.array.tobytes() == marked.X.array.tobytes()
    assert marked.incomplete is None


def test_missing_values_are_nan(tmp_path):
    """In tables, arrays and sparse rows; infinite ones are marked. Whole numbers become floats where one is missing."""
    table = pa.table({"a": [1, None, 3], "b": [True, False, None]})
    for source in (table, table.to_batches()[0]):
        (block,) = flybloom.read_blocks(source)
        np.testing.assert_array_equal(block.X.array, [[1, 1], [np.nan, 0], [3, np.nan]])
    assert marks_of(np.array([[1.0, np.nan], [np.inf, 1]]))[0] == [False, True]
    (tmp_path / "rows.svm").write_text("1 1:2 2:nan\n0 2:4\n1 1:inf\n")
    marks, rows = marks_of(tmp_path / "rows.svm")
    assert marks == [False, False, True]
    np.testing.assert_array_equal(rows, [[2, np.nan], [0, 4]])
    with pytest.raises(SourceError, match="1 values are infinite"):
        list(flybloom.read_blocks(tmp_path / "rows.svm"))
    with pytest.raises(
        SourceError, match="'a' has 1 missing values among whole numbers, and its source did not say so"
    ):
        list(flybloom.read_blocks(table.to_reader()))


def test_a_source_that_is_passed_on_is_looked_at_once(tmp_path):
    """What was guessed about it is known already."""
    (tmp_path / "rows.csv").write_text("a;y\n1;2\n")
    blocks = flybloom.read_blocks(tmp_path / "rows.csv", "y")
    assert flybloom.read_blocks(blocks, "y") is blocks
    assert flybloom.read_blocks(blocks, block_rows=7) is not blocks
    with pytest.raises(ValueError, match="'incomplete' parameter of read_blocks must be one of refuse, mark"):
        flybloom.read_blocks(tmp_path / "rows.csv", incomplete="no")
