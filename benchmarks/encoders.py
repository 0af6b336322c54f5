"""What each encoding is worth: every tabular set, the toy sets, images, text, and what it costs beside the hash.

    python benchmarks/encoders.py tables     # 10 folds, "auto" and others against standardised 5-NN
    python benchmarks/encoders.py toys       # circles, moons, blobs, gaussian_quantiles, iris, dna
    python benchmarks/encoders.py images     # MNIST and Fashion-MNIST
    python benchmarks/encoders.py text       # docstrings of installed packages, to be told apart by their package
    python benchmarks/encoders.py streams    # row by row against all at once
    python benchmarks/encoders.py cost       # seconds of encoding beside those of hashing

Everything is learned inside the folds, labels included. Each part adds to benchmarks/results/encoders.json;
docs/encodings.md quotes it. 5-NN of the tables comes from benchmarks/results/accuracy.json, which has the same folds.
"""

from __future__ import annotations

import ast
import json
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as toys
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from datasets import NAMED, load, tabular
from flybloom import FlyBloomClassifier
from flybloom.estimators.access import reading_learned

RESULTS = Path(__file__).parent / "results" / "encoders.json"
PEERS = Path(__file__).parent / "results" / "accuracy.json"
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)
ENCODINGS = ("auto", "standard", "bins", "relevance", "bins+relevance", "rotation+standard")


