"""Display of counts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from flybloom.plots._axes import grid_of_axes, plain


@dataclass(eq=False, repr=False)
class CountsDisplay:
    """Counts of models as heat maps, stacked with the same colours.

    It is recommended to use `from_estimators` to create one.

    Parameters
    ----------
    counts : sequence of ndarray of shape (n_classes, n_components)
        Counts of each panel.
    titles : sequence of str
        Title of each panel.
    display_labels : array-like of shape (n_classes,), default=None
        Names of the classes; None for numbers.

    Attributes
    ----------
    ims_ : list of matplotlib AxesImage
        The panels.
    axes_ : list of matplotlib Axes
        The axes of the panels.
    figure_ : matplotlib Figure
        The figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.plots import CountsDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> whole = FlyBloomClassifier(1024, random_state=0).fit(X, y)
    >>> half = (whole - whole).partial_fit(X[::2], y[::2])
    >>> display = CountsDisplay.from_estimators({"half": half, "the other half": whole - half, "both": whole})
    >>> bool((display.counts[0] + display.counts[1] == display.counts[2]).all())
    True
    """

    counts: Any
    _: KW_ONLY
    titles: Any
    display_labels: Any = None

    @classmethod
    def from_estimators(
        cls, estimators: dict[str, Any], *, n_components: int = 80, ax: Any = None, **image_options: Any
    ) -> CountsDisplay:
        """Plot the counts of fitted classifiers with the same hash.

        Parameters
        ----------
        estimators : dict of FlyBloomClassifier
            The classifiers by title. Unknown classes have no counts.
        n_components : int, default=80
            Number of components to show: those with the most wins in total.
        ax : array of matplotlib Axes, default=None
            Axes to plot on, one for each; None for a new figure.
        **image_options : dict
            Passed to matplotlib's `imshow`.

        Returns
        -------
        CountsDisplay
            The display.
        """
        labels = np.unique(np.concatenate([one.classes_ for one in estimators.values()]))
        tables = []
        for one in estimators.values():
            table = np.zeros((len(labels), one.counts_.shape[1]), np.int64)
            table[np.searchsorted(labels, one.classes_)] = one.counts_
            tables.append(table)
        won = sum(table.sum(axis=0) for table in tables)
        shown = np.sort(np.argsort(-np.asarray(won), kind="stable")[:n_components])
        return cls([table[:, shown] for table in tables], titles=list(estimators), display_labels=labels).plot(
            ax=ax, **image_options
        )

    def plot(self, *, ax: Any = None, **image_options: Any) -> CountsDisplay:
        """Draw.

        Parameters
        ----------
        ax : array of matplotlib Axes, default=None
            Axes to plot on, one for each; None for a new figure.
        **image_options : dict
            Passed to matplotlib's `imshow`.

        Returns
        -------
        CountsDisplay
            The display itself.
        """
        counts = [np.asarray(table) for table in self.counts]
        n_classes = len(counts[0])
        labels = range(n_classes) if self.display_labels is None else self.display_labels
        self.axes_ = grid_of_axes("CountsDisplay", len(counts), ax, n_columns=1, size=(8.0, 0.5 + 0.14 * n_classes))
        self.figure_ = self.axes_[0].figure
        reach = max(int(table.max(initial=0)) for table in counts) or 1
        options = {"cmap": "Oranges", "vmin": 0, "vmax": reach, "aspect": "auto", **image_options}
        self.ims_ = []
        for axes, table, title in zip(self.axes_, counts, self.titles, strict=True):
            self.ims_.append(axes.imshow(table, **options))
            axes.set_title(plain(title), fontsize=10, loc="left")
            axes.set_yticks(range(n_classes), [plain(label) for label in labels], fontsize=7)
            axes.set_xticks([])
        self.axes_[-1].set_xlabel("component")
        self.figure_.colorbar(self.ims_[0], ax=self.axes_, label="how often it won", shrink=0.7)
        return self
