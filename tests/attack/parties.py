"""Masked sums: parties drop out at any time, tell the server what they know, and the server lies about who is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from attack.promises import promise
from flybloom.federated import MaskedSum, Party
from flybloom.federated.masking import MaskingError, _agreed, _joined, _stream

SIZE = 9


class Round:
    """One masked sum up to the vectors, with those who left before shares or before vectors."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.n = int(rng.integers(3, 9))
        self.threshold = int(rng.integers(self.n // 2 + 1, self.n + 1))
        self.vectors = rng.integers(-(2**59), 2**59, (self.n, SIZE))
        self.parties = [Party(i, self.threshold) for i in range(self.n)]
        self.server = MaskedSum(self.threshold)
        self.keys = self.server.take_keys({i: party.keys() for i, party in enumerate(self.parties)})
        leaving = rng.permutation(self.n)[: int(rng.integers(0, self.n - self.threshold + 2))]
        cut = int(rng.integers(0, leaving.size + 1))
        silent, late = set(leaving[:cut].tolist()), set(leaving[cut:].tolist())
        shares = {i: party.shares(self.keys) for i, party in enumerate(self.parties) if i not in silent}
        self.inboxes = self.server.take_shares(shares)
        self.sent = {}
        if len(self.inboxes) >= self.threshold:
            self.sent = {i: self.parties[i].masked(inbox, self.vectors[i]) for i, inbox in self.inboxes.items()
                         if i not in late}  # fmt: skip
        self.late = late


def parties(_folder: Path) -> None:
    """What the trials need: the extra."""


@promise("a masked sum is that of all who sent a vector, whoever drops out, or there is none", parties, needs="flwr")
def dropouts(_nothing: None, rng: np.random.Generator) -> str:
    """Before shares, before vectors, before the last answer."""
    one = Round(rng)
    try:
        survivors = one.server.take_vectors(one.sent)
        n_mute = int(rng.integers(0, len(survivors)))
        answering = rng.permutation(survivors)[n_mute:].tolist()
        total = one.server.total({i: one.parties[i].reveal(survivors) for i in answering})
    except MaskingError:
        n_left = min(len(one.sent), len(answering) if len(one.sent) >= one.threshold else 0)
        assert n_left < one.threshold, "there are enough of them"
        return "too few"
    expected = one.vectors[survivors].sum(axis=0)
    assert np.array_equal(total, expected), f"another sum: {one.n} parties, threshold {one.threshold}"
    return "summed"


@promise("no server and no colluding parties see the vector of another one", parties, needs="flwr")
def collusion(_nothing: None, rng: np.random.Generator) -> str:
    """The server asks each party something else, repeats itself and lies; colluders tell it all they hold."""
    one = Round(rng)
    if len(one.sent) < one.threshold:
        return "too few"
    lies = bool(rng.integers(2))
    most = 2 * one.threshold - one.n if lies else one.threshold - 1  # see docs/federated.md
    colluders = set(rng.permutation(one.n)[: int(rng.integers(0, max(1, min(most, one.threshold - 1))))].tolist())
    seeds, keys = _told(one, colluders, rng, lies=lies)
    for i, vector in one.sent.items():
        if i not in colluders:
            found = _lifted(one, i, vector, seeds, keys | colluders)
            assert not np.array_equal(found, one.vectors[i]), (
                f"the vector of a party is seen: {one.n} parties, threshold {one.threshold}, "
                f"{len(colluders)} colluding, {'lying' if lies else 'curious'}"
            )
    return "lying" if lies else "curious"


def _told(
    one: Round, colluders: set[int], rng: np.random.Generator, *, lies: bool
) -> tuple[dict[int, bytes], set[int]]:
    """The masks of parties themselves, and whose keys are known, from all shares that the server gets."""
    seeds: dict[int, list[bytes]] = {i: [] for i in range(one.n)}
    keys: dict[int, list[bytes]] = {i: [] for i in range(one.n)}
    named = rng.permutation([*one.inboxes])[: int(rng.integers(1, one.n))]
    for i in one.sent:
        if i in colluders:
            for peer, (seed, key) in one.parties[i]._inbox.items():
                seeds[peer].append(seed)
                keys[peer].append(key)
            continue
        for _ in range(int(rng.integers(1, 4))):
            asked = sorted(one.sent)
            if lies:
                of_all = rng.choice([*one.inboxes], int(rng.integers(1, 2 * one.n)))
                asked = (of_all if rng.random() < 0.3 else np.resize(named, 2 * one.n)).tolist()  # the same to many
            try:
                told = one.parties[i].reveal(asked)
            except MaskingError:
                continue
            for peer, share in told.items():
                (seeds if peer in asked else keys)[peer].append(share)
    enough = one.threshold
    known = {peer: _joined(shares[:enough]) for peer, shares in seeds.items() if len(shares) >= enough}
    return known, {peer for peer, shares in keys.items() if len(shares) >= enough}


def _lifted(one: Round, i: int, vector: Any, known_seeds: dict[int, bytes], known_keys: set[int]) -> Any:
    """What is left of a vector when every mask that can be known is taken off it."""
    total = np.asarray(vector).copy()
    if i in known_seeds:
        total = total - _stream(known_seeds[i], SIZE)
    for peer in one.parties[i]._inbox:
        if peer != i and (peer in known_keys or i in known_keys):
            mask = _stream(_agreed(one.parties[i]._mask_key, one.parties[i]._peers[peer]["mask"]), SIZE)
            total = total - mask if i < peer else total + mask
    return total.astype(np.int64)
