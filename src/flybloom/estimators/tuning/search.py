"""The search: rows are hashed and counted once for each encoding and sizes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array, Codes, Features, Novelty, Weights
from flybloom.core.counts.by_class import ClassCounts
from flybloom.core.counts.weight_unit import WeightUnit
from flybloom.core.encoding.choice import Auto, Wanted, fitted_encoder
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import Encoding, with_table
from flybloom.core.encoding.relevance import Relevance
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.class_weight import ClassWeight
from flybloom.core.sketch import Sketch
from flybloom.estimators.tuning.grids import Candidate
from flybloom.estimators.tuning.held_out import Hashed, Held, Split
from flybloom.estimators.tuning.results import Scorer, best_index, mean_scores


class Rows(NamedTuple):
    """The validated rows of a search."""

    X: Features
    labels: Array
    codes: Codes  # the class of each
    weights: Weights
    unit: WeightUnit  # what the weights are counted in

    def encoders(self, wanted: Wanted, features: Encoder, splits: list[Split]) -> list[Encoder]:
        """Return the encoder of all rows; if it uses labels, also one for each split.

        Columns of tables and the choice of "auto" follow from all rows, so that all encoders agree.
        """

        def sample(weights: Weights) -> Any:
            return Sketch.of(self.X, self.labels, weights).sample(self.unit.per_row)

        every_row = sample(self.weights)
        if not isinstance(wanted, Encoder):
            is_table = features.kinds is not None
            features, columns = with_table(features, every_row, wanted.max_categories)
            if isinstance(wanted, Auto):
                assert columns is not None  # noqa: S101 - there are rows
                wanted = wanted.choose(is_table, columns)
        encoder = fitted_encoder(wanted, features, every_row)
        if isinstance(wanted, Encoding) and encoder.step(Relevance) is not None:
            parts = (sample(split.weights) for split in splits)
            return [encoder, *(fitted_encoder(wanted, features, part) for part in parts)]
        return [encoder]


class Way(NamedTuple):
    """One combination of encoding, signs and read-out."""

    encoders: list[Encoder]  # of all rows, and perhaps of those that each split learns
    signed: bool
    readout: str

    @property
    def is_shared(self) -> bool:
        """Whether all splits have the same encoder."""
        return len(self.encoders) == 1

    def parts(self, n_splits: int) -> list[tuple[int, Sequence[int]]]:
        """Return the splits of each encoder."""
        return [(0, range(n_splits))] if self.is_shared else [(i + 1, [i]) for i in range(n_splits)]

    def hasher(self, seed: int, setting: Candidate, at: int = 0) -> Hasher:
        """Return the hasher of a setting for one of the encoders."""
        return Hasher.of(self.encoders[at], seed, setting[1:4], signed=self.signed)


@dataclass
class Found:
    """Results of a search.

    Parameters
    ----------
    settings : list of dict
        What is tried.
    scores : ndarray of shape (n_settings, n_splits)
        Scores; NaN if not scored yet.
    fit_times, score_times : ndarray of shape (n_settings,)
        Seconds per split, with shares of common work; NaN if not tried.
    best : int
        The best setting.
    novelty : ndarray of shape (n, n_classes)
        Out-of-sample novelties with the best setting.
    counts : ClassCounts or None
        The counts of all rows with the best setting, by code.
    """

    settings: list[dict[str, Any]]
    scores: Array
    fit_times: Array
    score_times: Array
    best: int = -1
    novelty: Novelty = field(default_factory=lambda: np.empty((0, 0)))
    counts: ClassCounts | None = None


@dataclass(frozen=True)
class Search:
    """A search among settings.

    Parameters
    ----------
    settings : list of Candidate
        What is tried.
    ways : list of Way
        The way of hashing of each.
    rows : Rows
        All rows.
    splits : list of Split
        The splits.
    score : callable
        Scores the test rows of a split for a decay.
    class_weight : "balanced", dict or None
        Class weights by code.
    seed : int
        Seed of the connections and of the choice between tied classes.
    n_jobs : int or None
        Number of threads.
    """

    settings: list[Candidate]
    ways: list[Way]
    rows: Rows
    splits: list[Split]
    score: Scorer
    class_weight: ClassWeight
    seed: int
    n_jobs: int | None

    def run(self, report: Callable[[int, int], None], max_seconds: float | None = None) -> Found:
        """Score every setting on every split; keep the counts and the held-out novelties of the best one.

        The time budget is checked before each hash but the first. Progress is reported in settings.
        """
        n, start, n_done = len(self.settings), time.perf_counter(), 0
        params = [setting.params for setting in self.settings]
        found = Found(params, np.full((n, len(self.splits)), np.nan), np.full(n, np.nan), np.full(n, np.nan))
        for group in in_order(self.settings, found.scores):
            if n_done and max_seconds is not None and time.perf_counter() - start >= max_seconds:
                break
            self._score(group, found)
            n_done += len(group)
            report(n_done, n)
        best = self.settings[found.best]
        way = self.ways[best.way]
        if not way.is_shared:
            each = (
                (self._hashed(way.hasher(self.seed, best, at + 1)), [split]) for at, split in enumerate(self.splits)
            )
            found.novelty = self._held_out_novelty(each, best)
            found.counts = self._hashed(way.hasher(self.seed, best)).counts()
        return found

    def _score(self, group: list[int], found: Found) -> None:
        """Score settings that share connections."""
        way = self.ways[self.settings[group[0]].way]
        found.fit_times[group] = found.score_times[group] = 0.0
        for at, places in way.parts(len(self.splits)):
            hasher = way.hasher(self.seed, self.settings[group[0]], at)
            for rho, same in sorted(_grouped(group, lambda i: self.settings[i].rho).items()):
                start = time.perf_counter()
                hashed = self._hashed(replace(hasher, n_winners=rho))
                counts = hashed.counts()
                counted = time.perf_counter()
                for place in places:
                    held = self._held(hashed, counts, self.splits[place], way)
                    found.scores[same, place] = [self.score(held, self.settings[i].params["decay"]) for i in same]
                found.fit_times[same] += (counted - start) / len(same) / len(self.splits)
                found.score_times[same] += (time.perf_counter() - counted) / len(same) / len(self.splits)
                best = best_index(found.scores)
                if best in same:
                    found.best = best
                    if way.is_shared:
                        found.counts, found.novelty = counts, np.empty((0, 0))  # makes room first
                        found.novelty = self._held_out_novelty([(hashed, self.splits)], self.settings[best], counts)
                del hashed, counts, held  # before the next ones need the room

    def _hashed(self, hasher: Hasher) -> Hashed:
        """Return the winners of all rows."""
        rows = self.rows
        winners = hasher.winners(rows.X, self.n_jobs)
        return Hashed(winners, rows.codes, rows.weights, hasher.n_components, rows.unit)

    def _held(self, hashed: Hashed, counts: ClassCounts, split: Split, way: Way) -> Held:
        """Return the test rows of a split with the counts of its training rows."""
        own = hashed.without(counts, split)
        return Held(hashed, split, own, self.class_weight, way.readout, self.seed, self.n_jobs)

    def _held_out_novelty(
        self, each: Iterable[tuple[Hashed, list[Split]]], setting: Candidate, counts: ClassCounts | None = None
    ) -> Novelty:
        """Return the out-of-fold novelty of each row: the mean over splits, or NaN."""
        codes = self.rows.codes
        total, n_tests = np.zeros((codes.size, codes.max() + 1)), np.zeros(codes.size)
        for hashed, splits in each:
            whole = hashed.counts() if counts is None else counts
            for split in splits:
                held = self._held(hashed, whole, split, self.ways[setting.way])
                np.add.at(total, split.test, held.novelty(setting.params["decay"], total.shape[1]))
                np.add.at(n_tests, split.test, 1)
        with np.errstate(invalid="ignore"):  # rows that no split tests become NaN
            total /= n_tests[:, None]
        return total


def in_order(settings: list[Candidate], scores: Array) -> Iterator[list[int]]:
    """Yield groups of settings that share a hash, in the order to try them.

    First the fewest components for each way and number of connections, then the most, best scores first. The order
    depends on scores and not on time.
    """
    hashes = _grouped(range(len(settings)), lambda at: (settings[at].way, settings[at].s, settings[at].m))
    fewest: dict[tuple[int, int], int] = {}
    for way, s, m in hashes:
        fewest[way, s] = min(m, fewest.get((way, s), m))
    for (way, s), m in fewest.items():
        yield hashes[way, s, m]

    def rank(key: tuple[int, int, int]) -> tuple[float, int, int]:
        way, s, m = key
        few = hashes[way, s, fewest[way, s]]
        best = np.nan_to_num(mean_scores(scores[few]), nan=-np.inf).max()
        return -float(best), few[0], -m

    for key in sorted((key for key in hashes if key[2] != fewest[key[:2]]), key=rank):
        yield hashes[key]


def _grouped(positions: Iterable[int], key: Callable[[int], Any]) -> dict[Any, list[int]]:
    """Group positions by key, in order of appearance."""
    groups: dict[Any, list[int]] = {}
    for at in positions:
        groups.setdefault(key(at), []).append(at)
    return groups
