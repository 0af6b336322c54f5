"""Folders of data sets: NPZ files are read exactly or refused, and the groups follow from sizes."""

import inspect
import io
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from flybloom.exceptions import SourceError
from flybloom.paper import datasets
from flybloom.paper.datasets import Dataset, Sizes
from flybloom.paper.datasets.groups import fits


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    """Whoever runs the tests, no folder is set."""
    monkeypatch.delenv("FLYBLOOM_DATA", raising=False)


def test_a_folder_is_the_argument_then_the_variable_then_an_error(tmp_path, monkeypatch):
    """What to set is said."""
    with pytest.raises(SourceError, match="set the environment variable FLYBLOOM_DATA"):
        datasets.data_folder()
    monkeypatch.setenv("FLYBLOOM_DATA", str(tmp_path))
    (tmp_path / "other").mkdir()
    assert datasets.data_folder() == tmp_path
    assert datasets.data_folder(tmp_path / "other") == tmp_path / "other"
    with pytest.raises(SourceError, match=r"no folder .*missing, which the 'folder' parameter names"):
        datasets.data_folder(tmp_path / "missing")


def test_digits_needs_no_folder():
    """It is scikit-learn's."""
    X, y = load_digits(return_X_y=True)
    digits = datasets.load("digits")
    assert_array_equal(digits.X, X)
    assert_array_equal(digits.y, y)
    assert digits.sizes == datasets.sizes("digits") == Sizes(1797, 64, 10)
    assert digits.source == "sklearn.datasets.load_digits"


def test_import_is_light():
    """Neither numba nor scikit-learn nor SciPy is needed to name the functions."""
    import subprocess  # noqa: PLC0415

    code = (
        "import sys, flybloom.paper.datasets; "
        "assert not {'numba', 'sklearn', 'scipy', 'openml', 'pandas'} & set(sys.modules), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_names_are_documented():
    """With every parameter, and an example."""
    for name in datasets.__all__:
        public = getattr(datasets, name)
        if inspect.isfunction(public) or public is Dataset:
            assert ">>>" in public.__doc__, name
            for parameter in inspect.signature(public).parameters:
                assert (
                    f"{parameter} : " in public.__doc__
                    or f", {parameter} : " in public.__doc__
                    or (parameter == "X_test" and "X_test, y_test :" in public.__doc__)
                ), (name, parameter)


@given(
    X=npst.arrays(
        st.sampled_from([np.uint8, np.int16, np.float32, np.float64, bool]),
        npst.array_shapes(min_dims=2, max_dims=2, max_side=5),
        elements={"allow_nan": False, "allow_infinity": False},
    ),
    labels=st.lists(st.sampled_from(["ant", "bee", "cat"]), min_size=5, max_size=5),
    is_by_columns=st.booleans(),
)
def test_what_was_saved_is_loaded(tmp_path_factory, X, labels, is_by_columns):
    """Rows bit for bit and contiguous, labels by name; sizes from headers are those of the arrays."""
    path = tmp_path_factory.mktemp("npz")
    y = np.array(labels[: len(X)])
    np.savez(path / "set.npz", X=np.asfortranarray(X) if is_by_columns else X, y=y)
    data = datasets.load("set", path)
    assert data.X.dtype == X.dtype
    assert data.X.flags.c_contiguous
    assert_array_equal(data.X, X)
    assert_array_equal(np.array(data.classes)[data.y], y)
    assert data.sizes == datasets.sizes("set", path)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_official_splits_and_every_compression(tmp_path, rng, compression):
    """All that Python's zipfile reads."""
    arrays = {
        "X_train": rng.normal(size=(6, 2)),
        "y_train": np.array([0, 1, 0, 1, 1, 0], np.uint8),
        "X_test": rng.normal(size=(3, 2)),
        "y_test": np.array([2, 1, 0], np.uint8),
        "classes": np.array(["a", "b", "c"]),
    }
    with zipfile.ZipFile(tmp_path / "set.npz", "w", compression) as archive:
        for key, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array)
            archive.writestr(f"{key}.npy", buffer.getvalue())
    data = datasets.load("set", tmp_path)
    for key, array in (("X", "X_train"), ("y", "y_train"), ("X_test", "X_test"), ("y_test", "y_test")):
        assert_array_equal(getattr(data, key), arrays[array])
    assert data.y.dtype == data.y_test.dtype == np.int64
    assert data.classes == ("a", "b", "c")
    assert data.sizes == datasets.sizes("set", tmp_path) == Sizes(6, 2, 3)


def test_labels_that_are_not_0_to_L_become_it(tmp_path):
    """Their old names are kept; numbers 0 to L-1 need none."""
    for name, y in {"ones": [1, 2, 1], "floats": [1.0, 2.0, 1.0], "signs": [-1, 1, -1]}.items():
        np.savez(tmp_path / f"{name}.npz", X=np.eye(3), y=y)
        data = datasets.load(name, tmp_path)
        assert_array_equal(data.y, [0, 1, 0])
        assert data.classes == tuple(str(int(label)) for label in sorted(set(y)))
    np.savez(tmp_path / "plain.npz", X=np.eye(3), y=np.array([2, 0, 1], np.uint8))
    assert datasets.load("plain", tmp_path).classes is None


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.eye(2)}, r"must hold X and y, or X_train.* Got \['X'\]"),
        ({"X": np.ones(3), "y": np.zeros(3, int)}, r"rows and columns of numbers\. Got float64 of shape \(3,\)"),
        ({"X": np.array([["a"]]), "y": np.zeros(1, int)}, "rows and columns of numbers"),
        ({"X": np.eye(3), "y": np.zeros(2, int)}, "one int64 label for each of its 3"),
        ({"X": np.eye(2), "y": np.array([0.5, 1])}, "whole numbers or strings. Got float64"),
        ({"X": np.eye(2), "y": np.array([0, 2]), "classes": ["a", "b"]}, "from 0 to 1. Got 0 to 2"),
        ({"X": np.eye(2), "y": np.array(["a", "b"]), "classes": ["a", "b"]}, "positions in it. Got strings"),
        ({"X": np.array([[np.nan], [1]]), "y": np.array([0, 1])}, "1 missing or infinite"),
        ({"X": np.eye(2).astype(object), "y": np.array([0, 1])}, "'X' must be plain"),
        ({"X": np.empty((0, 3)), "y": np.zeros(0, int)}, "at least one"),
    ],
)
def test_npz_files_that_are_no_data_set_are_refused(tmp_path, arrays, message):
    """With what was expected and what was got; objects are never unpickled."""
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(SourceError, match=message):
        datasets.load("bad", tmp_path)


