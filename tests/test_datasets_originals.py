"""The original files of the vision sets, IDX and CIFAR: read exactly or refused."""

import gzip
import struct
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.testing import assert_array_equal

from flybloom.exceptions import SourceError
from flybloom.paper import datasets
from flybloom.paper.datasets.cifar import CIFAR10, CIFAR100, load_cifar, read_cifar
from flybloom.paper.datasets.idx import read_idx


def idx_bytes(array):
    """The format as its authors describe it: zero, zero, type, dimensions; sizes; values."""
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def write_mnist(folder, rng, n=(5, 3), suffix=""):
    """Write the four files of a small MNIST; return images and labels of both parts."""
    folder.mkdir()
    pack = gzip.compress if suffix else bytes
    written = []
    for part, size in zip(("train", "t10k"), n, strict=True):
        images, labels = rng.integers(0, 256, (size, 4, 3), np.uint8), rng.integers(0, 10, size, np.uint8)
        (folder / f"{part}-images-idx3-ubyte{suffix}").write_bytes(pack(idx_bytes(images)))
        (folder / f"{part}-labels-idx1-ubyte{suffix}").write_bytes(pack(idx_bytes(labels)))
        written += [images, labels]
    return written


def test_names_are_what_can_be_loaded(tmp_path, rng):
    """Every name loads, and no other does."""
    write_mnist(tmp_path / "mnist", rng)
    np.savez(tmp_path / "pets.npz", X=np.eye(3), y=[0, 1, 0])
    (tmp_path / "fashion_mnist").mkdir()
    assert datasets.names(tmp_path) == ["digits", "mnist", "pets"]
    for name in datasets.names(tmp_path):
        assert datasets.load(name, tmp_path).sizes == datasets.sizes(name, tmp_path)
    for name in ("fashion_mnist", "../pets", str(tmp_path / "pets")):
        with pytest.raises(SourceError, match="It holds digits, mnist, pets"):
            datasets.load(name, tmp_path)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_idx_files_become_rows(tmp_path, rng, name, suffix):
    """Images as rows of pixels, in order."""
    images, labels, test_images, test_labels = write_mnist(tmp_path / name, rng, suffix=suffix)
    data = datasets.load(name, tmp_path)
    assert_array_equal(data.X, images.reshape(5, 12))
    assert_array_equal(data.y, labels)
    assert_array_equal(data.X_test, test_images.reshape(3, 12))
    assert_array_equal(data.y_test, test_labels)
    assert data.X.dtype == np.uint8
    assert data.y.dtype == np.int64


