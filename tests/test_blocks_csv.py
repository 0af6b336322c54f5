"""CSV as it is found in the wild: encodings, delimiters, quotes, index columns; and what cannot be read says why."""

import csv
import gzip
import io
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from flybloom import read_blocks
from flybloom.blocks import csv_files, csv_format
from flybloom.blocks.csv_files import record_ranges
from flybloom.blocks.csv_format import last_record_end
from flybloom.exceptions import SourceError
from test_blocks import gathered

ROWS = [[1.5, -2.0], [3.25, 4e3], [0.0, 7.0]]
TEXT = "größe,b,y\n1.5,-2,grün\n3.25,4e3,rot\n0,7,grün\n"


def remarks_of(blocks):
    """Remarks without the names of the files."""
    return [remark.split(": ", 1)[1] for remark in blocks.remarks]


WRITTEN = {
    "plain": (TEXT.encode(), {}, []),
    "a mark": (b"\xef\xbb\xbf" + TEXT.encode(), {}, []),
    "Latin-1": (TEXT.encode("latin-1"), {}, ["read as cp1252, because it is not UTF-8 (file_encoding)."]),
    "Latin-1, said": (TEXT.encode("latin-1"), {"file_encoding": "latin-1"}, []),
    "UTF-16": (TEXT.encode("utf-16"), {}, ["read as utf-16, because it is not UTF-8 (file_encoding)."]),
    "UTF-16, said": (TEXT.encode("utf-16-be"), {"file_encoding": "utf-16-be"}, []),
    "semicolons": (TEXT.replace(",", ";").encode(), {}, ["values are separated by semicolons (delimiter)."]),
    "tabs": (TEXT.replace(",", "\t").encode(), {}, ["values are separated by tabs (delimiter)."]),
    "bars, said": (TEXT.replace(",", "|").encode(), {"delimiter": "|"}, []),
    "a star": (TEXT.replace(",", "*").encode(), {"delimiter": "*"}, []),
    "decimal commas": (
        TEXT.replace(",", ";").replace(".", ",").encode(),
        {},
        ["values are separated by semicolons (delimiter).", "numbers have decimal commas (decimal)."],
    ),
    "decimal commas, said": (
        TEXT.replace(",", ";").replace(".", ",").encode(),
        {"delimiter": ";", "decimal": ","},
        [],
    ),
    "decimal commas in quotes": (
        TEXT.replace("1.5", '"1,5"').replace("3.25", '"3,25"').encode(),
        {"decimal": ","},
        [],
    ),
    "carriage returns": (TEXT.replace("\n", "\r\n").encode(), {}, []),
    "no last line break": (TEXT.rstrip().encode(), {}, []),
    "empty lines": (b"\n" + TEXT.replace("\n", "\n\n").encode(), {}, []),
    "quotes": (TEXT.replace("rot", '"rot"').replace("1.5", '"1.5"').encode(), {}, []),
}


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("name", WRITTEN)
def test_however_it_is_written_it_is_the_same_table(tmp_path, name, packing):
    """What was guessed is said, and what was said is not guessed."""
    text, options, remarks = WRITTEN[name]
    pack = {"": bytes, ".gz": gzip.compress, ".zst": lambda raw: pa.compress(raw, "zstd", asbytes=True)}[packing]
    (tmp_path / f"t.csv{packing}").write_bytes(pack(text))
    blocks = read_blocks(tmp_path / f"t.csv{packing}", "y", **options)
    X, y = gathered(blocks)
    assert_array_equal(X, ROWS)
    assert y.tolist() == ["grün", "rot", "grün"]
    assert blocks.schema()["names"] == ["größe", "b"]
    assert remarks_of(blocks) == remarks


def test_remarks_are_made_once_for_all_files(tmp_path):
    """With the first of them."""
    for number in range(3):
        (tmp_path / f"{number}.csv").write_text("a;b;y\n1;2;x\n")
    (remark,) = read_blocks(tmp_path, "y").remarks
    assert remark.endswith("0.csv and 2 more: values are separated by semicolons (delimiter).")


def test_columns_that_are_wanted_tell_the_delimiter(tmp_path):
    """Where two would do."""
    (tmp_path / "t.csv").write_text("price, net;weight, kg;y\n1,5;2,5;p, q\n2,5;3,5;p, q\n")
    assert read_blocks(tmp_path / "t.csv", "y").schema()["names"] == ["price, net", "weight, kg"]
    assert gathered(read_blocks(tmp_path / "t.csv", "y"))[0].tolist() == [[1.5, 2.5], [2.5, 3.5]]


