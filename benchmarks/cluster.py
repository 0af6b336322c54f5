"""Learning on a Dask cluster of two workers: equality, bytes moved, throughput, killed workers and memory.

equality    one process, threads, processes and the cluster learn the same model, from MNIST and from Parquet files
throughput  rows per second of the cluster against two local processes that know nothing of each other
kills       a worker is killed at a random moment of fit, ten times
memory      peak memory of the workers with 50 and with 500 blocks

The Parquet files (5 000 000 x 20 in 50 files) are generated in a temporary folder, once. Results go to
benchmarks/results/cluster.json; docs/benchmarks/cluster.md quotes them.

    python benchmarks/cluster.py [equality] [throughput] [kills] [memory]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from datasets import load_split
from flybloom import FlyBloomClassifier, distributed

RESULTS = Path(__file__).parent / "results" / "cluster.json"
FILES, ROWS_PER_FILE, FEATURES = 50, 100_000, 20
NAMES = np.array(["ant", "bee", "fly", "wasp"])
LEARNED = ("classes_", "class_count_", "counts_", "center_", "scale_")


def model() -> FlyBloomClassifier:
    """Return the model for the table; a small one, so that reading and moving weigh more than by default."""
    return FlyBloomClassifier(2048, n_winners=32, random_state=0)


def rows(number: int, n_rows: int = ROWS_PER_FILE) -> pd.DataFrame:
    """Return one block of the table."""
    rng = np.random.default_rng(number)
    X = rng.standard_normal((n_rows, FEATURES), np.float32)
    label = NAMES[(X[:, :4] + 0.5 * X[:, 4:8]).argmax(axis=1)]
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(FEATURES)]).assign(label=label)


def table() -> list[Path]:
    """Return the Parquet files, generated on first use."""
    folder = Path(tempfile.gettempdir()) / f"flybloom-rows-{FILES}x{ROWS_PER_FILE}x{FEATURES}"
    folder.mkdir(exist_ok=True)
    paths = [folder / f"part.{number:03}.parquet" for number in range(FILES)]
    for number, path in enumerate(paths):
        if not path.exists():
            rows(number).to_parquet(path.with_suffix(".new"), index=False)
            path.with_suffix(".new").rename(path)
    return paths


@contextmanager
def cluster(n_workers: int = 2) -> Iterator[Client]:
    """Start worker processes of one thread each, and let them load what they need."""
    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as workers, Client(workers) as client:
        blocks = dd.from_map(rows, range(8 * n_workers), n_rows=500, meta=rows(0, 1)[:0])
        distributed.fit(model(), blocks, "label")
        yield client


def is_same(a: FlyBloomClassifier, b: FlyBloomClassifier) -> bool:
    """Whether everything learned is equal, bit for bit."""
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in LEARNED)


def bytes_sent(client: Client) -> dict[str, int]:
    """Return how many bytes each worker has sent to others and to the client so far, as they went over the wire."""
    return client.run(lambda dask_worker: sum(sent["compressed"] for sent in dask_worker.transfer_outgoing_log))


def equality() -> dict[str, object]:
    """Compare the models of all schedulers."""
    X, y, _, _ = load_split("mnist")
    mnist = FlyBloomClassifier(random_state=0)
    blocks = da.from_array(X, chunks=(3000, -1)), da.from_array(y, chunks=3000)
    read = dd.read_parquet([str(path) for path in table()])
    whole = pd.concat([pd.read_parquet(path) for path in table()])
    cases: dict[str, tuple[Callable[[], FlyBloomClassifier], Callable[[], FlyBloomClassifier]]] = {
        "MNIST, 60000 x 784, 20 blocks": (
            lambda: FlyBloomClassifier(random_state=0, n_jobs=2).fit(X, y),
            lambda: distributed.fit(FlyBloomClassifier(**mnist.get_params()), *blocks),
        ),
        "Parquet, 5000000 x 20, 50 files": (
            lambda: model().set_params(n_jobs=2).fit(whole.drop(columns="label"), whole["label"]),
            lambda: distributed.fit(model(), read, "label"),
        ),
    }
    result = {}
    for name, (locally, on_dask) in cases.items():
        local = locally()
        found = {}
        for scheduler in ("threads", "processes"):
            with dask.config.set(scheduler=scheduler, num_workers=2):
                found[scheduler] = is_same(local, on_dask())
        with cluster() as client:
            before = bytes_sent(client)
            found["cluster"] = is_same(local, on_dask())
            sent = [after - before[worker] for worker, after in bytes_sent(client).items()]
        result[name] = {"equal": found, "bytes_sent": sent, "counts_bytes": local.counts_.nbytes}
        print(f"{name}: {found}; bytes sent by each worker: {sent}; counts: {local.counts_.nbytes}", flush=True)
    return result


ALONE = """
import sys, time
import pandas as pd
from flybloom import FlyBloomClassifier
def learn(paths):
    part = pd.concat([pd.read_parquet(path) for path in paths])
    FlyBloomClassifier(2048, n_winners=32, random_state=0).fit(part.drop(columns="label"), part["label"])
