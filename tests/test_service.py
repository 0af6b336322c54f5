"""The example of a service: real HTTP from several threads, killed and started again."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import httpx
import numpy as np
import pytest
from sklearn.feature_extraction.text import HashingVectorizer

import flybloom

pytest.importorskip("uvicorn")
SERVICE = Path(__file__).parents[1] / "examples" / "service"


def free_port():
    """A port that nobody listens to."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Running:
    """The service in a process of its own."""

    def __init__(self, folder, save_every, app="app"):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        environment = {
            **os.environ,
            "MODEL": str(folder / "first.fly"),
            "STATE": str(folder / "state"),
            "SAVE_EVERY": str(save_every),
        }
        command = [sys.executable, "-m", "uvicorn", "--app-dir", SERVICE, f"{app}:app", "--port", str(self.port)]
        self.log = (folder / "service.log").open("ab")
        self.process = subprocess.Popen(command, env=environment, stdout=self.log, stderr=self.log)
        for _ in range(600):
            try:
                httpx.get(f"{self.url}/health").raise_for_status()
            except httpx.TransportError:
                assert self.process.poll() is None, (folder / "service.log").read_text()
                time.sleep(0.1)
            else:
                return
        pytest.fail("the service did not start")

    def end(self, how):
        """Stop the process, with mercy or without."""
        self.process.send_signal(how)
        self.process.wait(60)
        self.log.close()


def rows_of(service):
    """The rows of each class, as the service tells them."""
    return Counter(httpx.get(f"{service.url}/health").json()["rows"])


class Crowd:
    """Threads that learn, forget and predict until the service is gone, and keep account of it."""

    def __init__(self, service):
        self.url = service.url
        self.answered, self.unanswered = Counter(), Counter()  # rows by class
        self.errors, self.n_requests = [], 0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.work, args=(seed,)) for seed in range(4)]
        for thread in self.threads:
            thread.start()

    def work(self, seed):
        """Send one request after the other."""
        rng = np.random.default_rng(seed)
        with httpx.Client(base_url=self.url, timeout=60) as client:
            while True:
                label, rows = int(rng.integers(3)), rng.standard_normal((3, 6)).round(3).tolist()
                body = {"rows": rows, "labels": [label] * 3}
                paths = {"/learn": 3, "/predict": 0} | ({"/forget": -3} if rng.random() < 0.3 else {})
                for path, change in paths.items():
                    try:
                        reply = client.post(path, json=body)
                    except httpx.TransportError:  # killed: it may or may not be on the disk
                        self.unanswered[str(label)] += abs(change)
                        return
                    with self.lock:
                        self.n_requests += 1
                        self.answered[str(label)] += change
                        if reply.status_code != httpx.codes.OK:
                            self.errors.append(reply.text)

    def wait_for(self, n_requests):
        """Wait until so many were answered."""
        while self.n_requests < n_requests and not self.errors:
            time.sleep(0.01)

    def end(self):
        """Wait until all have seen that the service is gone."""
        for thread in self.threads:
            thread.join()


def test_learns_under_load_and_loses_nothing_when_it_is_killed(tmp_path):
    """Four threads learn, forget and predict; kill -9 in the midst; what was answered is there afterwards."""
    X, y = np.random.default_rng(0).standard_normal((60, 6)), np.arange(60) % 3
    model = flybloom.FlyBloomClassifier(256, n_winners=8, encoding="standard", random_state=0).fit(X, y)
    model.save(tmp_path / "first.fly")
    before = Counter({str(label): 20 for label in range(3)})
    n_requests = n_rows = 0
    for save_every in (0.05, 30):  # killed while it saves over and over, and with all in the journal
        service = Running(tmp_path, save_every)
        crowd = Crowd(service)
        crowd.wait_for(int(os.getenv("FLYBLOOM_SERVICE_REQUESTS", "150")))
        service.end(signal.SIGKILL)
        crowd.end()
        assert not crowd.errors
        service = Running(tmp_path, 30)
        found = rows_of(service)
        for label in before:
            surely = before[label] + crowd.answered[label]
            assert abs(found[label] - surely) <= crowd.unanswered[label], (label, found, surely, crowd.unanswered)
        before = found
        n_requests, n_rows = n_requests + crowd.n_requests, n_rows + sum(crowd.answered.values())
        service.end(signal.SIGTERM)
    sys.stdout.write(f"{n_requests} requests, 0 errors, {n_rows} rows acknowledged, 0 of them lost\n")  # with pytest -s
    saved = flybloom.load(next((tmp_path / "state").glob("state-*.fly")))
    assert dict(zip(map(str, saved.classes_.tolist()), saved.class_count_.tolist(), strict=True)) == before
    assert not next((tmp_path / "state").glob("journal-*.log")).read_bytes()  # all of it was saved on exit


