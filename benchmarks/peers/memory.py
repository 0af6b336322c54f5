"""How much memory a piece of work takes, by the high-water mark that Linux keeps for a process."""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path
from typing import Self

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def megabytes(name: str) -> float:
    """Return a line of the process's status in MB: VmRSS is now, VmHWM the most there ever was."""
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(name))


class Peak:
    """Measures by how much the peak of the block rises above what was in use before; None where Linux is not."""

    megabytes: float | None = None

    def __enter__(self) -> Self:
        """Give back what is free, so that nothing hides in it, and forget the peak of what came before."""
        gc.collect()
        if RESET.exists():
            ctypes.CDLL(None).malloc_trim(0)
            RESET.write_text("5")
            self.before = megabytes("VmRSS")
        return self

    def __exit__(self, *_: object) -> None:
        """Read the peak."""
        if RESET.exists():
            self.megabytes = megabytes("VmHWM") - self.before
