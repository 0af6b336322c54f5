"""Files: what comes back, what survives a crash, and what is refused."""

import json
import os
import pickle
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

import flybloom
import mutations
from flybloom import FlyBloomClassifier, FlyHash, FrozenClassifier
from flybloom._internal.atomic_write import remove_leftovers
from flybloom.core.counts.columns import column_sums
from flybloom.core.files import envelope as storage
from flybloom.exceptions import ModelFileError
from laws.strategies import labelled_rows
from laws.test_learning import assert_same_model

DATA = Path(__file__).parent / "data"
TRUSTED = ["flybloom.estimators.classifier.FlyBloomClassifier", "flybloom.estimators.fly_hash.FlyHash"]


def small(**parameters):
    """A small classifier."""
    return FlyBloomClassifier(**{"n_components": 200, "n_winners": 8, "random_state": 0, **parameters})


def through_a_file(model, folder):
    """The model, saved and loaded."""
    model.save(folder / "model.fly")
    return flybloom.load(folder / "model.fly")


def described(path):
    """The description in a file."""
    return mutations.described(mutations.parts(path.read_bytes())[0])


@given(labelled_rows(), st.sampled_from(["none", "center", "standard"]), st.booleans())
def test_a_model_seen_through_a_file_is_the_same(tmp_path_factory, rows, scaling, signed):
    """Everything learned, every parameter, every score; and it learns on alike."""
    model = FlyBloomClassifier(48, n_winners=6, encoding=scaling, signed=signed, random_state=3).fit(*rows)
    again = through_a_file(model, tmp_path_factory.mktemp("files"))
    assert again.get_params() == model.get_params()
    assert vars(again).keys() - {"_sharing"} == vars(model).keys() - {"_sharing"}
    assert_same_model(again, model)
    assert_array_equal(again.novelty(rows.X), model.novelty(rows.X))
    assert_same_model(again.partial_fit(*rows), model.partial_fit(*rows))
    assert_same_model(again - model + model, model)


LABELS = {
    "ints": np.array([-5, 7, 300]),
    "small ints": np.array([1, 2, 3], np.uint8),
    "bools": np.array([False, True]),
    "floats": np.array([1.0, 2.0, 30.0]),
    "strings": np.array(["ant", "wasp", "\N{HONEYBEE}"]),
    "objects": np.array(["ant", "bee", "wasp"], object),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS.keys())
def test_labels_of_any_kind_come_back_with_their_type(tmp_path, digits, labels):
    """Ints, bools, floats and strings."""
    X, y = digits
    model = small().fit(X, labels[y % labels.size])
    again = through_a_file(model, tmp_path)
    assert_same_model(again, model)
    assert again.classes_.dtype == model.classes_.dtype
    assert_array_equal(again.predict(X), model.predict(X))


def test_labels_that_json_cannot_hold_are_refused_when_saving(tmp_path, digits):
    """Before any file is made."""
    X, y = digits
    model = small().fit(X, y.astype(np.longdouble))
    with pytest.raises(TypeError, match="Only labels that are whole numbers, floats, bools or strings"):
        model.save(tmp_path / "model.fly")
    assert not list(tmp_path.iterdir())


def test_feature_names_and_the_hash_come_back(tmp_path, digits):
    """A hash has the same output; other names are refused as before."""
    X, _ = digits
    frame = pd.DataFrame(X, columns=[f"p{i}" for i in range(64)])
    hasher = FlyHash(200, n_winners=8, random_state=np.random.RandomState(3)).fit(frame)
    again = through_a_file(hasher, tmp_path)
    assert_array_equal(again.winners(frame), hasher.winners(frame))
    assert again.feature_names_in_.tolist() == list(frame)
    assert again.random_state == hasher.seed_
    with pytest.raises(ValueError, match="feature names should match"):
        again.winners(frame.rename(columns={"p0": "other"}))


@pytest.mark.parametrize(("weight", "dtype"), [(1, "U8"), (300, "U16"), (2**20, "U32"), (2**29, "U64")])
def test_counts_take_the_smallest_type_that_holds_them(tmp_path, digits, weight, dtype):
    """And come back as they were."""
    X, y = digits
    model = small().partial_fit(X[:20], y[:20] % 2)
    for _ in range(4 if weight > 2**28 else 1):
        model.partial_fit(X[:20], y[:20] % 2, sample_weight=np.full(20, weight))
    assert_same_model(through_a_file(model, tmp_path), model)
    header, _ = mutations.parts((tmp_path / "model.fly").read_bytes())
    assert header["counts"]["dtype"] == dtype


