"""Commands on a Dask cluster: the same reader as without one, on the workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flybloom.cli.options import DEFAULT_BLOCK_ROWS

if TYPE_CHECKING:
    from flybloom import FlyBloomClassifier
    from flybloom.estimators.counting import CountingEstimator

HELP = (
    "Work on a Dask cluster: the address of its scheduler, or local for one on this machine. "
    "All workers must be able to read the files."
)


def train(
    model: CountingEstimator,
    source: str,
    target: str | None,
    features: list[str] | None,
    address: str,
    *,
    progress: bool,
) -> None:
    """Learn from a source on a cluster; the model equals the one of a single machine, bit for bit."""
    from flybloom import distributed, read_blocks  # noqa: PLC0415 - heavy, and an extra
    from flybloom.distributed._session import connect  # noqa: PLC0415
    from flybloom.distributed._source import collections  # noqa: PLC0415

    blocks = read_blocks(source, target if model.needs_labels else None, features=features)
    blocks.schema()  # refuses what cannot be read before a cluster is there
    with connect(address):
        rows, labels = collections(blocks)
        distributed.fit(model, rows, labels, progress=progress)


def predictions(
    model: FlyBloomClassifier, source: str, address: str, *, target: str | None, probabilities: bool
) -> Iterator[tuple[Any, Any]]:
    """Give labels and, on request, probabilities of each piece of a source, in order."""
    import numpy as np  # noqa: PLC0415 - heavy

    from flybloom import distributed  # noqa: PLC0415 - an extra
    from flybloom.cli.models import blocks_for  # noqa: PLC0415
    from flybloom.distributed._session import connect  # noqa: PLC0415
    from flybloom.distributed._source import collections  # noqa: PLC0415

    blocks = blocks_for(model, source, target, DEFAULT_BLOCK_ROWS)
    blocks.schema()
    with connect(address) as client:
        rows, _ = collections(blocks)
        methods = [distributed.predict, *([distributed.predict_proba] if probabilities else [])]
        scores = [client.compute(np.ravel(method(model, rows).to_delayed()).tolist()) for method in methods]
        for label, *share in zip(*scores, strict=True):
            yield np.asarray(label.result()), np.asarray(share[0].result()) if share else None
