"""Sources on Dask: one reader decides files and types, so models and their files are those of a single process."""

import pickle

import dask
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from pyarrow import feather
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

from flybloom import FlyBloomClassifier, FlyBloomNovelty, read_blocks, train
from flybloom.blocks import array_files, arrays, arrow_sources, csv_files, frames
from flybloom.distributed import fit_source
from flybloom.exceptions import SourceError
from test_blocks import gathered

N = 300
MODEL = FlyBloomClassifier(200, n_winners=8, encoding="none", random_state=0)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Files are cut into pieces of a few rows; threads, which see that."""
    for module in (array_files, arrow_sources):
        monkeypatch.setattr(module, "PIECE_BYTES", 1000)
    for module in (arrays, frames):
        monkeypatch.setattr(module, "PIECE_ROWS", 70)
    whole = csv_files.record_ranges
    monkeypatch.setattr(csv_files, "record_ranges", lambda *arguments: whole(*arguments, 1000))
    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture
def frame(rng):
    """Whole numbers, large enough to tell integers from floats, and labels that other readers take for missing."""
    rows = pd.DataFrame(2**55 + rng.integers(0, 50, (N, 5)), columns=list("abcde"))
    return rows.assign(label=np.array(["NA", "None", "nan", 'say "x\ny"'])[np.arange(N) % 4])


def write_svmlight(frame, path):
    """Write sparse rows."""
    dump_svmlight_file(frame.drop(columns="label") - 2**55, np.arange(N) % 4, str(path))


FILES = {
    "t.csv": lambda frame, path: frame.to_csv(path, index=False),
    "t.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "t.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "t.parquet": lambda frame, path: frame.to_parquet(path, row_group_size=40),
    "t.arrow": feather.write_feather,
    "t.npy": lambda frame, path: np.save(path, np.column_stack([frame.drop(columns="label"), np.arange(N) % 3])),
    "t.npz": lambda frame, path: np.savez(path, X=frame.drop(columns="label"), label=frame["label"].to_numpy(str)),
    "t.svm": write_svmlight,
}
CUT = ("t.csv", "t.tsv", "t.parquet", "t.npy")  # read in pieces


def target_of(name):
    """What the labels of a file are called."""
    return -1 if name == "t.npy" else "label"


def assert_same_file(a, b, folder):
    """Models are equal where their files are."""
    a.save(folder / "a.fly")
    b.save(folder / "b.fly")
    assert (folder / "a.fly").read_bytes() == (folder / "b.fly").read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_pieces_have_the_rows_of_the_whole(frame, tmp_path, name):
    """In order, of the same types; and they travel."""
    FILES[name](frame, tmp_path / name)
    blocks = read_blocks(tmp_path / name, target_of(name), block_rows=50)
    pieces = pickle.loads(pickle.dumps(blocks.pieces()))  # noqa: S301
    assert (len(pieces) > 1) == (name in CUT)
    X, y = gathered(blocks)
    found = [gathered(piece) for piece in pieces]
    stack = sparse.vstack if sparse.issparse(X) else np.concatenate
    together = stack([rows for rows, _ in found])
    assert (together != X).sum() == 0
    assert together.dtype == X.dtype
    assert_array_equal(np.concatenate([labels for _, labels in found]), y)


def test_pieces_know_where_their_file_is(frame, tmp_path, monkeypatch):
    """Whatever the working directory of another process is; messages call the file as the user did."""
    monkeypatch.chdir(tmp_path)
    FILES["t.parquet"](frame, "t.parquet")
    packed = pickle.dumps(read_blocks("t.parquet", "label").pieces())
    monkeypatch.chdir("/")
    pieces = pickle.loads(packed)  # noqa: S301
    assert sum(len(block) for piece in pieces for block in piece) == N
    assert next(iter(pieces[1])).where == "t.parquet, rows 40-79"


@pytest.mark.parametrize("name", FILES)
def test_models_and_their_files_are_those_of_a_single_process(frame, tmp_path, name):
    """From every kind of file, whatever the labels look like."""
    FILES[name](frame, tmp_path / name)
    blocks = read_blocks(tmp_path / name, target_of(name))
    alone = train(clone(MODEL), blocks, target_of(name))
    assert_same_file(fit_source(clone(MODEL), blocks), alone, tmp_path)


def test_folders_are_the_same_with_dask(frame, tmp_path):
    """Other files, hidden ones, and files of several types are no matter."""
    folder = tmp_path / "data"
    folder.mkdir()
    frame[:100].to_csv(folder / "1.csv", index=False)
    frame[100:150].astype({"a": float}).to_parquet(folder / "2.parquet")
    frame[150:].to_csv(folder / "3.csv.gz", index=False, sep=";")
    (folder / "read me.txt").write_text("nothing")
    frame.to_csv(folder / "_old.csv", index=False)
    alone = train(clone(MODEL), folder, "label")
    assert alone.class_count_.sum() == N
    assert_same_file(fit_source(clone(MODEL), read_blocks(folder, "label")), alone, tmp_path)


@pytest.mark.parametrize("labels", [[7, 12], [2**53 + 1, 2**53], [True, False], ["007", "7"], [2**64 - 1, 2**64 - 2]])
def test_labels_have_the_type_that_they_have_without_dask(frame, tmp_path, labels):
    """Numbers that are no floats, bools, and strings that look like numbers."""
    frame = frame.assign(label=np.array(labels)[np.arange(N) % 2])
    frame.to_csv(tmp_path / "t.csv", index=False)
    alone = train(clone(MODEL), tmp_path / "t.csv", "label")
    together = fit_source(clone(MODEL), read_blocks(tmp_path / "t.csv", "label"))
    assert together.classes_.dtype == alone.classes_.dtype
    assert sorted(together.classes_.tolist()) == sorted(labels)
    assert_same_file(together, alone, tmp_path)


def test_data_in_memory_travels(frame, tmp_path):
    """Frames and arrays; what can be read only once cannot."""
    X, y = frame.drop(columns="label").to_numpy(), np.arange(N) % 3
    for source in (frame, (X, y), (sparse.csr_matrix(X), y)):
        blocks = read_blocks(source, "label")
        assert len(blocks.pieces()) == 5
        assert_same_file(fit_source(clone(MODEL), blocks), train(clone(MODEL), source, "label"), tmp_path)
    with pytest.raises(SourceError, match=r"blocks can be read only once, and only here. Save it to files"):
        fit_source(clone(MODEL), read_blocks(iter([(X, y)]), "label"))


def test_rows_alone(frame, tmp_path):
    """A source without target has no labels; empty files have no rows."""
    frame.drop(columns="label").to_csv(tmp_path / "1.csv", index=False)
    frame.drop(columns="label")[:0].to_csv(tmp_path / "0.csv", index=False)
    frame.drop(columns="label")[:0].astype(float).to_parquet(tmp_path / "2.parquet")
    model = FlyBloomNovelty(200, n_winners=8, random_state=0)
    assert_same_file(fit_source(clone(model), read_blocks(tmp_path)), train(clone(model), tmp_path), tmp_path)


def test_each_piece_is_read_once_for_rows_and_labels(frame, tmp_path, monkeypatch):
    """In each pass."""
    FILES["t.csv"](frame, tmp_path / "t.csv")
    blocks = read_blocks(tmp_path / "t.csv", "label")
    n_read = []
    read = csv_files.CsvRange.batches
    monkeypatch.setattr(csv_files.CsvRange, "batches", lambda *arguments: n_read.append(1) or read(*arguments))
    fit_source(clone(MODEL), blocks)
    assert len(n_read) == len(blocks.pieces())


def test_bad_rows_are_named_with_file_and_place(frame, tmp_path):
    """As without Dask, behind the number of the block."""
    frame.to_csv(tmp_path / "t.csv", index=False)
    with (tmp_path / "t.csv").open("a") as file:
        file.write("1,2,x,4,5,NA\n")
    with pytest.raises(ValueError, match=r"t.csv, bytes \d+-\d+, line \d+: the column 'c' does not hold numbers only"):
        fit_source(clone(MODEL), read_blocks(tmp_path / "t.csv", "label"))
