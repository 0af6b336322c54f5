"""Display of class similarity."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from flybloom.estimators.classes import class_similarity
from flybloom.plots._axes import axes_for, plain

MAX_NUMBERS = 20  # classes up to which each cell shows its number


@dataclass(eq=False, repr=False)
class ClassSimilarityDisplay:
    """Heat map or dendrogram of the similarity between classes.

    It is recommended to use `from_estimator` to create one.

    Parameters
    ----------
    similarity : ndarray of shape (n_classes, n_classes)
        Result of ``class_similarity()``.
    display_labels : array-like of shape (n_classes,), default=None
        Names of the classes; None for numbers.

    Attributes
    ----------
    im_ : matplotlib AxesImage
        The heat map, if one was drawn.
    text_ : ndarray of shape (n_classes, n_classes) of matplotlib Text, or None
        The numbers in the cells.
    dendrogram_ : dict
        Result of scipy.cluster.hierarchy.dendrogram, if drawn.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.plots import ClassSimilarityDisplay
    >>> model = FlyBloomClassifier(random_state=0).fit(*load_digits(return_X_y=True))
    >>> display = ClassSimilarityDisplay.from_estimator(model, similarity="familiarity")
    >>> display.similarity.shape
    (10, 10)
    >>> _ = display.plot(kind="dendrogram")
    """

    similarity: Any
    _: KW_ONLY
    display_labels: Any = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        similarity: str = "filters",
        kind: str = "heatmap",
        display_labels: Any = None,
        ax: Any = None,
    ) -> ClassSimilarityDisplay:
        """Plot the class similarity of a fitted classifier.

        Parameters
        ----------
        estimator : FlyBloomClassifier
            A fitted classifier.
        similarity : {"filters", "familiarity"}, default="filters"
            What is compared, see `flybloom.report.class_similarity`.
        kind : {"heatmap", "dendrogram"}, default="heatmap"
            Type of plot.
        display_labels : array-like of shape (n_classes,), default=None
            Names of the classes; None for ``classes_``.
        ax : matplotlib Axes, default=None
            Axes to plot on; None for a new figure.

        Returns
        -------
        ClassSimilarityDisplay
            The display.
        """
        labels = estimator.classes_ if display_labels is None else display_labels
        return cls(class_similarity(estimator, kind=similarity), display_labels=labels).plot(kind=kind, ax=ax)

    def plot(
        self, *, kind: str = "heatmap", ax: Any = None, cmap: str = "viridis", include_values: bool | None = None,
        values_format: str = ".2f", colorbar: bool = True,
    ) -> ClassSimilarityDisplay:  # fmt: skip
        """Draw.

        Parameters
        ----------
        kind : {"heatmap", "dendrogram"}, default="heatmap"
            A heat map whose colours span the off-diagonal values, or a dendrogram (average linkage) of one minus the
            similarity.
        ax : matplotlib Axes, default=None
            Axes to plot on; None for a new figure.
        cmap : str, default="viridis"
            Colours of the heat map.
        include_values : bool, default=None
            Whether cells show their numbers; None for up to 20 classes.
        values_format : str, default=".2f"
            Format of the numbers.
        colorbar : bool, default=True
            Whether to add a colour bar.

        Returns
        -------
        ClassSimilarityDisplay
            The display itself.
        """
        if kind not in {"heatmap", "dendrogram"}:
            msg = (
                "The 'kind' parameter of ClassSimilarityDisplay.plot must be 'heatmap' or 'dendrogram'. "
                f"Got {kind!r} instead."
            )
            raise ValueError(msg)
        self.ax_ = axes_for("ClassSimilarityDisplay", ax)
        self.figure_ = self.ax_.figure
        similarity = np.asarray(self.similarity)
        labels = range(len(similarity)) if self.display_labels is None else self.display_labels
        names = [plain(label) for label in labels]
        if kind == "dendrogram":
            self._draw_tree(similarity, names)
        else:
            shown = len(names) <= MAX_NUMBERS if include_values is None else include_values
            self._draw_map(similarity, names, cmap, values_format if shown else None, colorbar)
        return self

    def _draw_map(
        self, similarity: np.ndarray[Any, Any], names: list[str], cmap: str, values_format: str | None, colorbar: bool
    ) -> None:
        """Plot the heat map without its diagonal."""
        n = len(names)
        shown = np.where(np.eye(n, dtype=bool), np.nan, similarity)
        self.im_ = self.ax_.imshow(shown, cmap=cmap)
        self.text_ = None
        if values_format is not None:
            middle = (np.nanmin(shown) + np.nanmax(shown)) / 2 if n > 1 else 0
            self.text_ = np.empty((n, n), object)
            for i, j in np.ndindex(n, n):
                if i != j:
                    colour = self.im_.cmap(1.0 if similarity[i, j] < middle else 0.0)
                    text = format(similarity[i, j], values_format)
                    self.text_[i, j] = self.ax_.text(j, i, text, ha="center", va="center", color=colour, fontsize=8)
        if colorbar:
            self.figure_.colorbar(self.im_, ax=self.ax_, label="similarity")
        turned = max(len(name) for name in names) > 3  # noqa: PLR2004
        self.ax_.set_xticks(range(n), names, rotation=90 if turned else 0)
        self.ax_.set_yticks(range(n), names)
        self.ax_.set(xlabel="class", ylabel="class")

    def _draw_tree(self, similarity: np.ndarray[Any, Any], names: list[str]) -> None:
        """Plot the dendrogram."""
        from scipy.cluster import hierarchy  # noqa: PLC0415  # slow to import
        from scipy.spatial.distance import squareform  # noqa: PLC0415

        links = hierarchy.linkage(squareform(1 - similarity, checks=False), method="average")
        self.dendrogram_ = hierarchy.dendrogram(links, labels=names, ax=self.ax_, color_threshold=0)
        self.ax_.set(xlabel="class", ylabel="1 - similarity")
        self.ax_.spines[["top", "right"]].set_visible(False)
