"""Seeded damage to model files: by accident, and by somebody who knows the format and repairs the checksum."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pandas as pd
from scipy import sparse

import flybloom
from flybloom.estimators.frozen import FrozenNovelty, FrozenRegressor
from flybloom.exceptions import ModelFileError

ABSURD = [
    0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63, 2**64, 10**30, -(2**63), 1e300, -1e-300, 0.5, "",
    "auto", "x" * 1000, "\x00", "\ud800", None, True, False, [], {}, [[]], [1, 2, 3], ["a"], {"a": 1}, [None] * 3,
]  # fmt: skip
MOST_WORK = 10**6  # connections above which a loaded model is not run


def parts(data: bytes) -> tuple[dict, bytes]:
    """Split a file into its header and its arrays."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def whole(header: dict, arrays: bytes) -> bytes:
    """Put header and arrays together."""
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + arrays


def described(header: dict) -> dict:
    """Return the description in a header."""
    return json.loads(header["__metadata__"]["flybloom"].split(" ", 1)[1])


def repaired(header: dict, description: dict, arrays: bytes) -> bytes:
    """Make a file of a description, with the checksum that it should have, as far as its header makes sense."""
    text = json.dumps(description)
    types = {"U8": "|u1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "F32": "<f4", "F64": "<f8"}
    digest = hashlib.sha256(text.encode())
    for name in sorted(key for key in header if key != "__metadata__"):
        entry = header[name]
        begin, end = entry["data_offsets"]
        shape = tuple(entry["shape"])
        digest.update(f"\0{name} {types.get(entry['dtype'])} {shape}\0".encode() + arrays[begin:end])
    header["__metadata__"] = {"flybloom": f"{digest.hexdigest()} {text}"}
    return whole(header, arrays)


def flip_bits(data, _others, rng):
    """Flip a few bits anywhere."""
    changed = bytearray(data)
    for _ in range(rng.integers(1, 6)):
        changed[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def flip_header_bits(data, _others, rng):
    """Flip a few bits of the header."""
    changed = bytearray(data)
    length = int.from_bytes(data[:8], "little")
    for _ in range(rng.integers(1, 4)):
        changed[rng.integers(8 + length)] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def cut(data, _others, rng):
    """Lose the end, the beginning, or the middle."""
    a, b = sorted(rng.integers(0, len(data) + 1, 2))
    return [data[:a], data[b:], data[:a] + data[b:]][rng.integers(3)]


def grow(data, _others, rng):
    """Gain random bytes somewhere."""
    at = rng.integers(len(data) + 1)
    return data[:at] + rng.bytes(int(rng.integers(1, 200))) + data[at:]


def lie_about_the_length(data, _others, rng):
    """Give the header another length."""
    length = [0, 1, 2**31, 2**40, 2**63, 2**64 - 1, len(data), len(data) - 8][rng.integers(8)]
    return length.to_bytes(8, "little") + data[8:]


def swap_headers(data, others, rng):
    """Put the header of one file before the arrays of another."""
    header, _ = parts(others[rng.integers(len(others))])
    return whole(header, parts(data)[1])


def change_the_header(data, _others, rng):
    """Absurd shapes, types and places of arrays."""
    header, arrays = parts(data)
    names = [name for name in header if name != "__metadata__"]
    entry = header[names[rng.integers(len(names))]] if names else header["__metadata__"]
    key = [*entry][rng.integers(len(entry))]
    if key == "shape":
        entry[key] = [ABSURD[rng.integers(14)] for _ in range(rng.integers(1, 4))]
    elif key == "dtype":
        entry[key] = str(rng.choice(["U8", "I64", "F64", "BF16", "U64", "BOOL", "F4"]))
    else:
        entry[key] = ABSURD[rng.integers(len(ABSURD))]
    return whole(header, arrays)


def change_the_description(data, _others, rng):
    """One value of the description is absurd; the checksum is right."""
    header, arrays = parts(data)
    description = described(header)
    node, key = somewhere(description, rng)
    node[key] = ABSURD[rng.integers(len(ABSURD))]
    return repaired(header, description, arrays)


def lose_a_word(data, _others, rng):
    """A part of the description is gone, or has another name; the checksum is right."""
    header, arrays = parts(data)
    description = described(header)
    node, key = somewhere(description, rng)
    value = node.pop(key)
    if isinstance(node, dict) and rng.random() < 0.5:
        node[["a", "known", "classes", "kind", "values"][rng.integers(5)]] = value
    return repaired(header, description, arrays)


def somewhere(node, rng):
    """Any place in a description: what holds it, and where."""
    while True:
        keys = [*node] if isinstance(node, dict) else [*range(len(node))]
        key = keys[rng.integers(len(keys))]
        if not isinstance(node[key], dict | list) or not node[key] or rng.random() < 0.2:
            return node, key
        node = node[key]


def lose_an_array(data, _others, rng):
    """An array is gone, or has the name of another; the checksum is right."""
    header, arrays = parts(data)
    description = described(header)
    names = [name for name in header if name != "__metadata__"]
    if names:
        entry = header.pop(names[rng.integers(len(names))])
        if rng.random() < 0.5:
            header[["counts", "held_rows", "held_starts", "center", "scale"][rng.integers(5)]] = entry
    return repaired(header, description, arrays)


def change_the_arrays(data, _others, rng):
    """Other numbers in the arrays, other shapes of the same size; the checksum is right."""
    header, arrays = parts(data)
    changed = bytearray(arrays)
    for _ in range(rng.integers(0, 4)):
        if changed:
            changed[rng.integers(len(changed))] = int(rng.integers(256))
    for name in header:
        if name != "__metadata__" and rng.random() < 0.3:
            header[name]["shape"] = header[name]["shape"][::-1]
    return repaired(header, described(header), bytes(changed))


MUTATIONS = [
    flip_bits, flip_header_bits, cut, grow, lie_about_the_length, swap_headers, change_the_header,
    change_the_description, change_the_description, change_the_arrays, lose_a_word, lose_an_array,
]  # fmt: skip


def sample_files(folder):
    """Models of several kinds, saved."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 5)), np.arange(60) % 3
    sizes = {"n_components": 40, "n_winners": 4, "random_state": 0}
    words = pd.DataFrame(np.where(rng.random((60, 5)) < 0.3, np.nan, X), columns=list("abcde"))
    words["c"] = np.array(["red", "green", "blue"])[y]
    gaps = np.where(rng.random((60, 5)) < 0.2, np.nan, X)
    images = rng.standard_normal((60, 6, 6)).cumsum(axis=1).reshape(60, 36)
    several = np.stack([y == 0, y > 0], axis=1).astype(int)
    counted = flybloom.FlyBloomClassifier(**sizes, encoding="none").fit(X, y)
    models = [
        flybloom.FlyBloomClassifier(**sizes).fit(X, y),
        flybloom.FlyBloomClassifier(**sizes).fit(words, y),
        flybloom.FlyBloomClassifier(**sizes).partial_fit(X, y, classes=[0, 1, 2]),
        flybloom.FlyRidgeClassifier(**sizes).partial_fit(sparse.csr_matrix(X * (X > 0)), y),
        flybloom.FlyBloomNovelty(**sizes).partial_fit(X),
        flybloom.FlyBloomClassifier(**sizes).fit(X, y, sample_weight=np.linspace(0.1, 1, 60)),
        flybloom.FlyBloomClassifier(**sizes, encoding="rotation", readout="bayes").fit(X, y),
        flybloom.FlyBloomClassifier(**sizes, encoding="bins+passthrough+relevance", readout="bayes").fit(X, y).freeze(),
        counted.release(1.0, classes=range(3), random_state=0, limit=(2.0, 1e-3)),
        counted,
        flybloom.SlidingWindow(flybloom.FlyBloomClassifier(**sizes, encoding="none"), n_rows=20).fit(X, y),
        flybloom.SlidingWindow(flybloom.FlyRidgeClassifier(**sizes, encoding="none"), half_life=20).fit(X, y),
        flybloom.SlidingWindow(flybloom.FlyBloomClassifier(**sizes), seconds=20).partial_fit(X, y),
        flybloom.AdaptiveWindow(flybloom.FlyBloomClassifier(**sizes, encoding="none"), (5, 20)).fit(X, y),
        flybloom.FlyBloomClassifier(**sizes, encoding="none").fit(X, np.array(["a", "bb", "ccc"])[y]),
        flybloom.FlyBloomClassifier(**sizes, encoding="center").fit(X, y == 1, sample_weight=np.full(60, 2**29)),
        flybloom.FlyHash(**sizes).fit(X),
        flybloom.FlyBloomNovelty(**sizes).fit(X),
        flybloom.FlyBloomNovelty(**sizes, forget_after=24).fit(X),
        flybloom.FlyRidgeClassifier(**sizes).fit(X, y),
        flybloom.OpenSetClassifier(flybloom.FlyBloomClassifier(**sizes)).fit(X, y),
        flybloom.FlyBloomClassifierCV([40], n_connections=[2], n_winners=[4], decay=[0.4, 1.0], random_state=0).fit(
            X, y
        ),
        flybloom.FlyRidgeClassifier(**sizes, encoding="bins+ferns+relevance").fit(X, y),
        flybloom.FlyRidgeClassifier(**sizes, encoding="standard+fill=classes+ferns").fit(gaps, y).freeze(),
        flybloom.FlyBloomClassifier(**sizes, encoding="gradients=6x6").fit(images, y),
        flybloom.FlyRidgeRegressor(**sizes, encoding="gradients=6x3x2").fit(images, X[:, :2]),
        flybloom.FlyRidgeRegressor(**sizes).fit(X, X[:, 0]).freeze(),
        flybloom.FlyRidgeMultiOutputClassifier(**sizes).fit(X, several),
        flybloom.FlyRidgeMultiOutputClassifier(**sizes).fit(X, np.stack([y, y % 2], axis=1)),
        flybloom.FlyBloomNovelty(**sizes).fit(X).freeze(),
        flybloom.FlyBloomNovelty(**sizes).fit(np.exp(2 * X)),
        flybloom.FlyRidgeClassifier(n_winners=0, encoding="center").fit(X, y),
        flybloom.FlyRidgeClassifier(n_winners=0, encoding="center").fit(X, y).freeze(),
        flybloom.SlidingWindow(flybloom.FlyRidgeClassifier(n_winners=0, encoding="none"), n_rows=20).fit(X, y),
        flybloom.OpenSetClassifier(flybloom.FlyRidgeClassifier(**sizes), per_class=True).fit(X, y),
    ]
    files = []
    for i, model in enumerate(models):
        model.save(folder / f"{i}.fly")
        files.append((folder / f"{i}.fly").read_bytes())
    return files


def mutated(files, seed):
    """One damaged file, and the name of what was done to it."""
    rng = np.random.default_rng(seed)
    mutation = MUTATIONS[rng.integers(len(MUTATIONS))]
    return mutation(files[rng.integers(len(files))], files, rng), mutation.__name__


def repaired_if_possible(data):
    """The same file with the checksum it should have, so that what follows is reached; as it is where that fails."""
    try:
        header, arrays = parts(data)
        return repaired(header, described(header), arrays)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError, MemoryError):
        return data


def zeros_for(model):
    """Two rows of zeros, or of words where a model knows columns of these."""
    kinds = getattr(model.encoder_, "kinds", None)
    if kinds is None:
        return np.zeros((2, model.n_features_in_))
    names = model.feature_names_in_.tolist()
    return pd.DataFrame(
        {name: [0.0, 0.0] if kind == "number" else ["red", "?"] for name, kind in zip(names, kinds, strict=True)}
    )


def survives(path):
    """Load a file: False if it is refused, True if it gives a model that works; all else is an exception."""
    try:
        model = flybloom.load(path)
    except ModelFileError:
        return False
    names = ("estimator_", "best_estimator_", "model_")
    inside = next((getattr(model, name) for name in names if hasattr(model, name)), model)
    if inside.n_components_ * inside.n_connections_ <= MOST_WORK and model.n_features_in_ < MOST_WORK:
        use(model, inside, zeros_for(inside))
    return True


def use(model, inside, X):
    """Score rows and learn them, as far as a model does."""
    has_numbers = isinstance(model, flybloom.FlyRidgeRegressor | FrozenRegressor)
    if isinstance(model, flybloom.FlyHash):
        assert model.transform(X).sum() == 2 * model.n_winners_
    elif isinstance(model, flybloom.FlyBloomNovelty | FrozenNovelty):
        assert np.isfinite(model.novelty(X)).all()
        learn(model, X)
    elif has_numbers or isinstance(model, flybloom.FlyRidgeMultiOutputClassifier):
        predicted = model.predict(X)
        assert len(predicted) == 2
        assert not has_numbers or np.isfinite(predicted).all()
        learn(model, X, predicted)
    elif model.classes_.size:
        assert np.isin(model.predict(X), [*model.classes_.tolist(), getattr(model, "unknown_", None)]).all()
        if hasattr(model, "predict_proba"):
            assert np.isfinite(model.predict_proba(X)).all()
        unit = getattr(inside, "weight_unit_", 1)
        learn(model, X, model.classes_[[0, 0]], **({} if unit == 1 else {"sample_weight": [unit, unit]}))


def learn(model, *rows, **weights):
    """Learn rows, if a model can."""
    if hasattr(model, "partial_fit") and not isinstance(model, flybloom.ReleasedClassifier):
        model.partial_fit(*rows, **weights)
