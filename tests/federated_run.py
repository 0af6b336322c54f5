"""One process of a federated run: the server, or a party. Started by test_federated.py; see docs/federated.md."""

import sys
import time
from contextlib import suppress

from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier
from flybloom.federated import flower_client, flower_strategy, like


def settings():
    """What all parties share."""
    return {"n_components": 256, "n_winners": 16, "encoding": "none", "random_state": 7}


def all_rows():
    """Digits."""
    return load_digits(return_X_y=True)


def rows_of(party):
    """The rows of a party: of two labels each, so that no two parties have the same labels."""
    X, y = all_rows()
    mine = ((y == party) | (y == (party + 1) % 10)) & ((y == party) == (X.sum(axis=1) % 2 == 0))
    return X[mine], y[mine]


def main(kind, address, who):
    """Serve, or count."""
    import flwr  # noqa: PLC0415

    if who == "server":
        masked = (like(FlyBloomClassifier(**settings()), 64), range(10)) if kind == "masked" else None
        strategy, result = flower_strategy(10, masked=masked)
        config = flwr.server.ServerConfig(num_rounds=4 if masked else 1)
        flwr.server.start_server(server_address=address, config=config, strategy=strategy)
        result["model"].save("sum.fly")
        return
    release = {"epsilon": 50.0, "random_state": int(who)} if kind == "noise" else None
    model = FlyBloomClassifier(**settings())
    client = flower_client(model, *rows_of(int(who)), classes=range(10), release=release)
    for _ in range(120):
        with suppress(Exception):
            flwr.client.start_client(server_address=address, client=client)
            return
        time.sleep(1)
    sys.exit("no server")


if __name__ == "__main__":
    main(*sys.argv[1:])
