"""Display of accuracy against privacy."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from flybloom.plots._axes import Display, plain


@dataclass(eq=False, repr=False)
class PrivacyDisplay(Display):
    """Accuracy of private releases against epsilon, with its standard deviation over draws.

    It is recommended to use `from_estimator` to create one.

    Parameters
    ----------
    epsilons : array-like of shape (n_epsilons,)
        The budgets.
    scores : array-like of shape (n_epsilons, n_draws)
        The score of each release.
    baseline : float, default=None
        The score without noise; None for none.
    name : str, default="released"
        Name in the legend.
    score_name : str, default="accuracy"
        Label of the vertical axis.

    Attributes
    ----------
    errorbar_ : matplotlib ErrorbarContainer
        Mean over draws with one standard deviation.
    line_ : matplotlib Line2D or None
        The baseline.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from flybloom.plots import PrivacyDisplay
    >>> display = PrivacyDisplay([0.5, 1, 2], [[0.6, 0.7], [0.8, 0.8], [0.9, 0.8]], baseline=0.95).plot()
    >>> [label.get_text() for label in display.ax_.get_xticklabels()]
    ['0.5', '1', '2']
    """

    epsilons: Any
    scores: Any
    _: KW_ONLY
    baseline: float | None = None
    name: str = "released"
    score_name: str = "accuracy"

    def __post_init__(self) -> None:
        if len(np.shape(self.scores)) != 2 or len(self.scores) != len(self.epsilons):  # noqa: PLR2004
            msg = (
                f"The 'scores' parameter of PrivacyDisplay must have a row for each of {len(self.epsilons)} epsilons. "
                f"Got an array of shape {np.shape(self.scores)} instead."
            )
            raise ValueError(msg)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        epsilons: Sequence[float] = (0.1, 0.5, 1, 3, 8),
        n_draws: int = 5,
        name: str = "released",
        ax: Any = None,
        **release_options: Any,
    ) -> PrivacyDisplay:
        """Plot the accuracy of releases of a fitted classifier with seeded noise.

        The plot itself is not private. Releases are made from copies, so the ledger of the model does not change.

        Parameters
        ----------
        estimator : FlyBloomClassifier
            A fitted classifier.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Test rows.
        y : array-like of shape (n_samples,)
            Their labels.
        epsilons : sequence of float, default=(0.1, 0.5, 1, 3, 8)
            The budgets.
        n_draws : int, default=5
            Number of releases for each epsilon, with seeds 0, 1, ...
        name : str, default="released"
            Name in the legend.
        ax : matplotlib Axes, default=None
            Axes to plot on; None for a new figure.
        **release_options : dict
            Passed to ``FlyBloomClassifier.release``, such as `delta` and `classes`.

        Returns
        -------
        PrivacyDisplay
            The display.
        """
        scores = [
            [
                copy(estimator).release(epsilon, random_state=draw, **release_options).score(X, y)
                for draw in range(n_draws)
            ]
            for epsilon in epsilons
        ]
        return cls(epsilons, scores, baseline=estimator.score(X, y), name=name).plot(ax=ax)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        """Draw on axes."""
        epsilons, scores = np.asarray(self.epsilons, dtype=np.float64), np.asarray(self.scores, dtype=np.float64)
        options = {"marker": "o", "capsize": 3, "label": plain(self.name), **options}
        self.errorbar_ = ax.errorbar(epsilons, scores.mean(axis=1), scores.std(axis=1), **options)
        self.line_ = None
        if self.baseline is not None:
            self.line_ = ax.axhline(self.baseline, color="0.5", linestyle="--", label="without noise")
        ax.set(xscale="log", xlabel="epsilon: smaller is more private", ylabel=plain(self.score_name))
        ax.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
        ax.minorticks_off()
        ax.legend()