def test_true_and_false_are_features(tmp_path):
    """They are ones and zeros, however they are spelled."""
    (tmp_path / "t.csv").write_text("a,b,y\nTrue,false,1\nFalse,true,2\nTrue,1,1\n")
    assert gathered(read_blocks(tmp_path / "t.csv", "y"))[0].tolist() == [[1, 0], [0, 1], [1, 1]]
    (tmp_path / "t.csv").write_text("a,y\n" + "True,1\nFalse,2\n" * 40 + "maybe,1\n")
    with pytest.raises(SourceError, match=r"line 82: the column 'a' began with True and False, but then .*'maybe'"):
        gathered(read_blocks(tmp_path / "t.csv", "y"))


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_the_index_of_a_frame_is_left_out(tmp_path, name):
    """With a remark; who wants it names it."""
    frame = pd.DataFrame({name: [10, 11], "a": [1.0, 2.0], "y": [0, 1]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    blocks = read_blocks(tmp_path / "t.csv", "y")
    assert gathered(blocks)[0].tolist() == [[1], [2]]
    assert remarks_of(blocks) == [
        f"the column {name!r} looks like the index of a frame and is left out; name it as a feature to read it."
    ]
    assert gathered(read_blocks(tmp_path / "t.csv", "y", features=["a", name]))[0].tolist() == [[1, 10], [2, 11]]
    assert next(iter(read_blocks(tmp_path / "t.csv", "y", id_column=name))).ids.tolist() == ["10", "11"]


def test_the_index_of_a_frame_in_parquet_is_left_out(tmp_path):
    """As pandas writes one that is no range."""
    pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}, index=[3, 9]).to_parquet(tmp_path / "t.parquet")
    assert read_blocks(tmp_path / "t.parquet", "y").schema()["names"] == ["a"]


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas"])
def test_identifiers_come_with_the_rows(tmp_path, kind):
    """Unchanged, cut as the rows are; other columns can be left out."""
    frame = pd.DataFrame({"id": ["007", "7", "x"], "a": [1.0, 2.0, 3.0], "note": ["p", "q", "r"], "y": [0, 1, 0]})
    source = frame
    if kind != "pandas":
        source = tmp_path / f"t.{kind}"
        getattr(frame, f"to_{kind}")(source, index=False)
    blocks = read_blocks(source, "y", id_column="id", exclude=["note"], block_rows=2)
    assert [block.ids.tolist() for block in blocks] == [["007", "7"], ["x"]]
    assert next(blocks.starting_at(1)).ids.tolist() == ["7"]
    assert gathered(blocks)[0].tolist() == [[1], [2], [3]]
    assert next(iter(read_blocks(source, "y", features=["a"]))).ids is None


def test_identifiers_of_arrays(tmp_path):
    """By the number of the column, or by the name of the array; whole numbers with gaps stay whole."""
    np.save(tmp_path / "a.npy", np.array([[5, 1, 0], [6, 2, 1]]))
    block = next(iter(read_blocks(tmp_path / "a.npy", -1, id_column=0)))
    assert (block.ids.tolist(), block.X.tolist(), block.y.tolist()) == ([5, 6], [[1], [2]], [0, 1])
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=[0, 1], id=["p", "q"])
    assert next(iter(read_blocks(tmp_path / "a.npz", "y", id_column="id"))).ids.tolist() == ["p", "q"]
    table = pa.table({"id": pa.array([2**53 + 1, None]), "a": [1.0, 2.0], "y": [0, 1]})
    assert next(iter(read_blocks(table, "y", id_column="id"))).ids.tolist() == [2**53 + 1, None]
    with pytest.raises(SourceError, match="its columns have no names"):
        gathered(read_blocks((np.eye(2), [0, 1]), "y", id_column="id"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"exclude": ["nothing"]},
            r"t.csv: the column 'nothing', to be left out, is not there. The columns are 'a', 'b'",
        ),
        ({"id_column": "nothing"}, r"t.csv: the column 'nothing', the identifier, is not there"),
        ({"features": ["a", "a"]}, r"t.csv: the column 'a' is there twice"),
        ({"exclude": ["a", "b"]}, r"there is no column besides the target 'y'"),
    ],
)
def test_columns_that_are_not_there_are_named(tmp_path, options, message):
    """And those that are asked for twice."""
    (tmp_path / "t.csv").write_text("a,b,y\n1,2,3\n")
    with pytest.raises(SourceError, match=message):
        gathered(read_blocks(tmp_path / "t.csv", "y", **options))


