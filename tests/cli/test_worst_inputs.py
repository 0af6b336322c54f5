"""The worst inputs we could think of: each ends with one sentence, or with a result and a word on what was done."""

import gzip
import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from flybloom.cli.app import app

DOCS = Path(__file__).parents[2] / "docs" / "command-line.md"
ROWS = [f"{i % 7},{i % 5},{'ab'[i % 2]}" for i in range(40)]


def written(text, encoding="utf-8"):
    """Return what writes a text file."""
    return lambda path: path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))


def table(**columns):
    """Return what writes a Parquet file."""
    return lambda path: parquet.write_table(pa.table(columns), path)


def csv_of(*rows, header="a,b,y"):
    """Return the text of a CSV file, usual rows last."""
    return "\n".join([header, *rows, *ROWS, ""])


def folder_of_mixed_types(path):
    """Make a folder with files that do not go together, and some that are none of ours."""
    path.mkdir()
    (path / "a.csv").write_text(csv_of())
    np.save(path / "b.npy", np.eye(3))
    (path / "notes.txt").write_text("nothing")


def folder_of_two_kinds(path):
    """Make a folder with files of which one has numbers where the other has words."""
    path.mkdir()
    (path / "a.csv").write_text("a,y\n1,a\n2,b\n")
    (path / "b.csv").write_text("a,y\nx,a\nz,b\n")


YS = ["a", "b"] * 3
WORST = {
    "ragged.csv": (written(csv_of("1,2,a", "1,2")), 3, r"ragged.csv, line 3: 2 values. Expected 3"),
    "nul.csv": (written(csv_of("1,2,a\0")), 3, r"nul.csv has NUL characters.*--file-encoding utf-16"),
    "long_line.csv": (written(csv_of("1," + "2" * 10_000_000 + ",a")), 3, r"long_line.csv: a row is longer than 4 MB"),
    "open_quote.csv": (written(csv_of('1,2,"a')), 3, r"open_quote.csv: a quote .* column 'y' is never closed"),
    "late_quote.csv": (written(csv_of() + '1,2,"a\n' + csv_of()), 3, r"late_quote.csv: a quote .* is never closed"),
    "odd_quote.csv": (
        written(csv_of() + '1,2,"a\n' + csv_of() + '1,2,"b"\n'), 0, r"Note: 1 labels have line breaks.*never closed"),
    "mixed.csv": (written(csv_of("1,two,a")), 3, r"mixed.csv, line 2: the column 'b' does not hold numbers only"),
    "twice.csv": (written(csv_of(header="a,a,y")), 3, r"twice.csv: the column 'a' is there twice"),
    "missing.csv": (written(csv_of("1,,a", "NA,2,b")), 0, r"^$"),
    "marker.csv": (written(csv_of("1,?,a")), 3, r"marker.csv, line 2: the column 'b' does .*'\?'.*--categories"),
    "words.csv": (
        written("\n".join(["a,b,y", *(f"{'xyz'[i % 3]},{i % 5},{'ab'[i % 2]}" for i in range(40))])), 0, r"^$"),
    "two_kinds": (folder_of_two_kinds, 3, r"b.csv: the column 'a' holds categories, but numbers in .*a.csv"),
    "no_label.csv": (written(csv_of("1,2,")), 3, r"no_label.csv, rows 0-40: the target 'y' has 1 missing values"),
    "latin1.csv": (written(csv_of("1,2,é", header="a,größe,y"), "latin-1"), 0, r"Note: latin1.csv: read as cp1252"),
    "utf16.csv": (written(csv_of(), "utf-16"), 0, r"Note: utf16.csv: read as utf-16"),
    "bom.csv": (written(csv_of(), "utf-8-sig"), 0, r"^$"),
    "german.csv": (
        written(csv_of().replace(",", ";").replace("0;", "0,5;")),
        0,
        r"Note: german.csv: values are separated by semicolons \(--delimiter\).*decimal commas \(--decimal\)",
    ),
    "index.csv": (
        written("\n".join([",a,b,y", *(f"{i},{row}" for i, row in enumerate(ROWS))])),
        0,
        r"Note: index.csv: the column '' looks like the index of a frame and is left out",
    ),
    "header_only.csv": (written("a,b,y\n"), 3, r"header_only.csv: no rows"),
    "empty.csv": (written(""), 3, r"empty.csv is empty"),
    "empty.parquet": (written(""), 3, r"empty.parquet cannot be read"),
    "cut.csv.gz": (written(gzip.compress(csv_of().encode())[:60]), 3, r"cut.csv.gz"),
    "not.csv.gz": (written(csv_of()), 3, r"not.csv.gz"),
    "nested.parquet": (
        table(a=[{"x": 1}] * 6, y=YS), 3, r"nested.parquet: the column 'a' is of type struct"),
    "decimals.parquet": (
        table(a=[Decimal("1.50"), Decimal("2.25")] * 3, y=YS), 0, r"^$"),
    "zones.parquet": (
        table(a=[datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)] * 3, y=YS), 0, r"^$"),
    "dictionary.parquet": (
        table(a=pa.array(YS).dictionary_encode(), y=YS), 0, r"^$"),
    "null.parquet": (
        table(a=pa.array([1, None] * 3), b=pa.array([None] * 6), y=YS), 0, r"^$"),
    "bytes.parquet": (
        table(a=[b"x"] * 6, y=YS), 3, r"bytes.parquet: the column 'a' is of type binary"),
    "misnamed.npy": (written(csv_of()), 3, r"misnamed.npy"),
    "objects.npy": (
        lambda path: np.save(path, np.array([[1, "x"]], object), allow_pickle=True), 3, r"objects.npy.*object"),
    "one_class.csv": (written("a,b,y\n1,2,a\n3,1,a\n"), 3, r"one_class.csv: .*class"),
    "huge_values.csv": (written(csv_of("1e999,2,a")), 3, r"huge_values.csv, rows 0-40: column 'a' has 1 infinite"),
    "mixed_folder": (folder_of_mixed_types, 3, r"mixed_folder"),
    "missing_file.csv": (lambda _: None, 3, r"There is no file, folder or pattern 'missing_file.csv'"),
    "data.xlsx": (written(b"PK\3\4"), 3, r"data.xlsx: unknown kind of file"),
}  # fmt: skip


