"""The search: rows are hashed once for each encoding and pair of sizes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from flybloom._internal.typing import Array, Codes, CountTable, Features, Novelty, Weights
from flybloom.core.counts.columns import count_dtype
from flybloom.core.counts.weight_unit import WeightUnit
from flybloom.core.encoding.choice import Auto, Wanted, fitted_encoder
from flybloom.core.encoding.encoder import Encoder
from flybloom.core.encoding.encoding import Encoding, with_table
from flybloom.core.encoding.relevance import Relevance
from flybloom.core.hashing.hasher import Hasher
from flybloom.core.readout.class_weight import ClassWeight
from flybloom.core.sketch import Sketch
from flybloom.estimators.tuning.grids import Candidate
from flybloom.estimators.tuning.held_out import HeldOutCounts, Split, most_rows, rows_by_class
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
            parts = (sample(split.weights(self.weights)) for split in splits)
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
    counts : ndarray of shape (m, n_classes)
        The counts of all rows with the best setting.
    """

    settings: list[dict[str, Any]]
    scores: Array
    fit_times: Array
    score_times: Array
    best: int = -1
    novelty: Novelty = field(default_factory=lambda: np.empty((0, 0)))
    counts: CountTable = field(default_factory=lambda: np.empty((0, 0)))


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
        Scores a split for several decays.
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
        if not self.ways[best.way].is_shared:
            each = ((self._hashed([best], at + 1), [split]) for at, split in enumerate(self.splits))
            found.novelty = self._held_out_novelty(each, best)
            whole = self._hashed([best])
            whole.grow(best.rho)
            found.counts = whole.counts
        rows = rows_by_class(self.rows.codes, self.rows.weights)
        found.counts = found.counts.astype(count_dtype(rows))
        return found

    def _score(self, group: list[int], found: Found) -> None:
        """Score settings that share a hash."""
        way = self.ways[self.settings[group[0]].way]
        found.fit_times[group] = found.score_times[group] = 0.0
        for at, places in way.parts(len(self.splits)):
            start = time.perf_counter()
            held_out = self._hashed([self.settings[i] for i in group], at)
            to_hash = (time.perf_counter() - start) / len(group)
            for rho, same in sorted(_grouped(group, lambda i: self.settings[i].rho).items()):
                start = time.perf_counter()
                held_out.grow(rho)
                counted = time.perf_counter()
                decays = [self.settings[i].params["decay"] for i in same]
                for place in places:
                    with held_out.without(self.splits[place]):
                        found.scores[same, place] = self.score(held_out, self.splits[place], decays)
                found.fit_times[same] += (to_hash + (counted - start) / len(same)) / len(self.splits)
                found.score_times[same] += (time.perf_counter() - counted) / len(same) / len(self.splits)
                best = best_index(found.scores)
                if best in same:
                    found.best = best
                    if way.is_shared:
                        found.counts = found.novelty = np.empty((0, 0))  # makes room first
                        found.novelty = self._held_out_novelty([(held_out, self.splits)], self.settings[best])
                        found.counts = held_out.counts.copy()
            del held_out  # before the next one needs the room

    def _hashed(self, settings: list[Candidate], at: int = 0) -> HeldOutCounts:
        """Return growing counts for settings that share a hash; `at` is the encoder."""
        rows, way, largest = self.rows, self.ways[settings[0].way], max(settings, key=lambda setting: setting.rho)
        winners = way.hasher(self.seed, largest, at).ranked_winners(rows.X, self.n_jobs)
        most = most_rows(self.splits, rows.codes, rows.weights)
        return HeldOutCounts(
            winners, rows.codes, largest.m, most, self.seed, self.n_jobs, rows.weights, rows.unit, way.readout
        )

    def _held_out_novelty(self, each: Iterable[tuple[HeldOutCounts, list[Split]]], setting: Candidate) -> Novelty:
        """Return the out-of-fold novelty of each row: the mean over splits, or NaN."""
        rows = self.rows
        total, n_tests = np.zeros((rows.codes.size, rows.codes.max() + 1)), np.zeros(rows.codes.size)
        for held_out, splits in each:
            held_out.grow(setting.rho)
            for split in splits:
                with held_out.without(split):
                    np.add.at(total, split.test, held_out.novelty(split, setting.params["decay"], self.class_weight))
                np.add.at(n_tests, split.test, 1)
            del held_out  # before the next one needs the room
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
