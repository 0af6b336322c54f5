"""Display of stream evaluations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flybloom.plots._axes import Display, plain
from flybloom.streams import StreamScores


@dataclass(eq=False, repr=False)
class StreamDisplay(Display):
    """Rolling accuracies of models along a stream, with two baselines.

    Parameters
    ----------
    scores : dict of StreamScores
        What `flybloom.streams.test_then_train` returned, by the name of each model, on the same stream.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.
    lines_ : list of matplotlib Line2D
        Lines of the models, then of the two baselines.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.streams import test_then_train
    >>> from flybloom.plots import StreamDisplay
    >>> scores = test_then_train(FlyBloomClassifier(random_state=0), [load_digits(return_X_y=True)], block_rows=64)
    >>> len(StreamDisplay.from_scores({"classes": scores}).lines_)
    3
    """

    scores: dict[str, StreamScores]

    @classmethod
    def from_scores(
        cls, scores: StreamScores | dict[str, StreamScores], *, ax: Any = None, **line_options: Any
    ) -> StreamDisplay:
        """Plot results of test-then-train.

        Parameters
        ----------
        scores : StreamScores or dict of StreamScores
            Result of one model, or of several by name.
        ax : matplotlib Axes, default=None
            Axes to plot on; None for a new figure.
        **line_options : dict
            Passed to matplotlib's `plot` for the lines of models.

        Returns
        -------
        StreamDisplay
            The display.
        """
        return cls(scores if isinstance(scores, dict) else {"model": scores}).plot(ax=ax, **line_options)

    def _draw(self, ax: Any, options: dict[str, Any]) -> None:
        """Draw on axes."""
        if not self.scores:
            msg = "StreamDisplay needs the scores of at least one model. Got none instead. Call test_then_train first."
            raise ValueError(msg)
        options = {"linewidth": 1.2, **options}
        self.lines_ = [
            ax.plot(one.rows, one.rolling_accuracy, label=f"{plain(name)}, {one.accuracy:.3f}", **options)[0]
            for name, one in self.scores.items()
        ]
        first = next(iter(self.scores.values()))
        for name, curve, accuracy, dashes in (
            ("no change", first.rolling_no_change, first.no_change_accuracy, "--"),
            ("majority", first.rolling_majority, first.majority_accuracy, ":"),
        ):
            label = f"{name}, {accuracy:.3f}"
            self.lines_ += ax.plot(first.rows, curve, color="0.5", linewidth=1, linestyle=dashes, label=label)
        ax.set(xlabel="rows", ylabel="rolling accuracy")
        ax.legend()
