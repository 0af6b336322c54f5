"""Audit training rows by leave-one-out, without refitting.

Finds label errors, influential rows, the value of groups of rows, duplicates and contradictions, from the counts and
one pass over the rows. Certifies labels of new rows.
"""

from flybloom.audit.errors import LabelErrors, Repeats, TargetErrors, label_errors, repeats, target_errors
from flybloom.audit.influence import GroupValue, Influence, influence, value
from flybloom.audit.page import facts, render
from flybloom.estimators.certified import certify

__all__ = [
    "GroupValue",
    "Influence",
    "LabelErrors",
    "Repeats",
    "TargetErrors",
    "certify",
    "facts",
    "influence",
    "label_errors",
    "render",
    "repeats",
    "target_errors",
    "value",
]