def test_equal_models_have_equal_files(tmp_path, digits):
    """To the last byte, in any process."""
    X, y = digits
    for name in "ab":
        small().fit(X, y).save(tmp_path / name)
    code = "import sys, flybloom; flybloom.load(sys.argv[1]).save(sys.argv[2])"
    subprocess.run([sys.executable, "-c", code, tmp_path / "a", tmp_path / "c"], check=True)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


def test_a_model_of_no_rows_can_be_saved(tmp_path, digits):
    """Others can start from it."""
    model = small().fit(*digits)
    empty = through_a_file(model - model, tmp_path)
    assert_same_model(empty + model, model)


def test_what_cannot_be_saved_is_refused(tmp_path):
    """What is not fitted, and what is of another kind."""

    class Other(FlyHash):
        """A subclass, which would come back as something else."""

    with pytest.raises(NotFittedError):
        small().save(tmp_path / "model.fly")
    with pytest.raises(TypeError, match=r"Only AdaptiveWindow, FlyBloomClassifier, .* can be saved. Got Other instead"):
        Other().fit(np.eye(3)).save(tmp_path / "model.fly")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", sorted(DATA.glob("*.fly")), ids=lambda path: path.stem)
def test_files_of_every_format_keep_loading(path):
    """Each holds the answers that it gave when it was written."""
    expected = json.loads(path.with_suffix(".json").read_text())
    model = flybloom.load(path)
    X = np.array(expected["X"])
    if isinstance(model, FlyHash):
        assert model.winners(X).tolist() == expected["winners"]
    else:
        assert model.predict(X).tolist() == expected["labels"]
        scores = model._decision_scores(X) if isinstance(model, FrozenClassifier) else -model.novelty(X)
        assert (-scores).tolist() == expected["novelty"]


def test_every_format_has_a_file():
    """Of both kinds; format 2 is what all other tests write."""
    assert {(described(path)["format"], described(path)["kind"]) for path in DATA.glob("*.fly")} == {
        (1, "FlyBloomClassifier"),
        (1, "FlyHash"),
        (3, "FlyBloomClassifier"),
        (4, "FlyBloomClassifier"),
        (5, "FrozenClassifier"),
        (6, "FlyBloomClassifier"),
        (7, "FlyBloomClassifier"),
        (7, "FrozenClassifier"),
    }


@pytest.mark.parametrize(("field", "known"), [("format", 7), ("hash_version", 3)])
def test_files_of_a_later_format_say_what_to_do(tmp_path, digits, field, known):
    """Upgrade."""
    small().fit(*digits).save(tmp_path / "model.fly")
    header, arrays = mutations.parts((tmp_path / "model.fly").read_bytes())
    description = {**described(tmp_path / "model.fly"), field: known + 1}
    (tmp_path / "model.fly").write_bytes(mutations.repaired(header, description, arrays))
    message = rf"is of {field} {known + 1}; this flybloom reads up to {known}. Upgrade flybloom"
    with pytest.raises(ModelFileError, match=message):
        flybloom.load(tmp_path / "model.fly")


def test_a_missing_file_is_missing(tmp_path):
    """Not damaged."""
    with pytest.raises(FileNotFoundError):
        flybloom.load(tmp_path / "model.fly")


def test_one_wrong_bit_is_noticed(tmp_path, digits):
    """By the checksum, if by nothing else."""
    small().fit(*digits).save(tmp_path / "model.fly")
    data = bytearray((tmp_path / "model.fly").read_bytes())
    data[-1] ^= 1
    (tmp_path / "model.fly").write_bytes(data)
    with pytest.raises(ModelFileError, match=r"damaged: its checksum is wrong. Copy it again"):
        flybloom.load(tmp_path / "model.fly")


HOSTILE = [
    ("n_components_", 2**40, "n_components_=1099511627776 is out of range"),
    ("n_connections_", 257, "n_connections_=257 is not between 1 and the 256 hashed columns"),
    ("n_winners_", 201, "n_winners_=201 is not between 0 and the 200 components"),
    ("seed_", -1, "seed_=-1 is out of range"),
    ("n_winners_", 7, "fingerprint"),
    ("class_count", [1] * 10, "a component has won more often than a class has rows"),
    ("class_count", [999] * 10, "do not add up"),
    ("classes", {"dtype": "int64", "values": [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]}, "not in order"),
    ("classes", {"dtype": "int64", "values": ["a"] * 10}, "not all labels"),
    ("classes", {"dtype": "int8", "values": [*range(9), 400]}, "classes are wrong"),
    ("kind", "Popen", "no known kind"),
    ("parameters", {}, "parameters are not those known"),
]


