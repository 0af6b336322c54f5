"""The classifier: times of all a user calls, peak memory, and the accuracy that a speed-up must not cost."""

from __future__ import annotations

import numpy as np

from flybloom import FlyBloomClassifier

CLASSES = 10


def clusters(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of ten classes of three clusters each, so wide that they overlap, whatever the number of features."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((3 * CLASSES, n_features))
    cluster = rng.integers(0, 3 * CLASSES, n_rows)
    noise = 1.2 * np.cbrt(n_features / 20) * rng.standard_normal((n_rows, n_features))
    return (centres[cluster] + noise).astype(np.float32), cluster % CLASSES


class Classifier:
    """On few and on many features, as the version has it, and with columns standardised, which all versions know."""

    params = ([20, 784], ["default", "standard"])
    param_names = ("features", "columns")
    n_rows = 5000
    rounds = 1
    repeat = (3, 7, 2.0)
    warmup_time = 0.1

    def setup(self, n_features: int, columns: str) -> None:
        """Make the rows and a fitted model; everything is compiled after that."""
        settings = {} if columns == "default" else {"scaling": columns}
        self.X, self.y = clusters(2 * self.n_rows, n_features)
        self.X_test, self.y_test = self.X[self.n_rows :], self.y[self.n_rows :]
        self.X, self.y = self.X[: self.n_rows], self.y[: self.n_rows]
        self.unfitted = FlyBloomClassifier(**settings, random_state=0)
        self.model = FlyBloomClassifier(**settings, random_state=0).fit(self.X, self.y)
        self.model.predict(self.X_test[:64])
        self.model.predict(self.X_test[:1])
        self.n_asked = 0

    def next_row(self) -> slice:
        """Return where the next row is."""
        self.n_asked += 1
        return slice(self.n_asked % self.n_rows, self.n_asked % self.n_rows + 1)

    def time_fit(self, *_: object) -> None:
        """Learn all rows."""
        self.unfitted.fit(self.X, self.y)

    def time_partial_fit_64_rows(self, *_: object) -> None:
        """Learn a small block."""
        self.model.partial_fit(self.X_test[:64], self.y_test[:64])

    def time_partial_fit_one_row(self, *_: object) -> None:
        """Learn one row, another one in each call: the winners of the last one may be remembered."""
        row = self.next_row()
        self.model.partial_fit(self.X_test[row], self.y_test[row])

    def time_forget_64_rows(self, *_: object) -> None:
        """Forget a small block and learn it again, so that no call finds fewer rows than the one before."""
        self.model.forget(self.X[:64], self.y[:64])
        self.model.partial_fit(self.X[:64], self.y[:64])

    def time_predict(self, *_: object) -> None:
        """Ask about all rows."""
        self.model.predict(self.X_test)

    def time_predict_one_row(self, *_: object) -> None:
        """Ask about one row, another one in each call."""
        self.model.predict(self.X_test[self.next_row()])

    def peakmem_fit_and_predict(self, *_: object) -> None:
        """Learn and ask."""
        self.unfitted.fit(self.X, self.y).predict(self.X_test)

    def track_accuracy(self, *_: object) -> float:
        """Return the share of new rows that get the right class."""
        return float(self.model.score(self.X_test, self.y_test))

    def track_counts_bytes(self, *_: object) -> int:
        """Return what the model holds."""
        return int(self.model.counts_.nbytes)


Classifier.track_accuracy.unit = "accuracy"
Classifier.track_counts_bytes.unit = "bytes"
