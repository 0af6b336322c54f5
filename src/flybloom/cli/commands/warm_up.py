"""flybloom warm-up: compile kernels ahead of time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from flybloom.cli import options
from flybloom.cli.console import Stopwatch, count_progress, note, print_result
from flybloom.estimators.access import has_labels

TYPES = ("float64", "float32", "int64", "uint8", "bool")
N_ROWS, N_FEATURES, N_CLASSES = 96, 20, 3


def command(json: options.Json = False) -> None:
    """Compile the kernels for the usual types, so that later commands start faster.

    For container images and read-only installations: run it once with NUMBA_CACHE_DIR set to a readable folder, and
    keep that variable.
    """
    watch = Stopwatch()
    work = list(_work())
    with count_progress("compiling kernels (once)") as on_progress:
        for i, (name, models, rows, labels) in enumerate(work):
            for model in models:
                _use(model, rows, labels)
            on_progress(name, i + 1, len(work))
    kernels = list(_kernels())
    folders = sorted({str(Path(kernel.stats.cache_path)) for kernel in kernels if kernel.stats.cache_path})
    made = sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels)
    found = sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels)
    print_result(
        {"folder": ", ".join(folders) or None, "compiled": made, "were_there": found, **watch.facts()}, as_json=json
    )
    if not folders:
        off = os.getenv("FLYBLOOM_NUMBA_CACHE", "1") == "0"
        why = "FLYBLOOM_NUMBA_CACHE=0 says so" if off else "no folder can be written"
        note(f"nothing was kept, because {why}. Set NUMBA_CACHE_DIR to a folder that can be written, and try again.")


def _work() -> Iterator[tuple[str, list[Any], Any, Any]]:
    """Yield rows of each usual type with their models."""
    import numpy as np  # noqa: PLC0415 - heavy
    from scipy import sparse  # noqa: PLC0415

    from flybloom import FlyBloomClassifier, FlyBloomNovelty, FlyRidgeClassifier  # noqa: PLC0415

    rng = np.random.default_rng(0)
    values, labels = rng.integers(0, 9, (N_ROWS, N_FEATURES)), np.arange(N_ROWS) % N_CLASSES

    def models(**settings: Any) -> list[Any]:
        small = {"n_components": 64, "n_winners": 8, "random_state": 0, **settings}
        return [FlyBloomClassifier(**small), FlyRidgeClassifier(**small), FlyBloomNovelty(**small)]

    for name in TYPES:
        for encoding in ("standard", "none"):
            for signed in (True, False):
                yield name, models(encoding=encoding, signed=signed), values.astype(name), labels
    for name in TYPES[:3]:
        yield f"sparse {name}", models(encoding="none"), sparse.csr_matrix(values.astype(name)), labels


def _use(model: Any, rows: Any, labels: Any) -> None:
    """Run the operations of commands: learn, score and forget."""
    arguments = (labels,) if has_labels(model) else ()
    model.fit(rows, *arguments)
    few = [part[:2] for part in (rows, *arguments)]
    model.partial_fit(*few)
    for method in ("predict", "predict_proba", "novelty", "decision_function"):
        if hasattr(model, method):
            getattr(model, method)(rows)
            getattr(model, method)(rows[:1])
    model.forget(*few)


def _kernels() -> Iterator[Any]:
    """Yield all kernels that were used."""
    from flybloom.core import _kernels as files  # noqa: PLC0415 - heavy

    for name in sorted(files.FILES):
        for kernel in vars(import_module(f"{files.__name__}.{name}")).values():
            if hasattr(kernel, "stats") and kernel.signatures:
                yield kernel
