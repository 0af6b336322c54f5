"""Parties that add up: plainly, with noise, and under masks; through a real Flower server and ten processes."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

pytest.importorskip("flwr", reason="pip install 'flybloom[federated]'")

import flybloom
from flybloom import Encoding, FlyBloomClassifier, federated
from flybloom.exceptions import IncompatibleHashError
from flybloom.federated import MaskedSum, Party, counts_to_vector, flower_client, like, vector_to_model
from flybloom.federated.flower import _of_bytes
from flybloom.federated.masking import MaskingError

RUN = Path(__file__).with_name("federated_run.py")


def masked_total(vectors, threshold, *, late=(), silent=()):
    """Run the protocol; those in `late` send no vector, those in `silent` do not answer in the end."""
    server, parties = MaskedSum(threshold), {i: Party(i, threshold) for i in range(len(vectors))}
    keys = server.take_keys({i: party.keys() for i, party in parties.items()})
    inboxes = server.take_shares({i: party.shares(keys) for i, party in parties.items()})
    sent = {i: parties[i].masked(inbox, vectors[i]) for i, inbox in inboxes.items() if i not in late}
    survivors = server.take_vectors(sent)
    return server.total({i: parties[i].reveal(survivors) for i in survivors if i not in silent}), sent


def test_old_names_warn_and_work():
    """Until 0.4."""
    with pytest.warns(FutureWarning, match="like"):
        assert federated.untaught is like
    with pytest.warns(FutureWarning, match="vector_to_model"):
        assert federated.model_of_vector is vector_to_model


def test_masked_sums_are_exact_in_100_of_100_runs():
    """Whatever the numbers, the number of parties, and who drops out."""
    rng = np.random.default_rng(0)
    n_exact = 0
    for _ in range(100):
        n = int(rng.integers(3, 6))
        threshold = n // 2 + 1
        vectors = rng.integers(-(2**60), 2**60, (n, 17))
        n_late = int(rng.integers(0, n - threshold + 1))
        late = rng.choice(n, n_late, replace=False).tolist()
        silent = [i for i in range(n) if i not in late][: n - n_late - threshold]
        found, sent = masked_total(vectors, threshold, late=late, silent=silent)
        expected = vectors[[i for i in range(n) if i not in late]].sum(axis=0)
        n_exact += bool((found == expected).all())
        assert all((sent[i].astype(np.int64) != vectors[i]).mean() > 0.9 for i in sent)  # masked indeed
    assert n_exact == 100


def test_too_few_parties_have_no_sum():
    """Refused by the server, and by every party."""
    vectors = np.ones((4, 5), np.int64)
    with pytest.raises(MaskingError, match="Only 2 of 4 parties sent a vector"):
        masked_total(vectors, 3, late=[0, 1])
    with pytest.raises(MaskingError, match="Only 2 parties answered"):
        masked_total(vectors, 3, silent=[0, 1])
    with pytest.raises(MaskingError, match="above half"):
        masked_total(vectors, 2)


def test_a_party_answers_once():
    """With two answers, a server that lies about who is there could lift a mask."""
    parties = [Party(i, 2) for i in range(3)]
    keys = {i: party.keys() for i, party in enumerate(parties)}
    shares = [party.shares(keys) for party in parties]
    parties[0].masked({i: texts[0] for i, texts in enumerate(shares)}, np.zeros(3, np.int64))
    told = parties[0].reveal([0, 1])
    assert sorted(told) == [0, 1, 2]
    for again in (
        lambda: parties[0].reveal([0, 1, 2]),
        lambda: parties[0].masked({i: texts[0] for i, texts in enumerate(shares)}, np.ones(3, np.int64)),
        lambda: parties[0].shares(keys),
    ):
        with pytest.raises(MaskingError, match="says no more"):
            again()


def test_a_party_named_twice_is_one():
    """Named often enough, its own mask and everybody else's key were told, which lifted all masks of its vector."""
    parties = [Party(i, 2) for i in range(3)]
    keys = {i: party.keys() for i, party in enumerate(parties)}
    shares = [party.shares(keys) for party in parties]
    for i, party in enumerate(parties):
        party.masked({peer: texts[i] for peer, texts in enumerate(shares)}, np.zeros(3, np.int64))
        with pytest.raises(MaskingError, match="Only 1 parties are left"):
            party.reveal([0, 0])


