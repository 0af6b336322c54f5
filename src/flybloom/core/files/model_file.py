"""Models as files: what is in one, and all that must be true of it before a model is made of it.

See docs/files.md for the format. Loading trusts nothing: every invariant that the kernels rely on is checked. A file
has an envelope, written here, and parts, which each value describes itself: the hasher, the counts, the estimator.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, NamedTuple, TypeVar, overload

from flybloom._internal.typing import Array
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.files.envelope import damaged, hasher_of, open_file, write_file
from flybloom.core.files.parameters import estimator_from_json, parameters_to_json
from flybloom.core.files.registry import estimator_of, known_kinds
from flybloom.core.hashing.hasher import Hasher
from flybloom.exceptions import ModelFileError

FIRST_KINDS = ("FlyBloomClassifier", "FlyHash")  # what format 1 can hold, with no steps but those it has arrays for

Model = TypeVar("Model")


class Parts(NamedTuple):
    """What an estimator says of itself."""

    hasher: Hasher | None  # None for estimators that keep another one inside
    facts: dict[str, Any]
    arrays: dict[str, Array]


def state_of(parts: Parts) -> dict[str, Any]:
    """Return parts as pickles hold them: plain values and arrays, so that they name no class but the model's."""
    assert parts.hasher is not None  # noqa: S101 - asked by those who hash
    hash_facts, hash_arrays = parts.hasher.to_parts()
    return {"hash": hash_facts, "facts": parts.facts, "arrays": {**hash_arrays, **parts.arrays}}


def parts_of(state: dict[str, Any]) -> Parts:
    """Return the parts that a pickle held."""
    hasher, arrays = Hasher.from_parts(state["hash"], state["arrays"])
    return Parts(hasher, state["facts"], arrays)


def save(model: Any, path: str | os.PathLike[str], training: dict[str, Any] | None = None) -> None:
    """Save a model, and how much its training has come, if it has not ended."""
    kind = type(model).__name__
    if estimator_of(kind) is not type(model):
        msg = (
            f"Only {', '.join(known_kinds())} can be saved. Got {kind} instead. Pickle it, or save the model inside it."
        )
        raise TypeError(msg)
    description, arrays = describe(model)
    # the order of the entries is that of format 1, whose files stay the same to the byte
    after: dict[str, Any] = {
        name: description.pop(name) for name in ("parameters", "fingerprint") if name in description
    }
    facts = description.pop("facts")
    write_file(
        path,
        {
            "format": _format_of(kind, description, after["parameters"], facts),
            "flybloom": import_module("flybloom").__version__,
            "kind": kind,
            **description,
            **after,
            "training": training,
            **facts,
        },
        arrays,
    )


