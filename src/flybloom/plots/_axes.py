"""Base class of displays; matplotlib is imported when first needed."""

from __future__ import annotations

from typing import Any, Self

from flybloom.exceptions import require_extra


def require_pyplot(owner: str) -> Any:
    """Return matplotlib.pyplot, or raise ImportError with instructions."""
    require_extra("matplotlib", "plots", owner)
    from matplotlib import pyplot as plt  # noqa: PLC0415 - an extra, so only here

    return plt


def axes_for(owner: str, ax: Any) -> Any:
    """Return the axes given, or new ones."""
    pyplot = require_pyplot(owner)
    return ax if ax is not None else pyplot.subplots(layout="constrained")[1]


class Display:
    """Base class of displays."""

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on; None for a new figure.
        **options : dict
            Passed to matplotlib: `plot`, `errorbar`, `hist` or `imshow`.

        Returns
        -------
        display
            The display itself.
        """
        self.ax_ = axes_for(type(self).__name__, ax)
        self.figure_ = self.ax_.figure
        self._draw(self.ax_, options)
        return self

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        """Draw on axes."""
        raise NotImplementedError


def grid_of_axes(owner: str, n: int, ax: Any, n_columns: int = 5, size: tuple[float, float] = (1.8, 2.0)) -> list[Any]:
    """Return `n` axes: those given, or a new grid with `n_columns`, each of a size in inches."""
    pyplot = require_pyplot(owner)
    if ax is not None:
        axes = list(ax.flat) if hasattr(ax, "flat") else list(ax) if hasattr(ax, "__iter__") else [ax]
        if len(axes) < n:
            msg = f"The 'ax' parameter of {owner}.plot must hold at least {n} axes. Got {len(axes)} instead."
            raise ValueError(msg)
        return axes[:n]
    n_columns = min(n, n_columns)
    n_rows = -(-n // n_columns)
    _, grid = pyplot.subplots(
        n_rows, n_columns, figsize=(size[0] * n_columns, size[1] * n_rows), layout="constrained", squeeze=False
    )
    for unused in list(grid.flat)[n:]:
        unused.set_axis_off()
    return list(grid.flat)[:n]


def plain(value: Any) -> str:
    """Escape dollars in a label, which matplotlib would parse as a formula."""
    return str(value).replace("$", r"\$")
