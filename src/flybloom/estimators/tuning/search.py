"""The one pass: hash once for each encoding and pair of sizes, then read every other setting off the counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from flybloom._internal.typing import Array, Codes, CountTable, Novelty, Weights, Winners
from flybloom.core.counts.columns import count_dtype
from flybloom.core.counts.weight_unit import WHOLE_ROWS, WeightUnit
from flybloom.core.readout.class_weight import ClassWeight
from flybloom.estimators.tuning.grids import Candidate
from flybloom.estimators.tuning.held_out import HeldOutCounts, Split, most_rows
from flybloom.estimators.tuning.results import best_index, mean_scores
from flybloom.estimators.tuning.split_scores import Scorer

HashRows: TypeAlias = Callable[[int, int, int], Winners]  # the winners for m, s and rho
Report: TypeAlias = Callable[[int, int], None]  # how many of how many settings are done


def _nothing() -> Array:
    """Return an array without room."""
    return np.empty((0, 0))


@dataclass
class Found:
    """What a search found.

    Parameters
    ----------
    scores : ndarray of shape (n_settings, n_splits)
        NaN for settings that have not been scored yet.
    fit_times, score_times : ndarray of shape (n_settings,)
        Seconds for each split, a share of what settings have in common; NaN for settings that have not been tried.
    best : int
        The best setting.
    counts : ndarray of shape (m, n_classes)
        The counts of all rows with the best setting.
    novelty : ndarray of shape (n, n_classes)
        Out-of-sample novelties with the best setting.
    """

    scores: Array
    fit_times: Array
    score_times: Array
    best: int = -1
    counts: CountTable = field(default_factory=_nothing)
    novelty: Novelty = field(default_factory=_nothing)


class Way(NamedTuple):
    """One encoding and one kind of connections: how rows are hashed."""

    hash_rows: HashRows
    apart: list[HashRows] | None = None  # for each split, where each has an encoding of its own
    readout: str = "filter"


class Rows(NamedTuple):
    """What is known of all rows but their features."""

    codes: Codes
    weights: Weights | None = None  # how much each counts; None for 1
    unit: WeightUnit = WHOLE_ROWS


@dataclass(frozen=True)
class Task:
    """What all settings have in common.

    Parameters
    ----------
    rows : Rows
        Classes and weights.
    splits : list of Split
        What is held out.
    score : callable
        Scores a split for several decays.
    seed : int
        Seed of the choice between classes that tie.
    n_jobs : int or None
        Number of threads.
    class_weight : "balanced", dict or None
        How much each class counts, by code.
    readout : {"filter", "bayes"}
        How counts are read.
    """

    rows: Rows
    splits: list[Split]
    score: Scorer
    seed: int
    n_jobs: int | None
    class_weight: ClassWeight = None
    readout: str = "filter"


def search(
    settings: list[Candidate], ways: list[Way], task: Task, report: Report, max_seconds: float | None = None
) -> Found:
    """Score every setting on every split; keep the counts and the held-out novelties of the best one.

    Before each hash but the first it is looked at the clock: what is not tried by then has no score.
    """
    n, start = len(settings), time.perf_counter()
    found = Found(np.full((n, len(task.splits)), np.nan), np.full(n, np.nan), np.full(n, np.nan))
    n_done = 0
    for group in in_order(settings, found.scores):
        if n_done and max_seconds is not None and time.perf_counter() - start >= max_seconds:
            break
        way, some = ways[settings[group[0]].way], [settings[at] for at in group]
        task = replace(task, readout=way.readout)
        if way.apart is None:
            part = search_hash(some, task, way.hash_rows)
        else:
            each = [search_hash(some, _of_split(task, i), hashed) for i, hashed in enumerate(way.apart)]
            part = _side_by_side(each)
        found.scores[group] = part.scores
        found.fit_times[group], found.score_times[group] = part.fit_times, part.score_times
        best = best_index(found.scores)
        if best in group:
            found.best, found.counts, found.novelty = best, part.counts, part.novelty
        n_done += len(group)
        report(n_done, n)
    way, best_one = ways[settings[found.best].way], [settings[found.best]]
    task = replace(task, readout=way.readout)
    if way.apart is not None:
        found.novelty = _novelty_apart(best_one, way.apart, task)
        found.counts = search_hash(best_one, _of_split(task, 0), way.hash_rows).counts
    return found


def in_order(settings: list[Candidate], scores: Array) -> Iterator[list[int]]:
    """Give positions of settings that share a hash, in the order in which they are best tried.

    First each way and each number of connections with the fewest components, which take little time; then with more,
    the most at once, those first that had the best score with few. So the order depends on scores, never on the time.
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