@pytest.mark.parametrize(
    "options",
    [
        {"block_rows": 0}, {"n_features": 0}, {"label_type": "int"}, {"delimiter": ",,"}, {"delimiter": '"'},
        {"decimal": ";"}, {"decimal": ",", "delimiter": ","}, {"file_encoding": "latin-99"}, {"file_encoding": "zlib"},
        {"exclude": ["y"]}, {"exclude": ["a"], "features": ["a"]}, {"id_column": "y"},
    ],
)  # fmt: skip
def test_options_that_no_source_can_meet_are_refused_at_once(options):
    """Before anything is opened."""
    with pytest.raises(ValueError, match=r"The '\w+' parameter of read_blocks must be .* Got .* instead"):
        read_blocks("-", "y", **options)


@pytest.mark.parametrize("source", ["csv", "parquet", "pandas"])
def test_columns_that_share_a_name_are_refused(tmp_path, source):
    """By that name; but not if they are left out."""
    table = pa.Table.from_arrays([pa.array([1.0])] * 3 + [pa.array([3])], names=["a", "a", "b", "y"])
    if source == "csv":
        (tmp_path / "t.csv").write_text("a,a,b,y\n1,2,3,4\n")
        table = tmp_path / "t.csv"
    elif source == "pandas":
        table = pd.DataFrame([[1.0, 2.0, 3.0, 4]], columns=["a", "a", "b", "y"])
    for options in ({}, {"features": ["a"]}):
        with pytest.raises(SourceError, match=r"the column 'a'.* is there twice"):
            gathered(read_blocks(table, "y", **options))
    assert read_blocks(table, "y", exclude=["a"]).schema()["names"] == ["b"]


def test_line_breaks_in_quotes_are_part_of_a_value(tmp_path):
    """Also where the file is longer than what is read at once, and in the names of columns."""
    n = 400_000
    with (tmp_path / "t.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["a\nb", "y"])
        writer.writerows((i, "b\nb" if i % 3 else 'say "c"') for i in range(n))
    assert (tmp_path / "t.csv").stat().st_size > csv_format.LOOK_BYTES
    blocks = read_blocks(tmp_path / "t.csv", "y")
    X, y = gathered(blocks)
    assert blocks.schema()["names"] == ["a\nb"]
    assert_array_equal(X[:, 0], np.arange(n))
    assert_array_equal(y, np.where(np.arange(n) % 3, "b\nb", 'say "c"'))


class CountingInput(io.RawIOBase):
    """An endless first line, which counts what was read of it."""

    n_read = 0

    def read(self, n=-1):
        """Return as many letters as wanted."""
        self.n_read += n
        return b"x" * n


def test_a_first_line_without_end_is_refused(monkeypatch):
    """After a fixed number of bytes, each of which is read once."""
    endless = CountingInput()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=endless))
    with pytest.raises(SourceError, match=r"standard input: the first line does not end within 16 MB. Expected a line"):
        gathered(read_blocks("-", "y"))
    assert endless.n_read == csv_format.MAX_HEADER_BYTES


def test_wide_rows_are_read(tmp_path, monkeypatch):
    """Rows and a header that are longer than what is read at once of a narrow file."""
    monkeypatch.setattr(csv_format, "LOOK_BYTES", 2**16)
    monkeypatch.setattr(csv_files, "LOOK_BYTES", 2**16)
    d = 10_000
    lines = [[f"feature number {j}" for j in range(d)] + ["y"], [*["0.12345678901234567"] * d, "1"]]
    (tmp_path / "t.csv").write_text("\n".join(",".join(line) for line in lines))
    X, y = gathered(read_blocks(tmp_path / "t.csv", "y"))
    assert X.shape == (1, d)
    assert y.tolist() == [1]


