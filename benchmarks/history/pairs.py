"""FlyRidgeClassifier: the same calls as of the classifier. Versions before 0.2.0 have none, and are left out."""

from __future__ import annotations

from sklearn.datasets import load_digits

import flybloom


class Pairs:
    """Default settings, on Digits."""

    rounds = 1
    repeat = (3, 5, 3.0)
    warmup_time = 0.0

    def setup(self) -> None:
        """Load the rows, fit a model, and compile."""
        if not hasattr(flybloom, "FlyRidgeClassifier"):
            raise NotImplementedError  # what asv takes for "not in this version"
        X, y = load_digits(return_X_y=True)
        self.X, self.y, self.X_test, self.y_test = X[:1200], y[:1200], X[1200:], y[1200:]
        self.unfitted = flybloom.FlyRidgeClassifier(random_state=0)
        self.model = flybloom.FlyRidgeClassifier(random_state=0).fit(self.X, self.y)
        self.model.predict(self.X_test)
        self.model.predict(self.X_test[:1])
        self.n_asked = 0

    def time_fit(self) -> None:
        """Learn all rows, and solve."""
        self.unfitted.fit(self.X, self.y).predict(self.X_test[:1])

    def time_predict(self) -> None:
        """Ask about all rows."""
        self.model.predict(self.X_test)

    def time_predict_one_row(self) -> None:
        """Ask about one row, another one in each call: the winners of the last one may be remembered."""
        self.n_asked = (self.n_asked + 1) % len(self.X_test)
        self.model.predict(self.X_test[self.n_asked : self.n_asked + 1])

    def track_accuracy(self) -> float:
        """Return the share of new rows that get the right class."""
        return float(self.model.score(self.X_test, self.y_test))


Pairs.track_accuracy.unit = "accuracy"
