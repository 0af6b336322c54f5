"""What each rule of the defaults is worth: accuracy with each of them switched off in turn, for counts and for pairs.

    python benchmarks/rules.py tables          # 59 tables, at most 4000 rows of each, 3 of 10 folds
    python benchmarks/rules.py drawn           # what newcomers try first, and drawn sets of few and of many columns
    python benchmarks/rules.py large           # all rows, one split: what depends on many rows, pixels, rare values
    python benchmarks/rules.py tables decay    # the rule "decay" again, in place of what was measured before
    python benchmarks/rules.py page            # writes docs/benchmarks/rules.md from what was measured

A rule is switched off by replacing a constant or a function of the library. Where that changes neither the encoder, nor
the sizes, nor the decay of a fold, its accuracy is that of the defaults. Results go to benchmarks/results/rules.json
after each fold of a set, so a run that is stopped goes on where it was.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn import datasets as toys
from sklearn.model_selection import StratifiedKFold

from datasets import NAMED, load, load_split, tabular
from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.core.encoding import choice, encoding, relevance, standardise
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.gradients import Gradients
from flybloom.core.hashing import sizes
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout import filters
from flybloom.core.sketch import Sketch
from flybloom.estimators.access import reading_learned

RESULTS = Path(__file__).parent / "results" / "rules.json"
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "rules.md"
FOLDS, MOST_ROWS = StratifiedKFold(10, shuffle=True, random_state=0), 4000
N_FOLDS = {"tables": 3, "drawn": 3, "large": 1}
LARGE = ("eeg_eye_state", "mc1", "house_16h", "2dplanes", "fried", "mnist", "fashion_mnist")
DRAWN = ((20, 10), (20, 15), (40, 5), (40, 20), (60, 10), (100, 15), (20, 5), (10, 5))  # columns, informative
COUNTS, PAIRS = "counts", "pairs"
MODELS = {COUNTS: FlyBloomClassifier, PAIRS: FlyRidgeClassifier}
DEFAULTS = "defaults"


@dataclass
class Rule:
    """A rule, and what takes its place when it is switched off.

    Parameters
    ----------
    says : str
        The rule, and what is done without it.
    replaced : list of tuple
        Module or class, the name in it, and what it is without the rule.
    asked : dict
        Sizes that are asked for without the rule, by the number of columns that are hashed.
    models : tuple of str
        Which models it is for.
    parts : str
        Where it is measured.
    kept : str
        Why it stays although it is worth little on the tables.
    """

    says: str
    replaced: list[tuple[Any, str, Any]] = field(default_factory=list)
    asked: dict[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = (COUNTS, PAIRS)
    parts: str = "tables drawn"
    kept: str = ""

    @contextmanager
    def off(self) -> Iterator[None]:
        """Be without the rule inside a with statement."""
        with ExitStack() as stack:
            for owner, name, value in self.replaced:
                stack.enter_context(patch.object(owner, name, value))
            yield


def _without_squares(sample: Any, limit: float | None, shares: Any = relevance._shares_between) -> Any:  # noqa: SLF001
    """Return the shares of the columns in place of those of their squares."""
    (values, _), n_classes = shares(sample, limit)
    return (values, values), n_classes


RULES: dict[str, Rule] = {
    "clip": Rule(
        "values are cut off at 2.5 deviations, and bins cover as many; without: at none, bins cover 4",
        [(encoding, "CLIP", math.inf)],
        parts="tables drawn large",
        kept="columns with rare, far values",
    ),
    "outliers": Rule(
        "columns with outliers have the scale of the other values",
        [(standardise, "INFLATED", math.inf)],
        parts="tables large",
        kept="columns with rare, far values",
    ),
    "bins": Rule("up to 30 columns become bins", [(choice, "MAX_BINNED", 0)]),
    "beside": Rule("columns stand beside their bins", [(choice, "PASSTHROUGH", 0.0)], kept="drawn sets"),
    "informative": Rule(
        "of more columns, the informative ones become bins if they are at most 30",
        [(choice.Auto, "_informative_columns", lambda *_: None)],
    ),
    "neighbours": Rule(
        "no bins where neighbours in the sample do better without",
        [(choice, "is_behind", lambda *_: False)],
        kept="classes that are rotated clusters",
    ),
    "relevance": Rule(
        "columns are weighed by their relevance", [(choice, "FEW_RELEVANCE", 0.0), (choice, "MANY_RELEVANCE", 0.0)]
    ),
    "many_relevance": Rule(
        "more than 100 columns are weighed by relevance to the power 1; without: 0.4",
        [(choice, "MANY_RELEVANCE", choice.FEW_RELEVANCE)],
    ),
    "squares": Rule(
        "the relevance of a column is that of its square if that is larger",
        [(relevance, "_shares_between", _without_squares)],
        kept="classes that are rings",
    ),
    "margin": Rule(
        "shares count only beyond the mean of chance by 2 deviations, those of bins by 3; without: by none",
        [(relevance, "DEVIATIONS", 0), (relevance, "BINNED_DEVIATIONS", 0)],
    ),
    "strongest": Rule(
        "all columns weigh the same where not even the strongest share is beyond chance",
        [(relevance, "most_by_chance", lambda *_: -math.inf)],
        kept="sets in which no column is informative alone",
    ),
    "images": Rule(
        "images become histograms of gradients; without: as tables",
        [(choice, "image_shape", lambda *_: None)],
        parts="tables large",
    ),
    "half": Rule(
        "a component sums half of the columns, up to a limit; without: all, up to the same limit",
        asked={
            COUNTS: lambda n: min(n, sizes.AUTO_CONNECTIONS),
            PAIRS: lambda n: min(n, sizes.PAIR_CONNECTIONS if n <= 100 else sizes.AUTO_CONNECTIONS),
        },
    ),
    "connections": Rule(
        "a component sums at most 64 columns; without: half of all",
        [(sizes, "AUTO_CONNECTIONS", 10**9)],
        kept="time: at most 64 additions for each component",
    ),
    "image_connections": Rule(
        "of images, a component sums at most 24 columns; without: 64",
        [(sizes, "IMAGE_CONNECTIONS", sizes.AUTO_CONNECTIONS)],
        parts="tables large",
    ),
    "pair_connections": Rule(
        "of up to 100 columns, a component of pairs sums at most 16; without: 64",
        [(sizes, "FEW_COLUMNS", 0)],
        models=(PAIRS,),
        kept="time: a quarter of the additions",
    ),
    "many_pair_connections": Rule(
        "of more than 100 columns, a component of pairs sums 64; without: 16",
        [(sizes, "FEW_COLUMNS", 10**9)],
        models=(PAIRS,),
    ),
    "few_pair_components": Rule(
        "pairs of up to 1000 rows have 1024 components; without: 2048",
        [(sizes.PairSizes, "rows", (0, 20_000))],
        models=(PAIRS,),
        kept="time: an eighth of the operations of the solution",
    ),
    "many_pair_components": Rule(
        "pairs of more than 20 000 rows have 4096 components; without: 2048",
        [(sizes.PairSizes, "rows", (1000, 10**12))],
        models=(PAIRS,),
        parts="large",
    ),
    "pair_winners": Rule(
        "of pairs, an eighth of the components wins; without: a sixteenth",
        [(sizes, "PAIR_WINNERS", 16)],
        models=(PAIRS,),
    ),
    "most_pair_winners": Rule(
        "of rows that are no images, at most 256 components win, or a sixteenth of them",
        [(sizes, "MAX_PAIR_WINNERS", 10**9)],
        models=(PAIRS,),
        parts="large",
        kept="time: a quarter of the pairs of each row",
    ),
    "decay": Rule(
        "the decay follows the counts; without: 0.4",
        [(filters, "decay_step", lambda _: filters.START), (filters, "MOST_DECAY", 0.4)],
        models=(COUNTS,),
        parts="tables large",
    ),
    "decay_most": Rule(
        "the decay is at most 0.6; without: 1",
        [(filters, "LEAST_STEP", filters.START), (filters, "MOST_DECAY", 1.0)],
        models=(COUNTS,),
        parts="tables large",
    ),
}


@dataclass
class Fold:
    """Rows to learn and to ask for, and what was found already: models that come out alike are fitted once."""

    model: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    known: dict[Any, float] = field(default_factory=dict)

    def measured(self, rules: dict[str, Rule]) -> dict[str, float]:
        """Return the accuracy of the defaults, and without each rule that makes a difference here."""
        usual = self._accuracies([("", Rule(""))])[""]
        found = self._accuracies([(name, rule) for name, rule in rules.items() if self.model in rule.models])
        return {DEFAULTS: usual[1], **{name: value[1] for name, value in found.items() if value[0] != usual[0]}}

    def _accuracies(self, rules: list[tuple[str, Rule]]) -> dict[str, tuple[Any, float]]:
        """Return for each rule what comes out without it, and its accuracy; rules of equal hashes share a fit."""
        hashers: dict[str, list[tuple[str, Rule, Hasher]]] = {}
        for name, rule in rules:
            with rule.off():
                hasher = self._hasher(rule)
            hashers.setdefault(hasher.fingerprint, []).append((name, rule, hasher))
        found = {}
        for fingerprint, alike in hashers.items():
            model = None
            for name, rule, hasher in alike:
                key = (fingerprint, None)
                if self.model == COUNTS:
                    model = model or self._fitted(hasher)
                    with rule.off(), reading_learned(model) as learned:
                        key = (fingerprint, filters.decay_of(filters.AUTO, learned.counts))
                if key not in self.known:
                    model = model or self._fitted(hasher)
                    if self.model == COUNTS:
                        model.set_params(decay=key[1])
                    self.known[key] = float(model.score(self.X_test, self.y_test))
                found[name] = (key, self.known[key])
        return found

    def _hasher(self, rule: Rule) -> Hasher:
        """Return how a model with defaults hashes these rows."""
        is_pairs = self.model == PAIRS
        wanted = choice.wanted_encoding("auto", uses_labels=True, for_pairs=is_pairs)
        sample = Sketch.of(self.X, self.y, np.ones(len(self.y), np.int64)).sample()
        encoder = choice.fitted_encoder(wanted, Encoder(self.X.shape[1]), sample)
        is_image = encoder.grid_shape is not None or encoder.step(Gradients) is not None
        seen = sizes.Seen.IMAGES if is_image else sizes.Seen.COLUMNS
        n_connections = rule.asked[self.model](encoder.n_outputs) if rule.asked else "auto"
        asked = (sizes.PairSizes if is_pairs else sizes.Sizes)(n_connections=n_connections)
        found = asked.for_features(self.X.shape[1], encoder.n_outputs, len(self.y), seen)
        return Hasher.of(encoder, 0, found, signed=True)

    def _fitted(self, hasher: Hasher) -> Any:
        """Return a model that hashes like this."""
        model = MODELS[self.model](
            hasher.n_components,
            n_connections=hasher.projection.n_connections,
            n_winners=hasher.n_winners,
            encoding=hasher.encoder,
            random_state=0,
        )
        return model.fit(self.X, self.y)


def drawn_sets() -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """Give what newcomers try first, then sets of which some columns are informative, and round clusters."""
    yield "circles", toys.make_circles(1000, noise=0.1, factor=0.5, random_state=0)
    yield "moons", toys.make_moons(1000, noise=0.2, random_state=0)
    yield "blobs", toys.make_blobs(1000, centers=5, cluster_std=1.6, random_state=0)
    yield "gaussian_quantiles", toys.make_gaussian_quantiles(n_samples=1000, random_state=0)
    yield "iris", toys.load_iris(return_X_y=True)
    yield "breast_cancer", toys.load_breast_cancer(return_X_y=True)
    for seed, (d, informative) in enumerate(DRAWN):
        kind = {"n_informative": informative, "n_redundant": 0, "n_classes": 4, "random_state": seed}
        yield f"{informative} of {d} columns", toys.make_classification(3000, d, **kind)
    rng = np.random.default_rng(5)
    for d in (5, 10, 20):
        centres, cluster = rng.normal(size=(20, d)) * 6 / np.sqrt(d), rng.integers(0, 20, 3000)
        yield f"round clusters, {d} columns", (centres[cluster] + rng.normal(size=(3000, d)), cluster % 5)
    for d in (40, 60):  # no column is informative alone
        X = rng.normal(size=(4000, d))
        yield f"products of 4 of {d} columns", (X, (X[:, 0] * X[:, 1] + 0.3 * X[:, 2] * X[:, 3] > 0).astype(np.int64))


def folds_of(part: str, name: str) -> Iterator[tuple[np.ndarray, ...]]:
    """Give rows to learn and to ask for of the folds of a set."""
    if name in ("mnist", "fashion_mnist"):
        yield load_split(name)
        return
    X, y = dict(drawn_sets())[name] if part == "drawn" else load(name)
    if part == "tables":
        chosen = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        X, y = X[chosen], y[chosen]
    for train, test in islice(FOLDS.split(X, y), N_FOLDS[part]):
        yield X[train], y[train], X[test], y[test]


def measure(part: str, results: dict[str, Any], again: list[str]) -> None:
    """Measure what is missing of a part, the first fold of all sets, then the second of all; or some rules again."""
    tables = (name for name in tabular() if name not in NAMED)
    names = {"tables": tables, "drawn": (name for name, _ in drawn_sets()), "large": LARGE}[part]
    rules = {name: rule for name, rule in RULES.items() if part in rule.parts.split() and (not again or name in again)}
    every = results.setdefault(part, {})
    for at, name in product(range(N_FOLDS[part]), list(names)):
        found = every.setdefault(name, {model: [] for model in MODELS})
        if not again and all(len(folds) > at for folds in found.values()):
            continue
        for model, folds in found.items():
            if len(folds) > at and not (again and any(model in rule.models for rule in rules.values())):
                continue
            fold = Fold(model, *next(islice(folds_of(part, name), at, None))).measured(rules)
            if again:
                kept = {rule: score for rule, score in folds[at].items() if rule not in again}
                folds[at] = {**kept, **fold}
            else:
                folds.append(fold)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        print(part, name, at, {model: folds[at][DEFAULTS] for model, folds in found.items()}, flush=True)


HEADER = """# What each rule of the defaults is worth