learn(sys.argv[1:2])
print("ready", flush=True)
sys.stdin.readline()
before = time.process_time()
learn(sys.argv[1:])
print(time.process_time() - before, flush=True)
"""


class Seconds(NamedTuple):
    """How long something took: by the clock, and of processors, which other work on the machine changes less."""

    wall: float
    processor: float


def time_two_processes(paths: list[Path]) -> Seconds:
    """Return how long two processes take to learn half of the files each, from the moment both are warm."""
    workers = [
        subprocess.Popen([sys.executable, "-c", ALONE, *half], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for half in (paths[::2], paths[1::2])
    ]
    for worker in workers:
        worker.stdout.readline()
    start = time.perf_counter()
    for worker in workers:
        worker.stdin.write("\n")
        worker.stdin.flush()
    processor = sum(float(worker.stdout.readline()) for worker in workers)
    wall = time.perf_counter() - start
    for worker in workers:
        worker.communicate()
    return Seconds(wall, processor)


def time_cluster(client: Client, paths: list[Path]) -> Seconds:
    """Return how long a warm cluster takes to learn all files; the scheduler and the client count, too."""
    before = time.process_time() + sum(client.run(time.process_time).values())
    start = time.perf_counter()
    distributed.fit(model(), dd.read_parquet([str(path) for path in paths]), "label")
    wall = time.perf_counter() - start
    return Seconds(wall, time.process_time() + sum(client.run(time.process_time).values()) - before)


def throughput(rounds: int = 5, n_files: int = 20) -> dict[str, object]:
    """Time the cluster and the two processes in turns, then a cluster of one worker."""
    paths = table()[:n_files]
    times: dict[str, list[Seconds]] = {"two processes": [], "cluster of 2": [], "cluster of 1": []}
    with cluster() as client:
        for turn in range(rounds):
            times["two processes"].append(time_two_processes(paths))
            times["cluster of 2"].append(time_cluster(client, paths))
            print(*(f"{name}: {values[turn]}" for name, values in times.items() if values), flush=True)
    with cluster(1) as client:
        times["cluster of 1"] = [time_cluster(client, paths) for _ in range(2)]
    n_rows = n_files * ROWS_PER_FILE
    pairs = list(zip(times["two processes"], times["cluster of 2"], strict=True))
    ratios = {name: statistics.median(a[i] / b[i] for a, b in pairs) for i, name in enumerate(Seconds._fields)}
    for name, values in times.items():
        print(name, *(f"{n_rows / statistics.median(column):.0f} rows/s" for column in zip(*values, strict=True)))
    print(f"throughput of the cluster of 2 over two processes, median of {rounds} ratios: {ratios}", flush=True)
    return {"seconds": times, "rows": n_rows, "ratios": ratios}


def kills(n: int = 10) -> dict[str, object]:
    """Kill a worker at random moments and count the models that are equal nevertheless."""
    read = dd.from_map(rows, range(40), n_rows=10_000, meta=rows(0, 1)[:0])
    whole = pd.concat([rows(number, 10_000) for number in range(40)])
    local = model().fit(whole.drop(columns="label"), whole["label"])
    with cluster():
        start = time.perf_counter()
        distributed.fit(model(), read, "label")
        usual = time.perf_counter() - start
    records = []
    for turn in range(n):
        chance = random.Random(turn)  # noqa: S311
        with cluster() as client:
            victim = chance.choice(list(client.run(os.getpid).values()))
            moment = chance.uniform(0.05, 0.95) * usual
            timer = threading.Timer(moment, os.kill, (victim, signal.SIGKILL))
            start = time.perf_counter()
            timer.start()
            same = is_same(local, distributed.fit(model(), read, "label"))
            seconds = time.perf_counter() - start
            timer.join()
        records.append({"moment": moment, "seconds": seconds, "during_fit": moment < seconds, "equal": same})
        print(f"killed after {moment:.2f} s, fit took {seconds:.2f} s (usually {usual:.2f}): equal {same}", flush=True)
    equal = sum(record["equal"] and record["during_fit"] for record in records)
    print(f"{equal} of {n} identical", flush=True)
    return {"usual_seconds": usual, "kills": records, "identical": equal}


def peak_memory() -> int:
    """Return the most memory that this process has held, in bytes (Linux)."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def memory(n_rows: int = 2500) -> list[dict[str, object]]:
    """Measure the workers' peaks for few and for many blocks, with and without Dask's profiler, which keeps samples."""
    records = []
    for profiler, n_blocks in itertools.product((False, True), (50, 500)):
        with dask.config.set({"distributed.worker.profile.enabled": profiler}), cluster() as client:
            warm = list(client.run(peak_memory).values())
            blocks = dd.from_map(rows, range(n_blocks), n_rows=n_rows, meta=rows(0, 1)[:0])
            distributed.fit(model(), blocks, "label")
            peaks = list(client.run(peak_memory).values())
        records.append({"profiler": profiler, "blocks": n_blocks, "rows": n_rows, "warm": warm, "peaks": peaks})
        shown = [f"{peak / 2**20:.0f} MiB, {start / 2**20:.0f} warm" for start, peak in zip(warm, peaks, strict=True)]
        print(f"{n_blocks} blocks of {n_rows} rows, Dask's profiler {profiler}: peaks {shown}", flush=True)
    return records


def main() -> None:
    """Measure what is asked for, print, and add it to the saved results."""
    parts = {"equality": equality, "throughput": throughput, "kills": kills, "memory": memory}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(parts)}; all without any")
    chosen = parser.parse_args().parts or list(parts)
    for name in chosen:
        found = parts[name]()
        saved = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps({**saved, name: found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