@pytest.mark.parametrize(("field", "value", "message"), HOSTILE)
def test_lies_with_a_right_checksum_are_refused(tmp_path, digits, field, value, message):
    """Every invariant is checked by itself."""
    path = tmp_path / "model.fly"
    small().fit(*digits).save(path)
    header, arrays = mutations.parts(path.read_bytes())
    path.write_bytes(mutations.repaired(header, {**described(path), field: value}, arrays))
    with pytest.raises(ModelFileError, match=message):
        flybloom.load(path)


def test_one_long_label_among_many_takes_no_padding(tmp_path, digits):
    """Strings at the width of the longest would take gigabytes."""
    X, y = digits
    labels = np.array([f"{i:04}" for i in range(len(y))], object)
    labels[0] = "0" * 2**16
    model = small().partial_fit(X[:2], labels[:2], classes=np.repeat(labels, 2).astype(str))
    again = through_a_file(model, tmp_path)
    assert again.classes_.dtype == object
    assert set(again.classes_) == set(labels)


def test_damaged_files_are_refused_or_harmless(tmp_path):
    """A few hundred seeded mutations; scripts/attack tries as many as you have time for."""
    files = mutations.sample_files(tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcomes = []
    for seed in range(400):
        data, _ = mutations.mutated(files, seed)
        (tmp_path / "mutated.fly").write_bytes(data)
        outcomes.append(mutations.survives(tmp_path / "mutated.fly"))
    assert outcomes.count(False) > 200
    assert outcomes.count(True) > 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_saving_replaces_at_once_or_not_at_all(tmp_path, digits, monkeypatch):
    """A failure at any step leaves the old file, and nothing else."""
    path = tmp_path / "model.fly"
    small().fit(*digits).save(path)
    before = path.read_bytes()
    other = small(random_state=1).fit(*digits)

    def fail(*_args):
        raise OSError(28, "No space left on device")

    for module, name in ((storage, "serialized"), (os, "fsync"), (Path, "replace")):
        with monkeypatch.context() as context:
            context.setattr(module, name, fail)
            with pytest.raises(OSError, match="No space left"):
                other.save(path)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]


def test_a_process_killed_while_saving_leaves_a_whole_file(tmp_path, digits):
    """One of the two models, and one of them only."""
    path = tmp_path / "model.fly"
    a, b = small(n_components=20_000).fit(*digits), small(n_components=20_000, random_state=1).fit(*digits)
    for name, model in (("a", a), ("b", b)):
        model.save(tmp_path / name)
    code = """
import sys, flybloom
a, b = flybloom.load(sys.argv[1]), flybloom.load(sys.argv[2])
a.save(sys.argv[3])
print("ready", flush=True)
while True:
    b.save(sys.argv[3])
    a.save(sys.argv[3])
"""
    for delay in (0.01, 0.02, 0.035):
        command = [sys.executable, "-c", code, tmp_path / "a", tmp_path / "b", path]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            try:
                process.wait(0.1 + delay)
            except subprocess.TimeoutExpired:
                process.kill()
        assert flybloom.load(path).seed_ in (0, 1)
    remove_leftovers(path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "model.fly"]


def test_a_link_stays_a_link(tmp_path, digits):
    """What it points to is replaced; and the file can be read as any other."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link.fly").symlink_to(tmp_path / "real" / "model.fly")
    small().fit(*digits).save(tmp_path / "link.fly")
    assert (tmp_path / "link.fly").is_symlink()
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "real" / "model.fly").stat().st_mode & 0o777 == 0o666 & ~umask


def test_large_counts_are_added_up_exactly():
    """Where the sum of a column needs more than 64 bits."""
    counts = np.full((5, 2), 2**63 + 3, np.uint64)
    assert column_sums(counts) == [5 * (2**63 + 3)] * 2


def test_skops_loads_models_with_the_two_types_named(digits):
    """And nothing else has to be trusted."""
    X, y = digits
    for model in (small().fit(X, y), FlyHash(200, n_winners=8, random_state=0).fit(X)):
        stored = skops.io.dumps(model)
        assert set(skops.io.get_untrusted_types(data=stored)) <= set(TRUSTED)
        again = skops.io.loads(stored, trusted=TRUSTED)
        if isinstance(model, FlyHash):
            assert_array_equal(again.winners(X), model.winners(X))
        else:
            assert_array_equal(again.novelty(X), model.novelty(X))
            assert_same_model(again.partial_fit(X, y), model.partial_fit(X, y))


def test_models_can_be_pickled(digits):
    """With what they have learned, and without locks and connections."""
    X, y = digits
    model = small().fit(X, y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert_same_model(again.partial_fit(X, y), model.partial_fit(X, y))
