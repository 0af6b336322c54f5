"""Display of hyperparameter searches."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from flybloom._internal.typing import Array
from flybloom.estimators.tuning.grids import NAMES
from flybloom.plots._axes import Display, plain


@dataclass(eq=False, repr=False)
class TuningDisplay(Display):
    """Heat map of the scores of a search over two of its parameters.

    It shows the best score over all other parameters for each pair of values, and marks the best of all.

    Parameters
    ----------
    scores : ndarray of shape (n_y, n_x)
        Best mean score for each pair of values; NaN if not tried.
    x_values : list
        Values of the parameter on the horizontal axis, ascending.
    y_values : list
        Values of the parameter on the vertical axis, ascending.
    x : str
        Name of the parameter on the horizontal axis.
    y : str
        Name of the parameter on the vertical axis.
    score_name : str, default="score"
        Label of the colours.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    im_ : matplotlib AxesImage
        The heat map.
    text_ : ndarray of shape (n_y, n_x)
        The numbers in the cells; None if not tried.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifierCV
    >>> from flybloom.plots import TuningDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> search = FlyBloomClassifierCV([512, 2048], n_winners=[16, 64], random_state=0).fit(X, y)
    >>> display = TuningDisplay.from_estimator(search, x="n_winners", y="n_components")
    >>> display.scores.shape
    (2, 2)
    """

    scores: Array
    _: KW_ONLY
    x_values: list[Any]
    y_values: list[Any]
    x: str
    y: str
    score_name: str = "score"

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, x: str = "n_winners", y: str = "n_components", ax: Any = None, **image_options: Any
    ) -> TuningDisplay:
        """Plot the scores of a fitted search.

        Parameters
        ----------
        estimator : FlyBloomClassifierCV
            The fitted search.
        x : str, default="n_winners"
            The parameter on the horizontal axis.
        y : str, default="n_components"
            The parameter on the vertical axis.
        ax : matplotlib Axes, default=None
            Axes to plot on; None for a new figure.
        **image_options : dict
            Passed to matplotlib's `imshow`.

        Returns
        -------
        TuningDisplay
            What was drawn.
        """
        check_is_fitted(estimator)
        scoring = estimator.scoring
        name = "accuracy" if scoring is None else scoring if isinstance(scoring, str) else "score"
        return cls.from_results(estimator.cv_results_, x=x, y=y, score_name=name, ax=ax, **image_options)

    @classmethod
    def from_results(
        cls,
        results: dict[str, Any],
        *,
        x: str = "n_winners",
        y: str = "n_components",
        score_name: str = "score",
        ax: Any = None,
        **image_options: Any,
    ) -> TuningDisplay:
        """Plot the scores in ``cv_results_``.

        Parameters
        ----------
        results : dict
            ``cv_results_`` of a search.
        x : str, default="n_winners"
            The parameter on the horizontal axis.
        y : str, default="n_components"
            The parameter on the vertical axis.
        score_name : str, default="score"
            Label of the colours.
        ax : matplotlib Axes, default=None
            Axes to plot on; None for a new figure.
        **image_options : dict
            Passed to matplotlib's `imshow`.

        Returns
        -------
        TuningDisplay
            What was drawn.
        """
        for axis, name in (("x", x), ("y", y)):
            if name not in NAMES:
                msg = (
                    f"The {axis!r} parameter of TuningDisplay must be one of {', '.join(NAMES)}. Got {name!r} instead."
                )
                raise ValueError(msg)
        x_of, y_of = ([setting[name] for setting in results["params"]] for name in (x, y))
        x_values, y_values = sorted(set(x_of), key=_order), sorted(set(y_of), key=_order)
        scores = np.full((len(y_values), len(x_values)), np.nan)
        for x_value, y_value, score in zip(x_of, y_of, results["mean_test_score"], strict=True):
            cell = y_values.index(y_value), x_values.index(x_value)
            scores[cell] = np.fmax(scores[cell], score)
        display = cls(scores, x_values=x_values, y_values=y_values, x=x, y=y, score_name=score_name)
        return display.plot(ax=ax, **image_options)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        """Draw on axes."""
        self.im_ = ax.imshow(self.scores, **{"origin": "lower", "aspect": "auto", **options})
        self.figure_.colorbar(self.im_, ax=ax, label=f"best mean {plain(self.score_name)}")
        ax.set(xlabel=self.x, ylabel=self.y)
        ax.set_xticks(range(len(self.x_values)), [plain(value) for value in self.x_values])
        ax.set_yticks(range(len(self.y_values)), [plain(value) for value in self.y_values])
        self.text_ = np.full(self.scores.shape, None, dtype=object)
        best = np.unravel_index(np.nanargmax(self.scores), self.scores.shape)
        for cell, score in np.ndenumerate(self.scores):
            if np.isfinite(score):
                is_light = self.im_.norm(score) > 0.5  # noqa: PLR2004
                self.text_[cell] = ax.text(
                    cell[1],
                    cell[0],
                    f"{score:.3f}",
                    ha="center",
                    va="center",
                    color="black" if is_light else "white",
                    fontweight="bold" if cell == best else "normal",
                )


def _order(value: Any) -> tuple[bool, Any]:
    """Sort numbers before strings."""
    return isinstance(value, str), value
