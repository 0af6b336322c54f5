"""The answers of flybloom 0.1.0, bit for bit: what `record_unchanged.py` recorded is what still comes out.

Winners, counts and files are those of 0.1.0. Scores were recorded anew when weights were put on a grid of 2^-30, usual
thresholds of detectors, and what follows from them, when they became thresholds of odds.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import flybloom
from record_unchanged import FOLDER, MODELS, ROUNDED, SETTINGS, digest, note, recorded, said, without_version

RECORDED = recorded()


def assert_as_recorded(found, expected):
    """Each array has the type, the shape and the values that were recorded; of those with exp and log, nearly."""
    assert list(found) == list(expected)
    for name, array in found.items():
        now, then = note(name, array), expected[name]
        assert (name, now["dtype"], now["shape"]) == (name, then["dtype"], then["shape"])
        values = np.array(then["values"], then["dtype"]).reshape(then["shape"]) if "values" in then else None
        if name in ROUNDED:
            assert_allclose(array, values, rtol=1e-12, err_msg=name)
        elif values is not None:
            assert_array_equal(array, values, err_msg=name)  # says where
            assert digest(array) == digest(values), f"{name} differs in the sign of a zero"
        else:
            assert now["sha256"] == then["sha256"], f"{name} has changed"


def test_every_setting_was_recorded():
    """A new one needs `python tests/record_unchanged.py` with the version that is the measure."""
    assert list(RECORDED) == list(SETTINGS)
    assert {path.stem for path in FOLDER.glob("*.fly")} == set(MODELS)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_answers_are_those_that_were_recorded(name, tmp_path):
    """Winners, counts, scores, labels, and the bytes of files."""
    found, expected = SETTINGS[name](tmp_path), RECORDED[name]
    if name == "trained from svmlight":  # its file has since said where the file it learned from began to count
        found, expected = ({key: value for key, value in kept.items() if key != "file"} for kept in (found, expected))
    assert_as_recorded(found, expected)


@pytest.mark.parametrize("name", MODELS)
def test_models_are_saved_to_the_same_bytes(name, tmp_path):
    """Save for the version, and the checksum that it changes."""
    MODELS[name]()[0].save(tmp_path / "model.fly")
    now, then = (tmp_path / "model.fly").read_bytes(), (FOLDER / f"{name}.fly").read_bytes()
    assert without_version(now) == without_version(then)


@pytest.mark.parametrize("name", MODELS)
def test_files_of_the_recorded_version_load_and_answer_as_before(name, tmp_path):
    """And are written again as they were."""
    model = flybloom.load(FOLDER / f"{name}.fly")
    assert_as_recorded(said(model, MODELS[name]()[1]), RECORDED[f"file {name}"])
    model.save(tmp_path / "model.fly")
    now, then = (tmp_path / "model.fly").read_bytes(), (FOLDER / f"{name}.fly").read_bytes()
    assert without_version(now) == without_version(then)
