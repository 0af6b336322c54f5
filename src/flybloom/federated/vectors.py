"""Counts as vectors of 64-bit integers, and models of their sums."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from flybloom._internal.typing import Array
from flybloom._internal.validation import check_labels
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.counts.columns import align_columns, count_dtype, require_countable, unite, unknown_among
from flybloom.estimators.access import learning, reading_learned, with_learned
from flybloom.estimators.classifier import FlyBloomClassifier
from flybloom.exceptions import IncompatibleHashError


def like(model: FlyBloomClassifier, n_features: int) -> FlyBloomClassifier:
    """Return an empty model that hashes like another one, fitted or not.

    Parameters
    ----------
    model : FlyBloomClassifier
        A model with the shared encoder, or an unfitted model whose encoding needs no rows.
    n_features : int
        Number of features.

    Returns
    -------
    FlyBloomClassifier
        The empty model, equal for all parties.
    """
    with suppress(NotFittedError):
        return model.like()
    result = copy(model)
    with learning(result, anew=False) as session:
        if session.recipe.encoding.needs_rows:
            msg = (
                f"The encoding {model.encoding!r} is fitted to rows, and every party has others. Share an encoder: one "
                "party, or someone with public rows, sends model.like(), and every party counts with that. Or use "
                "encoding='none'."
            )
            raise IncompatibleHashError(msg)
        session.check_features(np.zeros((0, n_features)))
        session.start(None)
    return result


def counts_to_vector(model: FlyBloomClassifier, classes: Any) -> Array:
    """Return class counts and winner counts as one vector, for agreed classes.

    Parameters
    ----------
    model : FlyBloomClassifier
        The model of a party.
    classes : array-like
        All labels of all parties.

    Returns
    -------
    ndarray of shape (n_classes + n_components * n_classes,), int64
        A vector of the same length for every party.
    """
    agreed = _sorted(classes)
    with reading_learned(model) as learned:
        counts: Any = learned.counts
        unknown = unknown_among(counts.classes, agreed) if counts.classes.size else []
        if unknown:
            msg = (
                f"This party has rows of {unknown[0]!r}, which is not among the classes agreed on. Agree on all labels."
            )
            raise ValueError(msg)
        rows = align_columns(counts.class_count, counts.classes, agreed, 0)
        table = align_columns(counts.table, counts.classes, agreed, 1)
        return np.concatenate([rows, table.ravel()]).astype(np.int64)


def vector_to_model(model: FlyBloomClassifier, classes: Any, vector: Array) -> FlyBloomClassifier:
    """Return the model for a sum of vectors; classes without rows are omitted.

    Parameters
    ----------
    model : FlyBloomClassifier
        The shared empty model, see `like`.
    classes : array-like
        The agreed labels.
    vector : ndarray
        The sum of the vectors of `counts_to_vector`.

    Returns
    -------
    FlyBloomClassifier
        A model equal, bit for bit, to one that learned all rows on one machine.
    """
    agreed = _sorted(classes)
    with reading_learned(model) as learned:
        m, rho, unit = learned.counts.n_components, learned.counts.n_winners, learned.counts.unit
    rows, table = vector[: agreed.size].astype(np.int64), vector[agreed.size :].reshape(m, agreed.size)
    require_countable(rows)
    if (table < 0).any() or table.sum(axis=0).tolist() != (rho * rows).tolist():
        msg = "The sum is not that of counts: parties hash differently, or one is missing. Add up all of them again."
        raise IncompatibleHashError(msg)
    is_met = rows > 0
    table = np.ascontiguousarray(table[:, is_met], count_dtype(rows))
    counts = ClassCounts(agreed[is_met], rows[is_met], table, rho, unit)
    return with_learned(copy(model), learned._replace(counts=counts))


def _sorted(classes: Any) -> Array:
    """Return labels, sorted."""
    labels = check_labels(np.repeat(np.asarray(list(classes)), 2))  # labels that are all different look like no labels
    return unite(labels[:0], labels)
