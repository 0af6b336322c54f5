"""Attack the promises for some minutes, and print promise, trials and what was wrong.

    scripts/attack [--minutes 10] [--seed 0] [--only WORDS] [--trials N] [--guided] [--quick]

Trial i of a seed is always the same, save for the moments of signals and kills. `--quick` is what the tests run.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from attack import (  # noqa: F401 - each adds its promises
    bombs,
    brute_force,
    files,
    graphs,
    guided,
    interrupts,
    parties,
    processes,
    sameness,
    whole_models,
)
from attack.promises import PROMISES, Outcome, attack

MOST_SHOWN = 5


def main(arguments: list[str] | None = None) -> int:
    """Attack, and return how many promises were broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first trial, to go on or to repeat one")
    parser.add_argument("--trials", type=int, default=None, help="of each promise, at most")
    parser.add_argument("--only", default="", help="words of a promise")
    parser.add_argument("--guided", action="store_true", help="the coverage-guided fuzzers as well, which need atheris")
    parser.add_argument("--quick", action="store_true", help="15 seconds, and 300 trials of each at most")
    given = parser.parse_args(arguments)
    promises = [one for one in PROMISES if given.only in one.sentence]
    if given.quick:
        given.minutes, given.trials = 0.25, 300
        promises = [one for one in promises if "killed" not in one.sentence]
    seconds = 60 * given.minutes / sum(one.share for one in promises) if promises else 0.0
    print("| promise | trials | wrong | of these |\n| --- | ---: | ---: | --- |")
    n_broken = 0
    for one in promises:
        if one.missing:
            print(f"| {one.sentence} | 0 | | {one.missing} |", flush=True)
            continue
        outcome = attack(one, given.seed, seconds=one.share * seconds, most=given.trials, first=given.first)
        n_broken += bool(outcome.wrong)
        print(_line(one.sentence, outcome), flush=True)
        for wrong in outcome.wrong[:MOST_SHOWN]:
            print(f"  {wrong}", file=sys.stderr, flush=True)
    if given.guided:
        n_broken += guided.main(given.minutes, given.seed)
    return n_broken


def _line(sentence: str, outcome: Outcome) -> str:
    """A line of the table."""
    kinds = [f"{n:,} {kind}" for kind, n in sorted(outcome.kinds.items())]
    said = "; ".join([", ".join(kinds), outcome.said] if kinds and outcome.said else [", ".join(kinds) or outcome.said])
    return f"| {sentence} | {outcome.trials:,} | {len(outcome.wrong):,} | {said} |"


if __name__ == "__main__":
    sys.exit(min(1, main()))
