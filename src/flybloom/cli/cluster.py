"""Commands on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flybloom.cli.errors import blaming
from flybloom.exceptions import require_extra

if TYPE_CHECKING:
    from flybloom.blocks import Blocks
    from flybloom.cli.predictions import Predictions
    from flybloom.estimators.counting import CountingEstimator

HELP = (
    "Work on a Dask cluster: the address of its scheduler, or local for one on this machine. "
    "All workers must be able to read the files."
)


def require() -> None:
    """Check that Dask is installed."""
    for module in ("dask", "distributed"):
        require_extra(module, "dask", "--cluster")


def train(model: CountingEstimator, blocks: Blocks, address: str, *, progress: bool) -> None:
    """Train on a cluster; the model equals that of a single machine, bit for bit."""
    from flybloom.distributed import fit_source  # noqa: PLC0415
    from flybloom.distributed._dask import connect  # noqa: PLC0415 - heavy, and an extra

    with connect(address):
        fit_source(model, blocks, progress=progress)


def tables(made: Predictions, blocks: Blocks, address: str) -> Iterator[Any]:
    """Yield tables of predictions for each piece of a source, in order, computed by workers."""
    from flybloom.distributed import pieces_of  # noqa: PLC0415
    from flybloom.distributed._dask import connect  # noqa: PLC0415 - an extra

    first = made.empty()
    with connect(address) as client:
        shared = client.scatter(made, broadcast=True)
        for future in client.map(_of_piece, pieces_of(blocks), made=shared, pure=False):
            found, scored = future.result()
            made.scored.add(scored)
            for table in found:
                first = first if made.id_name is None or first.num_rows else table
                yield table.cast(first.schema)
    if made.scored.n_rows == 0:
        yield made.empty()


def _of_piece(piece: Blocks, made: Predictions) -> tuple[list[Any], Any]:
    """Return the tables and counts of a piece, without changing shared arguments."""
    own = made.afresh()
    found = []
    for block in piece:
        with blaming(block.where):
            found.append(own.of(block))
    return found, own.scored
