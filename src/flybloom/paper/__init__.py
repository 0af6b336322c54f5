"""The paper, reproduced: every table and figure from one command, ours beside theirs.

`flybloom reproduce` on the command line; from Python, `run_experiment` with one of ``EXPERIMENTS`` and its settings
from `read_profile`.
"""

from flybloom.paper.page import write_page
from flybloom.paper.profile import PROFILES, read_profile
from flybloom.paper.registry import EXPERIMENTS, experiments_of
from flybloom.paper.run import run_experiment

__all__ = ["EXPERIMENTS", "PROFILES", "experiments_of", "read_profile", "run_experiment", "write_page"]