@pytest.mark.parametrize("name", WORST)
def test_train_says_what_is_wrong(name, tmp_path, monkeypatch):
    """The file and what to look at, on stderr, in one line; no model is left behind by a failure."""
    monkeypatch.chdir(tmp_path)
    make, code, said = WORST[name]
    make(tmp_path / name)
    target = "3" if name.endswith(".npy") else "y"
    done = CliRunner().invoke(app, ["train", name, "-t", target, "-o", "m.fly", "--components", "64", "--winners", "4"])
    line = f"| `{name}` | {' '.join(done.stderr.split()).replace('<', '&lt;') or '(nothing)'} | {done.exit_code} |"
    print(line)  # noqa: T201 - `pytest -rP` shows the table of the page
    if f"| `{name}` |" in DOCS.read_text():
        assert line in DOCS.read_text().splitlines()
    assert done.exit_code == code, done.stderr
    assert re.search(said, done.stderr, re.DOTALL), done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "m.fly").exists() == (code == 0)
    if code:
        assert done.stdout == ""
        assert len(done.stderr.strip().splitlines()) == 1
        assert len(done.stderr) < 600


def test_predictions_of_bad_rows_are_empty(tmp_path, monkeypatch):
    """With their identifiers, and a count on stderr; missing values are fine. --strict ends the run, without header."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.csv").write_text(csv_of())
    (tmp_path / "new.csv").write_text("id,a,b\nNA,1,2\n007,,2\nx,word,1\n7,3,4\n")
    invoke = CliRunner().invoke
    assert invoke(app, ["train", "train.csv", "-t", "y", "-o", "m.fly", "--components", "64"]).exit_code == 0
    done = invoke(app, ["predict", "m.fly", "new.csv", "--id", "id", "--probabilities"])
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == '"id","prediction","probability_a","probability_b"'
    assert lines[3] == '"x",,,'
    assert lines[2].startswith('"007","')
    assert [line.split(",")[0] for line in lines[1:]] == ['"NA"', '"007"', '"x"', '"7"']
    assert "Note: 1 of 4 rows could not be scored" in done.stderr
    assert "(the first is row 2, counted from 0)" in done.stderr
    strict = invoke(app, ["predict", "m.fly", "new.csv", "--id", "id", "--strict"])
    assert (strict.exit_code, strict.stdout) == (3, "")
    (tmp_path / "new.csv").write_text("a,b,y\n1,2,a\nword,1,b\n2,,b\n")
    judged = invoke(app, ["evaluate", "m.fly", "new.csv", "-t", "y", "--json"])
    assert '"not_scored": 1' in judged.stdout
    assert "Note: 1 of 3 rows could not be scored" in judged.stderr
    assert invoke(app, ["evaluate", "m.fly", "new.csv", "-t", "y", "--strict"]).exit_code == 3
    frame = pd.DataFrame({"a": [1.0, np.inf], "b": [1.0, 2.0], "id": [5, 6]})
    frame.to_parquet("new.parquet")
    done = invoke(app, ["predict", "m.fly", "new.parquet", "--id", "id", "-o", "out.parquet", "--json"])
    assert '"not_scored": 1' in done.stdout
    assert pd.read_parquet("out.parquet")["id"].tolist() == [5, 6]
    assert pd.read_parquet("out.parquet")["prediction"].isna().tolist() == [False, True]
    (tmp_path / "none.csv").write_text("a,b\n")
    assert invoke(app, ["predict", "m.fly", "none.csv"]).stdout == '"prediction"\n'


def test_a_model_knows_where_indices_begin(tmp_path, monkeypatch):
    """A file without index 0 is read as the one that was learned; an index that cannot be is refused."""
    monkeypatch.chdir(tmp_path)
    from_zero = [f"{i % 2} {i % 2}:1 2:0.5" for i in range(20)]
    (tmp_path / "zero.svm").write_text("\n".join(from_zero))
    (tmp_path / "one.svm").write_text("\n".join(f"{i % 2} {i % 2 + 1}:1 3:0.5" for i in range(20)))
    (tmp_path / "ones.svm").write_text("1 1:1 2:0.5\n")  # of the second class, counted from 0
    invoke = CliRunner().invoke
    for name in ("zero", "one"):
        assert (
            invoke(app, ["train", f"{name}.svm", "-t", "y", "-o", f"{name}.fly", "--components", "64"]).exit_code == 0
        )
    assert invoke(app, ["predict", "zero.fly", "ones.svm"]).stdout.split() == ['"prediction"', "1"]
    assert invoke(app, ["predict", "one.fly", "ones.svm"]).stdout.split() == ['"prediction"', "0"]
    done = invoke(app, ["predict", "one.fly", "zero.svm"])
    assert done.exit_code == 3
    assert "zero.svm has an index 0. Expected 1 or above" in done.stderr
