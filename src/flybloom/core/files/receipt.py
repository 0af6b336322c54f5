"""Receipts of forgetting: what a model was before and after, so that anybody who has the rows can check it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from copy import copy
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.atomic_write import atomic_write
from flybloom.core.algebra import COMPLETE, COUNTS_ONLY, Forgotten
from flybloom.core.counts.label_json import labels_from_json, labels_to_json
from flybloom.core.files.origin_file import ORIGIN_ARRAYS
from flybloom.exceptions import ReceiptError

FORMAT = 2
NOT_COUNTED = ("tuned", "sketch")


class Snapshot(NamedTuple):
    """What a receipt tells of a model at one moment."""

    kind: str
    hash: str  # how it hashes
    state: str  # what it has counted
    rows: dict[Any, float]  # of each class


def snapshot(model: Any) -> Snapshot:
    """Return what a receipt tells of a model as it is now."""
    hasher, facts, arrays = model._to_parts()  # noqa: SLF001 - for files alone
    digest = hashlib.sha256()
    counted = {name: value for name, value in facts.items() if name not in NOT_COUNTED}
    arrays = {name: values for name, values in arrays.items() if name not in ORIGIN_ARRAYS}
    digest.update(json.dumps([hasher.fingerprint, counted], sort_keys=True).encode())
    for name in sorted(arrays):
        values = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {values.dtype.str} {values.shape}".encode())
        digest.update(values.data)
    rows = dict(zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True))
    return Snapshot(type(model).__name__, hasher.fingerprint, digest.hexdigest(), rows)


@dataclass(frozen=True)
class Receipt:
    """What was forgotten, and what the model was before and after.

    Parameters
    ----------
    kind : str
        The estimator.
    hash : str
        Fingerprint of how it hashes now.
    before, after : str
        Fingerprints of all that it had counted.
    rows : int or float
        Rows forgotten, weights included.
    classes : list of [label, number]
        How many of each class.
    extent : str
        "complete" if nothing of the rows is left, "counts only" if the encoder in use is not that of the other rows.
    steps : list of str
        What differs then.
    time : str
        When, in UTC.
    flybloom : str
        Version of the library.
    """

    kind: str
    hash: str
    before: str
    after: str
    rows: float
    classes: list[list[Any]]
    extent: str
    steps: list[str]
    time: str
    flybloom: str

    @staticmethod
    def between(before: Snapshot, after: Snapshot, forgotten: Forgotten) -> Receipt:
        """Return the receipt of a model that forgot rows between two moments.

        Parameters
        ----------
        before, after : Snapshot
            What it was.
        forgotten : Forgotten
            What is left of the rows.

        Returns
        -------
        Receipt
            What was forgotten.
        """
        classes = [[label, n - after.rows.get(label, 0)] for label, n in before.rows.items()]
        classes = [entry for entry in classes if entry[1]]
        return Receipt(
            before.kind,
            after.hash,
            before.state,
            after.state,
            sum(n for _, n in classes),
            classes,
            forgotten.extent,
            list(forgotten.steps),
            datetime.now(UTC).isoformat(timespec="seconds"),
            import_module("flybloom").__version__,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the receipt as JSON.

        Parameters
        ----------
        path : str or path-like
            Path of the file. An existing file is replaced.
        """
        labels = labels_to_json(np.array([label for label, _ in self.classes]))
        stored = {**asdict(self), "classes": {"labels": labels, "rows": [n for _, n in self.classes]}}
        text = json.dumps({"receipt": FORMAT, **stored}, indent=1)
        atomic_write(path, text)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Receipt:
        """Return the receipt of a file; ReceiptError where there is none in it.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        Receipt
            As it was saved.
        """
        try:
            stored = json.loads(Path(path).read_bytes())
            version = stored.pop("receipt")
            if version == 1:  # when it was not looked at
                stored |= {"extent": COUNTS_ONLY, "steps": []}
            elif version != FORMAT or stored["extent"] not in (COMPLETE, COUNTS_ONLY):
                raise ValueError  # noqa: TRY301
            classes = stored.pop("classes")
            labels = labels_from_json(classes["labels"]).tolist()
            stored["classes"] = [[label, n] for label, n in zip(labels, classes["rows"], strict=True)]
            is_right = set(stored) == {field.name for field in fields(Receipt)} and type(stored["rows"]) in (int, float)
            if not (is_right and all(isinstance(stored[name], str) for name in ("hash", "before", "after", "time"))):
                raise ValueError  # noqa: TRY301
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            msg = f"{path} is no receipt that this flybloom reads. Expected what `flybloom forget --receipt` writes."
            raise ReceiptError(msg) from error
        return Receipt(**stored)


