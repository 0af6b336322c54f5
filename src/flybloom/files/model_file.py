"""Saving and loading models: what is in a file, and all that must be true of it before a model is made of it.

See docs/files.md for the format. Loading trusts nothing: every invariant that the kernels rely on is checked.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from flybloom._internal.typing import Array, Counts
from flybloom.core.hashing.fingerprint import construction, fingerprint
from flybloom.core.hashing.projection import VERSION
from flybloom.core.readout.filters import count_dtype
from flybloom.estimators._sharing import Learned, SharedCounts
from flybloom.exceptions import ModelFileError
from flybloom.files.labels import labels_from_json, labels_to_json
from flybloom.files.safetensors_file import read_file, write_file

FORMAT = 1
KINDS = ("FlyBloomClassifier", "FlyHash")
SIZES = ("n_features_in_", "n_components_", "n_connections_", "n_winners_", "seed_")
MOST_FEATURES = 2**31  # a signed connection is a number below twice this, in 32 bits
MOST_COMPONENTS = 2**32 - 1
MOST_ROWS = 2**62  # so that two models can be added
MOST_JOBS = 4096


class Saveable(BaseEstimator):  # type: ignore[misc]
    """An estimator that can be saved."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model to a file, which `flybloom.load` reads.

        The file is a safetensors file without any code. It is written at once: a crash leaves the old file or the new
        one. A `random_state` that is not an int is saved as the seed that was drawn from it.

        Parameters
        ----------
        path : str or path-like
            Where to. A file that is there is replaced.

        Examples
        --------
        >>> import tempfile, flybloom
        >>> from sklearn.datasets import load_iris
        >>> model = flybloom.FlyBloomClassifier(random_state=0).fit(*load_iris(return_X_y=True))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/iris.fly")
        ...     flybloom.load(f"{folder}/iris.fly").class_count_
        array([50, 50, 50])
        """
        save(self, path)


def save(model: Any, path: str | os.PathLike[str], training: dict[str, Any] | None = None) -> None:
    """Save a model, and how far its training has come, if it has not ended."""
    kind = type(model).__name__
    if kind not in KINDS:
        msg = f"Only {' and '.join(KINDS)} can be saved. Got {kind} instead. Pickle it, or save the model inside it."
        raise TypeError(msg)
    fields = construction(model)
    description: dict[str, Any] = {
        "format": FORMAT,
        "flybloom": import_module("flybloom").__version__,
        "kind": kind,
        "hash_version": VERSION,
        **{name: getattr(model, name) for name in SIZES},
        "signed_": model.signed_,
        "feature_names_in_": fields["feature_names_in_"],
        "parameters": _plain_parameters(model),
        "fingerprint": fingerprint(fields),
        "training": training,
    }
    arrays = {
        name: np.ascontiguousarray(values, np.float64)
        for name, values in (("center", model.center_), ("scale", model.scale_))
        if values is not None
    }
    if not isinstance(model, SharedCounts):
        write_file(path, description, arrays)
        return
    with model._reading() as learned:  # noqa: SLF001
        description["classes"] = labels_to_json(learned.classes)
        description["class_count"] = learned.class_count.tolist()
        arrays["counts"] = learned.counts.astype(np.min_scalar_type(int(learned.counts.max(initial=0))), order="C")
    write_file(path, description, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that was saved with its method `save`.

    Nothing in the file is executed, and everything is checked: a file that is damaged, cut, hostile or of a later
    format raises an error, and takes no more memory than a few times its size.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    FlyBloomClassifier or FlyHash
        The model, as it was saved.

    Raises
    ------
    flybloom.exceptions.ModelFileError
        If the file is not one that flybloom can read; the message says why.

    Examples
    --------
    >>> import tempfile, flybloom
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = flybloom.FlyBloomClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/iris.fly")
    ...     again = flybloom.load(f"{folder}/iris.fly")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    return load_in_training(path)[0]


def load_in_training(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any] | None]:
    """Return a model and how far its training had come, or None if it had ended."""
    description, arrays, is_intact = read_file(path)
    checker = _Checker(path, description)
    checker.check_version()
    checker.require(is_intact, "its checksum is wrong")
    model = checker.model(arrays)
    training = description.get("training")
    checker.require(training is None or isinstance(training, dict), "'training' is not an object")
    return model, training


class _Checker:
    """Makes a model of a description, and refuses what no model can have."""

    def __init__(self, path: str | os.PathLike[str], description: dict[str, Any]) -> None:
        self.path = path
        self.description = description

    def require(self, is_true: object, otherwise: str) -> None:
        """Refuse the file unless something is true of it."""
        if not is_true:
            msg = f"{self.path} is damaged: {otherwise}. Copy it again, or save the model again."
            raise ModelFileError(msg)

    def check_version(self) -> None:
        """Refuse files of a later flybloom, and what is no file of a model at all."""
        for name, known in (("format", FORMAT), ("hash_version", VERSION)):
            version: Any = self.description.get(name)
            self.require(type(version) is int and version > 0, f"it names no {name}")
            if version > known:
                msg = (
                    f"{self.path} is of {name} {version}; this flybloom reads up to {known}. "
                    "Upgrade flybloom (pip install -U flybloom)."
                )
                raise ModelFileError(msg)

    def model(self, arrays: dict[str, Array]) -> Any:
        """Return the model, checked."""
        kind = self.description.get("kind")
        self.require(kind in KINDS, f"it is of no known kind ({', '.join(KINDS)})")
        model = self.unfitted(getattr(import_module("flybloom"), str(kind)))
        expected = {"counts"} & set(arrays) if isinstance(model, SharedCounts) else set()
        expected |= {"center", "scale"} & set(arrays)
        self.require(set(arrays) == expected, "it holds arrays that no such model has")
        self.check_sizes()
        for name in SIZES:
            setattr(model, name, self.description[name])
        model.signed_ = self.description["signed_"]
        self.set_feature_names(model)
        model.center_, model.scale_ = self.scaling(arrays)
        model._set_projection()  # noqa: SLF001
        self.require(
            self.description.get("fingerprint") == fingerprint(construction(model)), "its fingerprint is wrong"
        )
        if isinstance(model, SharedCounts):
            self.require("counts" in arrays, "it has no counts")
            model.classes_, model.class_count_, model._counts = self.learned(arrays["counts"])  # noqa: SLF001
        return model

    def unfitted(self, kind: Any) -> Any:
        """Return an estimator with the parameters of the file."""
        parameters = self.description.get("parameters")
        names = set(kind().get_params())
        if isinstance(parameters, dict) and "class_weight" in names:
            parameters = {**parameters, "class_weight": self.class_weight(parameters.get("class_weight"))}
        self.require(isinstance(parameters, dict) and set(parameters) == names, "its parameters are not those known")
        assert isinstance(parameters, dict)  # noqa: S101 - for mypy
        model = kind(**parameters)
        try:
            model._validate_params()  # noqa: SLF001
        except (ValueError, TypeError, OverflowError) as error:
            self.require(is_true=False, otherwise=f"a parameter is wrong. {error}")
        n_jobs = parameters["n_jobs"]
        self.require(n_jobs is None or abs(n_jobs) <= MOST_JOBS, f"n_jobs is beyond {MOST_JOBS}")
        return model

    def class_weight(self, stored: Any) -> Any:
        """Return the class weights; files of models without them do not mention them."""
        if stored is None or stored == "balanced":
            return stored
        try:
            labels, weights = stored["labels"], stored["weights"]
            return dict(zip(labels_from_json(labels).tolist(), weights, strict=True))
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            self.require(is_true=False, otherwise=f"its class weights are wrong ({error})")

    def check_sizes(self) -> None:
        """Check the numbers that the kernels take for granted."""
        for name in SIZES:
            self.require(type(self.description.get(name)) is int, f"{name} is not a whole number")
        self.require(type(self.description.get("signed_")) is bool, "signed_ is neither true nor false")
        d, m, s, rho, seed = (self.description[name] for name in SIZES)
        self.require(1 <= d <= MOST_FEATURES, f"n_features_in_={d} is out of range")
        self.require(1 <= m <= MOST_COMPONENTS, f"n_components_={m} is out of range")
        self.require(1 <= s <= d, f"n_connections_={s} is not between 1 and the {d} features")
        self.require(1 <= rho <= m, f"n_winners_={rho} is not between 1 and the {m} components")
        self.require(0 <= seed < 2**64, f"seed_={seed} is out of range")

    def set_feature_names(self, model: Any) -> None:
        """Give the model its feature names, if it had any."""
        names = self.description.get("feature_names_in_")
        if names is not None:
            self.require(
                isinstance(names, list)
                and len(names) == self.description["n_features_in_"]
                and all(isinstance(name, str) for name in names),
                "its feature names are not one string for each feature",
            )
            model.feature_names_in_ = np.array(names, object)

    def scaling(self, arrays: dict[str, Array]) -> tuple[Array | None, Array | None]:
        """Return what is subtracted from the columns and what they are divided by."""
        center, scale = arrays.get("center"), arrays.get("scale")
        for name, values in (("center", center), ("scale", scale)):
            if values is not None:
                self.require(
                    values.dtype == np.float64 and values.shape == (self.description["n_features_in_"],),
                    f"{name} is not one float64 for each feature",
                )
                self.require(np.isfinite(values).all(), f"{name} holds values that are not finite")
        self.require(scale is None or (center is not None and (scale > 0).all()), "scale is not positive")
        return center, scale

    def learned(self, counts: Counts) -> Learned:
        """Return classes, their rows and the table of counts, after adding everything up."""
        try:
            classes = labels_from_json(self.description.get("classes"))
        except (ValueError, TypeError, OverflowError) as error:
            self.require(is_true=False, otherwise=f"its classes are wrong ({error})")
        rows = self.description.get("class_count")
        self.require(
            isinstance(rows, list)
            and len(rows) == classes.size
            and all(type(n) is int and 0 <= n <= MOST_ROWS for n in rows),
            "class_count is not one number of rows for each class",
        )
        class_count = np.array(rows, np.int64)
        m, rho = self.description["n_components_"], self.description["n_winners_"]
        self.require(counts.dtype.kind == "u", "counts are not whole numbers")
        self.require(counts.shape == (m, classes.size), "counts are not one for each component and class")
        self.require(
            (counts.max(axis=0, initial=0) <= class_count.astype(np.uint64)).all(),
            "a component has won more often than a class has rows",
        )
        sums = [int(high) * 2**32 + int(low) for high, low in zip(*_column_sums(counts), strict=True)]
        self.require(
            sums == [rho * n for n in class_count.tolist()], "the counts do not add up to the winners of all rows"
        )
        return Learned(classes, class_count, np.ascontiguousarray(counts, count_dtype(class_count)))


def _column_sums(counts: Counts) -> tuple[Array, Array]:
    """Return the sums of the upper and of the lower halves of each column's numbers, neither of which can overflow."""
    if counts.dtype.itemsize <= 4:  # noqa: PLR2004 - fewer than 2**32 components
        return np.zeros(counts.shape[1], np.uint64), counts.sum(axis=0, dtype=np.uint64)
    low = counts & np.uint64(2**32 - 1)
    return (counts >> np.uint64(32)).sum(axis=0, dtype=np.uint64), low.sum(axis=0, dtype=np.uint64)


def _plain_parameters(model: Any) -> dict[str, Any]:
    """Return the parameters as JSON can hold them."""
    parameters = {
        name: value.item() if isinstance(value, np.generic) else value for name, value in model.get_params().items()
    }
    if not isinstance(parameters["random_state"], int | None):
        parameters["random_state"] = model.seed_
    class_weight = parameters.pop("class_weight", None)  # not written if None, so that older versions read the file
    if isinstance(class_weight, dict):
        labels = sorted(class_weight)
        weights = [class_weight[label] for label in labels]
        class_weight = {"labels": labels_to_json(np.array(labels)), "weights": np.array(weights).tolist()}
    return parameters if class_weight is None else {**parameters, "class_weight": class_weight}
