"""Displays of class profiles and explanations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from flybloom.estimators.classes import class_profiles
from flybloom.plots._axes import grid_of_axes, plain


class _Panels:
    """Feature values in panels: images, or bars of the largest values."""

    image_shape: Any
    feature_names: Any

    def _panels(self) -> Iterable[tuple[Any, Any]]:
        """Return title and values of each panel."""
        raise NotImplementedError

    def plot(self, *, ax: Any = None, cmap: str = "RdBu_r", n_features: int = 8) -> Self:
        """Draw.

        Parameters
        ----------
        ax : array of matplotlib Axes, default=None
            Axes to plot on, one per panel; None for a new figure.
        cmap : str, default="RdBu_r"
            Diverging colour map.
        n_features : int, default=8
            Number of bars, if rows are not images.

        Returns
        -------
        display
            The display itself.
        """
        panels = list(self._panels())
        self.axes_ = grid_of_axes(type(self).__name__, len(panels), ax)
        self.figure_ = self.axes_[0].figure
        for axes, (title, values) in zip(self.axes_, panels, strict=True):
            _draw(axes, values, str(title), self.image_shape, self.feature_names, cmap, n_features)
        return self


@dataclass(eq=False, repr=False)
class ClassProfileDisplay(_Panels):
    """Profile of each class: images, or bars of the most important features.

    It is recommended to use `from_estimator` to create one.

    Parameters
    ----------
    profiles : ndarray of shape (n_classes, n_features)
        Result of ``class_profiles()``.
    display_labels : array-like of shape (n_classes,), default=None
        Names of the classes; None for numbers.
    image_shape : tuple of int, default=None
        Height and width, if rows are images.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features for bars; None for numbers.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One for each class.
    figure_ : matplotlib Figure
        The figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.plots import ClassProfileDisplay
    >>> model = FlyBloomClassifier(random_state=0).fit(*load_digits(return_X_y=True))
    >>> display = ClassProfileDisplay.from_estimator(model, image_shape=(8, 8))
    >>> len(display.axes_)
    10
    """

    profiles: Any
    _: KW_ONLY
    display_labels: Any = None
    image_shape: Any = None
    feature_names: Any = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, contrast: bool = True, image_shape: Any = None, ax: Any = None, **plot_options: Any
    ) -> ClassProfileDisplay:
        """Plot the profiles of a fitted classifier.

        Parameters
        ----------
        estimator : FlyBloomClassifier
            A fitted classifier.
        contrast : bool, default=True
            Whether to subtract the mean over classes, see `flybloom.report.class_profiles`.
        image_shape : tuple of int, default=None
            Height and width, if rows are images.
        ax : array of matplotlib Axes, default=None
            Axes to plot on, one per class; None for a new figure.
        **plot_options : dict
            Passed to `plot`.

        Returns
        -------
        ClassProfileDisplay
            The display.
        """
        return cls(
            class_profiles(estimator, contrast=contrast),
            display_labels=estimator.classes_,
            image_shape=image_shape,
            feature_names=getattr(estimator, "feature_names_in_", None),
        ).plot(ax=ax, **plot_options)

    def _panels(self) -> Iterable[tuple[Any, Any]]:
        """Return title and values of each class."""
        labels = range(len(self.profiles)) if self.display_labels is None else self.display_labels
        return zip(labels, self.profiles, strict=True)


@dataclass(eq=False, repr=False)
class FeatureShareDisplay(_Panels):
    """The share of each feature in the scores of rows: images, or bars of the largest shares.

    It is recommended to use `from_estimator` to create one.

    Parameters
    ----------
    shares : ndarray of shape (n_samples, n_features)
        Result of ``explain()``, or a difference of two.
    titles : array-like of shape (n_samples,), default=None
        Title of each row.
    image_shape : tuple of int, default=None
        Height and width, if rows are images.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features for bars; None for numbers.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        One for each row.
    figure_ : matplotlib Figure
        The figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.plots import FeatureShareDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyBloomClassifier(random_state=0).fit(X, y)
    >>> display = FeatureShareDisplay.from_estimator(model, X[:3], image_shape=(8, 8))
    >>> len(display.axes_)
    3
    """

    shares: Any
    _: KW_ONLY
    titles: Any = None
    image_shape: Any = None
    feature_names: Any = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, labels: Any = None, versus: Any = None, image_shape: Any = None, ax: Any = None,
        **plot_options: Any,
    ) -> FeatureShareDisplay:  # fmt: skip
        """Plot explanations of rows by a fitted classifier.

        Parameters
        ----------
        estimator : FlyBloomClassifier
            A fitted classifier.
        X : array-like of shape (n_samples, n_features)
            The rows.
        labels : label or array-like of shape (n_samples,), default=None
            The class to explain; None for the predicted one.
        versus : label or array-like of shape (n_samples,), default=None
            A class to compare with, whose shares are subtracted.
        image_shape : tuple of int, default=None
            Height and width, if rows are images.
        ax : array of matplotlib Axes, default=None
            Axes to plot on, one per row; None for a new figure.
        **plot_options : dict
            Passed to `plot`.

        Returns
        -------
        FeatureShareDisplay
            The display.
        """
        labels = estimator.predict(X) if labels is None else labels
        shares = estimator.explain(X, labels, kind="familiarity")
        names = np.broadcast_to(np.asarray(labels), len(shares))
        titles = [str(name) for name in names]
        if versus is not None:
            shares = shares - estimator.explain(X, versus, kind="familiarity")
            others = np.broadcast_to(np.asarray(versus), len(shares))
            titles = [f"{name} against {other}" for name, other in zip(names, others, strict=True)]
        feature_names = getattr(estimator, "feature_names_in_", None)
        return cls(shares, titles=titles, image_shape=image_shape, feature_names=feature_names).plot(
            ax=ax, **plot_options
        )

    def _panels(self) -> Iterable[tuple[Any, Any]]:
        """Return title and values of each row."""
        shares = np.atleast_2d(self.shares)
        return zip([""] * len(shares) if self.titles is None else self.titles, shares, strict=True)


def _draw(
    axes: Any, values: np.ndarray[Any, Any], title: str, image_shape: Any, names: Any, cmap: str, n_features: int
) -> None:
    """Plot one row of feature values, as an image or as bars of the largest."""
    reach = float(np.abs(values).max()) or 1.0
    axes.set_title(plain(title), fontsize=10)
    if image_shape is not None:
        axes.imshow(values.reshape(image_shape), cmap=cmap, vmin=-reach, vmax=reach)
        axes.set_axis_off()
        return
    largest = np.argsort(-np.abs(values), kind="stable")[:n_features][::-1]
    labels = [plain(i if names is None else names[i]) for i in largest]
    colours = ["#b2182b" if values[i] > 0 else "#2166ac" for i in largest]
    axes.barh(range(len(largest)), values[largest], color=colours)
    axes.set_yticks(range(len(largest)), labels)
    axes.axvline(0, color="0.4", lw=0.8)
    axes.spines[["top", "right"]].set_visible(False)
