"""What an estimator's `encoding` comes to: steps that were asked for, a rule that looks at the rows, or an encoder."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import BESIDE, BINS, CLIP, RELEVANCE, ROTATION, Encoding, SumsOf, tabled
from flybloom.core.encoding.fill import MAX_FILLED
from flybloom.core.encoding.image_shape import image_shape, possible_shapes
from flybloom.core.encoding.neighbours import LabelledSamplePlan, is_behind
from flybloom.core.encoding.relevance import RelevancePlan
from flybloom.core.encoding.standardise import Spread, StandardisePlan
from flybloom.core.encoding.table import MAX_CATEGORIES

# The rule of "auto", chosen by measurement, see docs/encodings.md.
MAX_BINNED = 30  # columns
FINE_BINS, MAX_FINE = 7, 5  # very few columns have more bins each
FEW_COLUMNS, FEW_RELEVANCE, MANY_RELEVANCE = 100, 0.4, 1.0  # of more columns, those that tell little weigh less
MAX_WEIGHED = 1024  # columns of sparse rows; more are words of texts, of which the relevance is not worth its noise
MAX_SMALL_IMAGE = 512  # pixels; larger ones are worth windows
MAX_ROTATED = 2048  # columns, because a covariance has as many rows and columns


class _ByRule:
    """An encoding that is chosen when the first rows are there."""

    max_categories: int
    takes_sparse = True
    needs_rows = True
    needs_labels = False

    def tabled(self, encoder: Encoder, sums_of: SumsOf) -> Encoder:
        """Return the features with the step that makes numbers of a table."""
        return tabled(encoder, sums_of, self.max_categories)


@dataclass(frozen=True)
class AutoEncoding(_ByRule):
    """The encoding that the rows ask for, by a rule that was measured.

    Dense columns are standardised and clipped. Of tables, missing values in up to 100 columns are filled from others;
    up to 30 columns become 5 soft bins each (7 each of up to 5), with the column itself beside them, unless neighbours
    in a sample are better off without; of more, those that tell something of labels, if these are so few. Of rows that
    are images, up to 2048 columns become their 50 leading principal components; pairs see more than 512 through
    windows. Sparse rows are taken as they are. With labels, columns are weighed by their relevance, but not those of
    images, nor more than 1024 of sparse rows.

    Parameters
    ----------
    uses_labels : bool
        Whether there are labels, and they may be used.
    max_categories : int
        How many columns a column of categories becomes, at most.
    for_pairs : bool, default=False
        Whether it is for pairs, which have few components: columns of sparse rows are weighed however many there are,
        and large images are seen through windows.
    selects : bool, default=True
        Whether labels may say which columns are left out, and whether the others become bins; not where each fold is to
        have the same ones.
    """

    uses_labels: bool
    max_categories: int = MAX_CATEGORIES
    for_pairs: bool = False
    selects: bool = True

    def resolved(self, encoder: Encoder, sums_of: SumsOf, *, is_sparse: bool) -> Encoding:
        """Return the encoding for such rows.

        Parameters
        ----------
        encoder : Encoder
            The features, as numbers.
        sums_of : callable
            Returns the sums over all rows for a step that is to be fitted.
        is_sparse : bool
            Whether rows are sparse.

        Returns
        -------
        Encoding
            The encoding.
        """
        n = encoder.n_outputs
        if is_sparse:
            is_weighed = self.uses_labels and (self.for_pairs or n <= MAX_WEIGHED)
            return Encoding("none", relevance=RELEVANCE if is_weighed else 0.0)
        spread = sums_of(StandardisePlan("standard", CLIP), encoder)  # the first step of what follows needs the same
        shape = _shape_of(encoder, spread)
        if shape is not None:
            if self.for_pairs and n > MAX_SMALL_IMAGE:
                return Encoding("standard", grid_shape=shape)
            return Encoding("standard", rotation=ROTATION if n <= MAX_ROTATED else 0)
        relevance = (FEW_RELEVANCE if n <= FEW_COLUMNS else MANY_RELEVANCE) if self.uses_labels else 0.0
        fill = "none"
        if n <= MAX_FILLED and spread.has_gaps:
            fill = "classes" if self.uses_labels else "rows"
        plain = Encoding("standard", relevance=relevance)
        columns = self._few_that_tell(encoder, spread, sums_of, relevance)
        n_seen = n if columns is None else len(columns)
        if n_seen > MAX_BINNED:
            return replace(plain, fill=fill)
        bins, relevance = FINE_BINS if n_seen <= MAX_FINE else BINS, min(relevance, FEW_RELEVANCE)
        binned = Encoding(bins=bins, beside=BESIDE, relevance=relevance, columns=columns)
        may_be_plain = n_seen > MAX_FINE and self.uses_labels and self.selects
        is_plain = may_be_plain and is_behind(sums_of(LabelledSamplePlan(), encoder), binned, plain)
        return replace(plain if is_plain else binned, fill=fill)

    def _few_that_tell(
        self, encoder: Encoder, spread: Spread, sums_of: SumsOf, relevance: float
    ) -> tuple[int, ...] | None:
        """Return the columns that tell something of the classes, where they are few among many; None for all."""
        n = encoder.n_outputs
        if not (self.uses_labels and self.selects and MAX_BINNED < n <= MAX_WEIGHED):
            return None
        standardised = encoder.extended(StandardisePlan("standard", CLIP).fit(n, spread))
        plan = RelevancePlan(relevance, CLIP)  # asked for again where all columns stay
        told = np.flatnonzero(plan.fit(n, sums_of(plan, standardised)).weights)
        return tuple(told.tolist()) if told.size <= MAX_BINNED else None


@dataclass(frozen=True)
class AutoNoveltyEncoding(_ByRule):
    """Columns are standardised, beside constant ones, and not clipped: far rows are to look far. Sparse rows are not.

    Parameters
    ----------
    bias : float
        Constant columns, as a share of the features.
    max_categories : int
        How many columns a column of categories becomes, at most.
    """

    bias: float
    max_categories: int = MAX_CATEGORIES
    uses_labels = False

    def resolved(self, encoder: Encoder, sums_of: SumsOf, *, is_sparse: bool) -> Encoding:  # noqa: ARG002
        """Return the encoding for such rows."""
        return Encoding("none") if is_sparse else Encoding("standard", clip=math.inf, bias=self.bias)


@dataclass(frozen=True)
class FixedEncoding:
    """An encoder that was fitted beforehand."""

    encoder: Encoder
    needs_rows = False
    needs_labels = False
    uses_labels = False

    @property
    def takes_sparse(self) -> bool:
        """Whether sparse rows may come."""
        return self.encoder.takes_sparse

    def tabled(self, encoder: Encoder, sums_of: SumsOf) -> Encoder:  # noqa: ARG002
        """Return the features; their columns must be what those were that the encoding was fitted to."""
        if encoder.kinds != self.encoder.kinds:
            msg = (
                f"The encoding was fitted to columns that are {_listed(self.encoder.kinds)}. Got "
                f"{_listed(encoder.kinds)} instead. Fit it to rows of the same kind."
            )
            raise ValueError(msg)
        return encoder

    def resolved(self, encoder: Encoder, sums_of: SumsOf, *, is_sparse: bool) -> FixedEncoding:  # noqa: ARG002
        """Return the same, for rows of the right width."""
        if encoder.n_outputs != self.encoder.n_features:
            msg = (
                f"X has {encoder.n_outputs} features, but the encoding was fitted to {self.encoder.n_features}. "
                "Fit it to rows of the same kind."
            )
            raise ValueError(msg)
        return self

    @property
    def grid_shape(self) -> tuple[int, ...] | None:
        """The shape of rows, if they have one."""
        return self.encoder.grid_shape

    def n_columns(self, n_features: int) -> int:  # noqa: ARG002
        """Return how many columns are hashed."""
        return self.encoder.n_outputs

    def fitted(self, encoder: Encoder, sums_of: SumsOf) -> Encoder:  # noqa: ARG002
        """Return the encoder, with the names of these features."""
        return self.encoder.named(encoder.names)


Wanted = Encoding | AutoEncoding | AutoNoveltyEncoding | FixedEncoding
"""What an estimator's parameters come to."""


