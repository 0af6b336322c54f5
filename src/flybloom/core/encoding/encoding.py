"""The requested encoding, before it is fitted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from flybloom._internal.validation import check_labels, check_new_rows
from flybloom.core.encoding.bins import MAX_BINS, MIN_BINS, SoftBins, places_of
from flybloom.core.encoding.columns import BiasColumns, Select, are_columns
from flybloom.core.encoding.cuts import Cuts
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.fill import MAX_FILLED, Fill
from flybloom.core.encoding.gradients import Gradients
from flybloom.core.encoding.relevance import Relevance
from flybloom.core.encoding.rotation import Rotation
from flybloom.core.encoding.standardise import Standardise, WholeCenter
from flybloom.core.encoding.step import Step
from flybloom.core.encoding.table import MAX_CATEGORIES, Table
from flybloom.core.encoding.unskew import Unskew
from flybloom.core.sketch import Sample, Sketch

SCALINGS = ("none", "whole", "center", "common", "standard")
CENTRED = ("whole", "center")  # columns keep their sizes
FILLS = ("none", "rows", "classes")
CLIP, BINS, PASSTHROUGH, RELEVANCE, ROTATION = 2.5, 5, 0.4, 0.5, 50  # what a word alone stands for
LEAST_OF_TARGETS = 0.25  # relevance of any column, where rows have targets and few columns
OLD_NAMES = {"beside": "passthrough_scale"}  # in files
WIDE = 4.0  # what values that are not clipped are measured up to


@dataclass(frozen=True)
class Encoding:
    """Steps that transform columns before hashing, applied in this order.

    Use it to override ``encoding="auto"``, or to fit an encoding beforehand and share it between models. Steps are
    fitted to a bounded sample of the rows that does not depend on their order.

    Parameters
    ----------
    scaling : {"none", "whole", "center", "common", "standard"} or None, default=None
        "whole" subtracts rounded means, so that integers stay integers, which are hashed about twice as fast as floats.
        "center" subtracts means, "standard" also divides by standard deviations, "common" by the largest standard
        deviation. None is "common" with a `rotation`, otherwise "standard".
    clip : float or None, default=None
        Clip values at this number of standard deviations; infinity to turn it off. None is 2.5 with "standard",
        otherwise infinity.
    bins : int, default=0
        Number of soft bins per column: hat functions on equidistant knots over the clipped range. Useful for few
        columns. 0 for none.
    relevance : float, default=0.0
        Power of the relevance weights: the square root of the between-class share of the variance of a column, or of
        its square, beyond chance. About 0.5 is useful. Needs labels. 0 for none.
    rotation : int, default=0
        Number of leading principal components that replace the columns. 0 for none.
    grid_shape : tuple of int or None, default=None
        Shape of images or signals: (height, width), (n,), or (height, width, channels). Each component then sums
        features of a random window, half of them negative with signed connections.
    bias : float, default=0.0
        For outlier detection: number of constant columns, as a share of the features, so that the hash depends on
        distances. Only with "standard". With bins, any positive value leaves them uncentred instead.
    max_categories : int, default=30
        Maximum number of columns for a categorical column; rare values share one.
    passthrough_scale : float, default=0.0
        Factor of the column itself, which is appended to its bins to keep the order of values; about 0.4 gives it the
        scale of the bins. 0 to omit it.
    fill : {"none", "rows", "classes"}, default="none"
        Imputation of missing values. "none": they add nothing to a sum. "rows": conditional means under a mixture of
        two normal distributions. "classes": the same with two per class, except in columns whose missingness depends on
        the class; needs labels. Only with "standard" and for up to 100 columns.
    columns : tuple of int or None, default=None
        Columns to select, by number, ascending; None for all. Only with "standard".
    ferns : bool, default=False
        Whether 3 of 8 winners are those of random ferns: each fern tests up to four columns against one of their
        quantiles, and which tests are passed is the component that wins. Helps where classes have edges. Only for dense
        rows that are scaled, without a `rotation`, `grid_shape` or `bias`. With `relevance`, columns are drawn by it,
        and there are no ferns where no column is relevant.
    gradients : tuple of int or None, default=None
        Shape of images, (height, width) or (height, width, channels): histograms of the directions of brightness
        gradients in overlapping cells, and the brightness of patches, replace the pixels before all other steps.
    unskew : bool, default=False
        Whether skewed columns are straightened before they become bins: their quantiles become those of a normal
        distribution, linearly between. Useful for outlier detection. Only with "standard"; bins then range over 4
        standard deviations.

    See Also
    --------
    FlyBloomClassifier : Takes it as its `encoding`.

    Examples
    --------
    >>> from flybloom import Encoding, FlyBloomClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FlyBloomClassifier(encoding=Encoding(bins=7, relevance=0.5), random_state=0).fit(X, y)
    >>> same = FlyBloomClassifier(encoding="bins=7+relevance", random_state=0).fit(X, y)
    >>> bool((model.counts_ == same.counts_).all())
    True
    """

    scaling: str | None = None
    clip: float | None = None
    bins: int = 0
    relevance: float = 0.0
    rotation: int = 0
    grid_shape: tuple[int, ...] | None = None
    bias: float = 0.0
    max_categories: int = MAX_CATEGORIES
    passthrough_scale: float = 0.0
    fill: str = "none"
    columns: tuple[int, ...] | None = None
    ferns: bool = False
    gradients: tuple[int, ...] | None = None
    unskew: bool = False

    def __post_init__(self) -> None:
        """Validate and normalise the parameters."""
        scaling = self.scaling if self.scaling is not None else "common" if self.rotation else "standard"
        is_standard, scale = scaling == "standard", self.passthrough_scale
        shape, columns = self.grid_shape, self.columns
        clip = self.clip if self.clip is not None else CLIP if is_standard else math.inf
        if shape is not None:
            shape = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
        images = None if self.gradients is None else tuple(self.gradients)
        is_replaced = images is not None and (shape is not None or columns is not None or self.fill != "none")
        are_right = columns is None or (isinstance(columns, tuple | list) and are_columns(columns))
        is_plain = columns is None or (is_standard and shape is None)
        is_scaled = scaling in ("standard", "common") and not (self.rotation or self.bias or shape)
        has_bins = isinstance(self.bins, Integral) and (self.bins == 0 or MIN_BINS <= self.bins <= MAX_BINS)
        for name, is_right, expected in (
            ("scaling", scaling in SCALINGS, f"one of {', '.join(SCALINGS)}"),
            ("clip", isinstance(clip, Real) and clip > 0, "a number above 0"),
            ("bins", has_bins, f"0, or a whole number from {MIN_BINS} to {MAX_BINS}"),
            ("passthrough_scale", isinstance(scale, Real) and 0 <= scale < math.inf, "a number of 0 or above"),
            ("passthrough_scale", self.bins or not scale, "0 where there are no bins"),
            ("fill", self.fill in FILLS, f"one of {', '.join(FILLS)}"),
            ("fill", self.fill == "none" or is_standard, "none without standard"),
            ("columns", are_right, "ascending whole numbers from 0 on"),
            ("columns", is_plain, "None without standard, or with a grid_shape"),
            ("relevance", isinstance(self.relevance, Real) and self.relevance >= 0, "0 or above"),
            ("rotation", isinstance(self.rotation, Integral) and self.rotation >= 0, "0 or above"),
            ("grid_shape", _is_shape(shape, 1), "one to three whole numbers above 0"),
            ("gradients", _is_shape(images, 2), "two or three whole numbers above 0"),
            ("gradients", not is_replaced, "None where there is a grid_shape, fill or columns"),
            ("grid_shape", shape is None or not self.rotation, "None where there is a rotation"),
            ("scaling", scaling != "none" or not self.bins, "other than none for bins"),
            ("scaling", scaling != "none" or not self.rotation, "other than none for a rotation"),
            ("scaling", scaling not in CENTRED or not self.bins, "standard or common for bins"),
            ("clip", scaling != "whole" or clip == math.inf, "left out with whole"),
            ("ferns", isinstance(self.ferns, bool), "true or false"),
            ("ferns", is_scaled or not self.ferns, "false without scaling, or with a rotation, grid_shape or bias"),
            ("unskew", isinstance(self.unskew, bool), "true or false"),
            (
                "unskew",
                not self.unskew or (is_standard and shape is None),
                "false without standard, or with a grid_shape",
            ),
            ("max_categories", isinstance(self.max_categories, Integral) and self.max_categories > 1, "2 or above"),
        ):
            _require(is_right, name, expected, getattr(self, name))
        one_form = {
            "scaling": scaling,
            "clip": float(clip),
            "bins": int(self.bins),
            "passthrough_scale": float(scale),
            "relevance": float(self.relevance),
            "rotation": int(self.rotation),
            "grid_shape": None if shape is None else tuple(map(int, shape)),
            "columns": None if columns is None else tuple(columns),
            "gradients": None if images is None else tuple(map(int, images)),
        }
        for name, value in one_form.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """Show parameters that differ from the defaults."""
        usual = _usual(self.scaling, self.rotation)
        given = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if getattr(self, f.name) != usual[f.name])
        return f"Encoding({', '.join(given)})"

    @staticmethod
    @lru_cache(maxsize=256)
    def parse(text: str) -> Encoding:
        """Parse an encoding written as text.

        Parameters
        ----------
        text : str
            Steps joined by "+": none, whole, center, common, standard, fill, bins, passthrough, relevance,
            rotation, ferns, unskew, clip=3, grid=28x28, gradients=28x28, categories=50, columns=0,3,7. Steps may have a
            value: fill=classes, bins=7, passthrough=1, relevance=1, rotation=30.

        Returns
        -------
        Encoding
            The encoding.

        Examples
        --------
        >>> from flybloom import Encoding
        >>> Encoding.parse("bins=7+relevance")
        Encoding(bins=7, relevance=0.5)
        >>> Encoding.parse("rotation")
        Encoding(rotation=50)
        """
        return _parsed(text)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values for `from_json`."""
        entries = {f.name: getattr(self, f.name) for f in fields(self)}
        entries["clip"] = None if self.clip == math.inf else self.clip
        entries["grid_shape"] = None if self.grid_shape is None else list(self.grid_shape)
        entries["columns"] = None if self.columns is None else list(self.columns)
        entries["gradients"] = None if self.gradients is None else list(self.gradients)
        for name in _LATER:  # older versions do not know them
            if getattr(self, name) == getattr(Encoding, name):
                del entries[name]
        return entries

    @staticmethod
    def from_json(stored: Any) -> Encoding:
        """Restore an encoding; ValueError if it is invalid."""
        names = {f.name for f in fields(Encoding)}
        if isinstance(stored, dict):
            stored = {OLD_NAMES.get(name, name): value for name, value in stored.items()}
        if not isinstance(stored, dict) or set(stored) | _LATER != names:
            msg = "its encoding is not one that is known"
            raise ValueError(msg)
        return Encoding(**{**stored, "clip": math.inf if stored["clip"] is None else stored["clip"]})

    def fit(self, X: Any, y: Any = None) -> Encoder:
        """Fit an encoder beforehand, to pass as the `encoding` of estimators.

        The encoding of such estimators does not depend on their training rows, so models of different data can be
        merged, and nothing of a row remains when it is forgotten.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A sample of rows.
        y : array-like of shape (n_samples,), default=None
            Their labels; only for `relevance`.

        Returns
        -------
        Encoder
            The encoder.

        Examples
        --------
        >>> from flybloom import Encoding, FlyBloomClassifier
        >>> from sklearn.datasets import load_digits
        >>> X, y = load_digits(return_X_y=True)
        >>> fixed = Encoding(bins=5).fit(X[:200])
        >>> a = FlyBloomClassifier(encoding=fixed, random_state=0).fit(X[200:900], y[200:900])
        >>> b = FlyBloomClassifier(encoding=fixed, random_state=0).fit(X[900:], y[900:])
        >>> int((a + b).class_count_.sum())
        1597
        """
        rows, names, kinds = check_new_rows(X, "Encoding", takes_sparse=self.takes_sparse)
        labels = None if y is None else check_labels(y, rows.shape[0])
        sketch = Sketch.of(rows, labels, np.ones(rows.shape[0], np.int64))
        return self.fitted(Encoder(rows.shape[1], names, kinds=kinds), sketch.sample())

    def fitted(self, features: Encoder, sample: Sample | None) -> Encoder:
        """Return an encoder whose steps are fitted to the sample in order.

        Parameters
        ----------
        features : Encoder
            The features, without steps.
        sample : Sample or None
            The sample to fit to; None if no step needs rows.

        Returns
        -------
        Encoder
            The encoder.
        """
        encoder = features
        if features.kinds is not None or features.steps:
            encoder, sample = with_table(features, sample, self.max_categories)
        if self.grid_shape is not None:
            require_grid("grid_shape", self.grid_shape, features)
            encoder = replace(encoder, grid_shape=self.grid_shape)
        if self.gradients is not None:
            require_grid("gradients", self.gradients, features)
            histograms = Gradients(self.gradients)
            encoder = replace(encoder, steps=(histograms,))
            sample = None if sample is None else sample._replace(rows=histograms.apply(sample.rows))
        if self.fill != "none":
            n = encoder.n_outputs
            _require(n <= MAX_FILLED, "fill", f"none for more than {MAX_FILLED} columns", f"{self.fill} for {n}")
        if self.needs_labels and (sample is None or sample.labels is None):
            msg = "The relevance of columns is measured by labels. Expected y. Got None instead."
            raise ValueError(msg)
        steps: list[Step] = []
        for fit in self._fits():
            assert sample is not None  # noqa: S101 - callers give one where a step needs rows
            if steps:
                sample = sample._replace(rows=steps[-1].apply(sample.rows))
            steps.append(fit(sample))
        encoder = replace(encoder, steps=(*encoder.steps, *steps))
        relevance = encoder.step(Relevance)
        if self.ferns and (relevance is None or (relevance.weights < 1).any()):
            assert sample is not None  # noqa: S101 - rows are scaled
            cuts = Cuts.fit(sample._replace(rows=steps[-1].apply(sample.rows)), encoder)
            encoder = replace(encoder, steps=(*encoder.steps, cuts))
        return encoder

    def _fits(self) -> list[Callable[[Sample], Step]]:
        """Return functions that fit each step to rows encoded by the previous ones."""
        fits: list[Callable[[Sample], Step]] = []
        scaling, clip = str(self.scaling), math.inf if self.clip is None else self.clip
        if scaling == "whole":
            fits.append(WholeCenter.fit)
        elif scaling != "none":
            fits.append(partial(Standardise.fit, scaling=scaling, clip=clip, clips_new=self.bias > 0))
        if self.fill != "none":
            fits.append(partial(Fill.fit, by_class=self.fill == "classes"))
        if self.columns is not None:
            fits.append(partial(Select.fit, columns=self.columns))
        fits += [Unskew.fit] if self.unskew else []
        limit = WIDE if clip == math.inf or self.unskew else clip
        weigh = partial(Relevance.fit, power=self.relevance, limit=None if scaling == "none" else limit)
        if self.bins:
            scale = self.passthrough_scale
            bins = partial(SoftBins.fit, n_bins=self.bins, limit=limit, passthrough_scale=scale)
            fits.append(partial(bins, centred=self.bias == 0))
            n_places = places_of(self.bins, scale)
            weigh = partial(weigh, limit=max(1.0, scale * limit), n_bins=self.bins, n_places=n_places)
            if self.columns is None:  # a trend takes what single columns tell: hashes see what few tell together
                weigh = partial(weigh, least_of_targets=LEAST_OF_TARGETS)
        if self.relevance:
            fits.append(weigh)
        if self.rotation:
            fits.append(partial(Rotation.fit, n_components=self.rotation))
        if scaling == "standard" and self.bias > 0 and not self.bins and self.grid_shape is None:
            fits.append(partial(BiasColumns.fit, share=self.bias))
        return fits

    def n_columns(self, n_features: int) -> int:
        """Return the number of hashed columns for a number of numeric features, without constant ones.

        Parameters
        ----------
        n_features : int
            Columns of the rows.

        Returns
        -------
        int
            Columns after all steps.
        """
        n = n_features if self.columns is None else len(self.columns)
        n = n if self.gradients is None else Gradients(self.gradients).n_outputs(n)
        n *= places_of(self.bins, self.passthrough_scale) if self.bins else 1
        return min(self.rotation, n) if self.rotation else n

    @property
    def takes_sparse(self) -> bool:
        """Whether the encoder will take sparse rows."""
        return self.scaling == "none" and self.gradients is None

    @property
    def needs_rows(self) -> bool:
        """Whether a step is fitted to rows."""
        return self.scaling != "none" or self.relevance > 0

    @property
    def needs_labels(self) -> bool:
        """Whether it uses labels."""
        return self.relevance > 0 or self.fill == "classes"


