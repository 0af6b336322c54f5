"""Display of robustness certificates."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from flybloom.estimators.certified import certify
from flybloom.plots._axes import Display, plain

NORMS = {"linf": "every feature may move by", "l2": "l2 distance", "l1": "l1 distance"}


@dataclass(eq=False, repr=False)
class CertificateDisplay(Display):
    """Share of rows with a certified label, against the radius.

    It is recommended to use `from_estimator` to create one.

    Parameters
    ----------
    radius : array-like of shape (n_samples,)
        Result of ``certify(X)``.
    is_right : array-like of shape (n_samples,) of bool, default=None
        Whether each prediction is correct. If given, only correct rows count.
    norm : {"linf", "l2", "l1"}, default="linf"
        Norm of the change.
    name : str, default=None
        Name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.plots import CertificateDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FlyBloomClassifier(1024, random_state=0).fit(X[::2], y[::2])
    >>> display = CertificateDisplay.from_estimator(model, X[1:60:2], y[1:60:2])
    >>> display.share(0.0) >= display.share(0.1)
    True
    """

    radius: Any
    _: KW_ONLY
    is_right: Any = None
    norm: str = "linf"
    name: str | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, norm: str = "linf", name: str | None = None, ax: Any = None,
        **line_options: Any,
    ) -> CertificateDisplay:  # fmt: skip
        """Certify rows with a fitted classifier and plot the certified share.

        Parameters
        ----------
        estimator : FlyBloomClassifier or FlyRidgeClassifier
            A fitted classifier.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,), default=None
            Their labels; wrong predictions then count as not certified.
        norm : {"linf", "l2", "l1"}, default="linf"
            Norm of the change, see `flybloom.audit.certify`.
        name : str, default=None
            Name in the legend; None for no legend.
        ax : matplotlib Axes, default=None
            Axes to plot on; None for a new figure.
        **line_options : dict
            Passed to matplotlib's `plot`.

        Returns
        -------
        CertificateDisplay
            The display.
        """
        is_right = None if y is None else estimator.predict(X) == np.asarray(y)
        radius = certify(estimator, X, norm=norm)
        return cls(radius, is_right=is_right, norm=norm, name=name).plot(ax=ax, **line_options)

    def share(self, radius: float) -> float:
        """Return the share of rows that are certified within a radius (and correct, if labels are known).

        Parameters
        ----------
        radius : float
            The radius.

        Returns
        -------
        float
            From 0 to 1.
        """
        return float(np.mean(self._reach() >= radius))

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        """Draw on axes."""
        reach = self._reach()
        ends = np.unique(reach[np.isfinite(reach) & (reach >= 0)])
        radii = np.concatenate([[0.0], ends])
        shares = [self.share(0.0), *(float(np.mean(reach > end)) for end in ends)]
        label = None if self.name is None else plain(self.name)
        options = {"drawstyle": "steps-post", "label": label, **options}
        self.line_ = ax.plot(radii, shares, **options)[0]
        what = "labels that are proven to hold" if self.is_right is None else "rows that are right and certified"
        ax.set(xlabel=NORMS[self.norm], ylabel=f"share of {what}")
        ax.set_ylim(bottom=0)
        if label is not None:
            ax.legend()

    def _reach(self) -> np.ndarray[Any, Any]:
        """Return the radius of each row, negative for wrong predictions."""
        reach = np.asarray(self.radius, dtype=np.float64)
        return reach if self.is_right is None else np.where(self.is_right, reach, -1.0)
