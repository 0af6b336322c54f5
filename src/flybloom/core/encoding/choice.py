"""The choice of the encoding: given, fitted beforehand, or "auto"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flybloom._internal.typing import issparse
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import BINS, CLIP, PASSTHROUGH, RELEVANCE, Encoding, with_table
from flybloom.core.encoding.fill import MAX_FILLED
from flybloom.core.encoding.image_shape import are_unit_vectors, image_shape, possible_shapes
from flybloom.core.encoding.neighbours import is_behind
from flybloom.core.encoding.relevance import relevant_shares
from flybloom.core.encoding.standardise import Standardise
from flybloom.core.encoding.table import MAX_CATEGORIES
from flybloom.core.sketch import Sample

# The rule of "auto", chosen by measurement, see docs/encodings.md.
MAX_BINNED = 30  # columns
MAX_BINNED_NOVELTY = 5  # the same for detectors that are read by filters
MAX_IMAGE_NOVELTY = 512  # pixels of images that detectors see by gradients, which take longer than all else they do
FAR = 10.0  # where detectors clip columns without bins
FEW_COLUMNS, FEW_RELEVANCE, MANY_RELEVANCE = 100, 0.4, 1.0  # of more columns, uninformative ones weigh less
MAX_WEIGHED = 1024  # columns of sparse rows; more are words of texts, of which the relevance is not worth its noise


@dataclass(frozen=True)
class Auto:
    """The rules of ``encoding="auto"``.

    Parameters
    ----------
    uses_labels : bool
        Whether labels may be used.
    max_categories : int
        Maximum number of columns for a categorical column.
    for_pairs : bool, default=False
        Whether it is for ridge models, which have few components: sparse columns are always weighted.
    selects : bool, default=True
        Whether labels may select columns and decide about bins; false if all folds need the same columns.
    bias : float or None, default=None
        For novelty, constant columns as a share of the features.
    ferns : bool, default=False
        Whether tables get ferns beside their hash.
    by_value : bool, default=False
        Whether components of embeddings have values, for which columns need one scale.
    """

    uses_labels: bool
    max_categories: int = MAX_CATEGORIES
    for_pairs: bool = False
    selects: bool = True
    bias: float | None = None
    ferns: bool = False
    by_value: bool = False

    takes_sparse = True
    needs_rows = True
    needs_labels = False

    def choose(self, is_table: bool, sample: Sample, n_jobs: int | None = 1) -> Encoding:
        """Choose the encoding for a sample of numeric rows.

        Dense columns are standardised and clipped. Missing values in up to 100 columns are imputed; up to 30 columns
        become 5 soft bins each, with the column itself beside them, unless rows have one label and nearest neighbours
        in the sample do better without; of more columns, the informative ones do if they are at most 30. The pixels of
        images become histograms of gradients and brightness. Unit vectors, as embeddings are, are only centred for
        pairs, or standardised for values: their columns are alike in worth. Sparse rows are taken as they are. With
        labels, columns are weighted by their relevance, but not those of images, nor more than 1024 of sparse rows.
        Dense columns that are not images get ferns where `ferns` says so. For novelty, images of up to 512 pixels
        become histograms as well for pairs; up to 100 other columns are straightened where they are skewed and become
        soft bins of a wide range for pairs, up to 5 for filters, and others are only standardised; a value that differs
        from all others of a constant column is clipped.

        Parameters
        ----------
        is_table : bool
            Whether columns come from categories or dates.
        sample : Sample
            The sample.
        n_jobs : int or None, default=1
            Number of threads that may compare encodings.

        Returns
        -------
        Encoding
            The encoding.
        """
        n = sample.rows.shape[1]
        if issparse(sample.rows):
            is_weighed = self.uses_labels and (self.for_pairs or n <= MAX_WEIGHED)
            return Encoding("none", relevance=RELEVANCE if is_weighed else 0.0)
        if self.bias is None and self.for_pairs and are_unit_vectors(sample.rows):
            return Encoding("standard" if self.by_value else "center")
        may_be_image = not is_table and n > MAX_BINNED and next(possible_shapes(n), None) is not None
        may_be_image &= self.bias is None or (self.for_pairs and n <= MAX_IMAGE_NOVELTY)
        shape = image_shape(sample) if may_be_image else None
        if self.bias is not None:
            plain = Encoding("standard", clip=FAR, bias=self.bias, gradients=shape)
            is_binned = shape is None and n <= (FEW_COLUMNS if self.for_pairs else MAX_BINNED_NOVELTY)
            return replace(plain, unskew=True, bins=BINS, passthrough_scale=PASSTHROUGH) if is_binned else plain
        if shape is not None:
            return Encoding("standard", gradients=shape)
        relevance = (FEW_RELEVANCE if n <= FEW_COLUMNS else MANY_RELEVANCE) if self.uses_labels else 0.0
        fill = "none"
        if n <= MAX_FILLED and np.isnan(sample.rows).any():
            fill = "classes" if self.uses_labels else "rows"
        ferns = self.ferns and self.uses_labels
        plain = Encoding("standard", relevance=relevance, ferns=ferns)
        columns = self._informative_columns(sample)
        n_seen = n if columns is None else len(columns)
        if n_seen > MAX_BINNED:
            return replace(plain, fill=fill)
        binned = Encoding(
            bins=BINS,
            passthrough_scale=PASSTHROUGH,
            relevance=min(relevance, FEW_RELEVANCE),
            columns=columns,
            ferns=ferns,
        )
        has_classes = sample.labels is not None and sample.labels.ndim == 1  # neighbours vote for one label
        is_plain = self.uses_labels and self.selects and has_classes and is_behind(sample, binned, plain, n_jobs)
        return replace(plain if is_plain else binned, fill=fill)

    def _informative_columns(self, sample: Sample) -> tuple[int, ...] | None:
        """Return the informative columns if they are few; None for all."""
        if not (self.uses_labels and self.selects and MAX_BINNED < sample.rows.shape[1] <= MAX_WEIGHED):
            return None
        scaled = sample._replace(rows=Standardise.fit(sample, "standard", CLIP).apply(sample.rows))
        informative = np.flatnonzero(relevant_shares(scaled, CLIP, 1, 1))
        return tuple(informative.tolist()) if 0 < informative.size <= MAX_BINNED else None


Wanted = Encoding | Auto | Encoder
"""What an estimator's parameters ask for; an `Encoder` was fitted beforehand."""


