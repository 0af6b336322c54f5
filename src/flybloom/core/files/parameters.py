"""Parameters of estimators as JSON and back."""

from __future__ import annotations

import re
from inspect import signature
from typing import Any

import numpy as np

from flybloom._internal.deprecated import attributes_of, current_parameters
from flybloom.core.counts.label_json import labels_from_json, labels_to_json
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import Encoding
from flybloom.core.files.registry import estimator_of

MAX_JOBS = 4096
LATER = {"encoding": "auto", "weight_unit": "auto", "readout": "auto", "max_seconds": None}
"""Parameters that files do not mention where they are as usual, so that older versions read the file."""


def parameters_to_json(model: Any) -> dict[str, Any]:
    """Return the parameters as JSON can hold them; a random state that is no int becomes the seed it gave."""
    values = model.get_params(deep=False)
    values |= {name: getattr(model, name) for name in attributes_of(type(model))}  # where older versions look for them
    parameters = {name: _plain(name, values[name]) for name in sorted(values)}
    if "random_state" in parameters and not isinstance(parameters["random_state"], int | None):
        parameters["random_state"] = model.seed_
    is_read_by_filters = getattr(model, "readout_", "filter") == "filter"  # as every file was that does not say so
    for name, usual in LATER.items():
        if name in parameters and parameters[name] == usual and (name != "readout" or is_read_by_filters):
            del parameters[name]
    class_weight = parameters.pop("class_weight", None)  # not written if None, so that older versions read the file
    if isinstance(class_weight, dict):
        labels = sorted(class_weight)
        weights = [class_weight[label] for label in labels]
        class_weight = {"labels": labels_to_json(np.array(labels)), "weights": np.array(weights).tolist()}
    return parameters if class_weight is None else {**parameters, "class_weight": class_weight}


def estimator_from_json(kind: Any, stored: Any) -> Any:
    """Return an unfitted estimator of a kind with these parameters; ValueError where it cannot have them."""
    attributes = attributes_of(kind)
    names = set(signature(kind).parameters) | attributes
    if isinstance(stored, dict):
        stored = current_parameters(kind, stored, warns=False)
        if isinstance(stored.get("encoding"), str):
            stored["encoding"] = re.sub(r"(^|\+)beside\b", r"\1passthrough", stored["encoding"])  # as files have it
        stored = {**{name: usual for name, usual in LATER.items() if name in names}, **stored}
    if isinstance(stored, dict) and "class_weight" in names:
        stored = {**stored, "class_weight": _class_weight(stored.get("class_weight"))}
    if not (isinstance(stored, dict) and set(stored) == names):
        msg = "its parameters are not those known"
        raise ValueError(msg)
    model = kind(**{name: _restored(value) for name, value in stored.items() if name not in attributes})
    try:
        for name in attributes:
            if stored[name] != getattr(model, name):
                setattr(model, name, stored[name])
        model._validate_params()  # noqa: SLF001 - scikit-learn's way to check them
    except (ValueError, TypeError, OverflowError) as error:
        msg = f"a parameter is wrong. {error}"
        raise ValueError(msg) from error
    n_jobs = stored.get("n_jobs")
    if n_jobs is not None and not 0 < abs(n_jobs) <= MAX_JOBS:
        msg = f"n_jobs is 0, or beyond {MAX_JOBS}"
        raise ValueError(msg)
    return model


def _plain(name: str, value: Any) -> Any:
    """Return a value as JSON can hold it: numbers, text, lists, and estimators with their own parameters."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(name, entry) for entry in value]
    if isinstance(value, Encoding):
        return {"encoding": value.to_json()}
    if isinstance(value, Encoder):
        return {"encoder": "of the model"}
    if hasattr(value, "get_params"):
        return {"estimator": type(value).__name__, "parameters": parameters_to_json(value)}
    if name == "random_state" or isinstance(value, int | float | str | dict | None):
        return value
    msg = (
        f"{name}={value!r} cannot be saved: files hold numbers and text. "
        f"Set it to one of these with set_params({name}=...), or save the model inside."
    )
    raise TypeError(msg)


def _restored(value: Any) -> Any:
    """Return what `_plain` was given."""
    if isinstance(value, list):
        return [_restored(entry) for entry in value]
    if isinstance(value, dict) and set(value) == {"estimator", "parameters"}:
        kind = estimator_of(value["estimator"])
        if kind is None:
            msg = f"{value['estimator']!r} is no known kind of estimator"
            raise ValueError(msg)
        return estimator_from_json(kind, value["parameters"])
    if isinstance(value, dict) and set(value) == {"encoding"}:
        return Encoding.from_json(value["encoding"])
    if isinstance(value, dict) and set(value) == {"encoder"}:
        return Encoder(1)  # stands for that of the model, which is not known yet
    return value


def _class_weight(stored: Any) -> Any:
    """Return the class weights; files of models without them do not mention them."""
    if stored is None or stored == "balanced":
        return stored
    try:
        labels, weights = stored["labels"], stored["weights"]
        return dict(zip(labels_from_json(labels).tolist(), weights, strict=True))
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        msg = f"its class weights are wrong ({error})"
        raise ValueError(msg) from error
