"""A detector that only scores: how to hash, and weights of components or of pairs of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

from flybloom._internal.validation import check_rows
from flybloom.core.files.model_file import Parts
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.novelty_forms import NoveltyReadout
from flybloom.estimators.base import HASH_PARAMETERS
from flybloom.estimators.fixed import FixedEstimator
from flybloom.estimators.novelty_scores import NoveltyReading, NoveltyScores


class FrozenNovelty(NoveltyScores, FixedEstimator):
    """What `freeze` of a detector returns: the same scores and labels, from the weights alone.

    It has no counts, so it cannot learn, merge or forget. Use it for deployment.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads. None means 1, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`; outliers score less.

    n_components_, n_connections_, n_winners_, signed_, seed_, center_, scale_, connections_, signs_
        As for `FlyHash`.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X in fit had string column names.

    See Also
    --------
    FlyBloomNovelty : The detector that it comes from.
    FrozenClassifier : The same for labels.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom import FlyBloomNovelty
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = FlyBloomNovelty(random_state=0).fit(X)
    >>> bool((model.freeze().score_samples(X) == model.score_samples(X)).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"n_jobs": HASH_PARAMETERS["n_jobs"]}

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def with_readout(self, hasher: Hasher, frozen: NoveltyReadout) -> Self:
        """Score with these, and return the detector itself.

        Parameters
        ----------
        hasher : Hasher
            The hasher.
        frozen : NoveltyReadout
            The weights, and the threshold.

        Returns
        -------
        FrozenNovelty
            The detector itself.
        """
        self._fitted_hasher, self._frozen, self.offset_ = hasher, frozen, frozen.offset
        return self

    @property
    def frozen_readout(self) -> NoveltyReadout:
        """The weights, and the threshold."""
        self._require_hasher()
        return self._frozen

    def _to_parts(self) -> Parts:
        """Return the state that files store."""
        return Parts(self._require_hasher(), *self._frozen.to_parts())

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """Restore the state from a file, and return the detector; ValueError if it is invalid."""
        if hasher is None:
            msg = "it does not say how it hashes"
            raise ValueError(msg)
        return self.with_readout(hasher, NoveltyReadout.from_parts(hasher.n_components, facts, arrays))

    @contextmanager
    def _reading_novelty(self, X: Any) -> Iterator[NoveltyReading]:
        """Yield validated rows with the current novelty read-out."""
        hasher = self._require_hasher()
        rows = check_rows(X, type(self).__name__, hasher.encoder)
        yield NoveltyReading(rows, hasher, self._frozen.form, lambda: self.offset_)