`scripts/bench rules` switches one rule off at a time; what each of them does is in the pages on
[encodings](../encodings.md) and [defaults](defaults.md). A figure is the accuracy with the rule less that without:
the mean over the sets and its standard error; in brackets, in how many sets the rule makes a difference. One seed.

- **Tables**: the 59 of [defaults](defaults.md), at most 4000 rows, 3 of 10 folds.
- **Drawn**: circles, moons, blobs, Gaussian quantiles, iris, breast cancer, eight sets of `make_classification`, three
  of round clusters, two in which no column is informative alone; 3 of 10 folds.
- **Large**: eeg_eye_state, mc1, house_16h, 2dplanes and fried with all rows, one of 10 folds; MNIST and Fashion-MNIST
  as given.

The rules were chosen with these or similar sets, so what they gain is optimistic. A rule that is worth less than 0.001
on the tables stays only for what the last column says. Pairs are measured without ferns and with 2048 components from
1000 to 20 000 rows; what ferns and more components add is on the page about [encodings](encodings.md#ferns).
"""
COLUMNS = ("rule", *(f"{part}, {model}" for part in N_FOLDS for model in MODELS), "stays for")


def page(results: dict[str, Any]) -> str:
    """Return the page of what was measured."""
    lines = [
        HEADER,
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
    ]
    for name, rule in RULES.items():
        cells = [
            worth(results[part], model, name) if part in rule.parts.split() and model in rule.models else ""
            for part in N_FOLDS
            for model in MODELS
        ]
        lines.append(f"| {rule.says} | {' | '.join(cells)} | {rule.kept} |")
    return "\n".join(lines) + "\n"


def worth(sets: dict[str, Any], model: str, rule: str) -> str:
    """Return how much a rule is worth over some sets, and in how many of them it makes a difference."""
    each = [[fold[DEFAULTS] - fold.get(rule, fold[DEFAULTS]) for fold in found[model]] for found in sets.values()]
    differ = sum(any(rule in fold for fold in found[model]) for found in sets.values())
    means = np.array([np.mean(folds) for folds in each])
    error = means.std(ddof=1) / math.sqrt(means.size)
    return f"{means.mean():+.4f} ± {error:.4f} ({differ})" if differ else "0 (0)"


def main() -> None:
    """Measure the part that was asked for, or write the page."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    part, *again = sys.argv[1:]
    if part == "page":
        PAGE.write_text(page(results))
    else:
        measure(part, results, again)


if __name__ == "__main__":
    main()
