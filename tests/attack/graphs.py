"""ONNX: what a runtime says is what the model says, whatever the labels are; what cannot be written is refused."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from attack.promises import promise
from flybloom import FlyBloomClassifier, FlyRidgeClassifier

WORDS = ("a", "\u00e9", "\U0001f600", "=1+1", "a b", "\n", "'", '"', "nan", "0", "None", "x" * 3000, "\u202e", "\ud7ff")
ENCODINGS = ("auto", "none", "standard", "bins", "bins+relevance", "fill", "rotation=3", "clip=1.5", "unskew+bins")


def nothing(_folder: Path) -> None:
    """Nothing is needed."""


if find_spec("onnxruntime") is not None:
    import onnxruntime

    from flybloom.export import to_onnx

    @promise("a graph of ONNX says what the model says, also with words, or is refused", nothing)
    def graph(_nothing: None, rng: np.random.Generator) -> str:
        """Labels and columns that are words, missing values, enormous and tiny numbers."""
        n, d = int(rng.integers(12, 80)), int(rng.integers(3, 8))
        X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-5, 6, d)
        X[rng.random((n, d)) < rng.choice([0.0, 0.2])] = np.nan
        classes = rng.permutation(WORDS)[: int(rng.integers(2, 6))] if rng.random() < 0.7 else rng.integers(-9, 9, 4)
        y = classes[np.r_[: len(classes), rng.integers(0, len(classes), n - len(classes))]]
        if np.unique(y).size < 2:
            return "one class"
        kind = [FlyBloomClassifier, FlyRidgeClassifier][rng.integers(2)]
        model = kind(64, n_winners=6, encoding=str(rng.choice(ENCODINGS)), random_state=int(rng.integers(99)))
        if rng.random() < 0.2:
            rows = pd.DataFrame(X).astype(object)
            rows[0] = rng.choice(WORDS, n)
            rows.columns = [f"x{j}" for j in range(d)]
            try:
                to_onnx(kind(64, n_winners=6, random_state=0).fit(rows, y))
            except ValueError as error:
                assert "no operators of ONNX" in str(error), str(error)  # noqa: PT017 - this is no test function
                return "refused"
            message = "a table of words was written as ONNX"
            raise AssertionError(message)
        model.fit(X, y)
        session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
        label, probabilities = session.run(["label", "probabilities"], {"X": X})
        assert label.tolist() == model.predict(X).tolist(), f"other labels: {model}"
        assert np.abs(probabilities - model.predict_proba(X)).max() <= 1e-6, f"other probabilities: {model}"
        return "the same"