def with_table(features: Encoder, sample: Sample | None, max_categories: int) -> tuple[Encoder, Sample | None]:
    """Add a table step if needed; return features and the transformed sample."""
    if features.kinds is not None and not features.steps:
        assert sample is not None  # noqa: S101 - columns of a table are told from rows
        features = replace(features, steps=(Table.fit(sample, features.kinds, max_categories),))
    if features.steps and sample is not None:
        sample = sample._replace(rows=features.encode(sample.rows, keeps_missing=True))
    return features, sample


def require_grid(name: str, shape: tuple[int, ...], features: Encoder) -> None:
    """Raise an error for a shape that does not fit the features."""
    if features.kinds is not None:
        msg = f"{name} is for rows that are images or signals. Got a table with columns that are no numbers."
        raise ValueError(msg)
    if math.prod(shape) != features.n_features:
        msg = (
            f"{name}={shape} has {math.prod(shape)} places, but X has {features.n_features} features. "
            "Give the shape that a row has, such as (28, 28)."
        )
        raise ValueError(msg)


def _numbers(text: str) -> tuple[int, ...]:
    """Return numbers such as 0,3,7."""
    return tuple(int(part) for part in text.split(","))


def _grid(text: str) -> tuple[int, ...]:
    """Return a shape such as 28x28."""
    return tuple(int(part) for part in text.split("x"))


