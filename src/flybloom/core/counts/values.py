"""Sums of values by class and of products of two values, for components that have values instead of winning.

The products are a triangle of integers in one array, as pairs of winners are: those of u and v <= u are at
``u (u + 1) / 2 + v``. Most are added by BLAS, in floats that hold every sum of so few rows, and then as integers. So
nothing is ever rounded, and no order of rows matters.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs

from flybloom._internal.hashed import LARGEST
from flybloom._internal.parallel import threads, uninterrupted
from flybloom._internal.typing import Array, Codes, Values, Weights
from flybloom.core import _kernels
from flybloom.core.counts.base import Counter, Counts
from flybloom.core.counts.by_class import require_known, require_rows
from flybloom.core.counts.columns import align_columns, codes_if_known, codes_of, unite
from flybloom.core.counts.label_json import classes_from_facts, labels_to_json
from flybloom.core.counts.pairs import RightSide, require_memory
from flybloom.core.counts.weight_unit import WHOLE_ROWS, WeightUnit, unit_from_facts

MAX_ROWS = 2**48  # that can be counted, so that sums of products stay within 64 bits
SQUARE = LARGEST**2
ROWS = 1024  # whose products BLAS adds exactly: below 2^24 in float32; with any weights, below 2^53 in float64
TILE = 256  # components whose products are added together
FEW = 16  # rows whose products are added one by one
TYPES = (np.int16, np.int32, np.int64)  # of what files hold


class ValueBatch(NamedTuple):
    """What rows change, where they are few: their values."""

    classes: Array  # sorted
    class_count: Array
    codes: Codes
    weights: Weights
    values: Values


class ValueSums(Counts):
    """Sums of values by class, and of products of two values.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count : ndarray of shape (n_classes,), int64
        Number of rows of each class, weights included.
    by_class : ndarray of shape (n_classes, n_components), int64
        Sums of the values of the rows of each class.
    triangle : ndarray of shape (m (m + 1) / 2,)
        Sums of products; int32, or int64 where there are more rows than that holds.
    unit : WeightUnit
        What one count stands for.
    """

    kind = "values"
    not_contained = (
        "These rows cannot all have been learned: without them, sums are left that no rows have. Forget only rows "
        "that were learned, each with its label, once for each time it was learned."
    )
    ARRAYS = frozenset({"values", "products"})
    n_winners = 0

    def __init__(
        self, classes: Array, class_count: Array, by_class: Array, triangle: Array, unit: WeightUnit = WHOLE_ROWS
    ) -> None:
        self.classes, self.class_count, self.by_class = classes, class_count, by_class
        self.triangle, self.unit = triangle, unit
        self.n_components = by_class.shape[1]
        self.edition = 0  # grows when the arrays change in place, so that what was derived from them is known to be old

    @classmethod
    def empty(cls, n_components: int, n_winners: int = 0, unit: WeightUnit = WHOLE_ROWS) -> Self:  # noqa: ARG003
        """Return sums of no rows; sizes whose triangle does not fit into memory are refused."""
        require_memory(n_components)
        return cls._of_no_rows(np.empty(0), n_components, unit)

    @classmethod
    def _of_no_rows(cls, classes: Array, m: int, unit: WeightUnit, dtype: Any = np.int32) -> Self:
        """Return sums of no rows of known classes."""
        sums, triangle = np.zeros((classes.size, m), np.int64), np.zeros(m * (m + 1) // 2, dtype)
        return cls(classes, np.zeros(classes.size, np.int64), sums, triangle, unit)

    def emptied(self) -> Self:
        """Return sums of no rows, with the classes that are known."""
        return self._of_no_rows(self.classes, self.n_components, self.unit)

    @property
    def n_rows(self) -> int:
        """Number of rows, weights included, in units."""
        return sum(self.class_count.tolist())

    @property
    def table(self) -> Array:
        """Sums of the values of each component, of shape (n_components, n_classes)."""
        return self.by_class.T

    @property
    def has_won(self) -> Array:
        """Refused: components have values, and none wins."""
        msg = (
            "The components of this model have values, and none wins. Expected a model that counts winners. Set "
            "n_winners, or use FlyBloomNovelty."
        )
        raise ValueError(msg)

    @property
    def sums(self) -> Array:
        """Sums of the values of each component, of shape (n_components,)."""
        return np.asarray(self.by_class.sum(axis=0))

    @property
    def squares(self) -> Array:
        """Sums of squares of the values of each component: the diagonal."""
        u = np.arange(self.n_components, dtype=np.int64)
        diagonal: Array = self.triangle[u * (u + 3) // 2]
        return diagonal

    def right_side(self) -> RightSide:
        """Return the indicators of the classes."""
        rows = self.unit.rows(self.class_count.astype(np.float64))
        return RightSide(self.unit.rows(self.table), rows, rows - rows**2 / max(rows.sum(), 1.0), are_classes=True)

    def counter(self, labels: Any, weights: Weights, *, sign: int = 1, announced: Array | None = None) -> Counter:
        """Begin to count rows of these classes; `announced` ones become known without any."""
        classes = self.classes
        if codes_if_known(labels, classes) is None:  # a row of weight 0 is not there, and its class need not be known
            counted = labels if weights.all() else labels[weights > 0]
            if sign < 0:
                require_known(counted, classes)
            else:
                classes = unite(classes, counted)
        if announced is not None:
            classes = unite(classes, announced)
        codes = np.minimum(codes_of(labels, classes), max(classes.size - 1, 0))
        class_count = np.zeros(classes.size, np.int64)
        np.add.at(class_count, codes, weights)
        if sign < 0:
            require_rows(class_count, self)
        _require_countable(class_count)
        if weights.size <= FEW:
            values = np.empty((weights.size, self.n_components), np.int8)
            return Counter(ValueBatch(classes, class_count, codes, weights, values), values.__setitem__)
        sums = self._of_no_rows(classes, self.n_components, self.unit, _dtype(class_count))
        sums.class_count = class_count
        return _ValueCounter(sums, codes, weights)

    def plus(self, delta: Self | ValueBatch, *, owned: bool = False) -> Self:
        """Return the sums with those of more rows."""
        if isinstance(delta, ValueSums):
            self.unit.require_same(delta.unit, "merge")
            if owned and self.classes.size == 0:
                return delta
        classes = unite(self.classes, delta.classes)
        rows = align_columns(self.class_count, self.classes, classes, 0)
        added = align_columns(delta.class_count, delta.classes, classes, 0)
        _require_countable(rows + added)
        by_class, dtype = align_columns(self.by_class, self.classes, classes, 0), _dtype(rows + added)
        if isinstance(delta, ValueBatch):
            result = type(self)(classes, rows.copy(), by_class.copy(), self.triangle.astype(dtype), self.unit)
            codes = codes_of(delta.classes, classes)[delta.codes]
            result.enter(delta.values, codes, delta.weights)
            return result
        triangle = delta.triangle.astype(dtype, copy=not owned)
        triangle += self.triangle
        by_class = by_class + align_columns(delta.by_class, delta.classes, classes, 0)
        return type(self)(classes, rows + added, by_class, triangle, self.unit)

    def minus(self, delta: Self | ValueBatch) -> Self:
        """Return the sums without those of rows; a class of which none is left is no longer known."""
        if isinstance(delta, ValueBatch):
            rows = delta.class_count
            result = type(self)(
                self.classes, self.class_count.copy(), self.by_class.copy(), self.triangle.copy(), self.unit
            )
            result.enter(delta.values, delta.codes, -delta.weights)
        else:
            self.unit.require_same(delta.unit, "subtract")
            rows, by_class = self._aligned(delta)
            triangle = self.triangle - delta.triangle
            result = type(self)(self.classes, self.class_count - rows, self.by_class - by_class, triangle, self.unit)
        self.require_contained(result.is_possible())
        keep = (result.class_count > 0) | (rows == 0)
        class_count = result.class_count[keep]
        triangle = result.triangle.astype(_dtype(class_count), copy=False)
        return type(self)(self.classes[keep], class_count, result.by_class[keep], triangle, self.unit)

    def change_in_place(self, delta: Self | ValueBatch, sign: int) -> bool:
        """Count few rows of known classes without a copy of the triangle."""
        if not isinstance(delta, ValueBatch) or delta.classes is not self.classes:
            return False
        class_count = self.class_count + sign * delta.class_count
        if (sign < 0 and not class_count.all()) or _dtype(class_count) != self.triangle.dtype:
            return False
        _require_countable(class_count)
        self.edition += 1  # before, so that what is derived meanwhile is never taken for new
        if sign > 0:
            uninterrupted(lambda: self.enter(delta.values, delta.codes, delta.weights))
            return True

        def take() -> bool:
            self.enter(delta.values, delta.codes, -delta.weights)
            if self.is_possible():
                return True
            self.enter(delta.values, delta.codes, delta.weights)
            return False

        self.require_contained(uninterrupted(take))
        return True

    def enter(self, values: Values, codes: Codes, weights: Weights) -> None:
        """Add few rows, or take them away with negative weights, in place: a single call of a kernel."""
        _kernels.values.add_rows(values, codes, weights, self.by_class, self.class_count, self.triangle)

    def is_possible(self) -> bool:
        """Return whether some rows have such sums: none beyond its rows, no sum of squares below that of the means."""
        squares, rows = self.squares.astype(np.float64), self.class_count.astype(np.float64)
        if (self.class_count < 0).any() or (np.abs(self.by_class) > LARGEST * self.class_count[:, None]).any():
            return False
        means = (self.by_class.astype(np.float64) ** 2 / np.maximum(rows, 1.0)[:, None]).sum(axis=0)
        return bool((squares <= SQUARE * rows.sum()).all() and (means <= squares * (1 + 2.0**-40)).all())

    def _aligned(self, other: Self) -> tuple[Array, Array]:
        """Return rows and sums of those that are to be taken away, with the classes of these; refuse too many."""
        require_known(other.classes[other.class_count > 0], self.classes)
        known = set(self.classes.tolist())
        is_known = np.array([label in known for label in other.classes.tolist()], bool)  # others were announced only
        classes, rows, by_class = other.classes[is_known], other.class_count[is_known], other.by_class[is_known]
        rows = align_columns(rows, classes, self.classes, 0)
        require_rows(rows, self)
        return rows, align_columns(by_class, classes, self.classes, 0)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return classes and their rows, and the sums."""
        facts: dict[str, Any] = {"classes": labels_to_json(self.classes), "class_count": self.class_count.tolist()}
        if self.unit != WHOLE_ROWS:
            facts["weight_unit"] = self.unit.weight
        return facts, {"values": _narrowest(self.by_class), "products": _narrowest(self.triangle)}

    @classmethod
    def from_parts(cls, n_components: int, n_winners: int, facts: dict[str, Any], arrays: dict[str, Array]) -> Self:  # noqa: ARG003
        """Return the sums, if some rows can have them."""
        classes, rows = classes_from_facts(facts), facts.get("class_count")
        if not (
            isinstance(rows, list)
            and len(rows) == classes.size
            and all(type(n) is int and 0 <= n <= MAX_ROWS for n in rows)
            and sum(rows) <= MAX_ROWS
        ):
            msg = "class_count is not one number of rows for each class"
            raise ValueError(msg)
        shapes = {"values": (classes.size, n_components), "products": (n_components * (n_components + 1) // 2,)}
        for name, shape in shapes.items():
            array = arrays.get(name)
            if array is None or array.dtype not in TYPES or array.shape != shape:
                msg = f"{name} are not a whole number for each component and class, or pair of components"
                raise ValueError(msg)
        class_count = np.array(rows, np.int64)
        by_class, triangle = arrays["values"].astype(np.int64), arrays["products"]
        limit = SQUARE * sum(rows)
        if triangle.max(initial=0) > limit or triangle.min(initial=0) < -limit:
            msg = "its products are larger than those of so many rows"
            raise ValueError(msg)
        triangle = np.ascontiguousarray(triangle, _dtype(class_count))
        sums = cls(classes, class_count, by_class, triangle, unit_from_facts(facts))
        if not sums.is_possible():
            msg = "its values and products are not those of any rows"
            raise ValueError(msg)
        return sums

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels; the triangle of no rows does not."""
        return vars(self) if self.n_rows else {**vars(self), "triangle": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpack what travelled."""
        self.__dict__.update(state)
        if self.triangle is None:
            self.triangle = np.zeros(self.n_components * (self.n_components + 1) // 2, np.int32)


class _ValueCounter(Counter):
    """Adds many rows to sums of their own, as many at a time as BLAS adds exactly."""

    def __init__(self, sums: ValueSums, codes: Codes, weights: Weights) -> None:
        super().__init__(sums, self._fill)
        self._codes, self._weights, self._n_filled = codes, weights, 0
        n = min(ROWS, weights.size)
        self._values, self._filled_weights = np.empty((n, sums.n_components), np.int8), np.empty(n, np.int64)

    def delta(self) -> ValueSums:
        """Return the sums of these rows alone."""
        self._count()
        return self._delta  # type: ignore[no-any-return]

    def _fill(self, block: slice, values: Values) -> None:
        """Take a block, and count when there are enough; which blocks come together does not matter."""
        weights, done = self._weights[block], 0
        _kernels.values.add_sums(values, self._codes[block], weights, self._delta.by_class)
        while done < len(values):
            n = min(len(self._values) - self._n_filled, len(values) - done)
            into = slice(self._n_filled, self._n_filled + n)
            self._values[into], self._filled_weights[into] = values[done : done + n], weights[done : done + n]
            self._n_filled, done = self._n_filled + n, done + n
            if self._n_filled == len(self._values):
                self._count()

    def _count(self) -> None:
        """Add the products of the rows that are waiting, on all threads."""
        waiting = slice(0, self._n_filled)
        add_products(self._values[waiting], self._filled_weights[waiting], self._delta.triangle, self.n_jobs)
        self._n_filled = 0


def add_products(values: Values, weights: Weights, triangle: Array, n_jobs: int | None = None) -> None:
    """Add the products of at most `ROWS` rows to a triangle, exactly."""
    m = values.shape[1]
    if (weights == 1).all():
        left = right = values.astype(np.float32)
    else:
        left = values.astype(np.float64)
        right = left * weights[:, None]

    def add(first: int) -> None:
        tile = right[:, first : first + TILE].T @ left[:, : first + TILE]
        _kernels.values.add_tile(tile, first, triangle)

    with threads(effective_n_jobs(n_jobs)) as run:
        run(add, [(first,) for first in reversed(range(0, m, TILE))])


def _dtype(class_count: Array) -> type[np.signedinteger]:
    """Return the type for the products of so many rows."""
    return np.int32 if int(class_count.sum()) * SQUARE <= np.iinfo(np.int32).max else np.int64


def _narrowest(sums: Array) -> Array:
    """Return sums in the smallest type that files have for them."""
    low, high = sums.min(initial=0), sums.max(initial=0)
    fitting = next(kind for kind in TYPES if np.iinfo(kind).min <= low <= high <= np.iinfo(kind).max)
    return sums.astype(fitting, order="C")


def _require_countable(class_count: Array) -> None:
    """Raise an error for numbers of rows beyond what sums of products have room for, before anything changes."""
    if sum(class_count.tolist()) > MAX_ROWS:
        msg = "More than 2**48 rows cannot be counted with values. Use smaller weights, or fewer rows."
        raise ValueError(msg)