BAD = {
    "empty": (b"", r"t.csv is empty. Expected a line with the names"),
    "blank": (b"\n\n \n", r"t.csv is empty"),
    "ragged": (b"a,b,y\n1,2,3\n1,2\n", r"t.csv, line 3: 2 values. Expected 3, as in the first line. Repair it"),
    "text": (b"a,y\n1,2\nx,2\n", r"t.csv, line 3: the column 'a' does not hold numbers only .*'x'.* Repair"),
    "a long value": (b"a,y\n1,2\n" + b'"' + b"x\n" * 999 + b'",2\n', r"line 3: .* value 'x.nx.{100,130}\.\.\.\)"),
    "a comma": (b"a;y\n1;2\n1,5;2\n", None),
    "damaged UTF-8": ("é,ü,ö,y\n1,2,3,4\n".encode() + b"1,2,3,\xff\n", r"t.csv is not in UTF-8: .*0xff at 25.*Name"),
    "late Latin-1": (b"a,y\n" + b"1,x\n" * 1_100_000 + b"1,gr\xfcn\n", r"line 1100002: the column 'y' is not in UTF-8"),
    "neither": (b"a,y\n1,\x81\n", r"t.csv is not in UTF-8: invalid start byte \(byte 0x81 at 6\). Name its encoding"),
    "NUL": (b"a,y\n1,x\0\n", r"t.csv has NUL characters. Expected text"),
    "gzip": (gzip.compress(b"a,y\n1,2\n"), r"t.csv is not text, but a file of the kind gzip. Give it the name"),
    "an open quote": (b'a,y\n1,2\n"3,4\n' + b"1,2\n" * 3_000_000, r"t.csv: a row is longer than 4 MB, or a quote"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_table_is_refused(tmp_path, name):
    """One sentence: the file, what was expected, what was got, what to do."""
    text, message = BAD[name]
    (tmp_path / "t.csv").write_bytes(text)
    if message is None:
        assert gathered(read_blocks(tmp_path / "t.csv", "y"))[0].tolist() == [[1], [1.5]]
        return
    with pytest.raises(SourceError, match=message) as caught:
        gathered(read_blocks(tmp_path / "t.csv", "y"))
    assert "\n" not in str(caught.value)


def test_a_wrong_encoding_is_said(tmp_path):
    """By what the file has that the encoding has not."""
    (tmp_path / "t.csv").write_bytes(b"a,y\n1,gr\xfcn\n")
    for encoding in ("utf-8", "ascii"):
        with pytest.raises(SourceError, match=rf"(?i)t.csv is not .*{encoding}.*0xfc.*file_encoding"):
            gathered(read_blocks(tmp_path / "t.csv", "y", file_encoding=encoding))


def test_standard_input_may_be_closed_or_used_up(monkeypatch):
    """Then it is said."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SourceError, match=r"standard input is closed. Expected CSV there. Pipe a file to it"):
        gathered(read_blocks("-", "y"))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"a;y\n1;2\n")))
    blocks = read_blocks("-", "y")
    assert remarks_of(blocks) == ["values are separated by semicolons (delimiter)."]
    assert gathered(blocks)[0].tolist() == [[1]]
    with pytest.raises(SourceError, match="standard input can be read only once"):
        gathered(blocks)


VALUES = st.sampled_from(["", "a", "1", 'b"c', '"', "\n", "\r\n", ",", ";", "ä", '""', 'x\n"y,"'])


@given(
    records=st.lists(st.lists(VALUES, min_size=2, max_size=2), max_size=12),
    size=st.integers(1, 40),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_ranges_hold_whole_records(tmp_path_factory, records, size, end, quoting):
    """Whatever is in quotes, and wherever a piece would be cut."""
    path = tmp_path_factory.mktemp("ranges") / "t.csv"
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end, quoting=quoting).writerows(records)
    path.write_bytes(text.getvalue().encode())
    ranges = record_ranges(path, 0, b",", size)
    assert [begin for begin, _ in ranges[1:]] == [stop for _, stop in ranges[:-1]]
    pieces = [path.read_bytes()[begin:stop].decode() for begin, stop in ranges]
    assert "".join(pieces) == text.getvalue()
    read = [record for piece in pieces for record in csv.reader(io.StringIO(piece, newline="")) if record]
    assert read == list(csv.reader(io.StringIO(text.getvalue(), newline="")))


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (b"", 0),
        (b"a", 0),
        (b"a\n", 2),
        (b"a\nb", 2),
        (b"a\rb", 2),
        (b'5" x\nb', 5),
        (b'"a\n', 0),
        (b'a,"b"c\nd\n"e', 9),
    ],
)
def test_where_the_last_record_ends(text, end):
    """A quote in the middle of a value opens nothing."""
    assert last_record_end(text, b",") == end
