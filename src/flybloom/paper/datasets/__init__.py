"""Data to try classifiers on: Digits, a folder of files, OpenML, and the paper's synthetic rows.

`load` reads a data set by name, from scikit-learn or a folder; `group_names` tells which belong to the paper's groups.
Nothing here touches the network but the functions with ``openml`` in their names. See docs/datasets.md.
"""

from flybloom.paper.datasets.dataset import Dataset, Sizes
from flybloom.paper.datasets.folder import data_folder, load, names, sizes
from flybloom.paper.datasets.groups import GROUPS, NAMED, VISION, Group, group_names
from flybloom.paper.datasets.openml import Listed, fetch_openml_group, list_openml_group
from flybloom.paper.datasets.synthetic import flip_labels, make_binary, make_real

__all__ = [
    "GROUPS",
    "NAMED",
    "VISION",
    "Dataset",
    "Group",
    "Listed",
    "Sizes",
    "data_folder",
    "fetch_openml_group",
    "flip_labels",
    "group_names",
    "list_openml_group",
    "load",
    "make_binary",
    "make_real",
    "names",
    "sizes",
]
