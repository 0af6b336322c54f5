"""Base class of stream estimators that delegate predictions to an inner model."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from flybloom._internal.deprecated import OldNames, Renamed
from flybloom._internal.typing import Array
from flybloom.core.counts.shared import SharedOnDemand
from flybloom.core.files import model_file
from flybloom.core.files.origin_file import rows_from_parts, rows_to_parts
from flybloom.core.model import Model
from flybloom.core.sketch import Block, joined
from flybloom.estimators.access import learn_rows, reading_learned
from flybloom.estimators.base import missing_attribute, not_fitted
from flybloom.estimators.counting import novelty_rate
from flybloom.estimators.learned_page import ShowsInside
from flybloom.estimators.scores import FilterScores, LinearScores

Method = TypeVar("Method", bound=Callable[..., Any])

EARLY, OLD = "early", "held"  # how the arrays of first rows begin
NOT_PICKLED = {"_guard", "_last"}

FIRST_ROWS = 400
"""Rows that fix how all others are hashed. Until they have come, no row is forgotten."""


class Early(NamedTuple):
    """The first rows of a stream, kept until the hash is fixed."""

    blocks: tuple[Block, ...] = ()
    times: Array = np.zeros(0)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(len(block.weights) for block in self.blocks)

    def with_more(self, block: Block, times: Array) -> Early:
        """Return these rows with more appended."""
        return Early((*self.blocks, block.copied()), np.concatenate([self.times, times]))

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return facts for JSON, and arrays."""
        if not self.blocks:
            return {}, {}
        facts, arrays = rows_to_parts(joined(list(self.blocks)), EARLY)
        return {EARLY: facts}, {**arrays, f"{EARLY}_times": self.times}

    @staticmethod
    def from_parts(facts: dict[str, Any], arrays: dict[str, Array], learned: Model) -> Early:
        """Return the rows of a file; ValueError if its model has not learned them."""
        inside: Any = facts.get("inside")
        held = inside.get(OLD) if isinstance(inside, dict) else None  # until format 5, the model held them
        own, prefix = (facts.get(EARLY), EARLY) if held is None else (held, OLD)
        times = arrays.get(f"{EARLY}_times", np.zeros(0))
        block = None
        if isinstance(own, dict):
            block = rows_from_parts(own, arrays, learned.hasher.encoder.n_features, prefix)
        if block is None or int(block.weights.sum()) != learned.n_rows or times.size not in (0, len(block.weights)):
            msg = "it does not hold the first rows, or not when they came"
            raise ValueError(msg)
        return Early((block,), times)


class Following(NamedTuple):
    """A model, and the rows that it may have to forget; None until the hash is fixed."""

    model: Any
    memory: Any = None  # of the rows since
    early: Early = Early()  # the rows until then

    def copied(self) -> Following:
        """Return the same in arrays of its own."""
        memory = None if self.memory is None else self.memory.copied()
        return self._replace(model=copy(self.model), memory=memory)


def _is_early(learned: Model, n_rows: int) -> bool:
    """Return whether there are too few rows to fix the hash."""
    origin = learned.origin
    if origin is None or not origin.is_whole or n_rows >= FIRST_ROWS:
        return False
    return origin.recipe.needs_rows(is_table=learned.hasher.encoder.kinds is not None)


def _of_model(method: Method) -> Method:
    """Return a method that the model in use answers, with the same documentation; it exists if that model has it."""
    name = method.__name__

    @wraps(method)
    def answer(self: StreamFollower, *arguments: Any, **options: Any) -> Any:
        return getattr(self._fitted(), name)(*arguments, **options)

    answering: Method = available_if(lambda self: hasattr(self.model, name))(answer)
    return answering


class StreamFollower(ShowsInside, OldNames, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Delegates predictions to an inner model, which a subclass trains and selects."""

    _old_attributes: ClassVar[Renamed] = {
        "novel_winners": ("flybloom.streams.novelty_rate(window, X)", novelty_rate),
    }
    shown_inside = "model_"
    model: Any
    _guard = SharedOnDemand[None]()  # one learner at a time; who looks never sees half a row
    _following: Following

    def _new_model(self) -> Any:
        """Return a new model without rows."""
        return clone(self.model)

    def _begin(self, model: Any, block: Block, times: Array) -> Following:
        """Return the state after a model has learned these rows, which fix the hash."""
        raise NotImplementedError

    def _warmed(
        self, X: Any, y: Any, sample_weight: Any, came: Callable[[int, Array], Array] = lambda *_: np.zeros(0)
    ) -> Following:
        """Return the state after the first rows, which may be too few to fix the hash.

        A function returns when the rows came, given their number and when those before did.
        """
        following = self.__dict__.get("_following") or Following(self._new_model())
        model, early = copy(following.model), following.early
        block = learn_rows(model, X, y, sample_weight)
        early = early.with_more(block, came(len(block.weights), early.times))
        with reading_learned(model) as learned:
            if _is_early(learned, early.n_rows):
                return Following(model, None, early)
        return self._begin(model, joined(list(early.blocks)), early.times)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle or copy."""
        with self._guard.learning:
            state = {name: value for name, value in super().__getstate__().items() if name not in NOT_PICKLED}
            return {**state, "_following": self._following.copied()} if "_following" in state else state

    predict = _of_model(LinearScores.predict)
    predict_proba = _of_model(LinearScores.predict_proba)
    decision_function = _of_model(LinearScores.decision_function)
    novelty = _of_model(FilterScores.novelty)
    score = _of_model(ClassifierMixin.score)

    @property
    def model_(self) -> Any:
        """The fitted model; do not change it."""
        return self._answering("model_")

    @property
    def classes_(self) -> Array:
        """The labels of the window, sorted."""
        return np.asarray(self._answering("classes_").classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of features seen during fit."""
        return int(self._answering("n_features_in_").n_features_in_)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save model and window to a file for `flybloom.load`.

        Parameters
        ----------
        path : str or path-like
            Path of the file. An existing file is replaced.
        """
        model_file.save(self, path)

    def __sklearn_tags__(self) -> Any:
        """Accept the input that the model accepts."""
        return get_tags(self.model)

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted if the inner model is."""
        return self._answers_now() is not None

    def _fitted(self) -> Any:
        """Return the model in use."""
        model = self._answers_now()
        if model is None:
            raise not_fitted(self.model)
        return model

    def _answering(self, name: str) -> Any:
        """Return the model in use for an attribute; AttributeError before the first rows."""
        model = self._answers_now()
        if model is None:
            raise missing_attribute(self, name)
        return model

    def _answers_now(self) -> Any:
        """Return the model in use, or None before the first rows."""
        raise NotImplementedError
