"""Blocks of validated rows, and a bounded sample of them that does not depend on order, blocks, threads or machine.

A sketch keeps the distinct (row, label) pairs with the smallest hashes of their content, each with its multiplicity.
Sketches of parts can be merged to that of the whole. While nothing was dropped (`is_all`), a sketch is the data itself,
and rows can be removed exactly.

Encodings are fitted to it, and scores are calibrated with it; see docs/benchmarks/encodings.md for the choice of K.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array, Features, Weights, issparse
from flybloom.core._kernels._choice import loops
from flybloom.core._kernels._plain import mixed_values
from flybloom.core.counts.columns import codes_of, unite
from flybloom.exceptions import NeverLearnedError

MAX_ROWS = 8192  # distinct rows, the K of the design
MAX_BYTES = 2**26  # of rows as float64: 8192 rows of 1024 columns, or 167 of 50 000
MIN_OF_CLASS = 16  # rows of each class that are kept however many others there are
ROWS_AT_ONCE = 1024  # bounds the float64 copies that are hashed
TARGET_RANGES = 8  # that stand for classes where rows have targets
MAX_OUTPUTS = 16  # of targets that are looked at one by one
GRAIN = 2**5  # of weights that stand for dropped rows as well: at most one part in so many off
SECOND = np.uint64(0x94D049BB133111EB)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
ODD = np.uint64(0x9E3779B97F4A7C15)
EVERYTHING = np.uint64(2**64 - 1)


class Block(NamedTuple):
    """Validated rows with their labels and weights."""

    rows: Features
    labels: Array | None
    weights: Weights

    def part(self, begin: int | None, end: int | None) -> Block:
        """Return some of the rows."""
        return self.only(slice(begin, end))

    def only(self, rows: slice | Array) -> Block:
        """Return the rows of a slice or a mask."""
        return Block(self.rows[rows], None if self.labels is None else self.labels[rows], self.weights[rows])

    def weighted(self) -> Block:
        """Return the rows with positive weight."""
        return self if (self.weights > 0).all() else self.only(self.weights > 0)

    def copied(self) -> Block:
        """Return the block with copied rows."""
        return self._replace(rows=self.rows.copy())


def joined(blocks: list[Block]) -> Block:
    """Concatenate blocks."""
    if len(blocks) == 1:
        return blocks[0]
    weights = np.concatenate([block.weights for block in blocks])
    labels = joined_labels([block.labels for block in blocks if block.labels is not None])
    return Block(stacked([block.rows for block in blocks]), labels, weights)


def joined_labels(parts: list[Array]) -> Array | None:
    """Concatenate labels in a type that holds all of them exactly; None if there are none."""
    if not parts:
        return None
    if parts[0].ndim > 1:  # targets
        return np.concatenate(parts)
    classes = parts[0][:0]
    for labels in parts:
        classes = unite(classes, labels)
    return np.concatenate([labels.astype(classes.dtype) for labels in parts])


def stacked(rows: list[Features]) -> Features:
    """Stack rows; sparse if any of them are."""
    if len(rows) == 1:
        return rows[0]
    if any(issparse(part) for part in rows):
        from scipy import sparse  # noqa: PLC0415 - those who only predict need none

        return sparse.vstack([part.astype(np.float64) for part in map(sparse.csr_matrix, rows)], format="csr")
    return np.concatenate(rows)


class Sample(NamedTuple):
    """Rows with weights, to which encodings are fitted."""

    rows: Features
    labels: Array | None
    weights: Array  # how many rows each stands for, as float64
    n_measured: float  # rows that were measured, copies included: how far chance goes

    def first(self, n: int) -> Sample:
        """Return a smaller sample: the rows with the smallest hashes."""
        if self.rows.shape[0] <= n:
            return self
        labels = None if self.labels is None else self.labels[:n]
        share = n / self.rows.shape[0]
        return Sample(self.rows[:n], labels, self.weights[:n], self.n_measured * share)

    def class_codes(self) -> tuple[int, Array]:
        """Return the number of classes and the class index of each row.

        For targets, quantile ranges of the first output are the classes.
        """
        assert self.labels is not None  # noqa: S101 - asked where there are labels
        if self.labels.ndim > 1:
            return _ranges(self.labels[:, 0])
        classes, codes = np.unique(self.labels, return_inverse=True)
        return classes.size, codes.ravel()

    def by_output(self) -> list[Sample]:
        """Return one sample for each of the first outputs of targets; otherwise the sample itself."""
        if self.labels is None or self.labels.ndim == 1:
            return [self]
        return [self._replace(labels=self.labels[:, k : k + 1]) for k in range(min(MAX_OUTPUTS, self.labels.shape[1]))]


@dataclass(frozen=True, eq=False)
class Sketch:
    """At most K distinct rows with labels and multiplicities, and the number of rows of each class.

    Parameters
    ----------
    hashes : ndarray of uint64
        Hashes of the distinct rows, ascending.
    rows : {ndarray, sparse matrix} of shape (n_distinct, n_features)
        The distinct rows.
    labels : ndarray or None
        Their labels.
    weights : ndarray of int64
        Their multiplicities.
    bound : numpy.uint64
        Largest hash of kept rows: every seen row up to it is kept.
    classes : ndarray or None
        The labels, sorted; None without labels.
    totals : ndarray of int64
        The number of rows of each class, multiplicities included; one number without labels.
    """

    hashes: Array
    rows: Features
    labels: Array | None
    weights: Weights
    bound: np.uint64
    classes: Array | None
    totals: Weights

    @staticmethod
    def of(rows: Features, labels: Array | None, weights: Weights, *, by_class: bool = True) -> Sketch:
        """Return the sketch of validated rows."""
        counts = np.flatnonzero(weights > 0)
        classes, totals = None, np.array([weights.sum()], np.int64)
        if labels is not None and by_class and labels.ndim == 1:
            classes = np.unique(labels[counts])
            totals = np.zeros(classes.size, np.int64)
            np.add.at(totals, codes_of(labels[counts], classes), weights[counts])
        hashes = content_hashes(rows, labels)[counts]
        order = np.argsort(hashes)  # of equal rows, any may come first
        ordered = hashes[order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: ordered.size])
        distinct, multiplicities = ordered[first], np.zeros(first.size, np.int64)
        if first.size:
            multiplicities = np.add.reduceat(weights[counts][order], first).astype(np.int64)
        at = counts[order[first]]
        kept = _bounded(distinct, rows, labels, multiplicities, at, EVERYTHING, classes, totals)
        return replace(kept, rows=compacted(kept.rows))

    def __add__(self, other: Sketch) -> Sketch:
        """Return the sketch of the rows of both."""
        parts = [part for part in (self, other) if part.hashes.size] or [self]
        hashes, at, which = np.unique(
            np.concatenate([part.hashes for part in parts]), return_index=True, return_inverse=True
        )
        weights = np.zeros(hashes.size, np.int64)
        np.add.at(weights, which.ravel(), np.concatenate([part.weights for part in parts]))
        rows = stacked([part.rows for part in parts])
        labels = joined_labels([part.labels for part in parts if part.labels is not None])
        return _bounded(hashes, rows, labels, weights, at, min(self.bound, other.bound), *_combined(self, other, 1))

    def __sub__(self, other: Sketch) -> Sketch:
        """Remove rows; NeverLearnedError if they cannot all have been seen."""
        at, is_known = _found(self.hashes, other.hashes)
        weights = self.weights.copy()
        weights[at[is_known]] -= other.weights[is_known]
        is_missed = (~is_known) & (other.hashes <= self.bound)
        classes, totals = _combined(self, other, -1)
        if is_missed.any() or (weights < 0).any() or (totals < 0).any():
            msg = (
                "These rows cannot all have been learned: some are not among those that were. "
                "Forget only rows that were learned, each with its label, once for each time it was learned."
            )
            raise NeverLearnedError(msg)
        left = self._with_weights(weights, classes, totals)
        return replace(left, rows=compacted(left.rows))

    def without(self, other: Sketch) -> Sketch:
        """Remove the rows of another sketch as far as they are kept.

        Rows beyond the bound are assumed to have been seen.
        """
        if not self.hashes.size:
            return self
        at, is_known = _found(self.hashes, other.hashes)
        weights = self.weights.copy()
        taken = np.minimum(weights[at], other.weights) * is_known
        np.subtract.at(weights, at, taken)
        beyond = np.where(other.hashes > self.bound, other.weights - taken, 0)
        if self.classes is None or self.labels is None:
            least = int(weights.sum())
            totals = np.array([max(least, int(self.totals[0]) - int((taken + beyond).sum()))], np.int64)
            return self._with_weights(weights, None, totals)
        totals, least_of_class = self.totals.copy(), np.zeros(self.totals.size, np.int64)
        known = np.isin(other.labels, self.classes)  # type: ignore[arg-type]
        gone = codes_of(other.labels[known], self.classes)  # type: ignore[index]
        np.subtract.at(totals, gone, (taken + beyond)[known])
        np.add.at(least_of_class, codes_of(self.labels, self.classes), weights)
        totals = np.maximum(totals, least_of_class)
        return self._with_weights(weights, self.classes[totals > 0], totals[totals > 0])

    def of_classes(self, classes: Array) -> Sketch:
        """Return the rows of some classes."""
        if self.classes is None or self.labels is None:
            return self
        is_kept = np.isin(self.classes, classes)
        weights = np.where(np.isin(self.labels, classes), self.weights, 0)
        return self if is_kept.all() else self._with_weights(weights, self.classes[is_kept], self.totals[is_kept])

    def n_fitting(self, rows: Features, labels: Array | None, weights: Weights) -> int:
        """Return the number of leading rows that can be added without dropping any."""
        hashes = content_hashes(rows, labels)
        _, first = np.unique(hashes, return_index=True)
        is_new = np.zeros(hashes.size, bool)
        is_new[first] = True
        is_new &= ~_found(self.hashes, hashes)[1] & (weights > 0)
        n = self.n_distinct + np.cumsum(is_new)
        n_bytes = _row_bytes(self.rows).sum() + np.cumsum(_row_bytes(rows) * is_new)
        return int(((n <= MAX_ROWS) & ((n_bytes <= MAX_BYTES) | (n <= 1))).sum())

    def holds_same(self, other: Sketch) -> bool:
        """Return whether the same rows are kept, with the same multiplicities."""
        return np.array_equal(self.hashes, other.hashes) and np.array_equal(self.weights, other.weights)

    def emptied(self) -> Sketch:
        """Return a sketch of no rows of the same kind."""
        classes = None if self.classes is None else self.classes[:0]
        totals = np.zeros(1 if classes is None else 0, np.int64)
        return replace(self._with_weights(np.zeros_like(self.weights), classes, totals), bound=EVERYTHING)

    def _with_weights(self, weights: Weights, classes: Array | None, totals: Weights) -> Sketch:
        """Return the rows whose multiplicity is above zero."""
        at = np.flatnonzero(weights > 0)
        labels = None if self.labels is None else self.labels[at]
        return Sketch(self.hashes[at], self.rows[at], labels, weights[at], self.bound, classes, totals)

    @property
    def is_all(self) -> bool:
        """Whether all seen rows are kept."""
        return bool(self.bound == EVERYTHING)

    @property
    def n_rows(self) -> int:
        """Number of seen rows, multiplicities included."""
        return int(self.totals.sum())

    @property
    def n_distinct(self) -> int:
        """Number of distinct rows that are kept."""
        return len(self.hashes)

    def sample(self, per_row: int = 1) -> Sample:
        """Return the rows with weights that add up to the number of rows of each class.

        Where rows were dropped, weights are rounded to a few bits, so that a row that was may come or go without a
        trace in what is fitted to the others.
        """
        weights = self.weights.astype(np.float64) / per_row
        if not self.is_all and self.classes is None:  # those beyond the bound stand for themselves
            is_within = self.hashes <= self.bound
            within = self.weights[is_within].sum()
            weights[is_within] *= (self.n_rows - self.weights[~is_within].sum()) / max(within, 1)
        elif not self.is_all:
            codes = np.zeros(len(weights), np.intp)
            if self.classes is not None and self.labels is not None:
                codes = codes_of(self.labels, self.classes)
            kept = np.bincount(codes, self.weights, minlength=self.totals.size)
            shares, exponents = np.frexp(self.totals / np.maximum(kept, 1))
            weights *= np.ldexp(np.rint(shares * GRAIN) / GRAIN, exponents)[codes]
        return Sample(self.rows, self.labels, weights, float(self.weights.sum()) / per_row)


def _ranges(targets: Array) -> tuple[int, Array]:
    """Return the number of quantile ranges of the targets, and the range of each row."""
    _, at, counts = np.unique(targets, return_inverse=True, return_counts=True)
    if counts.size <= TARGET_RANGES:  # such as labels
        return counts.size, at.ravel()
    before = np.cumsum(counts) - counts
    ranges, codes = np.unique(before * TARGET_RANGES // len(targets), return_inverse=True)
    return ranges.size, codes.ravel()[at.ravel()]


def stored_sketch(kept: Sketch, bound: np.uint64, classes: Array | None, totals: Weights) -> Sketch | None:
    """Return the sketch in a file, or None if it is invalid."""
    if classes is not None and (totals.shape != classes.shape or unite(classes, kept.classes).size != classes.size):  # type: ignore[arg-type]
        return None
    own = np.zeros(totals.size, np.int64)
    if classes is None or kept.classes is None:
        own = kept.totals
    else:
        own[codes_of(kept.classes, classes)] = kept.totals
    if own.shape != totals.shape or (own > totals).any():
        return None
    return replace(kept, bound=bound, classes=classes, totals=totals)


def content_hashes(rows: Features, labels: Array | None) -> Array:
    """Return a 64-bit hash of each row and label by value, independent of type."""
    out = np.empty(rows.shape[0], np.uint64)
    places = _places(rows.shape[1])
    if issparse(rows):
        mixed = mixed_values(rows.data.astype(np.float64).view(np.uint64)) * places[rows.indices]
        upto = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
        out[:] = upto[rows.indptr[1:]] - upto[rows.indptr[:-1]]
    else:
        kernels = loops("content_hash", rows.size)
        for begin in range(0, len(rows), ROWS_AT_ONCE):
            some = np.ascontiguousarray(rows[begin : begin + ROWS_AT_ONCE], np.float64)
            kernels.hash_rows(some.view(np.uint64), places, out[begin : begin + ROWS_AT_ONCE])
    if labels is not None and labels.ndim > 1:  # targets, which are numbers as those in rows are, or labels
        out += _mixed(mixed_values(_numbers(labels).view(np.uint64)) @ _places(labels.shape[1]))
    elif labels is not None:
        classes, codes = np.unique(labels, return_inverse=True)
        out += np.fromiter(map(_label_hash, classes.tolist()), np.uint64, classes.size)[codes.ravel()]
    return _mixed(out)


def _numbers(labels: Array) -> Array:
    """Return numbers as float64, and 64 bits of each string."""
    if labels.dtype.kind != "U":
        return labels.astype(np.float64)
    classes, codes = np.unique(labels, return_inverse=True)
    return np.array([_label_hash(label) for label in classes.tolist()], np.uint64)[codes.reshape(labels.shape)]


def _label_hash(label: Any) -> int:
    """Return 64 bits for a label; 1, 1.0 and True are equal."""
    if isinstance(label, int | float) and float(label) == label:
        label = float(label) + 0.0  # no negative zero
    return int.from_bytes(hashlib.blake2b(repr(label).encode(), digest_size=8).digest(), "little")


@lru_cache(maxsize=8)
def _places(n_columns: int) -> Array:
    """Return an odd number for each column."""
    places = _mixed(np.arange(1, n_columns + 1, dtype=np.uint64) * ODD) | np.uint64(1)
    places.flags.writeable = False
    return places


def _mixed(bits: Array) -> Array:
    """Mix hashes with splitmix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def _found(hashes: Array, wanted: Array) -> tuple[Array, Array]:
    """Look up hashes among sorted ones; return positions and a mask."""
    at = np.searchsorted(hashes, wanted)
    at[at == hashes.size] = 0
    return at, hashes[at] == wanted if hashes.size else np.zeros(at.size, bool)


