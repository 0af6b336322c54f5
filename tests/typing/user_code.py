"""What users write: type-checked by mypy, and run when the tests are collected."""

import tempfile
from pathlib import Path
from typing import Any, assert_type

import numpy as np

import flybloom
from flybloom import Densify, FlyBloomClassifier, FlyBloomClassifierCV, FlyBloomNovelty, FlyHash, OpenSetClassifier
from flybloom.report import most_similar_classes

X = np.zeros((4, 3))
hasher = FlyHash(20.0, n_connections=0.5, n_winners=8, signed=False, encoding="none", random_state=0, n_jobs=-1)
winners = hasher.fit(X).winners(X)
model = FlyBloomClassifier(n_components=64, decay=1.0).fit(X, [0, 1, 0, 1], sample_weight=[1, 2, 3, 4])
model = model.partial_fit(X, [0, 1, 2, 1], classes=[0, 1, 2, 3])
labels = model.predict(X)
model = FlyBloomClassifier(n_components=64, class_weight={0: 2.5, 1: 1}).fit(X, [0, 1, 0, 1])
model = model.set_params(class_weight="balanced").partial_fit(X, [0, 1, 2, 1])
novelty: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = model.novelty(X)
search = FlyBloomClassifierCV([64, 128], n_winners=0.1, decay="paper", cv="loo", class_weight="balanced").fit(
    X, [0, 1, 0, 1]
)
best: FlyBloomClassifier = search.best_estimator_
pairs = most_similar_classes(model, 2, kind="familiarity")
shares = model.explain(X, labels=1)
detector = FlyBloomNovelty(contamination=0.1, forget_after=100).fit(X)
extent: str = detector.forget(X[:1], positions=[0]).extent
is_outlier = detector.predict(X) == -1
model = (model + model).merge(model)
steps: tuple[str, ...] = model.forget(X, [0, 1, 2, 1]).steps
total = sum([model, model], start=model - model)
for block in flybloom.read_blocks((X, [0, 1, 0, 1]), "y", block_rows=2):
    model = model.partial_fit(block.X, block.y)
model = flybloom.train(FlyBloomClassifier(n_components=64), (X, [0, 1, 0, 1]), "y")

# methods give back what they were called on, and no Any
assert_type(FlyHash(8).fit(X), FlyHash)
assert_type(FlyHash(8).partial_fit(X), FlyHash)
assert_type(Densify().fit(X), Densify)
assert_type(FlyBloomClassifier(64).fit(X, [0, 1, 0, 1]), FlyBloomClassifier)
assert_type(model.partial_fit(X, [0, 1, 0, 1]), FlyBloomClassifier)
assert_type(model.merge(model), FlyBloomClassifier)
assert_type(model + model - model, FlyBloomClassifier)
assert_type(FlyBloomNovelty(64).fit(X), FlyBloomNovelty)
assert_type(detector.partial_fit(X), FlyBloomNovelty)
assert_type(FlyBloomClassifierCV(64, n_winners=4, decay=0.4, cv=2).fit(X, [0, 1, 0, 1]), FlyBloomClassifierCV)
assert_type(OpenSetClassifier(FlyBloomClassifier(64)).fit(X, [0, 1, 0, 1]), OpenSetClassifier)
assert_type(flybloom.train(FlyBloomNovelty(64), X), FlyBloomNovelty)
with tempfile.TemporaryDirectory() as folder:
    model.save(Path(folder) / "model.fly")
    assert_type(flybloom.load(Path(folder) / "model.fly", FlyBloomClassifier), FlyBloomClassifier)
    assert_type(flybloom.load(Path(folder) / "model.fly"), Any)  # it may be any kind
