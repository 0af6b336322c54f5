"""A toy kind of counts, as somebody else would add it: how often each component won in each hour of the day."""

from typing import Any, Self

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core.algebra import Forgotten
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.files.registry import register
from flybloom.estimators.counting import CountingEstimator


class HourCounts(ClassCounts):
    """Counts for the hours 0 to 23, all of which are known from the start and never forgotten."""

    kind = "hours"
    drops_empty = False

    @classmethod
    def empty(cls, n_components: int, n_winners: int) -> Self:
        """Return counts of no rows."""
        return cls(np.arange(24), np.zeros(24, np.int64), np.zeros((n_components, 24), np.int32), n_winners)


@register
class HourModel(CountingEstimator):
    """Tells at which hour rows like these were usually met."""

    _counts_type = HourCounts

    def __init__(self, n_components=48, *, n_connections="auto", n_winners=6, signed=True, encoding="none",
                 random_state=None, n_jobs=None):  # fmt: skip
        self.n_components, self.n_connections, self.n_winners = n_components, n_connections, n_winners
        self.signed, self.encoding, self.random_state, self.n_jobs = signed, encoding, random_state, n_jobs

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count rows that were met at the hours `y`."""
        self._learn_rows(X, y, sample_weight)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Forgotten:
        """Take them away again."""
        return self._forget(X, y, sample_weight)

    def predict(self, X: Any) -> Array:
        """Return the hour in which the winners of each row won most often."""
        with self._scoring(X) as (rows, learned):
            return learned.counts.table[learned.hasher.winners(rows)].sum(axis=1).argmax(axis=1)
