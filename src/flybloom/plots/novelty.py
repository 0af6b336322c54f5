"""Display of novelty."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from flybloom.plots._axes import Display, plain

N_BINS = 40


@dataclass(eq=False, repr=False)
class NoveltyDisplay(Display):
    """Histogram of novelty by group, with the threshold of a detector.

    It is recommended to use `from_estimator` to create one.

    Parameters
    ----------
    novelty : array-like of shape (n_samples,)
        Novelty of each row.
    threshold : float, default=None
        Threshold above which rows are outliers; None for none.
    groups : array-like of shape (n_samples,), default=None
        Group of each row, such as its label; None for a single group.
    novelty_name : str, default="novelty"
        Label of the horizontal axis.

    Attributes
    ----------
    bars_ : dict of matplotlib BarContainer
        The histogram of each group.
    line_ : matplotlib Line2D or None
        The threshold.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomNovelty
    >>> from flybloom.plots import NoveltyDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FlyBloomNovelty(contamination=0.1, random_state=0).fit(X[y < 5][:400])
    >>> display = NoveltyDisplay.from_estimator(model, X[900:], groups=y[900:] < 5)
    >>> list(display.bars_)
    [False, True]
    """

    novelty: Any
    _: KW_ONLY
    threshold: float | None = None
    groups: Any = None
    novelty_name: str = "novelty"

    def __post_init__(self) -> None:
        if self.groups is not None and len(self.groups) != len(self.novelty):
            msg = (
                f"The 'groups' parameter of NoveltyDisplay must have an entry for each of {len(self.novelty)} rows. "
                f"Got {len(self.groups)} instead."
            )
            raise ValueError(msg)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, groups: Any = None, ax: Any = None, **bar_options: Any
    ) -> NoveltyDisplay:
        """Plot the novelty of rows to a fitted model.

        Parameters
        ----------
        estimator : FlyBloomNovelty, OpenSetClassifier or FlyBloomClassifier
            A fitted model. For a classifier, the minimum novelty over classes is shown; for an `OpenSetClassifier`,
            minus the threshold of that class.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        groups : array-like of shape (n_samples,), default=None
            Group of each row; None for a single group.
        ax : matplotlib Axes, default=None
            Axes to plot on; None for a new figure.
        **bar_options : dict
            Passed to matplotlib's `hist`.

        Returns
        -------
        NoveltyDisplay
            The display.
        """
        threshold: float | None = None
        name = "novelty"
        if hasattr(estimator, "acceptance"):
            novelty, threshold = -estimator.acceptance(X), 0.0
            name = "novelty to the nearest class, less its threshold"
        else:
            novelty = estimator.novelty(X)
            if novelty.ndim > 1:
                novelty, name = novelty.min(axis=1), "novelty to the nearest class"
            if hasattr(estimator, "offset_"):
                threshold = -estimator.offset_
        return cls(novelty, threshold=threshold, groups=groups, novelty_name=name).plot(ax=ax, **bar_options)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        """Draw on axes."""
        novelty = np.asarray(self.novelty)
        groups = np.zeros(len(novelty)) if self.groups is None else np.asarray(self.groups)
        names = np.unique(groups).tolist()
        options = {"bins": np.histogram_bin_edges(novelty, N_BINS), "alpha": 0.6, **options}
        self.bars_ = {
            name: ax.hist(novelty[groups == name], label=plain(name) if len(names) > 1 else None, **options)[2]
            for name in names
        }
        self.line_ = None
        if self.threshold is not None:
            self.line_ = ax.axvline(self.threshold, color="0.3", linestyle="--", label="threshold")
        ax.set(xlabel=plain(self.novelty_name), ylabel="rows")
        if ax.get_legend_handles_labels()[1]:
            ax.legend()
