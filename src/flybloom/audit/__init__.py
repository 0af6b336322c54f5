"""What the training rows are like, as a model that has learned them says: each judged as if it had been left out.

Wrong labels, rows that decide a prediction, what a source of rows is worth, and rows that repeat or contradict each
other. All of it follows from the counts and one pass over the rows; nothing is fitted again.
"""

from flybloom.audit.groups import GroupValue, value
from flybloom.audit.influence import Influence, influence
from flybloom.audit.label_errors import LabelErrors, label_errors
from flybloom.audit.page import facts, render
from flybloom.audit.repeats import Repeats, repeats
from flybloom.audit.target_errors import TargetErrors, target_errors

__all__ = [
    "GroupValue",
    "Influence",
    "LabelErrors",
    "Repeats",
    "TargetErrors",
    "facts",
    "influence",
    "label_errors",
    "render",
    "repeats",
    "target_errors",
    "value",
]