def tables(encodings: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Accuracy, and balanced accuracy with balanced classes, of all tabular sets."""
    peers = {record["set"]: record["knn"] for record in json.loads(PEERS.read_text())}
    for name in tabular():
        X, y = load(name)
        for encoding in encodings:
            plain, balanced, start = [], [], time.perf_counter()
            for train, test in FOLDS.split(X, y):
                model = FlyBloomClassifier(encoding=encoding, random_state=0).fit(X[train], y[train])
                plain.append(model.score(X[test], y[test]))
                predicted = model.set_params(class_weight="balanced").predict(X[test])
                balanced.append(balanced_accuracy_score(y[test], predicted))
            yield {
                "part": "tables", "set": name, "encoding": encoding, "d": X.shape[1], "n": len(y),
                "accuracy": float(np.mean(plain)), "balanced": float(np.mean(balanced)),
                "knn": peers[name][0], "knn_balanced": peers[name][1], "seconds": time.perf_counter() - start,
            }  # fmt: skip


def toy_sets(encodings: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Sets with few columns, where directions are not enough; and one with many that tell nothing."""
    sets = {
        "circles": toys.make_circles(1000, noise=0.1, factor=0.5, random_state=0),
        "moons": toys.make_moons(1000, noise=0.2, random_state=0),
        "blobs": toys.make_blobs(1000, centers=5, cluster_std=1.6, random_state=0),
        "gaussian_quantiles": toys.make_gaussian_quantiles(n_samples=1000, random_state=0),
        "iris": toys.load_iris(return_X_y=True),
        "dna": load("dna"),
    }
    for name, (X, y) in sets.items():
        knn = make_pipeline(StandardScaler(), KNeighborsClassifier())
        peer = cross_val_score(knn, X, y, cv=FOLDS).mean()
        for encoding in encodings:
            score = cross_val_score(FlyBloomClassifier(encoding=encoding, random_state=0), X, y, cv=FOLDS).mean()
            yield {"part": "toys", "set": name, "encoding": encoding, "accuracy": float(score), "knn": float(peer)}


def images(encodings: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """MNIST and Fashion-MNIST at default sizes."""
    for name in ("mnist", "fashion_mnist"):
        (X, y), (new, truth) = _parts(name)
        for encoding in encodings:
            start = time.perf_counter()
            model = FlyBloomClassifier(encoding=encoding, random_state=0).fit(X, y)
            seconds = time.perf_counter() - start
            accuracy = model.score(new, truth)
            yield {"part": "images", "set": name, "encoding": encoding, "accuracy": accuracy, "seconds": seconds}


def text(encodings: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Tf-idf rows of docstrings, as they come."""
    documents, y = _docstrings()
    n = len(documents) * 4 // 5
    vectorizer = TfidfVectorizer()
    X, new = vectorizer.fit_transform(documents[:n]), vectorizer.transform(documents[n:])
    peer = SGDClassifier(random_state=0).fit(X, y[:n]).score(new, y[n:])
    knn = KNeighborsClassifier().fit(X, y[:n]).score(new, y[n:])
    for encoding in encodings:
        score = FlyBloomClassifier(encoding=encoding, random_state=0).fit(X, y[:n]).score(new, y[n:])
        yield {"part": "text", "set": "docstrings", "n": n, "d": X.shape[1], "encoding": encoding, "accuracy": score,
               "sgd": peer, "knn": knn}  # fmt: skip


def streams(encodings: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """4000 rows one by one, and at once."""
    X, y = toys.make_classification(5000, 20, n_informative=10, n_classes=4, random_state=0)
    for encoding in encodings:
        at_once = FlyBloomClassifier(encoding=encoding, random_state=0).fit(X[:4000], y[:4000])
        model, start = FlyBloomClassifier(encoding=encoding, random_state=0), time.perf_counter()
        for i in range(4000):
            model.partial_fit(X[i : i + 1], y[i : i + 1])
        milliseconds = (time.perf_counter() - start) / 4
        yield {"part": "streams", "set": "4000 rows", "encoding": encoding, "accuracy": model.score(X[4000:], y[4000:]),
               "at_once": at_once.score(X[4000:], y[4000:]), "milliseconds_a_row": milliseconds}  # fmt: skip


def cost(encodings: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Seconds to encode rows, and to hash what comes out, on one thread; the least of three."""
    for name in ("letter", "optdigits", "gina_prior2_proxy"):
        X, y = load(name)
        for encoding in encodings:
            model = FlyBloomClassifier(encoding=encoding, random_state=0).fit(X, y)
            with reading_learned(model) as learned:
                hasher = learned.hasher
            encoded = hasher.encoder.encode(X)
            encode, winners = [], []
            for _ in range(3):
                start = time.perf_counter()
                for begin in range(0, len(X), 256):
                    hasher.encoder.encode(X[begin : begin + 256])
                encode.append(time.perf_counter() - start)
                start = time.perf_counter()
                hasher.projection.winners(encoded, hasher.n_winners)
                winners.append(time.perf_counter() - start)
            yield {"part": "cost", "set": name, "encoding": encoding, "encode": min(encode), "hash": min(winners)}


def _parts(name: str) -> tuple[Any, Any]:
    """Return the official training and test rows."""
    import os  # noqa: PLC0415

    stored = np.load(Path(os.environ["FLYBLOOM_DATA"]) / f"{name}.npz")
    return (stored["X_train"], stored["y_train"]), (stored["X_test"], stored["y_test"])


def _docstrings(most: int = 400, least: int = 200) -> tuple[list[str], np.ndarray]:
    """Return docstrings of installed packages of 20 words or more, and the package of each; whatever is there."""
    folder = Path(sysconfig.get_paths()["purelib"])
    rng = np.random.default_rng(0)
    documents, labels = [], []
    for package in ("_pytest", "dask", "distributed", "hypothesis", "matplotlib", "numba", "numpy", "pandas",
                    "scipy/optimize", "scipy/sparse", "scipy/signal", "scipy/stats", "sklearn"):  # fmt: skip
        found: set[str] = set()
        for path in sorted((folder / package).rglob("*.py")):
            if "tests" not in path.parts:
                found |= set(_docstrings_of(path))
        if len(found) >= least:
            chosen = rng.permutation(sorted(found))[:most].tolist()
            documents += chosen
            labels += [package] * len(chosen)
    order = rng.permutation(len(documents))
    return [documents[i] for i in order], np.array(labels)[order]


def _docstrings_of(path: Path) -> Iterator[str]:
    """Return the docstrings of a file."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    try:
        nodes = ast.walk(ast.parse(path.read_text(errors="ignore")))
    except SyntaxError:
        return
    for node in nodes:
        words = ast.get_docstring(node) if isinstance(node, kinds) else None
        if words and len(words.split()) >= 20:
            yield words


PARTS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "tables": (tables, ("auto",)),
    "toys": (toy_sets, ENCODINGS),
    "images": (images, ("auto", "rotation", "standard", "relevance", "grid=28x28")),
    "text": (text, ("auto", "none", "none+relevance")),
    "streams": (streams, ("auto", "standard", "bins")),
    "cost": (cost, ("standard", "bins", "bins+relevance", "relevance", "rotation")),
}


def main() -> None:
    """Measure the parts that were asked for, print, save."""
    records = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    for part in sys.argv[1:2] or PARTS:
        measure, encodings = PARTS[part]
        fresh = []
        for record in measure(tuple(sys.argv[2:]) or encodings):
            fresh.append(record)
            shown = (f"{value:.4f}" if isinstance(value, float) else str(value) for value in record.values())
            print("| " + " | ".join(shown) + " |", flush=True)
        known = {(record["part"], record["set"], record["encoding"]) for record in fresh}
        records = [r for r in records if (r["part"], r["set"], r["encoding"]) not in known] + fresh
        RESULTS.write_text(json.dumps(records, indent=1))
    for encoding in sorted({r["encoding"] for r in records if r["part"] == "tables"}):
        chosen = [r for r in records if r["part"] == "tables" and r["encoding"] == encoding and r["set"] not in NAMED]
        for name in ("accuracy", "balanced"):
            losses = [1 - r[name] / r["knn" if name == "accuracy" else "knn_balanced"] for r in chosen]
            middle, mean = np.median(losses), np.mean(losses)
            print(f"{encoding}, {len(losses)} tables, {name}: median {middle:+.4f}, mean {mean:+.4f}")


if __name__ == "__main__":
    main()
