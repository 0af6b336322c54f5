"""FlyBloomClassifierCV: the time of a search, and the accuracy it finds."""

from __future__ import annotations

from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifierCV


class Search:
    """The default grid without its largest size, on Digits."""

    rounds = 1
    repeat = (2, 3, 10.0)
    warmup_time = 0.0

    def setup(self) -> None:
        """Load the rows, and compile."""
        self.X, self.y = load_digits(return_X_y=True)
        self.search = FlyBloomClassifierCV([2048, 8192], random_state=0).fit(self.X, self.y)

    def time_leave_one_out(self) -> None:
        """Search."""
        self.search.fit(self.X, self.y)

    def track_best_accuracy(self) -> float:
        """Return the best leave-one-out accuracy."""
        return float(self.search.best_score_)


Search.track_best_accuracy.unit = "accuracy"
