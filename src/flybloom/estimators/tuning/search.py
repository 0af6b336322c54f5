"""The one pass: hash once for each pair of sizes, then read every other setting off the counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from flybloom._internal.typing import Array, Codes, CountTable, Novelty, Winners
from flybloom.core.counts.columns import count_dtype
from flybloom.core.readout.class_weight import ClassWeight
from flybloom.estimators.tuning.grids import Candidate
from flybloom.estimators.tuning.held_out import HeldOutCounts, Split, most_rows
from flybloom.estimators.tuning.results import best_index
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
        Seconds for each split, a share of what settings have in common.
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


def search(
    settings: list[Candidate],
    splits: list[Split],
    codes: Codes,
    hash_rows: HashRows,
    score: Scorer,
    seed: int,
    n_jobs: int | None,
    report: Report,
    class_weight: ClassWeight = None,
) -> Found:
    """Score every setting on every split; keep the counts and the held-out novelties of the best one."""
    found = Found(np.full((len(settings), len(splits)), np.nan), np.zeros(len(settings)), np.zeros(len(settings)))
    n_done = 0
    for group, held_out, seconds in read_off(settings, splits, codes, hash_rows, seed, n_jobs):
        decays = [settings[at].params["decay"] for at in group]
        found.fit_times[group] = seconds / len(splits)
        start = time.perf_counter()
        for i, split in enumerate(splits):
            with held_out.without(split):
                found.scores[group, i] = score(held_out, split, decays)
        found.score_times[group] = (time.perf_counter() - start) / len(group) / len(splits)
        best = best_index(found.scores)
        if best in group:
            found.best, found.counts, found.novelty = best, _nothing(), _nothing()  # makes room first
            found.novelty = _held_out_novelty(held_out, splits, settings[best].params["decay"], class_weight)
            found.counts = held_out.counts.astype(count_dtype(held_out.class_count))
        del held_out  # before the next pair of sizes needs the room
        n_done += len(group)
        report(n_done, len(settings))
    return found


def read_off(
    settings: list[Candidate], splits: list[Split], codes: Codes, hash_rows: HashRows, seed: int, n_jobs: int | None
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
        held_out = HeldOutCounts(winners, codes, m, most_rows(splits, codes), seed, n_jobs)
        for rho, group in sorted(_grouped(pair, lambda at: settings[at].rho).items()):
            start = time.perf_counter()
            held_out.grow(rho)
            yield group, held_out, to_hash + (time.perf_counter() - start) / len(group)
        del winners, held_out


def search_apart(
    settings: list[Candidate],
    splits: list[Split],
    hashes: list[HashRows],
    hash_rows: HashRows,
    searched: Callable[[list[Candidate], list[Split], HashRows], Found],
) -> Found:
    """Score every setting on every split, each of which hashes all rows in its own way.

    The counts of the best setting are those of all rows as `hash_rows` hashes them.
    """
    apart = [searched(settings, [split], hash_rows) for split, hash_rows in zip(splits, hashes, strict=True)]
    found = Found(
        np.hstack([each.scores for each in apart]),
        np.mean([each.fit_times for each in apart], axis=0),
        np.mean([each.score_times for each in apart], axis=0),
    )
    found.best = best_index(found.scores)
    best = [settings[found.best]]
    parts = [
        (split, searched(best, [split], hash_rows).novelty) for split, hash_rows in zip(splits, hashes, strict=True)
    ]
    total, n_tests = np.zeros(parts[0][1].shape), np.zeros(len(parts[0][1]))
    for split, novelty in parts:
        tested = np.unique(split.test)
        total[tested] += novelty[tested]
        n_tests[tested] += 1
    with np.errstate(invalid="ignore"):  # rows that no split tests become NaN
        found.novelty = total / n_tests[:, None]
    found.counts = searched(best, splits[:1], hash_rows).counts
    return found


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