# fields that came after the others, written only where they say something
_LATER = {"max_categories", "passthrough_scale", "fill", "columns", "ferns", "gradients", "unskew"}
# for each word: the field, how its value is read, and what the word alone stands for
_WORDS: dict[str, tuple[str, Any, Any]] = {
    **{name: ("scaling", None, name) for name in SCALINGS},
    "bins": ("bins", int, BINS),
    "passthrough": ("passthrough_scale", float, PASSTHROUGH),
    "fill": ("fill", str, "rows"),
    "columns": ("columns", _numbers, None),
    "ferns": ("ferns", None, True),
    "unskew": ("unskew", None, True),
    "relevance": ("relevance", float, RELEVANCE),
    "rotation": ("rotation", int, ROTATION),
    "clip": ("clip", float, CLIP),
    "grid": ("grid_shape", _grid, None),
    "gradients": ("gradients", _grid, None),
    "categories": ("max_categories", int, None),
}


def _usual(scaling: Any, rotation: int) -> dict[str, Any]:
    """Return the default values of the fields."""
    usual: dict[str, Any] = {f.name: f.default for f in fields(Encoding)}
    usual["scaling"] = "common" if rotation else "standard"
    usual["clip"] = CLIP if scaling == "standard" else math.inf
    return usual


@lru_cache(maxsize=64)
def _parsed(text: str) -> Encoding:
    """Return the encoding of words; estimators ask for it whenever they are called."""
    options: dict[str, Any] = {}
    for word in text.split("+"):
        name, _, value = word.partition("=")
        key, convert, alone = _WORDS.get(name.strip(), ("", None, None))
        try:
            options[key] = convert(value.strip()) if convert and value else alone
        except ValueError:
            options[key] = None
        if options[key] is None or (value and convert is None):
            msg = (
                f"The encoding {text!r} has a part, {word.strip()!r}, that is not known. Expected 'auto', or words "
                "with '+' between them: none, whole, center, common, standard, fill, bins, passthrough, relevance, "
                "rotation, ferns, unskew, clip=2.5, grid=28x28, gradients=28x28, categories=30, columns=0,3,7; "
                "fill=classes, bins=7, passthrough=1, relevance=1 and rotation=30 have values of their own."
            )
            raise ValueError(msg)
    return Encoding(**options)


def _is_shape(shape: Any, at_least: int) -> bool:
    """Return whether a shape has one to three lengths, or at least some, if there is one."""
    return shape is None or (at_least <= len(shape) <= 3 and all(isinstance(n, Integral) and int(n) > 0 for n in shape))  # noqa: PLR2004


def _require(is_true: object, name: str, expected: str, got: Any) -> None:
    """Raise an error for a parameter."""
    if not is_true:
        msg = f"The {name!r} parameter of Encoding must be {expected}. Got {got!r} instead."
        raise ValueError(msg)
