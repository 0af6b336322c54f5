"""Client and strategy for Flower."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from flybloom._internal.typing import Array
from flybloom.core.files.model_file import load
from flybloom.estimators.access import hasher_of
from flybloom.estimators.releasing import ReleasedClassifier
from flybloom.exceptions import IncompatibleHashError, require_extra
from flybloom.federated.masking import MaskedSum, MaskingError, Party
from flybloom.federated.vectors import counts_to_vector, like, vector_to_model

STAGES = ("keys", "shares", "masked", "reveal")


def flower_client(model: Any, X: Any, y: Any, *, classes: Any = None, release: dict[str, Any] | None = None) -> Any:
    """Return a Flower client that counts its rows once and sends the counts.

    Parameters
    ----------
    model : FlyBloomClassifier
        The model that all parties share: an empty one with an encoder, ``model.like()``, or one whose encoding needs no
        rows.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows of this party.
    y : array-like of shape (n_samples,)
        Their labels.
    classes : array-like or None, default=None
        All labels of all parties; needed for masks and noise.
    release : dict or None, default=None
        Arguments of `FlyBloomClassifier.release`: the party then sends only noisy counts.

    Returns
    -------
    flwr.client.Client
        For `flwr.client.start_client` or a ClientApp.
    """
    require_extra("flwr", "federated", "A Flower client")
    from flwr.client import NumPyClient  # noqa: PLC0415 - an extra

    counted: Any = like(model, np.shape(X)[1]).partial_fit(X, y)
    sent = counted if release is None else counted.release(**{"classes": classes, **release})
    parties: list[Party] = []

    class CountingClient(NumPyClient):  # type: ignore[misc]
        """Flower client that counts its rows once."""

        def fit(self, parameters: Any, config: dict[str, Any]) -> tuple[list[Array], int, dict[str, Any]]:  # noqa: ARG002
            stage = config.get("stage")
            if stage is None:
                return [_to_bytes(sent)], 1, {}
            inbox = {int(name): value for name, value in config.items() if name.isdigit()}
            if stage == "keys":
                parties[:] = [Party(config["index"], config["threshold"])]
                told = {"keys": parties[0].keys(), "fingerprint": hasher_of(counted).fingerprint}
                return [], 1, {"index": config["index"], **told}
            party = parties[0]
            if stage == "masked":
                return [party.masked(inbox, counts_to_vector(counted, classes))], 1, {"index": party.index}
            answer = party.shares(inbox) if stage == "shares" else party.reveal(list(inbox))
            return [], 1, {"index": party.index, **{str(peer): text for peer, text in answer.items()}}

    return CountingClient().to_client()


def flower_strategy(  # noqa: C901 - one class, which must not be made before Flower is imported
    n_parties: int, *, masked: tuple[Any, Any] | None = None, threshold: int | None = None
) -> tuple[Any, dict[str, Any]]:
    """Return a Flower strategy that adds counts, and a dict for the resulting model.

    Parameters
    ----------
    n_parties : int
        Number of parties; without masks all must answer.
    masked : tuple of (FlyBloomClassifier, array-like) or None, default=None
        The shared empty model (`like`) and the agreed labels: the server then sees only the sum. This takes four rounds
        instead of one.
    threshold : int or None, default=None
        With masks, number of parties that must stay; None for two thirds.

    Returns
    -------
    strategy : flwr.server.strategy.Strategy
        For `flwr.server.start_server`.
    result : dict
        ``result["model"]`` is the model after all rounds.
    """
    require_extra("flwr", "federated", "A Flower strategy")
    from flwr.common import FitIns, parameters_to_ndarrays  # noqa: PLC0415 - an extra
    from flwr.common import ndarrays_to_parameters as to_parameters  # noqa: PLC0415
    from flwr.server.strategy import Strategy  # noqa: PLC0415

    least = threshold or 2 * n_parties // 3 + 1
    total = MaskedSum(least)
    result: dict[str, Any] = {}
    clients: dict[int, Any] = {}
    outbox: dict[int, dict[str, Any]] = {}
    empty = to_parameters([])

    class SumOfCounts(Strategy):  # type: ignore[misc]
        """Flower strategy that adds counts."""

        def initialize_parameters(self, client_manager: Any) -> Any:
            client_manager.wait_for(n_parties)
            clients.update(dict(enumerate(sorted(client_manager.all().values(), key=lambda client: client.cid))))
            return empty

        def configure_fit(self, server_round: int, parameters: Any, client_manager: Any) -> list[Any]:  # noqa: ARG002
            if masked is None:
                return [(client, FitIns(empty, {})) for client in clients.values()]
            stage = STAGES[server_round - 1]
            if stage == "keys":
                outbox.update({index: {"index": index, "threshold": least} for index in clients})
            return [(clients[index], FitIns(empty, {"stage": stage, **message})) for index, message in outbox.items()]

        def aggregate_fit(self, server_round: int, results: list[Any], failures: list[Any]) -> Any:
            if masked is None:
                if failures or len(results) < n_parties:
                    msg = f"{n_parties - len(results)} of {n_parties} parties did not answer. Add up all of them again."
                    raise MaskingError(msg)
                models = [_of_bytes(parameters_to_ndarrays(answer.parameters)[0]) for _, answer in results]
                result["model"] = sum(models[1:], models[0])
                return empty, {}
            answers = {answer.metrics["index"]: answer for _, answer in results}
            texts = {
                index: {int(name): text for name, text in answer.metrics.items() if name.isdigit()}
                for index, answer in answers.items()
            }
            stage = STAGES[server_round - 1]
            outbox.clear()
            if stage == "keys":
                expected = hasher_of(masked[0]).fingerprint
                if any(answer.metrics["fingerprint"] != expected for answer in answers.values()):
                    msg = "A party hashes differently from the model agreed on. Share seed, sizes and encoding."
                    raise IncompatibleHashError(msg)
                keys = total.take_keys({index: answer.metrics["keys"] for index, answer in answers.items()})
                outbox.update({index: _named(keys) for index in keys})
            elif stage == "shares":
                outbox.update({index: _named(inbox) for index, inbox in total.take_shares(texts).items()})
            elif stage == "masked":
                vectors = {index: parameters_to_ndarrays(answer.parameters)[0] for index, answer in answers.items()}
                survivors = total.take_vectors(vectors)
                outbox.update({index: dict.fromkeys(map(str, survivors), b"") for index in survivors})
            else:
                result["model"] = vector_to_model(*masked, total.total(texts))
            return empty, {}

        def configure_evaluate(self, *arguments: Any, **named: Any) -> list[Any]:  # noqa: ARG002
            return []

        def aggregate_evaluate(self, *arguments: Any, **named: Any) -> Any:  # noqa: ARG002
            return None, {}

        def evaluate(self, *arguments: Any, **named: Any) -> None:  # noqa: ARG002
            return None

    return SumOfCounts(), result


def _named(texts: dict[int, bytes]) -> dict[str, bytes]:
    """Return messages as named Flower values."""
    return {str(index): text for index, text in texts.items()}


def _to_bytes(model: Any) -> Array:
    """Return the file of a model as an array."""
    with tempfile.TemporaryDirectory() as folder:
        options = {} if isinstance(model, ReleasedClassifier) else {"sketch": False}  # no row leaves a party
        model.save(Path(folder) / "model.fly", **options)
        return np.frombuffer((Path(folder) / "model.fly").read_bytes(), np.uint8)


def _of_bytes(values: Array) -> Any:
    """Return the model in such an array, validated."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "model.fly").write_bytes(values.tobytes())
        return load(Path(folder) / "model.fly")
