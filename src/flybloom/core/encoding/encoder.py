"""The encoder: what the hash sees of a row, as a list of steps that are fixed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flybloom._internal.typing import Array, Features
from flybloom.core.encoding.bias_columns import BiasColumns
from flybloom.core.encoding.standardise import Standardise
from flybloom.core.encoding.step import Step

STEPS: dict[str, type[Step]] = {step.kind: step for step in (Standardise, BiasColumns)}
"""Every step by the name it has in files."""


@dataclass(frozen=True, eq=False)
class Encoder:
    """A pure function from rows to what is hashed.

    Parameters
    ----------
    n_features : int
        Columns of the rows.
    names : tuple of str or None
        Their names, where they have any.
    steps : tuple of Step
        What is done to the rows, one after the other. Without steps they are hashed as they come: whole numbers as
        whole numbers, sparse rows as sparse ones.
    """

    n_features: int
    names: tuple[str, ...] | None = None
    steps: tuple[Step, ...] = ()

    def encode(self, rows: Features) -> Features:
        """Return rows as they are hashed."""
        for step in self.steps:
            rows = step.apply(rows)
        return rows

    @property
    def n_outputs(self) -> int:
        """Number of columns that are hashed."""
        n = self.n_features
        for step in self.steps:
            n = step.n_outputs(n)
        return n

    @property
    def takes_sparse(self) -> bool:
        """Whether sparse rows stay sparse."""
        return not self.steps

    def step(self, kind: type[Step]) -> Any:
        """Return the step of a kind, or None."""
        return next((step for step in self.steps if isinstance(step, kind)), None)

    def extended(self, step: Step) -> Encoder:
        """Return an encoder with one more step."""
        return Encoder(self.n_features, self.names, (*self.steps, step))

    def fields(self) -> dict[str, Any]:
        """Return everything that what comes out depends on besides the row, as JSON."""
        fields: dict[str, Any] = {
            "n_features_in_": self.n_features,
            "feature_names_in_": None if self.names is None else list(self.names),
            "center_": None,
            "scale_": None,
        }
        for step in self.steps:
            fields |= step.fields()
        return fields

    def to_parts(self) -> tuple[list[dict[str, Any]], dict[str, Array]]:
        """Return facts and arrays of the steps, for files."""
        facts = [{"step": step.kind, **step.facts()} for step in self.steps]
        return facts, {name: values for step in self.steps for name, values in step.arrays().items()}

    @staticmethod
    def from_parts(
        n_features: int, names: tuple[str, ...] | None, facts: list[dict[str, Any]], arrays: dict[str, Array]
    ) -> Encoder:
        """Return the encoder of these parts; ValueError where there can be none."""
        encoder = Encoder(n_features, names)
        for entry in facts:
            kind = STEPS.get(str(entry.get("step")))
            if kind is None:
                msg = f"{entry.get('step')!r} is no step of an encoding that is known"
                raise ValueError(msg)
            own = {name: arrays[name] for name in arrays if name in kind.ARRAYS}
            encoder = encoder.extended(kind.from_parts(entry, own, encoder.n_outputs))
        return encoder


def array_names(entry: dict[str, Any]) -> frozenset[str]:
    """Return the names of the arrays that a step of a file may have."""
    kind = STEPS.get(str(entry.get("step")))
    return frozenset() if kind is None else kind.ARRAYS
