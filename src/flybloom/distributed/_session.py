"""The active Dask session: cluster, threads and progress bar."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

import dask
from dask.diagnostics import ProgressBar
from dask.system import CPU_COUNT


@contextmanager
def connect(address: str) -> Iterator[Any]:
    """Connect to the cluster at `address`, or start local workers with "local", for a with block."""
    from distributed import Client, LocalCluster  # noqa: PLC0415

    if address == "local":
        # what goes wrong in a task is raised here as well; the rest is workers that are slow to say good-bye
        quiet = LocalCluster(dashboard_address=None, silence_logs=logging.CRITICAL)
        with quiet as cluster, Client(cluster) as client:
            yield client
    else:
        with Client(address) as client:
            yield client


def active_client() -> Any:
    """Return the active client, or None with Dask's local schedulers."""
    if "distributed" not in sys.modules or dask.config.get("scheduler", None) not in (None, "dask.distributed"):
        return None
    from distributed import Client  # noqa: PLC0415

    try:
        return Client.current()
    except ValueError:  # there is none
        return None


def n_threads() -> int:
    """Return the number of threads."""
    client = active_client()
    if client is not None:
        return max(1, int(sum(client.nthreads().values())))
    return int(dask.config.get("num_workers", None) or CPU_COUNT)


def compute(lazy: Any, *, progress: bool) -> Any:
    """Compute a lazy value, optionally with a progress bar on stderr."""
    if not progress:
        return dask.compute(lazy)[0]
    if active_client() is None:
        with ProgressBar(out=sys.stderr):
            return dask.compute(lazy)[0]
    from distributed import progress as show  # noqa: PLC0415

    (running,) = dask.persist(lazy)
    with redirect_stdout(sys.stderr):  # results may go to stdout
        show(running, notebook=False)
    sys.stderr.write("\n")
    return dask.compute(running)[0]
