"""Secure aggregation: the server learns only the sum.

The protocol of Bonawitz et al. (2017), over integers modulo 2**64, so that sums are exact. Key agreement, encryption
and secret sharing are Flower's. Its mask generator is not used, because it reduces a key to 32 bits: masks are the key
stream of AES-256 in counter mode.

Four rounds: keys, shares, masked vectors, unmasking. Parties may drop out after the second. If at least the threshold
answers, the result is the sum of all vectors that were sent; otherwise there is none.
"""

from __future__ import annotations

import base64
import json
import os
from typing import Any

import numpy as np

from flybloom._internal.typing import Array
from flybloom.exceptions import require_extra

KEY_BYTES = 48  # of a number on the curve SECP384R1


class MaskingError(RuntimeError):
    """A masked sum is impossible or would reveal a party."""


class Party:
    """A party, which answers four requests in order, each once.

    Parameters
    ----------
    index : int
        Its number, from 0.
    threshold : int
        Number of parties that must answer in the last round; more than half.
    """

    def __init__(self, index: int, threshold: int) -> None:
        require_extra("flwr", "federated", "A masked sum")
        self.index, self.threshold = index, threshold
        self._mask_key, self._channel_key = _new_key(), _new_key()
        self._seed = os.urandom(32)
        self._peers: dict[int, dict[str, str]] = {}
        self._inbox: dict[int, tuple[bytes, bytes]] = {}
        self._answered: set[str] = set()

    def keys(self) -> bytes:
        """Return the public keys."""
        return json.dumps({"mask": _public(self._mask_key), "channel": _public(self._channel_key)}).encode()

    def shares(self, keys: dict[int, bytes]) -> dict[int, bytes]:
        """Return encrypted shares for each party, given all public keys."""
        self._answer_once("shares")
        if len(keys) < self.threshold or self.threshold * 2 <= len(keys):
            msg = (
                f"Got the keys of {len(keys)} parties for a threshold of {self.threshold}. "
                "Expected a threshold above half of the parties, and no fewer parties than that."
            )
            raise MaskingError(msg)
        self._peers = {index: json.loads(text) for index, text in keys.items()}
        own = sorted(keys)
        seeds = _split(self._seed, self.threshold, len(own))
        mask_keys = _split(_private_bytes(self._mask_key), self.threshold, len(own))
        return {
            peer: self._sealed(peer, json.dumps([seed.hex(), key.hex()]).encode())
            for peer, seed, key in zip(own, seeds, mask_keys, strict=True)
        }

    def masked(self, shares: dict[int, bytes], values: Array) -> Array:
        """Return the masked vector, given the shares of the remaining parties."""
        self._answer_once("masked")
        if len(shares) < self.threshold:
            msg = f"Only {len(shares)} parties are left, and the threshold is {self.threshold}. Begin again."
            raise MaskingError(msg)
        for peer, text in shares.items():
            seed, key = json.loads(self._opened(peer, text))
            self._inbox[peer] = bytes.fromhex(seed), bytes.fromhex(key)
        total = np.asarray(values, np.int64).astype(np.uint64)
        with np.errstate(over="ignore"):
            total = total + _stream(self._seed, total.size)
            for peer in self._inbox:
                if peer != self.index:
                    mask = _stream(_agreed(self._mask_key, self._peers[peer]["mask"]), total.size)
                    total = total + mask if self.index < peer else total - mask
        return np.asarray(total)

    def reveal(self, survivors: list[int]) -> dict[int, bytes]:
        """Return one share per party: of its own mask if it stayed, of its key if it dropped out."""
        there = set(survivors)
        if len(there) < self.threshold or not there <= set(self._inbox):
            msg = f"Only {len(there)} parties are left, and the threshold is {self.threshold}. Begin again."
            raise MaskingError(msg)
        self._answer_once("reveal")
        return {peer: share[0 if peer in there else 1] for peer, share in self._inbox.items()}

    def _answer_once(self, question: str) -> None:
        """Raise an error for a repeated request: two answers could reveal a vector."""
        if question in self._answered:
            msg = f"This party has answered {question!r}, and says no more: two answers could show a single vector."
            raise MaskingError(msg)
        self._answered.add(question)

    def _sealed(self, peer: int, text: bytes) -> bytes:
        """Encrypt a text for a peer."""
        from flwr.common.secure_aggregation.crypto.symmetric_encryption import encrypt  # noqa: PLC0415 - an extra

        key = base64.urlsafe_b64encode(_agreed(self._channel_key, self._peers[peer]["channel"]))
        return bytes(encrypt(key, text))

    def _opened(self, peer: int, text: bytes) -> bytes:
        """Decrypt a text from a peer."""
        from cryptography.fernet import InvalidToken  # noqa: PLC0415 - an extra
        from flwr.common.secure_aggregation.crypto.symmetric_encryption import decrypt  # noqa: PLC0415 - an extra

        key = base64.urlsafe_b64encode(_agreed(self._channel_key, self._peers[peer]["channel"]))
        try:
            return bytes(decrypt(key, text))
        except InvalidToken:
            msg = f"What party {peer} wrote to party {self.index} was changed on its way. Begin again."
            raise MaskingError(msg) from None


