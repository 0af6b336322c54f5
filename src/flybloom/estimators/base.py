"""Base classes of all estimators that hash: parameters, and attributes of the hasher."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from flybloom._internal.deprecated import OldNames, Taken
from flybloom._internal.sklearn_compat import Interval, RealNotInt, StrOptions
from flybloom._internal.typing import Array, Features
from flybloom._internal.validation import check_rows
from flybloom.core.encoding.choice import Wanted, wanted_encoding
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import Encoding
from flybloom.core.encoding.standardise import Standardise
from flybloom.core.files import model_file
from flybloom.core.files.model_file import Parts
from flybloom.core.hashing.hasher import Hasher

SCALINGS = {"none": "none", "center": "center", "standard": "standard+clip=inf"}
MAX_REMEMBERED = 256  # settings that were checked and found right
HASH_PARAMETERS: dict[str, list[Any]] = {
    "n_components": [
        Interval(Integral, 1, 2**32 - 1, closed="both"),
        Interval(RealNotInt, 0, None, closed="neither"),
        StrOptions({"auto"}),
    ],
    "n_connections": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="right"),
        StrOptions({"auto"}),
    ],
    "n_winners": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="neither"),
        StrOptions({"auto"}),
    ],
    "signed": ["boolean"],
    "encoding": [str, Encoding, Encoder],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
}
"""What scikit-learn's check of parameters allows for those that all estimators share."""
_accepted: set[tuple[Any, ...]] = set()


def scaling_as_encoding(owner: str, scaling: Any, others: dict[str, Any]) -> str:
    """Replace a scaling by the equivalent encoding."""
    if scaling is None:
        return ""
    if scaling not in SCALINGS:
        msg = f"The 'scaling' parameter of {owner} must be one of {set(SCALINGS)}. Got {scaling!r} instead."
        raise ValueError(msg)
    encoding = others.get("encoding", "auto")
    if not (isinstance(encoding, str) and encoding == "auto"):
        msg = (
            f"{owner} takes an encoding or a scaling, not both. Got encoding={encoding!r} and scaling={scaling!r}. "
            "Leave out scaling, which is deprecated."
        )
        raise ValueError(msg)
    others["encoding"] = SCALINGS[scaling]
    return f"scaling={scaling!r} of {owner} is deprecated. Use encoding={SCALINGS[scaling]!r} instead."


def without_warm_up(owner: str, warm_up: Any, others: dict[str, Any]) -> str:  # noqa: ARG001
    """Ignore `warm_up`."""
    return (
        f"warm_up of {owner} is deprecated and has no effect: the first rows of a stream are kept until they no longer "
        "fit into a sketch."
    )


OLD_PARAMETERS: dict[str, str | Taken] = {"scaling": scaling_as_encoding, "warm_up": without_warm_up}


def read_only(array: Array) -> Array:
    """Return a read-only view, because the learned state is shared with copies."""
    view = array.view()
    view.flags.writeable = False
    return view


def missing_attribute(estimator: object, name: str) -> AttributeError:
    """Return the error for an attribute that exists only after fit."""
    return AttributeError(f"{type(estimator).__name__!r} object has no attribute {name!r}")


def not_fitted(estimator: object) -> NotFittedError:
    """Return the error for an estimator that is used before fit."""
    return NotFittedError(
        f"This {type(estimator).__name__} instance is not fitted yet. "
        "Call 'fit' with appropriate arguments before using it."
    )


