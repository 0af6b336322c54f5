"""Ridge regression of numbers from pair counts."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import RegressorMixin

from flybloom._internal.sklearn_compat import Interval, StrOptions
from flybloom._internal.typing import Array, Features, Size, WantedUnit
from flybloom._internal.validation import check_targets
from flybloom.core.counts.pairs import PairsByTarget
from flybloom.core.counts.target_grid import STEPS
from flybloom.core.model import Model
from flybloom.estimators.base import read_only
from flybloom.estimators.frozen import FrozenRegressor
from flybloom.estimators.solved import RIDGE_PARAMETERS, OutputsEstimator, as_given, output_scores, targets_of


class FlyRidgeRegressor(RegressorMixin, OutputsEstimator):  # type: ignore[misc]
    """Ridge regression on hashes from pair counts and sums of targets.

    The regression counterpart of `FlyRidgeClassifier`. Each row is hashed (see `FlyHash`). It counts how often two
    components won together and, for each component, sums the targets of the rows in which it won. Targets are rounded
    to about a millionth of their spread, so all sums are exact. The weights of ridge regression on the hashes of all
    rows follow from these sums.

    Memory is constant, and any order of rows, blocks and threads gives the same model, bit for bit. Models can be
    merged and rows forgotten exactly. Use it for tables that are updated; trees are better if targets follow from exact
    values of single columns.

    Parameters
    ----------
    n_components : int, float or "auto", default="auto"
        Number of components; see `FlyRidgeClassifier`.

    n_connections : int, float or "auto", default="auto"
        Number of features that each component sums; see `FlyRidgeClassifier`.

    n_winners : int, float or "auto", default="auto"
        Number of winning components per row; see `FlyRidgeClassifier`.

    alpha : float or "gcv", default="gcv"
        Ridge penalty, as a multiple of the mean eigenvalue of the pair counts. "gcv" chooses it by generalised
        cross-validation from the counts. It may be changed after fit.

    signed : bool, default=True
        Whether connections have random signs.

    encoding : str, Encoding or Encoder, default="auto"
        How columns are transformed before hashing; see `FlyRidgeClassifier`. Octiles of the targets are used in place
        of labels.

    weight_unit : float or "auto", default="auto"
        The `sample_weight` that counts as one row; see `FlyRidgeClassifier`.

    target_scale : float or "auto", default="auto"
        Spread of the targets, which are rounded to about a millionth of it. If "auto", it is estimated from a sample of
        the first rows. Models can be added if they have the same scale.

    random_state : int, RandomState instance or None, default=0
        Seed of the connections. Models with the same seed can be added, and are the same on every machine. None draws a
        new seed for each fit.

    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. Counts do not depend on it.

    Attributes
    ----------
    coef_
    intercept_
    pair_counts_
    target_steps_
    alpha_
    gcv_

    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`, with the number and the names of the features, ``n_features_in_`` and ``feature_names_in_``.

    See Also
    --------
    FlyRidgeClassifier : The same for labels.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from flybloom import FlyRidgeRegressor
    >>> X, y = make_friedman1(1200, noise=0.5, random_state=0)
    >>> model = FlyRidgeRegressor(random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    >>> rest = model.like().partial_fit(X[1000:], y[1000:])
    >>> (model + rest).n_rows_
    1200
    """

    _counts_type = PairsByTarget
    _check_labels = staticmethod(check_targets)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RIDGE_PARAMETERS,
        "target_scale": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
    }

    def __init__(
        self,
        n_components: Size = "auto",
        *,
        n_connections: Size = "auto",
        n_winners: Size = "auto",
        alpha: float | str = "gcv",
        signed: bool = True,
        encoding: Any = "auto",
        weight_unit: WantedUnit = "auto",
        target_scale: float | Literal["auto"] = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_components, n_connections=n_connections, n_winners=n_winners, alpha=alpha, signed=signed,
            encoding=encoding, weight_unit=weight_unit, random_state=random_state, n_jobs=n_jobs,
        )  # fmt: skip
        self.target_scale = target_scale

    def predict(self, X: Any) -> Array:
        """Predict the targets of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The targets; one-dimensional for a single output.
        """
        with self._scoring(X) as (rows, learned):
            counts: Any = learned.counts
            scores = output_scores(rows, learned.hasher, self._solution(counts).read_out(), self.n_jobs)
            return as_given(targets_of(rows, learned.hasher, counts.grid, scores))

    def leave_one_out_predict(self, X: Any, y: Any) -> Array:
        """Return leave-one-out predictions of learned rows.

        They equal those of a model fitted to the other rows with the same penalty and encoding, to 1e-9 of the spread
        of the targets for an alpha of at least 1e-5.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets they were learned with.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.metrics import r2_score
        >>> from flybloom import FlyRidgeRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = FlyRidgeRegressor(random_state=0).fit(X, y)
        >>> bool(r2_score(y, model.leave_one_out_predict(X, y)) < model.score(X, y))
        True
        """
        with self._leaving_out(X, y) as found:
            learned = found.learned
            return as_given(targets_of(found.rows, learned.hasher, learned.counts.grid, found.own()))

    def freeze(self) -> FrozenRegressor:
        """Return a small regressor with the same predictions that cannot learn.

        Returns
        -------
        FrozenRegressor
            Hasher and weights. Its file is 20 to 100 times smaller.
        """
        self._require_hasher()
        with self._reading_learned() as learned:
            return FrozenRegressor(self.n_jobs).with_readout(learned.hasher, self._frozen_outputs(learned.counts))

    def _truth(self, learned: Model, rows: Features, y: Any) -> Array:
        """Return the targets of learned rows in steps."""
        targets, encoder = check_targets(y, rows.shape[0]), learned.hasher.encoder
        return np.asarray(learned.counts.labels_of(targets, lambda some: encoder.columns_apart(rows[some])) / STEPS)

    @property
    def _counts_settings(self) -> dict[str, Any]:  # type: ignore[override]
        """Further settings of the counts."""
        return {"scale": None if self.target_scale == "auto" else float(self.target_scale)}

    @property
    def coef_(self) -> Array:
        """Weights of the components, of shape ``(n_components_,)`` or ``(n_outputs, n_components_)``."""
        ridge = self._current()
        coef = ridge.weights.T * ridge.unit * np.array(self._handed_out("coef_").grid.scales)[:, None]
        return np.asarray(coef[0] if len(coef) == 1 else coef)

    @property
    def intercept_(self) -> Any:
        """Intercept of each output."""
        intercept = self._handed_out("intercept_").grid.targets(self._current().intercept)
        return float(intercept[0]) if len(intercept) == 1 else intercept

    @property
    def target_steps_(self) -> Array:
        """Steps to which targets are rounded, powers of two."""
        return read_only(np.array(self._handed_out("target_steps_").grid.scales) / STEPS)
