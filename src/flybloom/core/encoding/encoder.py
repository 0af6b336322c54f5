"""The encoder: a list of fitted steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flybloom._internal.typing import Array, Features, issparse
from flybloom.core.encoding.bins import SoftBins
from flybloom.core.encoding.columns import BiasColumns, Select
from flybloom.core.encoding.cuts import Cuts
from flybloom.core.encoding.fill import Fill
from flybloom.core.encoding.gradients import Gradients
from flybloom.core.encoding.relevance import Relevance
from flybloom.core.encoding.rotation import Rotation
from flybloom.core.encoding.standardise import Standardise, WholeCenter
from flybloom.core.encoding.step import Step, without_missing
from flybloom.core.encoding.table import Table
from flybloom.core.encoding.unskew import Unskew

STEPS: dict[str, type[Step]] = {
    step.kind: step
    for step in (
        Table,
        Gradients,
        WholeCenter,
        Standardise,
        Fill,
        Select,
        Unskew,
        SoftBins,
        Relevance,
        Rotation,
        BiasColumns,
        Cuts,
    )
}
"""Every step by the name it has in files."""


@dataclass(frozen=True, eq=False)
class Encoder:
    """A fitted function from rows to hashed columns.

    Parameters
    ----------
    n_features : int
        Number of columns.
    names : tuple of str or None
        Names of the columns, if any.
    steps : tuple of Step
        The steps in order. Without steps rows are hashed unchanged.
    grid_shape : tuple of int or None
        Shape of the rows, if they are images or signals.
    kinds : tuple of str or None
        Kinds of the columns, if not all are numeric; handled by the first step.
    first_index : int or None
        First feature index in svmlight files, 0 or 1.
    """

    n_features: int
    names: tuple[str, ...] | None = None
    steps: tuple[Step, ...] = ()
    grid_shape: tuple[int, ...] | None = None
    kinds: tuple[str, ...] | None = None
    first_index: int | None = None

    needs_rows = needs_labels = False  # for who asks an encoding: this one is fitted

    def __eq__(self, other: object) -> bool:
        """Encoders are equal if they do the same to every row."""
        return isinstance(other, Encoder) and (self is other or self.fields() == other.fields())

    def __hash__(self) -> int:
        """Equal ones have the same number of features and steps."""
        return hash((self.n_features, len(self.steps)))

    def __repr__(self) -> str:
        """Return the kinds of steps."""
        return f"<Encoder of {self.n_features} features: {', '.join(step.kind for step in self.steps) or 'none'}>"

    def encode(self, rows: Features, *, keeps_missing: bool = False) -> Features:
        """Return encoded rows, with missing values replaced by zeros for hashing."""
        for step in self.steps:
            rows = step.apply(rows)
        return rows if keeps_missing or rows.dtype.kind != "f" else without_missing(rows)

    def encode_dense(self, rows: Features) -> Array:
        """Return encoded rows as a dense array."""
        encoded = self.encode(rows)
        dense: Array = encoded.toarray() if issparse(encoded) else encoded
        return dense.astype(np.float32) if dense.dtype.kind == "f" else dense

    def columns_apart(self, rows: Features) -> Array:
        """Return the columns for the trend: standardised and filled, but neither clipped nor weighted."""
        for step in self.columns_steps():
            rows = step.apply(rows)
        return np.asarray(rows)

    def columns_steps(self) -> list[Step]:
        """Return the steps that make the columns for the trend."""
        scaled = (
            Standardise(step.center, step.scale) if isinstance(step, Standardise) else step for step in self.steps
        )
        return [step for step in scaled if isinstance(step, Table | Gradients | WholeCenter | Standardise | Fill)]

    def traced_back(self, shares: Array, *, signed: bool = False) -> Array:
        """Map values of hashed columns back to features."""
        for step in reversed(self.steps):
            shares = step.traced_back(shares, signed=signed)
        return shares

    @property
    def n_outputs(self) -> int:
        """Number of hashed columns."""
        n = self.n_features
        for step in self.steps:
            n = step.n_outputs(n)
        return n

    @property
    def takes_sparse(self) -> bool:
        """Whether sparse rows stay sparse."""
        return all(step.keeps_sparse for step in self.steps)

    def step(self, kind: type[Step]) -> Any:
        """Return the step of a kind, or None."""
        for step in self.steps:
            if isinstance(step, kind):
                return step
        return None

    def plain(self) -> Encoder:
        """Return the features, without any step."""
        return Encoder(self.n_features, self.names, kinds=self.kinds, first_index=self.first_index)

    @property
    def is_only_centred(self) -> bool:
        """Whether the mean is taken from the columns and nothing else is done, as to embeddings."""
        return len(self.steps) == 1 and isinstance(self.steps[0], Standardise) and self.steps[0].scale is None

    @property
    def is_only_scaled(self) -> bool:
        """Whether columns are standardised and nothing else is done, as to embeddings whose values are compared."""
        return len(self.steps) == 1 and isinstance(self.steps[0], Standardise) and self.steps[0].scale is not None

    @property
    def hashed_grid(self) -> tuple[int, ...] | None:
        """Shape of the hashed columns, with several columns per feature as channels."""
        if self.grid_shape is None:
            return None
        height, width, channels = (*self.grid_shape, 1, 1)[:3]
        return height, width, channels * (self.n_outputs // self.n_features)

    def fields(self) -> dict[str, Any]:
        """Return everything that determines the encoding, as JSON."""
        fields: dict[str, Any] = {
            "n_features_in_": self.n_features,
            "feature_names_in_": None if self.names is None else list(self.names),
            "center_": None,
            "scale_": None,
        }
        for step in self.steps:
            fields |= step.fields(self.names)
        return fields if self.grid_shape is None else {**fields, "grid_shape": list(self.grid_shape)}

    def to_parts(self) -> tuple[list[dict[str, Any]], dict[str, Array]]:
        """Return facts and arrays of the steps, for files."""
        facts: list[dict[str, Any]] = []
        arrays: dict[str, Array] = {}
        for step in self.steps:
            facts.append({"step": step.kind})
            for name, value in step.to_dict().items():
                (arrays if isinstance(value, np.ndarray) else facts[-1])[name] = value
        return facts, arrays

    @staticmethod
    def from_parts(
        n_features: int,
        names: tuple[str, ...] | None,
        facts: list[dict[str, Any]],
        arrays: dict[str, Array],
        grid_shape: Any = None,
        first_index: int | None = None,
    ) -> Encoder:
        """Restore an encoder; ValueError if it is invalid."""
        if grid_shape is not None:
            is_right = isinstance(grid_shape, list) and 1 <= len(grid_shape) <= 3  # noqa: PLR2004
            if not (is_right and all(type(n) is int and n > 0 for n in grid_shape)):
                msg = "its grid_shape is not one to three whole numbers"
                raise ValueError(msg)
            if math.prod(grid_shape) != n_features:
                msg = f"its grid_shape does not have {n_features} places"
                raise ValueError(msg)
            grid_shape = tuple(grid_shape)
        encoder = Encoder(n_features, names, grid_shape=grid_shape, first_index=first_index)
        for entry in facts:
            kind = STEPS.get(str(entry.get("step")))
            if kind is None:
                msg = f"{entry.get('step')!r} is no step of an encoding that is known"
                raise ValueError(msg)
            step = kind.from_dict({**entry, **arrays}, encoder.n_outputs)
            if isinstance(step, Table):
                if encoder.steps:
                    msg = "its table is not the first step"
                    raise ValueError(msg)
                encoder = replace(encoder, kinds=step.kinds)
            encoder = replace(encoder, steps=(*encoder.steps, step))
        return encoder