class FlyEstimator(OldNames, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator that hashes rows.

    Attributes with a trailing underscore are those of its `Hasher`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = HASH_PARAMETERS
    _old_parameters = OLD_PARAMETERS
    _is_pickled_as_parts: ClassVar[bool] = True
    _has_labels: ClassVar[bool] = True  # whether it learns from labels
    _uses_labels: bool = True  # whether "auto" does
    _counts_pairs: ClassVar[bool] = False  # whether it has few components, which see other things
    _has_ferns: ClassVar[bool] = False  # whether "auto" draws ferns for tables
    _counts_values: ClassVar[bool] = False  # whether components may have values instead of winning
    n_components: Any
    n_connections: Any
    n_winners: Any
    signed: bool
    encoding: Any = "auto"
    random_state: Any
    n_jobs: int | None

    @property
    def _hasher(self) -> Hasher | None:
        """The hasher; None before fit."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model to a file for `flybloom.load`.

        The file is in safetensors format and contains no code. It is written atomically. A `random_state` that is not
        an int is saved as the seed that was drawn from it.

        Parameters
        ----------
        path : str or path-like
            Path of the file. An existing file is replaced.

        Examples
        --------
        >>> import tempfile, flybloom
        >>> from sklearn.datasets import load_iris
        >>> model = flybloom.FlyBloomClassifier(random_state=0).fit(*load_iris(return_X_y=True))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/iris.fly")
        ...     flybloom.load(f"{folder}/iris.fly").class_count_
        array([50, 50, 50])
        """
        model_file.save(self, path)

    def _to_parts(self) -> Parts:
        """Return the state that files store."""
        raise NotImplementedError

    def _from_parts(self, hasher: Hasher | None, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """Restore the state from a file, and return the estimator; ValueError if it is invalid."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle: parameters, and the state that files store."""
        state = super().__getstate__()
        if not self._is_pickled_as_parts:
            return dict(state)
        own = {name: value for name, value in state.items() if not self._is_learned(name)}
        return own if self._hasher is None else {**own, "_parts": model_file.state_of(self._to_parts())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the pickled state."""
        super().__setstate__({name: value for name, value in state.items() if name != "_parts"})
        if "_parts" in state:
            self._from_parts(*model_file.parts_of(state["_parts"]))

    @staticmethod
    def _is_learned(name: str) -> bool:
        """Return whether an attribute is neither a parameter nor scikit-learn's mark of its version."""
        return name.endswith("_") or (name.startswith("_") and name != "_sklearn_version")

    def __sklearn_tags__(self) -> Any:
        """Accept missing values, and sparse rows if nothing is centred."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._encoding.takes_sparse
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """An estimator with a hasher is fitted."""
        return self._hasher is not None

    @property
    def n_features_in_(self) -> int:
        """Number of features seen during fit."""
        return self._of_hasher("n_features_in_").encoder.n_features

    @property
    def feature_names_in_(self) -> Array:
        """Names of the features, if X in fit had string column names."""
        names = self._of_hasher("feature_names_in_").encoder.names
        if names is None:
            raise missing_attribute(self, "feature_names_in_")
        return np.array(names, object)

    @property
    def n_components_(self) -> int:
        """Number of components."""
        return self._of_hasher("n_components_").n_components

    @property
    def n_connections_(self) -> int:
        """Number of features that each component sums."""
        return self._of_hasher("n_connections_").projection.n_connections

    @property
    def n_winners_(self) -> int:
        """Number of winners of each row."""
        return self._of_hasher("n_winners_").n_winners

    @property
    def signed_(self) -> bool:
        """Whether connections have signs."""
        return self._of_hasher("signed_").projection.signed

    @property
    def seed_(self) -> int:
        """Seed of the connections."""
        return self._of_hasher("seed_").projection.seed

    @property
    def center_(self) -> Array | None:
        """Centre of each column, or None."""
        step: Standardise | None = self._of_hasher("center_").encoder.step(Standardise)
        return None if step is None else read_only(step.center)

    @property
    def scale_(self) -> Array | None:
        """Scale of each column, or None."""
        step: Standardise | None = self._of_hasher("scale_").encoder.step(Standardise)
        return None if step is None or step.scale is None else read_only(step.scale)

    @property
    def encoder_(self) -> Encoder:
        """The fitted encoder, which can be passed as the `encoding` of other models."""
        return self._of_hasher("encoder_").encoder

    @property
    def connections_(self) -> Array:
        """Features that each component sums, but those of ferns; derived from ``seed_``."""
        return self._of_hasher("connections_").projection.connections()[0]

    @property
    def signs_(self) -> Array:
        """Sign of each connection, of the shape of ``connections_``; derived from ``seed_``."""
        return self._of_hasher("signs_").projection.connections()[1]

    @property
    def _encoding(self) -> Wanted:
        """The requested encoding."""
        return wanted_encoding(
            self.encoding,
            uses_labels=self._uses_labels,
            for_pairs=self._counts_pairs,
            ferns=self._has_ferns,
            by_value=self._counts_values,
        )

    def _validate_params(self) -> None:
        """Also check what scikit-learn's constraints cannot express."""
        super()._validate_params()
        name, encoding = type(self).__name__, self.encoding
        if self._encoding.needs_labels and not self._has_labels:
            msg = (
                f"The encoding {encoding!r} weighs columns by their relevance to labels; {name} learns without any. "
                "Leave relevance out, or fit the encoding beforehand: Encoding(...).fit(X, y)."
            )
            raise ValueError(msg)

    def _of_hasher(self, name: str) -> Hasher:
        """Return the hasher for an attribute; AttributeError before fit."""
        hasher = self._hasher
        if hasher is None:
            raise missing_attribute(self, name)
        return hasher

    def _require_hasher(self) -> Hasher:
        """Return the hasher of a fitted model."""
        hasher = self._hasher
        if hasher is None or not self.__sklearn_is_fitted__():
            raise not_fitted(self)
        return hasher

    def _check_parameters(self) -> None:
        """Validate all parameters as `fit` does; cached for unchanged parameters."""
        values = tuple(map(self.__dict__.get, self._parameter_constraints))
        key = (type(self), *map(type, values), *values)
        try:
            if key in _accepted:
                return
        except TypeError:  # one of them cannot be remembered
            self._validate_params()
            return
        self._validate_params()
        if len(_accepted) >= MAX_REMEMBERED:
            _accepted.clear()
        _accepted.add(key)


class FixedEstimator(FlyEstimator):
    """Estimator that only predicts; its creator sets ``_fitted_hasher``."""

    def __sklearn_tags__(self) -> Any:
        """Accept sparse rows if nothing is centred."""
        tags = super(FlyEstimator, self).__sklearn_tags__()
        hasher = self._hasher
        tags.input_tags.sparse = hasher is None or hasher.encoder.takes_sparse
        return tags

    @property
    def _hasher(self) -> Hasher | None:
        """The hasher, or None."""
        return self.__dict__.get("_fitted_hasher")

    @contextmanager
    def _scoring(self, X: Any) -> Iterator[tuple[Features, None]]:
        """Yield rows that are to be scored, checked."""
        hasher = self._require_hasher()
        self._check_parameters()
        yield check_rows(X, type(self).__name__, hasher.encoder), None
