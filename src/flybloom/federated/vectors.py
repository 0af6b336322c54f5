"""Counts by class as vectors of 64-bit numbers, which can be added by anybody, and models of such sums."""

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
    """Return an empty model that hashes like another one, which need not have learned anything.

    Parameters
    ----------
    model : FlyBloomClassifier
        A model whose encoder all parties share, or the settings: then its encoding must need no rows.
    n_features : int
        Columns of the rows.

    Returns
    -------
    FlyBloomClassifier
        Every party makes the same one.
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
    """Return the rows of each class and all counts, for classes that all parties agree on.

    Parameters
    ----------
    model : FlyBloomClassifier
        What a party has counted.
    classes : array-like
        All labels that any party may have.

    Returns
    -------
    ndarray of shape (n_classes + n_components * n_classes,), int64
        The same length for every party.
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
    """Return the model of a sum of vectors; classes without rows are left out, as `fit` would.

    Parameters
    ----------
    model : FlyBloomClassifier
        An empty model that hashes as the parties do: what `like` returns.
    classes : array-like
        The labels that were agreed on.
    vector : ndarray
        The sum of what `counts_to_vector` returned to the parties.

    Returns
    -------
    FlyBloomClassifier
        The same as a model that learned all rows on one machine, bit for bit.
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