def test_what_was_changed_on_its_way_is_refused():
    """As are vectors that cannot be added."""
    parties = [Party(i, 2) for i in range(3)]
    keys = {i: party.keys() for i, party in enumerate(parties)}
    inbox = {i: party.shares(keys)[0] for i, party in enumerate(parties)}
    with pytest.raises(MaskingError, match="party 1 wrote to party 0 was changed"):
        parties[0].masked(inbox | {1: inbox[1][:-9] + b"AAAAAAAA="}, np.zeros(3, np.int64))
    with pytest.raises(MaskingError, match="differ in length"):
        MaskedSum(2).take_vectors({0: np.zeros(3, np.uint64), 1: np.zeros(1, np.uint64)})


def test_masked_counts_are_those_of_one_machine(digits):
    """Parties with unequal labels; one of them drops out, and its rows are missing."""
    X, y = digits
    encoding = Encoding("standard").fit(X[:100])
    settings = {"encoding": encoding, "n_winners": 8, "random_state": 0}
    groups = [y < 3, (y >= 3) & (y < 5), y >= 5]
    vectors = [counts_to_vector(FlyBloomClassifier(64, **settings).partial_fit(X[g], y[g]), range(10)) for g in groups]
    template = like(FlyBloomClassifier(64, **settings), 64)
    for late, rows in (([], np.ones(len(y), bool)), ([1], ~groups[1])):
        total, _ = masked_total(np.array(vectors), 2, late=late)
        model = vector_to_model(template, range(10), total)
        alone = FlyBloomClassifier(64, **settings).fit(X[rows], y[rows])
        assert_array_equal(model.counts_, alone.counts_)
        assert_array_equal(model.classes_, alone.classes_)
        assert_array_equal(model.predict(X), alone.predict(X))
    with pytest.raises(IncompatibleHashError, match="not that of counts"):
        vector_to_model(template, range(10), vectors[0] + 1)


def test_an_encoding_that_needs_rows_is_refused():
    """Every party would fit another one."""
    with pytest.raises(IncompatibleHashError, match="every party has others"):
        like(FlyBloomClassifier(64, random_state=0), 5)


def test_parties_share_an_encoder_and_send_no_row(digits):
    """Each counts with the encoder of one of them; what leaves them is counts, and adds up to one machine's."""
    X, y = digits
    a = FlyBloomClassifier(64, n_winners=8).fit(X[:200], y[:200])
    parts = (slice(200, 600), slice(600, 1200))
    files = [flower_client(a.like(), X[part], y[part]).numpy_client.fit([], {})[0][0] for part in parts]
    models = [_of_bytes(file) for file in files]
    for part, file in zip(parts, files, strict=True):
        assert not any(row.tobytes() in file.tobytes() for row in X[part].astype(np.float64))
    together = sum(models)
    alone = a.like().partial_fit(X[200:1200], y[200:1200])
    assert_array_equal(together.counts_, alone.counts_)
    assert_array_equal(together.predict(X), alone.predict(X))
    with pytest.raises(IncompatibleHashError, match="every party has others"):
        flower_client(FlyBloomClassifier(64), X, y)


@pytest.mark.parametrize("kind", ["plain", "masked", "noise"])
def test_ten_flower_clients_equal_one_machine(kind, tmp_path):
    """A real server and ten processes, each with labels of its own; bit for bit, or private."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, str(RUN), kind, address]
    environment = {**os.environ, "FLWR_TELEMETRY_ENABLED": "0", "NUMBA_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen(
            [*command, str(who)], cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        for who in ("server", *range(10))
    ]
    errors = [process.communicate(timeout=900)[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0] * 11, "\n".join(error[-800:] for error in errors)
    model = flybloom.load(tmp_path / "sum.fly")
    sys.path.insert(0, str(RUN.parent))
    from federated_run import all_rows, settings  # noqa: PLC0415

    X, y = all_rows()
    if kind == "noise":
        assert len(model.releases_) == 10
        assert model.epsilon_ == 50.0
        assert model.score(X, y) > 0.5
        return
    alone = FlyBloomClassifier(**settings()).fit(X, y)
    assert_array_equal(model.counts_, alone.counts_)
    assert_array_equal(model.class_count_, alone.class_count_)
    assert_array_equal(model.predict(X), alone.predict(X))
