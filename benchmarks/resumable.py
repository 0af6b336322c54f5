"""Results that are kept as JSON, so that a benchmark goes on where it was stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def measured(name: str, key: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what was measured under a key before, or measure it now and keep it."""
    path = RESULTS / f"{name}.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    if key not in kept:
        kept[key] = measure()
        path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    return dict(kept[key])
