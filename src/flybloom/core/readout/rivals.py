"""Windows of several lengths over the same rows, judged by who has been right: counts, and what decides between them.

Rows come in sequence, whatever the size of blocks: each is answered by all windows, and then learned. So what
comes out depends on the order of rows and on nothing else.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from flybloom._internal.memory import available_memory
from flybloom._internal.typing import Array, Codes
from flybloom.core import _kernels
from flybloom.core.counts.base import Won
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.counts.columns import codes_if_known, codes_of, count_dtype, require_countable, unite
from flybloom.core.counts.kept_winners import SMALL
from flybloom.core.readout.filters import (
    AUTO,
    LEAST_STEP,
    ROOTS,
    auto_decay,
    common_table,
    decay_step,
    mean_count,
    step_bits,
)

_ROOTS = np.array(ROOTS)


class Rivals(NamedTuple):
    """Counts of several windows, the rows that some of them must forget, and how often each was right lately.

    Parameters
    ----------
    limits : ndarray of shape (n_windows,)
        Rows of each window, ascending; 0 for all rows comes last.
    classes : ndarray of shape (n_classes,)
        The labels of all windows, sorted.
    tables : ndarray of shape (n_windows, n_components, n_classes)
        How often each component won.
    rows : ndarray of shape (n_windows, n_classes)
        Rows of each class, weights included.
    kept : ndarray of shape (n_kept, n_winners)
        Winners of the latest rows; number i is at i modulo ``n_kept``.
    kept_codes, kept_weights : ndarray of shape (n_kept,)
        Their classes and weights.
    judged : ndarray of shape (n_judged, n_windows)
        Whether each window was right about each of the latest rows.
    right : ndarray of shape (n_windows,)
        How often each was.
    seen : ndarray of shape (2,)
        How many rows have come, and how many of them were judged.
    """

    limits: Array
    classes: Array
    tables: Array
    rows: Array
    kept: Array
    kept_codes: Array
    kept_weights: Array
    judged: Array
    right: Array
    seen: Array

    @classmethod
    def begin(cls, limits: list[int], n_components: int, n_winners: int, n_judged: int) -> Self:
        """Return windows of no rows."""
        n_windows, n_kept = len(limits), max(1, *limits)
        needed, available = n_kept * (4 * n_winners + 8) + n_judged * n_windows, available_memory()
        if available is not None and needed > available:
            msg = (
                f"Windows of {n_kept} rows, judged by {n_judged}, need {needed / 2**30:.3g} GiB, and "
                f"{available / 2**30:.3g} GiB are available. Choose shorter windows, or fewer evaluation_window."
            )
            raise ValueError(msg)
        return cls(
            np.array(limits, np.int64),
            np.empty(0),
            np.zeros((n_windows, n_components, 0), np.int32),
            np.zeros((n_windows, 0), np.int64),
            np.zeros((n_kept, n_winners), np.uint16 if n_components <= SMALL else np.uint32),
            np.zeros(n_kept, np.int32),
            np.zeros(n_kept, np.int32),
            np.zeros((n_judged, n_windows), np.bool_),
            np.zeros(n_windows, np.int64),
            np.zeros(2, np.int64),
        )

    @property
    def best(self) -> int:
        """The window that was right most often; the longest of those that tie."""
        return int(self.limits.size - 1 - np.argmax(self.right[::-1]))

    @property
    def n_bytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in self)

    def copied(self) -> Self:
        """Return the same in arrays of its own."""
        return type(self)(*(array.copy() for array in self))

    def counts(self, window: int) -> ClassCounts:
        """Return what one window has counted, in arrays of its own: the counts of its rows alone."""
        rows = self.rows[window]
        present = rows > 0
        table = np.array(self.tables[window][:, present], count_dtype(rows[present]), order="C")
        return ClassCounts(self.classes[present], rows[present], table, self.kept.shape[1])

    def latest(self) -> Won:
        """Return the rows that may have to be forgotten, in the order in which they came."""
        n_kept = len(self.kept)
        at = np.arange(max(0, self.seen[0] - n_kept), self.seen[0]) % n_kept
        winners = np.sort(self.kept[at], axis=1)
        return Won(winners, self.classes[self.kept_codes[at]], self.kept_weights[at].astype(np.int64))

    def judgements(self) -> Array:
        """Return whether each window was right about the latest rows, in the order in which they came."""
        n_judged = len(self.judged)
        at = np.arange(max(0, self.seen[1] - n_judged), self.seen[1]) % n_judged
        return np.asarray(self.judged[at])

    def with_judgements(self, judged: Array) -> Self:
        """Return the same windows, judged by other rows."""
        places = self.judged.copy()
        places[: len(judged)] = judged
        places[len(judged) :] = False
        return self._replace(
            judged=places, right=places.sum(axis=0, dtype=np.int64), seen=np.array([self.seen[0], len(judged)])
        )

    def with_counts(self, window: int, counts: ClassCounts) -> Self:
        """Return the same windows, one of them with other counts, which hold all classes."""
        twin = self.with_classes(counts.classes)
        tables = twin.tables.astype(np.result_type(twin.tables, counts.table))
        tables[window], rows = 0, twin.rows.copy()
        at = codes_of(counts.classes, twin.classes)
        tables[window][:, at] = counts.table
        rows[window] = 0
        rows[window, at] = counts.class_count
        return twin._replace(tables=tables, rows=rows)

    def with_classes(self, labels: Array) -> Self:
        """Return the windows with places for more labels; those that no window has any more are left out then."""
        if codes_if_known(labels, self.classes) is not None:
            return self
        present = self.rows.any(axis=0)
        classes = unite(self.classes[present], labels)
        at = codes_of(self.classes[present], classes)
        tables = np.zeros((*self.tables.shape[:2], classes.size), self.tables.dtype)
        tables[:, :, at] = self.tables[:, :, present]
        rows = np.zeros((self.limits.size, classes.size), np.int64)
        rows[:, at] = self.rows[:, present]
        place = np.zeros(max(1, self.classes.size), np.int32)
        place[: self.classes.size][present] = at
        return self.copied()._replace(classes=classes, tables=tables, rows=rows, kept_codes=place[self.kept_codes])

    def follow(self, won: Won, decay: float | str, seed: int) -> tuple[Self, Array]:
        """Let rows come in sequence; return the windows then, and what was answered before each was learned.

        A single row of known classes is entered in place, by one call of a kernel, which nothing interrupts; otherwise
        these windows stay as they are. Winners may have any order.
        """
        assert won.labels is not None  # noqa: S101 - classes have labels
        is_learned = won.weights > 0
        after = self.with_classes(won.labels[is_learned])
        if after is self and len(won.weights) > 1:
            after = self.copied()
        after = after.with_room(int(won.weights.sum()))
        codes = np.zeros(len(won.weights), np.int64)
        codes[is_learned] = codes_of(won.labels[is_learned], after.classes)
        answers = after.answer(won, codes, decay, seed)
        return after, after.classes[answers]

    def with_room(self, n_rows: int) -> Self:
        """Return the windows with counts of a type that holds so many rows more."""
        most = self.rows.max(axis=1) + n_rows
        require_countable(most)
        dtype = count_dtype(most)
        return self if np.dtype(dtype) == self.tables.dtype else self._replace(tables=self.tables.astype(dtype))

    def answer(self, won: Won, codes: Codes, decay: float | str, seed: int) -> Array:
        """Enter rows in place, and return the classes that were answered."""
        n_rows, done = len(codes), 0
        answers = np.empty(n_rows, np.int64)
        while done < n_rows:
            values, starts, bits, steps, is_steady = self._weights(decay, int(won.weights[done:].sum()))
            done = _kernels.score.follow(
                won.winners, codes, won.weights, done, n_rows if is_steady else done + 1, np.uint64(seed),
                self.limits, values, starts, bits, steps, _ROOTS if decay == AUTO else _ROOTS[:0],
                *self[2:], answers,
            )  # fmt: skip
        return answers

    def _weights(self, decay: float | str, n_more: int) -> tuple[Array, Array, Array, Array, bool]:
        """Return the weights of counts for each window, as kernels take them, and whether they hold for all rows."""
        tables, bits, steps, is_steady = [], [], [], True
        for rows in self.rows:
            mean, most = mean_count(rows, self.tables.shape[1], self.kept.shape[1]), int(rows.max(initial=0))
            steps.append(decay_step(mean))
            now = auto_decay(mean) if decay == AUTO else float(decay)
            bits.append(step_bits(now, most))
            is_steady &= step_bits(now, most + n_more) == bits[-1]
            tables.append(common_table(now, most + n_more, bits[-1]))
        starts = np.cumsum([0, *map(len, tables)])
        return np.concatenate(tables), starts, np.array(bits), np.array([*steps, LEAST_STEP]), is_steady
