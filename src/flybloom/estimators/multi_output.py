"""Ridge classification of several outputs: pairs of winners are counted once, labels in columns beside them."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from flybloom._internal.typing import Array, Features
from flybloom._internal.validation import check_label_outputs
from flybloom.core.counts.by_label import BINARY, LabelColumns
from flybloom.core.counts.pairs import PairsByLabel
from flybloom.core.model import Model
from flybloom.core.readout.temperature import USUAL, even_threshold, fitted_temperature
from flybloom.core.sketch import Sketch
from flybloom.estimators.counting import GIVEN
from flybloom.estimators.scores import probabilities
from flybloom.estimators.solved import (
    RIDGE_PARAMETERS,
    USUAL_TEMPERATURE,
    OutputsEstimator,
    as_given,
    output_scores,
)


class FlyRidgeMultiOutputClassifier(ClassifierMixin, OutputsEstimator):  # type: ignore[misc]
    """Classifier of several outputs: rows with any number of labels, or with one label of each of several kinds.

    `FlyRidgeClassifier` for many outputs at once. Which components win together in a row does not depend on its labels,
    so pairs of winners are counted once, however many outputs there are; each label adds one column of counts. Labels
    of a row are those whose score is above a threshold, which is chosen for each label by leaving rows out, exactly.

    Parameters
    ----------
    n_components : int, float or "auto", default="auto"
        How many components there are; see `FlyRidgeClassifier`.

    n_connections : int, float or "auto", default="auto"
        How many features each component sums; see `FlyRidgeClassifier`.

    n_winners : int, float or "auto", default="auto"
        How many components win in each row; see `FlyRidgeClassifier`.

    alpha : float or "gcv", default="gcv"
        How strongly weights are shrunk; see `FlyRidgeClassifier`. One penalty serves all outputs.

    signed : bool, default=True
        Whether each connection has a random sign.

    encoding : str, Encoding or Encoder, default="auto"
        What the hash sees of the columns; see `FlyRidgeClassifier`. A column weighs as much as it tells of the output
        that it tells most of, among the first 16.

    weight_unit : float or "auto", default="auto"
        The `sample_weight` that counts as one row; see `FlyRidgeClassifier`.

    random_state : int, RandomState instance or None, default=0
        Seed of the connections.

    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. No count depends on it.

    Attributes
    ----------
    classes_
    thresholds_
    temperatures_
    pair_counts_
    alpha_
    gcv_

    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`, with the number and the names of the features, ``n_features_in_`` and ``feature_names_in_``.

    See Also
    --------
    FlyRidgeClassifier : The same for one label a row.
    FlyRidgeRegressor : The same for numbers.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.metrics import f1_score
    >>> from flybloom import FlyRidgeMultiOutputClassifier
    >>> X, Y = make_multilabel_classification(1500, n_classes=5, random_state=0)
    >>> model = FlyRidgeMultiOutputClassifier().fit(X[:1000], Y[:1000])
    >>> bool(f1_score(Y[1000:], model.predict(X[1000:]), average="macro") > 0.7)
    True
    >>> never = FlyRidgeMultiOutputClassifier().fit(X[100:1000], Y[100:1000])
    >>> model.forget(X[:100], Y[:100])
    Forgotten('complete', steps=())
    >>> bool((model.predict(X) == never.predict(X)).all())
    True
    """

    _counts_type = PairsByLabel
    _calibrates = True
    _usual_calibration: ClassVar[dict[str, Any]] = {"thresholds": None, "temperatures": None}  # type: ignore[misc]
    _check_labels = staticmethod(check_label_outputs)
    _parameter_constraints = RIDGE_PARAMETERS

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]  # noqa: ARG002
        """Learn a block of rows in addition to those before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_outputs)
            Their labels. The classes of an output are those of the first rows, as many as fit into a sketch of 8192.
        classes : object, default=None
            Not used; classes follow from the rows. scikit-learn passes it.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 3 counts as three copies. For fractions, see `weight_unit`.

        Returns
        -------
        FlyRidgeMultiOutputClassifier
            The classifier itself.
        """
        return super().partial_fit(X, y, sample_weight)

    def predict(self, X: Any) -> Array:
        """Return the labels of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Zeros and ones after an indicator matrix, dense or sparse; otherwise the class of each output.
        """
        grid, scores, tuned = self._scored(X)
        chosen = []
        for own, place, threshold in zip(grid.classes, grid.slices, tuned["thresholds"], strict=True):
            of_output = scores[:, place]
            codes = of_output[:, 0] > threshold if len(own) == BINARY else of_output.argmax(axis=1)
            chosen.append(np.array(own)[codes.astype(np.intp)])
        return as_given(np.column_stack(chosen))

    def predict_proba(self, X: Any) -> Any:
        """Return probabilities.

        They are those of least log-loss. A label that `predict` gives may be less likely than not, if it is rare.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or list of ndarray of shape (n_samples, n_classes)
            After an indicator matrix, that of each label; otherwise those of the classes of each output, in a list
            where there are several.
        """
        grid, scores, tuned = self._scored(X)
        found = [
            probabilities(both_sides(scores[:, place]), temperature) if len(own) > 1 else np.ones((len(scores), 1))
            for own, place, temperature in zip(grid.classes, grid.slices, tuned["temperatures"], strict=True)
        ]
        if grid.is_indicator:
            return np.column_stack([own[:, 1] for own in found])
        return found if len(found) > 1 else found[0]

    def decision_function(self, X: Any) -> Any:
        """Return scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or list of ndarray
            After an indicator matrix, by how much the score of each label is above its threshold; otherwise the scores
            of the classes of each output; for one output as for other classifiers.
        """
        grid, scores, tuned = self._scored(X)
        if grid.is_indicator:
            return scores - tuned["thresholds"]
        found = [both_sides(scores[:, place]) for place in grid.slices]
        if len(found) > 1:
            return found
        return found[0] if found[0].shape[1] != BINARY else found[0][:, 1] - found[0][:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows of which every output is right.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : {array-like, sparse matrix} of shape (n_samples, n_outputs)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts.

        Returns
        -------
        float
            From 0 to 1.
        """
        predicted = self.predict(X)
        is_right = (check_label_outputs(y, len(predicted)) == predicted.reshape(len(predicted), -1)).all(axis=1)
        return float(accuracy_score(np.ones(len(is_right)), is_right, sample_weight=sample_weight))

    def leave_one_out_decision(self, X: Any, y: Any) -> Array:
        """Return the scores of learned rows, each as if it alone had not been learned; the encoding stays.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned.
        y : {array-like, sparse matrix} of shape (n_samples, n_outputs)
            The labels they were learned with.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            One column for each output of two classes, and for the others one for each class.
        """
        with self._leaving_out(X, y) as rows:
            return rows.own()

    @property
    def classes_(self) -> Any:
        """The classes of each output, sorted; a list of several, or the columns of an indicator matrix."""
        grid = self._handed_out("classes_").grid
        if grid.is_indicator:
            return np.arange(grid.n_outputs)
        found = [np.array(own) for own in grid.classes]
        return found if len(found) > 1 else found[0]

    @property
    def thresholds_(self) -> Array:
        """The score above which a row is given the second class of an output of two.

        For labels of an indicator matrix, that which as many of the rows left out exceed as have the label; a half for
        other outputs.
        """
        return np.array(self._calibration_of(self._current_model("thresholds_"))["thresholds"])

    @property
    def temperatures_(self) -> Array:
        """What scores of each output are divided by before the softmax: of least log-loss on rows left out."""
        return np.array(self._calibration_of(self._current_model("temperatures_"))["temperatures"])

    def __sklearn_tags__(self) -> Any:
        """Rows have several labels."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _current_model(self, name: str) -> Model:
        """Return what was learned, for an attribute."""
        self._handed_out(name)
        return self._learned()

    def _scored(self, X: Any) -> tuple[LabelColumns, Array, dict[str, Any]]:
        """Return the outputs, the scores of rows, and thresholds and temperatures."""
        with self._scoring(X) as (rows, learned):
            counts: Any = learned.counts
            scores = output_scores(rows, learned.hasher, self._solution(counts).read_out(), self.n_jobs)
            return counts.grid, scores, self._calibration_of(learned)

    def _calibration_of(self, learned: Model) -> dict[str, Any]:
        """Return thresholds and temperatures: given, or derived from the rows of the sketch."""
        tuned = self._tuned(learned)
        n_outputs, usual = learned.counts.grid.n_outputs, {"thresholds": USUAL, "temperatures": USUAL_TEMPERATURE}
        return {name: tuned[name] or [value] * n_outputs for name, value in usual.items()}

    def _calibrated_with(self, learned: Model, sketch: Sketch) -> dict[str, Any]:
        """Return even thresholds and temperatures of least log-loss, of rows that are left out one by one.

        Parameters
        ----------
        learned : Model
            What was learned from the rows.
        sketch : Sketch
            A sample of them.

        Returns
        -------
        dict
            One of each for each output.
        """
        counts: Any = learned.counts
        found = self._left_out_of(learned, sketch)
        if found is None:
            return dict(self._usual_calibration)
        (scores, truth), grid = found, counts.grid
        weights = sketch.sample(counts.unit.per_row).weights[: len(truth)]
        thresholds, temperatures = [], []
        for place in grid.slices:
            of_output, is_own = scores[:, place], truth[:, place]
            is_label = grid.is_indicator
            thresholds.append(even_threshold(of_output[:, 0], is_own[:, 0], weights) if is_label else USUAL)
            codes = both_sides(is_own).argmax(axis=1)
            temperatures.append(fitted_temperature(-both_sides(of_output), codes, weights))
        return {"thresholds": thresholds, "temperatures": temperatures}

    def _check_tuned(self, tuned: Any) -> None:
        """Refuse anything but thresholds and temperatures."""
        names = set(self._usual_calibration)
        is_right = isinstance(tuned, dict) and set(tuned) <= {GIVEN, *names} and tuned.get(GIVEN, True) is True
        for name in names & set(tuned if is_right else ()):
            values = tuned[name]
            is_list = isinstance(values, list) and all(type(value) is float and np.isfinite(value) for value in values)
            is_right &= values is None or (is_list and (name == "thresholds" or all(value > 0 for value in values)))
        if not is_right:
            msg = "its thresholds and temperatures are not numbers"
            raise ValueError(msg)

    def _truth(self, learned: Model, rows: Features, y: Any) -> Array:
        """Return zeros and ones for the labels of learned rows."""
        labels = check_label_outputs(y, rows.shape[0])
        return np.asarray(learned.counts.grid.whole(labels), np.float64)


def both_sides(scores: Array) -> Array:
    """Return scores of all classes of an output: a single column is that of the second of two."""
    return np.column_stack([1.0 - scores, scores]) if scores.shape[1] == 1 else scores
