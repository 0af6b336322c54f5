"""Commands on a Dask cluster: read a source as a Dask dataframe, learn and predict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flybloom.exceptions import SourceError

if TYPE_CHECKING:
    from flybloom import FlyBloomClassifier
    from flybloom.estimators.counting import CountingEstimator

HELP = "Work on a Dask cluster: the address of its scheduler, or local for one on this machine. Parquet and CSV only."


def read_frame(source: str, columns: list[str] | None) -> Any:
    """Return a source of Parquet or CSV files as a Dask dataframe, with only some columns if they are named."""
    import dask.dataframe as dd  # noqa: PLC0415 - an extra

    paths = (
        sorted(path for path in Path(source).rglob("*.*") if path.is_file())
        if Path(source).is_dir()
        else [Path(source)]
    )
    suffixes = {path.suffix.lower() for path in paths}
    if suffixes == {".parquet"}:
        return dd.read_parquet(source, columns=columns)
    if suffixes <= {".csv", ".tsv"} and suffixes:
        separator = "\t" if suffixes == {".tsv"} else ","
        return dd.read_csv([str(path) for path in paths], sep=separator, usecols=columns)
    found = ", ".join(sorted(suffixes)) or "no files"
    msg = (
        f"{source}: a cluster reads Parquet, CSV or TSV files, all of one kind. Got {found} instead. "
        "Convert them, or leave out --cluster."
    )
    raise SourceError(msg)


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
    from flybloom import distributed  # noqa: PLC0415 - an extra
    from flybloom.distributed._session import connect  # noqa: PLC0415

    with connect(address):
        labels = [] if target is None else [target]
        frame = read_frame(source, None if features is None else [*features, *labels])
        if target is not None and target not in frame.columns:
            msg = f"{source}: there is no column {target!r}. Found: {', '.join(map(str, frame.columns))}."
            raise SourceError(msg)
        distributed.fit(model, frame, target, progress=progress)


def predictions(
    model: FlyBloomClassifier, source: str, address: str, *, probabilities: bool
) -> Iterator[tuple[Any, Any]]:
    """Give labels and, on request, probabilities of each partition of a source, in order."""
    from flybloom import distributed  # noqa: PLC0415 - an extra
    from flybloom.distributed._session import connect  # noqa: PLC0415

    names = getattr(model, "feature_names_in_", None)
    with connect(address) as client:
        frame = read_frame(source, None if names is None else names.tolist())
        labels = client.compute(distributed.predict(model, frame).to_delayed())
        shares = (
            client.compute(distributed.predict_proba(model, frame).to_delayed())
            if probabilities
            else [None] * len(labels)
        )
        for label, share in zip(labels, shares, strict=True):
            yield label.result().to_numpy(), None if share is None else share.result().to_numpy()
