"""Differentially private releases and their ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from flybloom._internal.deprecated import Renamed
from flybloom._internal.typing import Array
from flybloom._internal.validation import check_labels
from flybloom.core.counts.columns import align_columns, unite, unknown_among
from flybloom.core.encoding.columns import BiasColumns
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.model import Model
from flybloom.estimators.access import reading_learned
from flybloom.estimators.released import ReleasedClassifier
from flybloom.exceptions import PrivacyError
from flybloom.privacy.budget import NO_RELEASE, Ledger
from flybloom.privacy.mechanisms import Request, noisy

FITTED_TO_DATA = ("classes", "encoding")
KEPT = "released"


class Releasing:
    """Mixin for differentially private releases of counts by class.

    The ledger of releases is part of the model and of its file.
    """

    _old_attributes: ClassVar[Renamed] = {
        "privacy_spent": (
            "flybloom.estimators.releasing.privacy_spent(model)",
            lambda self, delta=0.0: privacy_spent(self, delta),
        )
    }
    encoding: Any

    def release(
        self,
        epsilon: float,
        *,
        delta: float = 0.0,
        mechanism: str = "auto",
        n_kept: int | None = None,
        classes: Any = None,
        public: Sequence[str] = (),
        max_rows: int = 1,
        limit: tuple[float, float] | None = None,
        random_state: Any = None,
    ) -> ReleasedClassifier:
        """Return a differentially private model with noisy counts, which may be published.

        Neighbouring data sets differ by the rows of one person. The guarantee covers the counts. Labels and encoding
        must be known beforehand or declared `public`; see docs/privacy.md. The temperature of the release is 0.1.
        Models of windows are refused, because a new row changes which rows stay.

        Parameters
        ----------
        epsilon : float
            Privacy loss: probabilities change by a factor of at most ``exp(epsilon)``.
        delta : float, default=0
            Probability with which the bound may fail; use much less than one over the number of rows.
        mechanism : {"auto", "laplace", "gaussian", "top"}, default="auto"
            The mechanism. "laplace" (without delta) and "gaussian" (with delta) add noise to all counts; "top"
            publishes the `n_kept` largest counts and sets the others to 0. "auto" chooses one of the first two.
        n_kept : int or None, default=None
            Number of counts that "top" publishes.
        classes : array-like or None, default=None
            The labels known beforehand, possibly including some without rows.
        public : sequence of {"classes", "encoding"}, default=()
            What may be published although it depends on the rows.
        max_rows : int, default=1
            Maximum number of rows of one person, weights included.
        limit : tuple of (epsilon, delta) or None, default=None
            Limit for all releases of this model together. It is stored and can only be lowered.
        random_state : int, Generator or None, default=None
            None uses the randomness of the operating system. A seed makes the noise reproducible and removable; use it
            for tests only.

        Returns
        -------
        ReleasedClassifier
            A model that predicts and can be added to releases of other rows.

        Raises
        ------
        PrivacyError
            If the release would not be private or would exceed the limit. Nothing is spent then.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from flybloom import FlyBloomClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = FlyBloomClassifier(512, n_winners=32, encoding="none", random_state=0).fit(X, y)
        >>> released = model.release(8.0, delta=1e-5, classes=range(10), random_state=0)
        >>> bool(released.score(X, y) > 0.6)
        True
        """
        request = Request(epsilon, delta, mechanism, 0, _checked_rows(max_rows), 0 if n_kept is None else n_kept)
        generator = None if random_state is None else np.random.default_rng(random_state)
        _check_public(public)
        shared = self._shared  # type: ignore[attr-defined]
        with shared.learning:
            learned: Model = self._learned()  # type: ignore[attr-defined]
            ledger = ledger_of(learned).with_limit(limit)
            self._require_public_encoding(learned, public)
            counts: Any = learned.counts
            counts.unit.require_whole("release")
            known = _known_classes(classes, counts.classes, public)
            table = align_columns(counts.table, counts.classes, known, 1)
            noised, spent = noisy(table, request._replace(n_winners=counts.n_winners), generator)
            ledger = ledger.spend(spent)
            shared.replace(learned._replace(tuned={**learned.tuned, KEPT: ledger.to_json()}), is_own=False)
        released = ReleasedClassifier(class_weight=self.class_weight, n_jobs=self.n_jobs)  # type: ignore[attr-defined]
        return released.with_counts(learned.hasher, known, noised, (spent,))

    def _check_tuned(self, tuned: Any) -> None:
        """Raise an error unless the state is a ledger or empty."""
        if not (isinstance(tuned, dict) and set(tuned) <= {KEPT}):
            msg = "it was tuned to what no such model is tuned to"
            raise ValueError(msg)
        if KEPT in tuned:
            Ledger.from_json(tuned[KEPT])

    def _merged_tuned(self, mine: Model, theirs: Model, both: Model) -> dict[str, Any]:  # noqa: ARG002
        """Return the ledger of all rows of two models."""
        ledger = ledger_of(mine).joined(ledger_of(theirs))
        return {**mine.tuned, KEPT: ledger.to_json()} if ledger.releases or ledger.limit else mine.tuned

    def _require_public_encoding(self, learned: Model, public: Sequence[str]) -> None:
        """Raise an error if the encoding was fitted to the rows."""
        is_fixed = isinstance(self.encoding, Encoder) or all(
            isinstance(step, BiasColumns) for step in learned.hasher.encoder.steps
        )
        if not is_fixed and "encoding" not in public:
            steps = ", ".join(step.kind for step in learned.hasher.encoder.steps)
            msg = (
                f"The encoding of this model ({steps}) was fitted to its rows, and a release would tell it as it is. "
                "Learn with encoding='none' or with one that was fitted to other rows, Encoding(...).fit(X); or state "
                "that it is no secret: public=['encoding']."
            )
            raise PrivacyError(msg)


def ledger_of(learned: Model) -> Ledger:
    """Return the ledger of releases."""
    return Ledger.from_json(learned.tuned[KEPT]) if KEPT in learned.tuned else Ledger()


def never_released(learned: Model) -> Model:
    """Return the state with a ledger that refuses releases, also in sums and files.

    For counts that a row changes by more than its own winners, as those of a window do.
    """
    ledger = ledger_of(learned)._replace(limit=NO_RELEASE)
    return learned._replace(tuned={**learned.tuned, KEPT: ledger.to_json()})


def privacy_spent(model: Releasing, delta: float = 0.0) -> float:
    """Return the epsilon of all releases of a model together.

    Parameters
    ----------
    model : FlyBloomClassifier
        The model.
    delta : float, default=0
        The total delta.

    Returns
    -------
    float
        0 before the first release; infinite if there is none for this delta.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from flybloom import FlyBloomClassifier
    >>> from flybloom.estimators.releasing import privacy_spent
    >>> model = FlyBloomClassifier(64, encoding="none", random_state=0).fit(*load_iris(return_X_y=True))
    >>> released = [model.release(0.5, classes=range(3), random_state=seed) for seed in range(2)]
    >>> privacy_spent(model)
    1.0
    """
    with reading_learned(model) as learned:
        return ledger_of(learned).total(delta)


def _known_classes(classes: Any, learned: Array, public: Sequence[str]) -> Array:
    """Return the labels to publish, sorted: those known beforehand, or those learned if declared public."""
    if classes is None:
        if "classes" in public:
            return learned
        msg = (
            "Which labels there are was learned from the rows. Give those known beforehand, classes=[...]; or state "
            "that they are no secret: public=['classes']."
        )
        raise PrivacyError(msg)
    given = check_labels(
        np.repeat(np.asarray(list(classes)), 2)
    )  # twice: labels that are all different look like no labels
    unknown = unknown_among(learned, given)
    if unknown:
        msg = (
            f"The model has learned labels that are not among the classes given, such as {unknown[0]!r}. "
            "Give all labels that there may be."
        )
        raise PrivacyError(msg)
    return unite(learned, given)


def _checked_rows(max_rows: Any) -> int:
    """Return the validated number of rows per person."""
    if isinstance(max_rows, bool) or not isinstance(max_rows, int | np.integer) or max_rows < 1:
        msg = f"The 'max_rows' parameter of release must be a whole number from 1 on. Got {max_rows!r} instead."
        raise PrivacyError(msg)
    return int(max_rows)


def _check_public(public: Sequence[str]) -> None:
    """Raise an error for anything else declared public."""
    if isinstance(public, str) or any(word not in FITTED_TO_DATA for word in public):
        msg = f"The 'public' parameter of release must be a list of {FITTED_TO_DATA}. Got {public!r} instead."
        raise PrivacyError(msg)
