"""The paper, reproduced: every table and figure from one command, ours beside theirs.

`flybloom reproduce` on the command line; from Python, `run_experiment` with one of ``EXPERIMENTS`` and its settings
from `read_profile`.
"""

from flybloom.paper.page import write_page
from flybloom.paper.profile import PROFILES, caution, read_profile
from flybloom.paper.registry import EXPERIMENTS, experiments_of
from flybloom.paper.run import check_can_run, run_experiment

__all__ = [
    "EXPERIMENTS",
    "PROFILES",
    "caution",
    "check_can_run",
    "experiments_of",
    "read_profile",
    "run_experiment",
    "write_page",
]