def test_a_missing_or_unequal_idx_file_is_named(tmp_path, rng):
    """All four are needed, and as many labels as images."""
    folder = tmp_path / "mnist"
    write_mnist(folder, rng)
    (folder / "t10k-labels-idx1-ubyte").write_bytes(idx_bytes(np.zeros(4, np.uint8)))
    with pytest.raises(SourceError, match=r"one label for each of 3 images. Got 4"):
        datasets.load("mnist", tmp_path)
    (folder / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(SourceError, match=r"no file t10k-labels-idx1-ubyte or t10k-labels-idx1-ubyte\.gz"):
        datasets.load("mnist", tmp_path)


@given(array=npst.arrays(np.uint8, npst.array_shapes(min_dims=3, max_dims=3, min_side=0, max_side=4)), data=st.data())
def test_idx_files_are_exact_or_refused(tmp_path_factory, array, data):
    """A whole file comes back as it was; a cut one, a longer one, or another header is refused without much memory."""
    folder = tmp_path_factory.mktemp("idx")
    suffix = data.draw(st.sampled_from(["", ".gz"]))
    path = folder / f"images{suffix}"
    content = idx_bytes(array)
    pack = gzip.compress if suffix else bytes
    path.write_bytes(pack(content))
    assert_array_equal(read_idx(path, 3), array)

    damaged = bytearray(content)
    how = data.draw(st.sampled_from(["cut", "grow", "header"]))
    if how == "cut":
        del damaged[data.draw(st.integers(0, len(damaged) - 1)) :]
    elif how == "grow":
        damaged += data.draw(st.binary(min_size=1, max_size=9))
    else:
        damaged[data.draw(st.integers(0, 15))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(pack(bytes(damaged)))
    is_another_shape = how == "header" and damaged[:4] == content[:4] and len(damaged) - 16 == shape_size(damaged)
    tracemalloc.start()
    try:
        if is_another_shape:
            assert read_idx(path, 3).size == array.size
        else:
            with pytest.raises(SourceError, match="images"):
                read_idx(path, 3)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def shape_size(content):
    """How many values the header of an IDX file of three dimensions promises."""
    a, b, c = struct.unpack(">3I", content[4:16])
    return a * b * c


@given(data=st.data())
def test_damaged_gzip_is_refused_or_read(tmp_path_factory, data):
    """Any flipped or missing byte of the packed file."""
    path = tmp_path_factory.mktemp("idx") / "labels.gz"
    content = bytearray(gzip.compress(idx_bytes(np.arange(50, dtype=np.uint8))))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        assert_array_equal(read_idx(path, 1), np.arange(50))
    except SourceError as error:
        assert "labels.gz" in str(error)  # noqa: PT017


@pytest.mark.data
def test_original_files_of_mnist_give_the_rows_of_the_data_folder(data_folder, tmp_path):
    """Written as IDX and read again, gzipped labels and all."""
    packed = datasets.load("mnist", data_folder)
    here = tmp_path / "mnist"
    here.mkdir()
    for part, X, y in (("train", packed.X, packed.y), ("t10k", packed.X_test, packed.y_test)):
        (here / f"{part}-images-idx3-ubyte").write_bytes(idx_bytes(X.reshape(-1, 28, 28)))
        (here / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx_bytes(y.astype(np.uint8))))
    original = datasets.load("mnist", tmp_path)
    for key in ("X", "y", "X_test", "y_test"):
        assert_array_equal(getattr(original, key), getattr(packed, key))


SMALL10, SMALL100 = replace(CIFAR10, n_train=3, n_test=2), replace(CIFAR100, n_train=4, n_test=2)


def write_cifar(folder, layout, rng):
    """Write small files of a layout; return the images (n, 3, 1024) and labels of both parts."""
    here = folder / layout.folder
    here.mkdir()
    written = []
    for files, n in ((layout.train, layout.n_train), (layout.test, layout.n_test)):
        images = rng.integers(0, 256, (len(files) * n, 3, 1024), np.uint8)
        labels = rng.integers(0, layout.n_classes, len(images)).astype(np.uint8)
        for i, file in enumerate(files):
            records = [
                bytes((layout.n_label_bytes - 1) * [255]) + bytes([labels[row]]) + images[row].tobytes()
                for row in range(i * n, (i + 1) * n)
            ]
            (here / file).write_bytes(b"".join(records))
        written += [images, labels]
    return written


@pytest.mark.parametrize("layout", [SMALL10, SMALL100])
def test_cifar_files_become_rows_of_summed_channels(tmp_path, rng, layout):
    """0 to 765, files in order, fine labels, names of classes if their file is there."""
    images, labels, test_images, test_labels = write_cifar(tmp_path, layout, rng)
    data = load_cifar("cifar", tmp_path, layout)
    assert data.X.dtype == np.uint16
    assert data.X.flags.c_contiguous
    assert_array_equal(data.X, images.astype(int).sum(axis=1))
    assert_array_equal(data.X_test, test_images.astype(int).sum(axis=1))
    assert_array_equal(data.y, labels)
    assert_array_equal(data.y_test, test_labels)
    assert data.classes is None

    names = [f"class {i}" for i in range(layout.n_classes)]
    (tmp_path / layout.folder / layout.names).write_text("\n".join(names) + "\n\n")
    assert load_cifar("cifar", tmp_path, layout).classes == tuple(names)
    (tmp_path / layout.folder / layout.names).write_text("one\ntwo\n")
    with pytest.raises(SourceError, match=r"must name \d+ classes, one in each line. Got 2"):
        load_cifar("cifar", tmp_path, layout)


@given(n=st.integers(0, 3 * 3073 + 5), label=st.integers(0, 255))
def test_cifar_files_are_exact_or_refused(tmp_path_factory, n, label):
    """Only whole files, and only labels there are."""
    path = tmp_path_factory.mktemp("cifar") / "batch.bin"
    path.write_bytes(bytes(n))
    if n != 3 * 3073:
        with pytest.raises(SourceError, match=rf"batch.bin must have 9219 bytes, 3 records of 3073. Got {n} instead"):
            read_cifar(path, CIFAR10, 3)
    path.write_bytes(bytes(3073) + bytes([label]) + bytes(2 * 3073 - 1))
    if label < 10:
        assert_array_equal(read_cifar(path, CIFAR10, 3)[1], [0, label, 0])
    else:
        with pytest.raises(SourceError, match=f"labels from 0 to 9. Got {label}"):
            read_cifar(path, CIFAR10, 3)


def test_cifar_is_found_by_name_and_must_be_whole(tmp_path):
    """The sizes of the authors' files are known, and a missing file is named."""
    here = tmp_path / "cifar-100-binary"
    here.mkdir()
    (here / "train.bin").write_bytes(bytes(3074))
    assert datasets.names(tmp_path) == ["cifar100_grey", "digits"]
    with pytest.raises(SourceError, match=r"no file test\.bin"):
        datasets.load("cifar100_grey", tmp_path)
    (here / "test.bin").write_bytes(bytes(3074))
    with pytest.raises(SourceError, match=r"train\.bin must have 153700000 bytes"):
        datasets.load("cifar100_grey", tmp_path)


def test_examples_of_the_documentation_name_real_files():
    """The folder layout in docs/datasets.md is the one that is read."""
    text = (Path(__file__).parents[1] / "docs" / "datasets.md").read_text()
    for file in (*CIFAR10.train[:1], *CIFAR10.test, *CIFAR100.train, *CIFAR100.test, CIFAR10.folder, CIFAR100.folder):
        assert file in text