def describe(model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return what is known of a model, as JSON, and its arrays."""
    hasher, facts, arrays = model._to_parts()  # noqa: SLF001 - for files alone
    description: dict[str, Any] = {}
    if hasher is not None:
        hash_facts, hash_arrays = hasher.to_parts()
        description |= {**hash_facts, "fingerprint": hasher.fingerprint}
        arrays = {**hash_arrays, **arrays}
    return {**description, "parameters": parameters_to_json(model), "facts": facts}, arrays


def describe_inside(model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return what is known of a model that another one keeps inside, and its arrays."""
    description, arrays = describe(model)
    facts = description.pop("facts")
    return {"kind": type(model).__name__, **description, **facts}, arrays


def restore_inside(stored: Any, arrays: dict[str, Array], expected: type[Model]) -> Model:
    """Return the model that another one kept inside; ValueError if it is invalid."""
    _require(isinstance(stored, dict), "it does not describe the model inside")
    model = restore(stored.get("kind"), stored, arrays)
    _require(isinstance(model, expected), f"the model inside is no {expected.__name__}")
    return model  # type: ignore[no-any-return]


@overload
def load(path: str | os.PathLike[str], expected: None = None, *, max_memory: int | None = None) -> Any: ...
@overload
def load(path: str | os.PathLike[str], expected: type[Model], *, max_memory: int | None = None) -> Model: ...
def load(path: str | os.PathLike[str], expected: type[Any] | None = None, *, max_memory: int | None = None) -> Any:
    """Load a model that was saved with its method `save`.

    Nothing in the file is executed, and everything is checked: a file that is damaged, cut, hostile or of a later
    format raises an error, and takes no more memory than a few times its size.

    Parameters
    ----------
    path : str or path-like
        The file.
    expected : type or None, default=None
        The estimator that the file must hold, such as `FlyBloomClassifier`; type checkers then know what comes back.
    max_memory : int or None, default=None
        Bytes that the connections of the model may need once it is used; they are not in the file, but follow from
        sizes that are. None is what the machine has available.

    Returns
    -------
    estimator
        The model, as it was saved.

    Raises
    ------
    ModelFileError
        If the file cannot be read as a model, or holds one of another kind.

    Examples
    --------
    >>> import tempfile, flybloom
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = flybloom.FlyBloomClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/iris.fly")
    ...     again = flybloom.load(f"{folder}/iris.fly", flybloom.FlyBloomClassifier)
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    model, _ = load_in_training(path, max_memory=max_memory)
    if expected is not None and not isinstance(model, expected):
        msg = f"{path} is a {type(model).__name__}. Expected a {expected.__name__}. Choose another file."
        raise ModelFileError(msg)
    return model


def load_in_training(
    path: str | os.PathLike[str], *, max_memory: int | None = None
) -> tuple[Any, dict[str, Any] | None]:
    """Return a model and how much its training had come, or None if it had ended."""
    description, arrays = open_file(path)
    try:
        model = restore(description.get("kind"), description, arrays, max_memory)
        training = description.get("training")
        _require(
            training is None or (isinstance(training, dict) and type(training.get("rows")) is int),
            "'training' does not say how many rows were learned",
        )
    except ValueError as error:
        raise damaged(path, error) from error
    return model, training


def restore(kind: Any, description: dict[str, Any], arrays: dict[str, Array], max_memory: int | None = None) -> Any:
    """Return the model of a description; ValueError if it is invalid."""
    estimator = estimator_of(kind)
    _require(estimator is not None, f"it is of no known kind ({', '.join(known_kinds())})")
    model = estimator_from_json(estimator, description.get("parameters"))
    hasher = None
    if "seed_" in description:
        hasher, arrays = hasher_of(description, arrays, max_memory)
        if isinstance(getattr(model, "encoding", None), Encoder):  # fitted beforehand
            model.encoding = hasher.encoder
    restored = model._from_parts(hasher, description, arrays)  # noqa: SLF001 - for files alone
    if "readout" not in description["parameters"] and getattr(restored, "readout_", "filter") != "filter":
        restored.readout = "filter"  # it was saved before there was any other
    return restored


def _format_of(kind: str, description: dict[str, Any], parameters: dict[str, Any], facts: dict[str, Any]) -> int:
    """Return the oldest format that can hold a model."""
    inside: dict[str, Any] = facts.get("inside", {})
    steps = [step for holder in (description, inside) for step in holder.get("encoding", ())]
    is_first = (
        kind in FIRST_KINDS
        and "encoding" not in description
        and parameters.get("encoding") in ("none", "center", "standard+clip=inf")
        and parameters.get("decay") != "auto"
    )
    has_readout = kind == "FrozenNovelty" or (kind == "FlyBloomNovelty" and "readout" in parameters)
    needs = {
        2: not is_first,
        3: "weight_unit" in facts or "weight_unit" in inside,
        4: any("beside" in step or step["step"] in {"fill", "select"} for step in steps)
        or kind in {"AdaptiveWindow", "FlyBloomNovelty"},  # names of parameters that older versions do not know
        5: "unit" in facts or has_readout,  # weights that float32 does not hold, or pairs without classes
        6: "sketch" in facts or "sketch" in inside or "early" in facts,
        7: any(step["step"] in {"cuts", "gradients", "unskew"} for step in steps)
        or 0 in (description.get("n_winners_"), inside.get("n_winners_")),  # values
    }
    return max((number for number, is_needed in needs.items() if is_needed), default=1)


def _require(is_true: object, otherwise: str) -> None:
    """Raise an error for a file unless something is true of it."""
    if not is_true:
        raise ValueError(otherwise)
