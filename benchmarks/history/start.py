"""What a process pays before it can work."""

from __future__ import annotations


class Start:
    """Imports, each in a process of its own."""

    def timeraw_import_package(self) -> str:
        """Import next to nothing."""
        return "import flybloom"

    def timeraw_import_classifier(self) -> str:
        """Import what fitting needs, numba excepted, which comes with the first kernel."""
        return "from flybloom import FlyBloomClassifier"