def test_bad_requests_change_nothing(tmp_path):
    """What is refused is refused again when the journal is replayed, and a line that was cut is left out."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    flybloom.FlyBloomClassifier(64, n_winners=4, encoding="standard", random_state=0).fit(X, np.arange(40) % 2).save(
        tmp_path / "first.fly"
    )
    service = Running(tmp_path, 30)
    with httpx.Client(base_url=service.url) as client:
        before = client.get("/health").json()["rows"]
        wrong = [
            ("/learn", {"rows": [[1, 2]], "labels": [0]}, "2 features, but FlyBloomClassifier is expecting 3"),
            ("/learn", {"rows": [[1, 2, 3]], "labels": [0, 1]}, "inconsistent numbers of samples"),
            ("/forget", {"rows": [[9, 9, 9]] * 30, "labels": [0] * 30}, "only 20 were learned"),
            ("/predict", {"rows": []}, "Expected 1 to 10000 rows"),
            ("/predict", {"rows": [["x", 2, 3]]}, "valid number"),
        ]
        for path, body, said in wrong:
            reply = client.post(path, json=body)
            assert reply.status_code == httpx.codes.UNPROCESSABLE_ENTITY, (path, body)
            assert said in reply.text, reply.text
        assert client.get("/health").json()["rows"] == before
        good = {"rows": [[1, None, 3]], "labels": [1]}
        assert client.post("/learn", json=good).json() == {"rows": 1}
        assert client.post("/predict", json=good).json()["labels"][0] in (0, 1)
    service.end(signal.SIGKILL)
    journal = next((tmp_path / "state").glob("journal-*.log"))
    last = journal.read_bytes().splitlines()[-1]
    assert json.loads(last.partition(b" ")[2])["rows"] == good["rows"]
    journal.write_bytes(journal.read_bytes() + last[:20])  # as if it had been killed while it wrote
    service = Running(tmp_path, 30)
    health = httpx.get(f"{service.url}/health").json()
    assert health["rows"] == {"0": 20, "1": 21}
    assert health["changes_replayed_at_start"] == 4
    service.end(signal.SIGTERM)


def test_texts_are_taught_and_forgotten_and_kill_9_loses_nothing(tmp_path):
    """Killed while texts are taught; then some are forgotten, and killed again: the file is that of the others."""
    service = Running(tmp_path, 30, "texts")
    taught, unanswered = [], []
    with httpx.Client(base_url=service.url, timeout=60) as client:
        assert client.post("/ask", json={"texts": ["x"]}).status_code == httpx.codes.CONFLICT
        assert client.post("/forget", json=labelled(["x"], "a")).status_code == httpx.codes.UNPROCESSABLE_ENTITY
        killer = threading.Timer(0.1, lambda: service.end(signal.SIGKILL))
        for number in range(100_000):
            if number == 12:
                killer.start()
            topic = ("insects", "money", "weather")[number % 3]
            body = labelled([f"{topic} text number {number}", f"more on {topic} {number}"], topic)
            try:
                assert client.post("/teach", json=body).json() == {"texts": 2}
            except httpx.TransportError:
                unanswered = [body]
                break
            taught.append(body)
    killer.join()
    service = Running(tmp_path, 30, "texts")
    with httpx.Client(base_url=service.url, timeout=60) as client:
        known = client.get("/health").json()["texts"]
        found = sum(known.values())
        assert found in (2 * len(taught), 2 * len(taught) + 2 * len(unanswered))
        taught += unanswered if found > 2 * len(taught) else []
        answer = client.post("/ask", json={"texts": ["number 4 of insects"]}).json()
        assert answer["labels"] == ["insects"]
        first = client.post("/forget", json=taught[0]).json()
        second = client.post("/forget", json=taught[1]).json()
        assert (first["extent"], first["rows"]) == ("complete", 2)
        assert first["after"] == second["before"]
        again = client.post("/forget", json=taught[0])
        assert again.status_code == httpx.codes.UNPROCESSABLE_ENTITY
        assert "cannot all have been learned" in again.text
    service.end(signal.SIGKILL)
    service = Running(tmp_path, 30, "texts")
    service.end(signal.SIGTERM)
    letters = HashingVectorizer(analyzer="char_wb", ngram_range=(2, 4), n_features=512)
    texts = [text for body in taught[2:] for text in body["texts"]]
    labels = [label for body in taught[2:] for label in body["labels"]]
    flybloom.FlyRidgeClassifier().fit(letters.transform(texts).toarray().astype(np.float32), labels).save(
        tmp_path / "never.fly"
    )
    assert next((tmp_path / "state").glob("state-*.fly")).read_bytes() == (tmp_path / "never.fly").read_bytes()


def labelled(texts, label):
    """The body of a request with one label."""
    return {"texts": texts, "labels": [label] * len(texts)}
