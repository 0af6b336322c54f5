"""Every kind of counts, for the laws that all of them obey. A new kind is proven by being listed here."""

from typing import Any, NamedTuple

import numpy as np

from flybloom import (
    FlyBloomClassifier,
    FlyBloomNovelty,
    FlyRidgeClassifier,
    FlyRidgeMultiOutputClassifier,
    FlyRidgeRegressor,
)
from flybloom.core.files.registry import estimator_of, known_kinds
from flybloom.estimators.access import reading_learned
from flybloom.estimators.counting import CountingEstimator
from toy_kind import HourModel


class Kind(NamedTuple):
    """How the laws make a model of a kind, and what they compare."""

    name: str
    estimator: Any
    settings: dict[str, Any]
    has_order: bool = False  # whether the order of rows matters, as it should

    def model(self, **settings):
        """An unfitted model with few components, so that there are ties and collisions."""
        sizes = {"n_components": 48, "n_winners": 6, "random_state": 3}
        if (
            self.estimator in (FlyRidgeRegressor, FlyRidgeMultiOutputClassifier) and "scaling" in settings
        ):  # it has no older words
            settings["encoding"] = settings.pop("scaling")
        return self.estimator(**{**sizes, **self.settings, **settings})

    def labels(self, y):
        """What the kind takes for labels: nothing where it needs none."""
        return {"y": y} if self.estimator._has_labels else {}


KINDS = [
    Kind("classes", FlyBloomClassifier, {}),
    Kind("classes read by Bayes", FlyBloomClassifier, {"readout": "bayes"}),
    Kind("novelty by filters", FlyBloomNovelty, {"readout": "filter"}),
    Kind("novelty by leverage", FlyBloomNovelty, {}),
    Kind("novelty that recovers", FlyBloomNovelty, {"forget_after": 24}, has_order=True),
    Kind("pairs", FlyRidgeClassifier, {}),
    Kind("pairs with ferns", FlyRidgeClassifier, {"encoding": "bins+passthrough+relevance+ferns"}),
    Kind("values", FlyRidgeClassifier, {"n_winners": 0, "n_components": "auto"}),
    Kind("pairs with targets", FlyRidgeRegressor, {"target_scale": 1.0}),
    Kind("pairs with labels", FlyRidgeMultiOutputClassifier, {}),
    Kind("hours", HourModel, {}),
]


def counting_kinds():
    """Every estimator that files know and that counts."""
    return {estimator_of(name) for name in known_kinds() if issubclass(estimator_of(name), CountingEstimator)}


def state_of(model):
    """All that is learned, as facts and arrays that can be compared bit for bit."""
    with reading_learned(model) as learned:
        facts, arrays = learned.counts.to_parts()
        return {"hash": learned.hasher.fields, **facts}, arrays, learned.counts.table.dtype


def assert_same_state(a, b):
    """Equal in every bit, types included."""
    (facts, arrays, dtype), (other_facts, other_arrays, other_dtype) = state_of(a), state_of(b)
    assert facts == other_facts
    assert dtype == other_dtype
    assert arrays.keys() == other_arrays.keys()
    for name, values in arrays.items():
        assert values.dtype == other_arrays[name].dtype
        np.testing.assert_array_equal(values, other_arrays[name])
