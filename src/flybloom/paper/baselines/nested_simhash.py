"""SBFC for many sizes and folds from one hash of all rows: fewer components are the first of more."""

from __future__ import annotations

import numpy as np

from flybloom._internal.typing import Array
from flybloom.paper.baselines.simhash import KEY_BITS, decide, direction_blocks, hash_blocks, tie_keys, unmet

BITS_AT_ONCE = 2**27  # bounds the hashes of all rows, one byte for each bit

Split = tuple[Array, Array]


def predictions_for_each_size(
    X: Array, y: Array, splits: list[Split], sizes: list[int], seed: int
) -> dict[int, list[Array]]:
    """Return what `SimHashBloomClassifier` predicts for the test rows of each split, for each size.

    The directions follow from the seed, so they are the same in every fold, and each row is hashed once. Rows of the
    same class that are in the training part of the same folds form a cell: what a cell has met is found once, and a
    fold's filter follows from its cells.
    """
    classes, codes = np.unique(y, return_inverse=True)
    is_training = np.zeros((len(y), len(splits)), bool)
    for f, (train, _) in enumerate(splits):
        is_training[train, f] = True
    cells, cell_of_row = np.unique(np.column_stack([codes, is_training]), axis=0, return_inverse=True)
    order = np.argsort(cell_of_row.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(cell_of_row.ravel()))
    place = np.empty(len(y), np.int64)
    place[order] = np.arange(len(y))
    folds = [
        _Fold(classes, cells[:, 0], cells[:, 1 + f].astype(bool), place[test]) for f, (_, test) in enumerate(splits)
    ]
    rows = np.ascontiguousarray(X[order], np.float64)
    results: dict[int, list[Array]] = {}
    cuts = sorted(set(sizes))
    most = max(1, BITS_AT_ONCE // len(rows))
    for components, directions in direction_blocks(seed, rows.shape[1], cuts, most):
        bits = np.concatenate([block for _, block in hash_blocks(rows, directions)])
        met = np.array([part.any(axis=0) for part in np.split(bits, ends[:-1])])
        for fold in folds:
            fold.add(bits, met)
        if components.stop in cuts:
            results[components.stop] = [fold.predict(seed) for fold in folds]
    return results


class _Fold:
    """The scores of the test rows of one split, as far as components were added."""

    def __init__(self, classes: Array, class_of_cell: Array, is_training: Array, test: Array) -> None:
        met_classes = np.unique(class_of_cell[is_training])
        self.classes = classes[met_classes]
        self.cells_of_class = [np.flatnonzero(is_training & (class_of_cell == i)) for i in met_classes]
        self.test = test
        self.scores = np.zeros((len(test), self.classes.size), np.int64)
        self.first_bits = np.zeros((len(test), 0), bool)

    def add(self, bits: Array, met: Array) -> None:
        """Learn some bits from what the cells have met of them, and score the test rows by them."""
        never = np.array([~met[cells].any(axis=0) for cells in self.cells_of_class])
        hashes = bits[self.test]
        self.scores += unmet(hashes, never)
        left = KEY_BITS - self.first_bits.shape[1]
        if left > 0:
            self.first_bits = np.hstack([self.first_bits, hashes[:, :left]])

    def predict(self, seed: int) -> Array:
        """Return the labels with the components added so far."""
        return np.asarray(self.classes[decide(self.scores, tie_keys(self.first_bits), seed)])