def wanted_encoding(
    encoding: Any,
    scaling: str | None,
    *,
    uses_labels: bool,
    for_pairs: bool = False,
    selects: bool = True,
    bias: float | None = None,
) -> Wanted:
    """Return what the parameters `encoding` and `scaling` of an estimator ask for; only detectors have a `bias`."""
    if scaling is not None:
        return Encoding(scaling, clip=math.inf, bias=bias or 0.0)
    if isinstance(encoding, Encoder):
        return FixedEncoding(encoding)
    if isinstance(encoding, str):
        first, _, rest = (part.strip() for part in encoding.partition("+"))
        if first == "auto":
            most = _only_categories(rest, encoding)
            return (
                AutoEncoding(uses_labels, most, for_pairs, selects) if bias is None else AutoNoveltyEncoding(bias, most)
            )
        encoding = Encoding.parse(encoding)
    if bias and not encoding.bias and not encoding.bins and not encoding.rotation:
        encoding = replace(encoding, bias=bias)
    return encoding  # type: ignore[no-any-return]


def _shape_of(encoder: Encoder, spread: Spread) -> tuple[int, ...] | None:
    """Return the shape of rows that are images, told by the sample that their standardised columns are fitted to."""
    n = encoder.n_outputs
    if encoder.steps or n <= MAX_BINNED or next(possible_shapes(n), None) is None:
        return None
    return None if spread.sample is None else image_shape(spread.sample)


def _only_categories(words: str, text: str) -> int:
    """Return how many categories "auto" may make columns of; nothing else goes with it."""
    if not words:
        return MAX_CATEGORIES
    name, _, value = (part.strip() for part in words.partition("="))
    if name != "categories" or not value.isdecimal():
        msg = f"The encoding {text!r} is not known: only categories=30 goes with auto, as in 'auto+categories=50'."
        raise ValueError(msg)
    return Encoding(max_categories=int(value)).max_categories


def _listed(kinds: tuple[str, ...] | None) -> str:
    """Return what columns are."""
    return "all numbers" if kinds is None else ", ".join(kinds)