def _bounded(
    hashes: Array,
    rows: Features,
    labels: Array | None,
    weights: Weights,
    at: Array,
    bound: np.uint64,
    classes: Array | None,
    totals: Weights,
) -> Sketch:
    """Return the sketch of rows at some places, which have these hashes, ascending, within its bounds."""
    labels = None if labels is None else labels[at]
    is_kept, bound = _kept(hashes, _row_bytes(rows)[at], labels, bound, classes)
    labels = None if labels is None else labels[is_kept]
    return Sketch(hashes[is_kept], rows[at[is_kept]], labels, weights[is_kept], bound, classes, totals)


def _kept(
    hashes: Array, n_bytes: Array, labels: Array | None, bound: np.uint64, classes: Array | None
) -> tuple[Array, np.uint64]:
    """Return which distinct rows are kept, and the bound."""
    n_kept = min(MAX_ROWS, max(1, int((np.cumsum(n_bytes) <= MAX_BYTES).sum())))
    if hashes.size > n_kept:
        bound = min(bound, hashes[n_kept - 1])
    is_kept = hashes <= bound
    if labels is not None and not is_kept.all():
        if classes is not None:
            is_kept |= _rank_in_class(labels) < MIN_OF_CLASS
        elif labels.ndim > 1 and labels.dtype.kind != "f":  # of several outputs; targets have no classes
            for label in np.unique(labels):
                has_it = labels == label
                is_kept |= (has_it & (np.cumsum(has_it, axis=0) <= MIN_OF_CLASS)).any(axis=1)
    return is_kept, bound


