"""Audit training rows by leave-one-out, without refitting.

Finds label errors, influential rows, the value of groups of rows, duplicates and contradictions, from the counts and
one pass over the rows. Certifies labels of new rows.
"""

from flybloom.audit.groups import GroupValue, value
from flybloom.audit.influence import Influence, influence
from flybloom.audit.label_errors import LabelErrors, label_errors
from flybloom.audit.page import facts, render
from flybloom.audit.repeats import Repeats, repeats
from flybloom.audit.target_errors import TargetErrors, target_errors
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