class MaskedSum:
    """The server: forwards messages between parties and unmasks the sum.

    Parameters
    ----------
    threshold : int
        Number of parties that must answer in the last round.
    """

    def __init__(self, threshold: int) -> None:
        self.threshold = threshold
        self.keys: dict[int, bytes] = {}
        self._shares: dict[int, dict[int, bytes]] = {}
        self._vectors: dict[int, Array] = {}

    def take_keys(self, keys: dict[int, bytes]) -> dict[int, bytes]:
        """Store the keys of all parties, and return them."""
        self.keys = dict(keys)
        return self.keys

    def take_shares(self, shares: dict[int, dict[int, bytes]]) -> dict[int, dict[int, bytes]]:
        """Return the messages for each remaining party."""
        self._shares = shares
        return {peer: {author: texts[peer] for author, texts in shares.items()} for peer in shares}

    def take_vectors(self, vectors: dict[int, Array]) -> list[int]:
        """Store the masked vectors, and return who sent one; MaskingError if too few did."""
        if len(vectors) < self.threshold:
            msg = (
                f"Only {len(vectors)} of {len(self.keys)} parties sent a vector, and the threshold is "
                f"{self.threshold}. There is no sum, and nothing was learned of any vector. Begin again."
            )
            raise MaskingError(msg)
        if len({vector.shape for vector in vectors.values()}) > 1:
            msg = "The vectors differ in length: parties have not agreed on the same classes. Begin again."
            raise MaskingError(msg)
        self._vectors = vectors
        return sorted(vectors)

    def total(self, revealed: dict[int, dict[int, bytes]]) -> Array:
        """Return the exact sum of all vectors as int64."""
        if len(revealed) < self.threshold:
            msg = f"Only {len(revealed)} parties answered, and the threshold is {self.threshold}. Begin again."
            raise MaskingError(msg)
        size = next(iter(self._vectors.values())).size
        total = np.zeros(size, np.uint64)
        some = [revealed[peer] for peer in sorted(revealed)[: self.threshold]]
        with np.errstate(over="ignore"):
            for index in self._shares:
                secret = _joined([answer[index] for answer in some])
                if index in self._vectors:
                    total = total + self._vectors[index] - _stream(secret, size)
                    continue
                key = _private_of(secret)  # of one that dropped out: its masks are still in the vectors of the others
                for peer in self._vectors:
                    mask = _stream(_agreed(key, json.loads(self.keys[peer])["mask"]), size)
                    total = total - mask if peer < index else total + mask
        return np.asarray(total.astype(np.int64))


def _stream(key: bytes, size: int) -> Array:
    """Return n 64-bit numbers of the key stream of AES-256 in counter mode."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415 - an extra

    stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(8 * size))
    return np.frombuffer(stream, "<u8").astype(np.uint64)


def _new_key() -> Any:
    """Return a new private key."""
    from flwr.supercore.primitives.asymmetric import generate_key_pairs  # noqa: PLC0415 - an extra

    return generate_key_pairs()[0]


def _public(key: Any) -> str:
    """Return the public half of a key as text."""
    from flwr.supercore.primitives.asymmetric import public_key_to_bytes  # noqa: PLC0415 - an extra

    return str(public_key_to_bytes(key.public_key()).decode())


def _private_bytes(key: Any) -> bytes:
    """Return the number of a private key as bytes, which is shorter to share than its file."""
    return int(key.private_numbers().private_value).to_bytes(KEY_BYTES, "big")


def _private_of(text: bytes) -> Any:
    """Return the private key for a number on Flower's curve."""
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 - an extra

    return ec.derive_private_key(int.from_bytes(text, "big"), ec.SECP384R1())


def _agreed(key: Any, public: str) -> bytes:
    """Return the shared secret of two parties, 32 bytes."""
    from flwr.common.secure_aggregation.crypto.symmetric_encryption import generate_shared_key  # noqa: PLC0415
    from flwr.supercore.primitives.asymmetric import bytes_to_public_key  # noqa: PLC0415 - an extra

    return base64.urlsafe_b64decode(generate_shared_key(key, bytes_to_public_key(public.encode())))


def _split(secret: bytes, threshold: int, n: int) -> list[bytes]:
    """Split a secret into n Shamir shares with a threshold."""
    from flwr.common.secure_aggregation.crypto.shamir import create_shares  # noqa: PLC0415 - an extra

    return list(create_shares(secret, threshold, n))


def _joined(shares: list[bytes]) -> bytes:
    """Combine shares to the secret."""
    from flwr.common.secure_aggregation.crypto.shamir import combine_shares  # noqa: PLC0415 - an extra

    return bytes(combine_shares(shares))