def verify(receipt: Receipt, model: Any, rows: Iterable[tuple[Any, Any]] | None = None) -> dict[str, bool]:
    """Return what holds of a receipt; ReceiptError says what does not.

    Parameters
    ----------
    receipt : Receipt
        What is to be checked.
    model : estimator
        The model after forgetting.
    rows : iterable of (X, y) or None
        The rows that were forgotten, in blocks. With them it is proven that the model lacks just these: it becomes the
        one before, bit for bit, when it learns them.

    Returns
    -------
    dict
        ``model``, that it is the one of the receipt; ``rows``, that it lacks just the rows; False where not looked at.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.core.files.receipt import verify
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyBloomClassifier(encoding="none", random_state=0).fit(X, y)
    >>> receipt = forget_with_receipt(model, X[:100], y[:100])
    >>> receipt.rows, verify(receipt, model, [(X[:100], y[:100])])
    (100, {'model': True, 'rows': True})
    """
    now = snapshot(model)
    if now.kind != receipt.kind or now.hash != receipt.hash:
        msg = (
            f"The receipt is for a {receipt.kind} that hashes as {receipt.hash}. "
            f"Got a {now.kind} that hashes as {now.hash}. Choose the model that the receipt was written for."
        )
        raise ReceiptError(msg)
    if now.state != receipt.after:
        has_all = "It has not forgotten them. " if now.state == receipt.before else ""
        msg = (
            f"The model is not the one that the receipt left: expected the state {receipt.after[:16]}..., "
            f"got {now.state[:16]}... {has_all}Choose the file that was written with the receipt."
        )
        raise ReceiptError(msg)
    if rows is None:
        return {"model": True, "rows": False}
    again = copy(model)
    for X, y in rows:
        again.partial_fit(X, y)
    if snapshot(again).state != receipt.before:
        msg = (
            "These are not the rows that were forgotten: with them the model does not become the one before. "
            f"Expected {receipt.rows} rows, {receipt.classes}."
        )
        raise ReceiptError(msg)
    return {"model": True, "rows": True}


def forget_with_receipt(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Receipt:
    """Unlearn rows as `forget` of a classifier does, and return a receipt of it.

    The receipt holds fingerprints of what the model was before and after. Who has the rows can check with it, and
    with the file of the model, that the model equals one that never learned them; see docs/forgetting.md.

    Parameters
    ----------
    model : FlyBloomClassifier or FlyRidgeClassifier
        The model that forgets.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows that were learned before.
    y : array-like of shape (n_samples,)
        The labels with which they were learned.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights with which they were learned.

    Returns
    -------
    Receipt
        To be saved, and checked with `flybloom verify`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.core.files.receipt import forget_with_receipt
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyBloomClassifier(encoding="none", random_state=0).fit(X, y)
    >>> receipt = forget_with_receipt(model, X[:3], y[:3])
    >>> receipt.classes
    [[0, 1], [1, 1], [2, 1]]
    """
    with model._shared.learning:  # noqa: SLF001 - nobody else learns between the two snapshots
        before = snapshot(model)
        forgotten = model.forget(X, y, sample_weight)
        return Receipt.between(before, snapshot(model), forgotten)