def fitted_encoder(wanted: Wanted, features: Encoder, sample: Sample | None, n_jobs: int | None = 1) -> Encoder:
    """Return the encoder for rows with these features.

    Parameters
    ----------
    wanted : Encoding, Auto or Encoder
        The requested encoding.
    features : Encoder
        The features, without steps.
    sample : Sample or None
        The sample to fit to; None if no step needs rows.
    n_jobs : int or None, default=1
        Number of threads that may compare encodings.

    Returns
    -------
    Encoder
        The encoder, with the names of these features.
    """
    if isinstance(wanted, Encoder):
        _require_same_features(wanted, features)
        return replace(wanted, names=features.names)
    if isinstance(wanted, Encoding):
        return wanted.fitted(features, sample)
    assert sample is not None  # noqa: S101 - `needs_rows` says so
    table, columns = with_table(features, sample, wanted.max_categories)
    assert columns is not None  # noqa: S101 - there is a sample
    return wanted.choose(features.kinds is not None, columns, n_jobs).fitted(table, sample)


def _require_same_features(encoder: Encoder, features: Encoder) -> None:
    """Raise an error for other columns than those of a fitted encoder."""
    if features.kinds != encoder.kinds:
        msg = (
            f"The encoding was fitted to columns that are {_listed(encoder.kinds)}. Got "
            f"{_listed(features.kinds)} instead. Fit it to rows of the same kind."
        )
        raise ValueError(msg)
    if features.n_features != encoder.n_features:
        msg = (
            f"X has {features.n_features} features, but the encoding was fitted to {encoder.n_features}. "
            "Fit it to rows of the same kind."
        )
        raise ValueError(msg)


def wanted_encoding(
    encoding: Any,
    *,
    uses_labels: bool,
    for_pairs: bool = False,
    selects: bool = True,
    bias: float | None = None,
    ferns: bool = False,
    by_value: bool = False,
) -> Wanted:
    """Parse the parameter `encoding` of an estimator."""
    if isinstance(encoding, Encoder):
        return encoding
    if isinstance(encoding, str):
        first, _, rest = encoding.partition("+")
        if first.strip() == "auto":
            others = Encoding.parse(rest) if rest else Encoding()
            if others != Encoding(max_categories=others.max_categories):
                msg = f"The encoding {encoding!r} is not known: only categories=30 goes with auto."
                raise ValueError(msg)
            return Auto(uses_labels, others.max_categories, for_pairs, selects, bias, ferns, by_value)
        encoding = Encoding.parse(encoding)
    if bias and not encoding.bias and not encoding.rotation:
        encoding = replace(encoding, bias=bias)
    return encoding  # type: ignore[no-any-return]


def _listed(kinds: tuple[str, ...] | None) -> str:
    """Format the kinds of columns."""
    return "all numbers" if kinds is None else ", ".join(kinds)