def search_hash(settings: list[Candidate], task: Task, hash_rows: HashRows) -> Found:
    """Score settings that share a hash; keep the counts and the held-out novelties of the best of them."""
    splits = task.splits
    found = Found(np.full((len(settings), len(splits)), np.nan), np.zeros(len(settings)), np.zeros(len(settings)))
    rows, seed, n_jobs = task.rows, task.seed, task.n_jobs
    read = read_off(settings, splits, rows.codes, hash_rows, seed, n_jobs, *rows[1:], task.readout)
    for group, held_out, seconds in read:
        decays = [settings[at].params["decay"] for at in group]
        found.fit_times[group] = seconds / len(splits)
        start = time.perf_counter()
        for i, split in enumerate(splits):
            with held_out.without(split):
                found.scores[group, i] = task.score(held_out, split, decays)
        found.score_times[group] = (time.perf_counter() - start) / len(group) / len(splits)
        best = best_index(found.scores)
        if best in group:
            found.best, found.counts, found.novelty = best, _nothing(), _nothing()  # makes room first
            found.novelty = _held_out_novelty(held_out, splits, settings[best].params["decay"], task.class_weight)
            found.counts = held_out.counts.astype(count_dtype(held_out.class_count))
        del held_out  # before the next one needs the room
    return found


def read_off(
    settings: list[Candidate],
    splits: list[Split],
    codes: Codes,
    hash_rows: HashRows,
    seed: int,
    n_jobs: int | None,
    weights: Weights | None = None,
    unit: WeightUnit = WHOLE_ROWS,
    readout: str = "filter",
) -> Iterator[tuple[list[int], HeldOutCounts, float]]:
    """Hash once for each pair of m and s, and give the counts of each rho.

    Parameters
    ----------
    settings : list of Candidate
        What is tried.
    splits : list of Split
        What is held out.
    codes : ndarray of shape (n,)
        The class of each row.
    hash_rows : callable
        Gives the winners for m, s and rho.
    seed : int
        Seed of the choice between classes that tie.
    n_jobs : int or None
        Number of threads.
    weights : ndarray of shape (n,) or None, default=None
        How much each row counts.
    unit : WeightUnit
        What the weights are counted in.
    readout : {"filter", "bayes"}, default="filter"
        How counts are read.

    Yields
    ------
    tuple
        Positions of settings that differ in nothing but what is read off; the counts that they are read off, valid
        until the next step; and the seconds that each of them took to hash and count.
    """
    pairs = _grouped(range(len(settings)), lambda at: (settings[at].m, settings[at].s))
    for (m, s), pair in sorted(pairs.items(), reverse=True):  # the largest, which are often the best, first
        start = time.perf_counter()
        winners = hash_rows(m, s, max(settings[at].rho for at in pair))
        to_hash = (time.perf_counter() - start) / len(pair)
        most = most_rows(splits, codes, weights)
        held_out = HeldOutCounts(winners, codes, m, most, seed, n_jobs, weights, unit, readout)
        for rho, group in sorted(_grouped(pair, lambda at: settings[at].rho).items()):
            start = time.perf_counter()
            held_out.grow(rho)
            yield group, held_out, to_hash + (time.perf_counter() - start) / len(group)
        del winners, held_out


def _of_split(task: Task, at: int) -> Task:
    """Return the task of one split alone."""
    return replace(task, splits=task.splits[at : at + 1])


def _side_by_side(apart: list[Found]) -> Found:
    """Return the scores of all splits, each of which hashed all rows in its own way."""
    return Found(
        np.hstack([each.scores for each in apart]),
        np.mean([each.fit_times for each in apart], axis=0),
        np.mean([each.score_times for each in apart], axis=0),
    )


def _novelty_apart(best: list[Candidate], hashes: list[HashRows], task: Task) -> Novelty:
    """Return the held-out novelty of a setting whose splits hash rows each in its own way."""
    total, n_tests = np.zeros((0, 0)), np.zeros(0)
    for i, (split, hashed) in enumerate(zip(task.splits, hashes, strict=True)):
        novelty = search_hash(best, _of_split(task, i), hashed).novelty
        if not i:
            total, n_tests = np.zeros(novelty.shape), np.zeros(len(novelty))
        tested = np.unique(split.test)
        total[tested] += novelty[tested]
        n_tests[tested] += 1
    with np.errstate(invalid="ignore"):  # rows that no split tests become NaN
        mean: Novelty = total / n_tests[:, None]
    return mean


def _grouped(positions: Iterable[int], key: Callable[[int], Any]) -> dict[Any, list[int]]:
    """Return which positions have which key, in the order in which they come."""
    groups: dict[Any, list[int]] = {}
    for at in positions:
        groups.setdefault(key(at), []).append(at)
    return groups


def _held_out_novelty(held_out: HeldOutCounts, splits: list[Split], decay: float, class_weight: ClassWeight) -> Novelty:
    """Return the novelty of each row where it is tested: the mean over splits, NaN if there are none."""
    total, n_tests = np.zeros((held_out.codes.size, held_out.class_count.size)), np.zeros(held_out.codes.size)
    for split in splits:
        with held_out.without(split):
            np.add.at(total, split.test, held_out.novelty(split, decay, class_weight))
        np.add.at(n_tests, split.test, 1)
    with np.errstate(invalid="ignore"):  # rows that no split tests become NaN
        total /= n_tests[:, None]
    return total
