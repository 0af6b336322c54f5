"""Which steps an encoder is to have: what users ask for, before any row was seen."""

from __future__ import annotations

from dataclasses import dataclass

from flybloom.core.encoding.bias_columns import BiasColumnsPlan
from flybloom.core.encoding.standardise import StandardisePlan
from flybloom.core.encoding.step import Plan


@dataclass(frozen=True)
class Encoding:
    """The steps of an encoder, unfitted.

    Parameters
    ----------
    scaling : {"none", "center", "standard"}
        Whether columns are centred, and divided by their deviations.
    bias : float
        Constant columns, as a share of the features; only with "standard", where they have a unit.
    """

    scaling: str = "standard"
    bias: float = 0.0

    def plans(self) -> list[Plan]:
        """Return the steps to fit, in the order in which they are applied."""
        if self.scaling == "none":
            return []
        plans: list[Plan] = [StandardisePlan(with_scale=self.scaling == "standard")]
        if self.scaling == "standard" and self.bias > 0:
            plans.append(BiasColumnsPlan(self.bias))
        return plans

    @property
    def takes_sparse(self) -> bool:
        """Whether the encoder will take sparse rows."""
        return self.scaling == "none"

    @property
    def needs_rows(self) -> bool:
        """Whether fitting takes a pass over the rows."""
        return any(plan.needs_rows for plan in self.plans())