def test_a_split_must_have_one_width():
    """Test rows have the columns of the others, and labels."""
    one = np.zeros(1, np.int64)
    with pytest.raises(SourceError, match="the 2 column"):
        Dataset("x", np.ones((1, 2)), one, np.ones((1, 3)), one)
    with pytest.raises(SourceError, match="belong together"):
        Dataset("x", np.ones((1, 2)), one, np.ones((1, 3)))


@given(data=st.data())
def test_damaged_npz_files_are_refused_or_read(tmp_path_factory, data):
    """A flipped or missing byte raises SourceError or changes nothing that is checked; nothing else can happen."""
    path = tmp_path_factory.mktemp("npz") / "set.npz"
    np.savez_compressed(path, X=np.arange(12.0).reshape(4, 3), y=np.array([0, 1, 0, 1]))
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    for read in (datasets.load, datasets.sizes):
        try:
            read("set", path.parent)
        except SourceError as error:
            assert "set" in str(error)  # noqa: PT017


@given(st.lists(st.tuples(st.sampled_from("Xyc"), st.integers(0, 127), st.integers(32, 126)), min_size=1, max_size=3))
def test_hostile_headers_are_refused_or_read(tmp_path_factory, changes):
    """Whatever NumPy's parser makes of a header with a right checksum: TokenError, SyntaxError, SystemError, ..."""
    path = tmp_path_factory.mktemp("npz") / "set.npz"
    contents = {}
    for key, array in {"X": np.eye(2), "y": np.array([0, 1]), "classes": np.array(["a", "b"])}.items():
        np.save(buffer := io.BytesIO(), array)
        contents[key] = bytearray(buffer.getvalue())
        for where, at, byte in changes:
            if key[0] == where:
                contents[key][at] = byte
    with zipfile.ZipFile(path, "w") as archive:
        for key, content in contents.items():
            archive.writestr(f"{key}.npy", bytes(content))
    for read in (datasets.load, datasets.sizes):
        try:
            read("set", path.parent)
        except SourceError as error:
            assert "set" in str(error)  # noqa: PT017


def test_an_array_larger_than_its_archive_is_refused_before_it_is_made(tmp_path):
    """A header may promise anything."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40, 8)})
    np.savez(tmp_path / "huge.npz", y=np.zeros(3, int))
    with zipfile.ZipFile(tmp_path / "huge.npz", "a") as archive:
        archive.writestr("X.npy", header.getvalue())
    for read in (datasets.load, datasets.sizes):
        with pytest.raises(SourceError, match="fit into its 128 bytes"):
            read("huge", tmp_path)


@given(st.integers(9, 1030), st.integers(990, 50_010), st.integers(1, 32))
def test_groups_are_those_of_the_paper(d, n, n_classes):
    """By features, rows and classes."""
    is_data = n >= 1000 and 2 <= n_classes <= 30
    assert fits("A", Sizes(n, d, n_classes)) == (is_data and 10 <= d <= 100 and n <= 50_000)
    assert fits("B", Sizes(n, d, n_classes)) == (is_data and 101 <= d <= 1024 and n <= 10_000)


def test_groups_are_told_by_size_and_leave_out_vision(tmp_path):
    """The sets that the paper shows on their own come in on request."""
    y = np.arange(1000) % 3
    for name, d in {"small": 10, "tiny": 9, "wide": 101, "letter": 16, "mnist": 784}.items():
        np.savez_compressed(tmp_path / f"{name}.npz", X=np.zeros((1000, d), np.uint8), y=y)
    assert datasets.group_names("A", tmp_path) == ["digits", "small"]
    assert datasets.group_names("B", tmp_path) == ["wide"]
    assert datasets.group_names("A", tmp_path, include_named=True) == ["digits", "letter", "small"]
    with pytest.raises(SourceError, match=r"must be one of \['A', 'B'\]. Got 'C'"):
        datasets.group_names("C", tmp_path)


@pytest.mark.data
def test_the_groups_of_the_data_folder(data_folder):
    """51 and 7 files, with Digits 59 sets; five more are named in the paper."""
    groups = {group: datasets.group_names(group, data_folder) for group in "AB"}
    assert (len(groups["A"]), len(groups["B"])) == (52, 7)
    more = [name for group in "AB" for name in datasets.group_names(group, data_folder, include_named=True)]
    assert set(more) - set(groups["A"] + groups["B"]) == set(datasets.NAMED)
    for name in groups["B"]:
        assert datasets.load(name, data_folder).sizes == datasets.sizes(name, data_folder)
