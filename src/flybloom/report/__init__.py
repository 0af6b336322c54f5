"""Reports on fitted classifiers: facts as a dictionary, and a self-contained HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flybloom._internal.atomic_write import atomic_write, check_writable
from flybloom.estimators.classes import class_profiles, class_similarity, most_similar_classes
from flybloom.report.html import render
from flybloom.report.summary import facts

__all__ = ["class_profiles", "class_similarity", "facts", "most_similar_classes", "render", "report"]


def report(
    model: Any, X: Any, y: Any, path: str | Path | None = None, *, title: str | None = None, image_shape: Any = None
) -> str:
    """Write an HTML report on a classifier and test rows: one self-contained file without scripts.

    Parameters
    ----------
    model : FlyBloomClassifier or FlyRidgeClassifier
        A fitted classifier.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Test rows.
    y : array-like of shape (n_samples,)
        Their labels.
    path : str or Path, default=None
        File to write the page to, atomically.
    title : str, default=None
        Title of the page.
    image_shape : tuple of int, default=None
        Height and width if rows are images, to show wrong predictions as images.

    Returns
    -------
    str
        The page, HTML.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.report import report
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyBloomClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> page = report(model, X[1000:], y[1000:], image_shape=(8, 8))
    >>> page.startswith("<!doctype html>"), "<script" in page
    (True, False)
    """
    if path is not None:
        check_writable(path)
    page = render(facts(model, X, y, title=title, image_shape=image_shape))
    if path is not None:
        atomic_write(path, page)
    return page
