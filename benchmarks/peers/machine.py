"""Facts of the machine and the versions, saved with every result."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("flybloom", "numpy", "scipy", "scikit-learn", "numba", "faiss-cpu", "hnswlib", "river")
RESULTS = Path(__file__).resolve().parents[1] / "results"


def processor() -> str:
    """Return the processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def facts() -> dict[str, object]:
    """Return what a reader needs to judge a time."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": versions,
    }


def save(name: str, result: object) -> None:
    """Write a result with the facts of the machine."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps({"machine": facts(), "result": result}, indent=1))
