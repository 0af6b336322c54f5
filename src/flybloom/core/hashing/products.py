"""Values instead of winners: columns, and products of two columns, for rows in which no few columns tell anything.

Winners say which of many sums of columns are large. Of embeddings, all columns say a little, and how much of each is
there matters more than which are largest. So each component keeps its value, a whole number of 8 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flybloom._internal.cached import cached_property
from flybloom._internal.hashed import LARGEST
from flybloom._internal.typing import Array, Features, Values, issparse
from flybloom.core.hashing.projection import OCTET, Projection

PRODUCTS_VERSION = 3
"""Version of how products follow from a seed."""

STEPS = 50  # of a standard deviation: so columns that are clipped at 2.5 of these fit into 8 bits
SHIFT = 7  # bits by which products of two columns are shortened, to have about as many


@dataclass(frozen=True)
class Products(Projection):
    """The columns of standardised rows, and products of two of them, as whole numbers from -127 to 127.

    The first d components are the columns. Each further d of them are the products of every column with the one that
    is a number of places away; the seed says which number comes first. No pair comes twice.
    """

    @property
    def version(self) -> int:
        """Version of how products follow from the seed."""
        return PRODUCTS_VERSION

    @property
    def n_bytes(self) -> int:
        """Bytes of the numbers of places: no component has connections of its own."""
        return 4 * ((self.n_features - 1) // 2)

    @cached_property
    def shifts(self) -> Array:
        """How many places apart columns are that are multiplied, in the order in which they are used."""
        n = (self.n_features - 1) // 2
        if n == 0:
            return np.zeros(0, np.int64)
        order = Projection(self.seed, n, 1, n, signed=False).connections()[0][0]
        return np.asarray(order.astype(np.int64) + 1)

    @cached_property
    def packed_connections(self) -> Array:
        """The two columns of each component, ``[j // 8, k, j % 8]``; a column by itself is there twice."""
        first = np.arange(self.n_components) % self.n_features
        apart = np.concatenate([np.zeros(1, np.int64), self.shifts])[np.arange(self.n_components) // self.n_features]
        packed = np.zeros((-(-self.n_components // OCTET) * OCTET, 2), self._dtype())
        packed[: self.n_components] = np.stack([first, (first + apart) % self.n_features], axis=1)
        return packed.reshape(-1, OCTET, 2).transpose(0, 2, 1)

    def prepare(self, *, is_sparse: bool) -> None:  # noqa: ARG002 - all rows are multiplied as dense ones
        """Derive what hashing needs, before several threads do."""
        _ = self.shifts

    def winners(self, rows: Features, n_winners: int) -> Values:  # type: ignore[override]  # noqa: ARG002
        """Return the values of all components; nothing is left out, so nothing wins."""
        d, m = self.n_features, self.n_components
        dense = np.asarray(rows.toarray() if issparse(rows) else rows, np.float32)
        columns = np.clip(np.rint(dense * np.float32(STEPS)), -LARGEST, LARGEST).astype(np.int16)
        values = np.empty((len(columns), m), np.int8)
        values[:, :d] = columns[:, :m]
        around = np.concatenate([columns, columns], axis=1)
        for begin, apart in zip(range(d, m, d), self.shifts.tolist(), strict=False):
            n = min(d, m - begin)
            products = columns[:, :n] * around[:, apart : apart + n]
            products += 1 << (SHIFT - 1)
            products >>= SHIFT
            values[:, begin : begin + n] = products
        return values
