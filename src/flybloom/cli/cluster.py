"""Commands on a Dask cluster: the same reader as without one, on the workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flybloom.cli.models import inside
from flybloom.exceptions import ModelFileError, require_extra

if TYPE_CHECKING:
    from flybloom.blocks import Blocks
    from flybloom.estimators.counting import CountingEstimator

HELP = (
    "Work on a Dask cluster: the address of its scheduler, or local for one on this machine. "
    "All workers must be able to read the files."
)


def require() -> None:
    """Ask for the extra before any work is done."""
    for module in ("dask", "distributed"):
        require_extra(module, "dask", "--cluster")


def train(model: CountingEstimator, blocks: Blocks, address: str, *, progress: bool) -> None:
    """Learn from a source on a cluster; the model equals the one of a single machine, bit for bit."""
    from flybloom import distributed  # noqa: PLC0415 - heavy, and an extra
    from flybloom.distributed._session import connect  # noqa: PLC0415
    from flybloom.distributed._source import collections  # noqa: PLC0415

    with connect(address):
        rows, labels = collections(blocks)
        distributed.fit(model, rows, labels, progress=progress)


def tables(made: Any, blocks: Blocks, address: str) -> Iterator[Any]:
    """Yield what is written of each piece of a source, in order; `made` is a `Predictions`."""
    import numpy as np  # noqa: PLC0415 - heavy

    from flybloom import distributed  # noqa: PLC0415 - an extra
    from flybloom.distributed._session import connect  # noqa: PLC0415
    from flybloom.distributed._source import collections  # noqa: PLC0415

    model = inside(made.model)
    if hasattr(made.model, "estimator_"):
        msg = f"A {type(made.model).__name__} does not work on a cluster. Leave out --cluster."
        raise ModelFileError(msg)
    with connect(address) as client:
        rows, _ = collections(blocks)
        methods = [distributed.predict, *([distributed.predict_proba] if made.methods else [])]
        found = [client.compute(np.ravel(method(model, rows).to_delayed()).tolist()) for method in methods]
        for parts in zip(*found, strict=True):
            labels, *scores = (np.asarray(part.result()) for part in parts)
            made.n_rows += len(labels)
            yield made.assembled(np.ones(len(labels), bool), labels, scores, None)