def _rank_in_class(labels: Array) -> Array:
    """Return the rank of each row within its class."""
    order = np.argsort(labels, kind="stable")
    _, starts, counts = np.unique(labels[order], return_index=True, return_counts=True)
    ranks = np.empty(labels.size, np.intp)
    ranks[order] = np.arange(labels.size) - np.repeat(starts, counts)
    return ranks


def _row_bytes(rows: Features) -> Array:
    """Return the bytes of each row, as float64."""
    if issparse(rows):
        return np.asarray(12 * np.diff(rows.indptr) + 8)
    return np.full(len(rows), 8 * rows.shape[1])


def compacted(rows: Features) -> Features:
    """Return rows in the smallest type that holds them."""
    if issparse(rows):
        return rows.astype(np.float64)
    least, most = (rows.min(), rows.max()) if rows.size else (np.nan, np.nan)
    for dtype in (np.uint8, np.int16):
        if rows.dtype == dtype:
            return rows.copy()
        limits = np.iinfo(dtype)
        if limits.min <= least and most <= limits.max:  # no NaN among them
            whole = rows.astype(dtype)
            if (whole == rows).all():
                return whole
    if rows.dtype.kind != "f":
        return rows.astype(np.int64 if rows.dtype.kind != "u" else np.uint64)
    with np.errstate(over="ignore"):  # what float32 does not hold differs then
        single = rows.astype(np.float32)
    is_exact = np.array_equal(single, rows, equal_nan=bool(np.isnan(most)))
    exact = single if is_exact else rows.astype(np.float64)
    return exact + exact.dtype.type(0)  # no negative zero


def _combined(a: Sketch, b: Sketch, sign: int) -> tuple[Array | None, Weights]:
    """Add or subtract classes and totals."""
    if a.classes is None or b.classes is None:
        return None, a.totals + sign * b.totals
    classes = unite(a.classes, b.classes)
    totals = np.zeros(classes.size, np.int64)
    totals[codes_of(a.classes, classes)] += a.totals
    totals[codes_of(b.classes, classes)] += sign * b.totals
    return classes[totals != 0], totals[totals != 0]
