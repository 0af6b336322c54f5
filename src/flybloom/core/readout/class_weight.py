"""How much each class counts: what users ask for, checked, and the weights that follow from it.

A row of a class of weight w counts as w rows, so a component that won n times there has the weight (1 - c)^(n w). The
counts stay what they are: class weights are a way to read them.
"""

from __future__ import annotations

import sys
from typing import Any, Literal, TypeAlias

import numpy as np

from flybloom._internal.typing import Array

ClassWeight: TypeAlias = Literal["balanced"] | dict[Any, float] | None


def check_class_weight(class_weight: Any, owner: str) -> None:
    """Raise an error for weights that are not positive numbers, and labels that cannot be those of one model."""
    if not isinstance(class_weight, dict):
        return
    for label, weight in class_weight.items():
        number = weight.item() if isinstance(weight, np.integer | np.floating) else weight
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if not (is_number and 0 < number <= sys.float_info.max):
            msg = (
                f"The 'class_weight' parameter of {owner} must hold a number above 0 for each label. "
                f"Got {weight!r} for {label!r} instead. To leave out a class, leave out its rows."
            )
            raise ValueError(msg)
    if len({isinstance(label, str) for label in class_weight}) > 1:
        msg = (
            f"The labels in the 'class_weight' parameter of {owner} must be all strings or all numbers. "
            f"Got {list(class_weight)} instead. Write them as in y."
        )
        raise ValueError(msg)


def require_weights_for(class_weight: ClassWeight, classes: Array, owner: str) -> None:
    """Refuse weights for labels that are not learned where some of those learned have none: a slip of the pen."""
    if not isinstance(class_weight, dict):
        return
    known = set(classes.tolist())
    unknown, missing = (
        [x for x in class_weight if x not in known],
        [x for x in classes.tolist() if x not in class_weight],
    )
    if unknown and missing:
        msg = (
            f"The 'class_weight' parameter of {owner} must name labels of y. Got {unknown} instead, while "
            f"{missing} have no weight. Write the labels as in y; those without a weight have 1."
        )
        raise ValueError(msg)


def by_code(class_weight: ClassWeight, classes: Array) -> ClassWeight:
    """Return the same class weights for classes that are called 0, 1, 2, ..."""
    if not isinstance(class_weight, dict):
        return class_weight
    return {code: class_weight[label] for code, label in enumerate(classes.tolist()) if label in class_weight}


def class_weights(class_weight: ClassWeight, classes: Array, class_count: Array) -> Array | None:
    """Return the weight of each class, or None if there are none.

    "balanced" is n / (L n_l) for the n_l rows of class l, n rows in all, and the L classes that have rows.
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        return _balanced(class_count, sum(class_count.tolist()), int(np.count_nonzero(class_count)))
    return np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])


def left_out_weights(class_weight: ClassWeight, classes: Array, class_count: Array, less: int = 1) -> Array | None:
    """Return the weights of each class when a row of weight `less` is left out, of shape (3, n_classes), or None.

    The first are for rows of other classes, the second for the class's own rows, the last for rows that are alone in
    another class, so that there is a class less.
    """
    if not isinstance(class_weight, str):
        weights = class_weights(class_weight, classes, class_count)
        return None if weights is None else np.tile(weights, (3, 1))
    n_rows, n_classes = sum(class_count.tolist()) - less, int(np.count_nonzero(class_count))
    return np.array(
        [
            _balanced(class_count, n_rows, n_classes),
            _balanced(class_count - less, n_rows, n_classes),
            _balanced(class_count, n_rows, max(n_classes - 1, 1)),
        ]
    )


def _balanced(class_count: Array, n_rows: int, n_classes: int) -> Array:
    """Return weights that make all classes count the same; 1 for those without rows."""
    rows = class_count.astype(np.float64)
    is_met = rows > 0
    weights: Array = np.ones(rows.size)
    weights[is_met] = float(n_rows) / (float(n_classes) * rows[is_met])
    return weights
