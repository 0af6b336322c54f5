"""Validated rows with their labels and weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flybloom._internal.sparse import issparse
from flybloom._internal.typing import Array, Features, Weights
from flybloom.core.counts.columns import unite


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
