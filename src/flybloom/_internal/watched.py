"""Whether progress is visible, and whether numba is compiling, which takes seconds once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

COMPILING = "compiling kernels (once)"


def is_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython  # noqa: PLC0415 - who is in a notebook has it already

    return hasattr(get_ipython(), "kernel")


def is_watched() -> bool:
    """Return whether standard error is a terminal, or is shown in a notebook."""
    return sys.stderr.isatty() or is_notebook()


@contextmanager
def telling_of_compilation(tell: Callable[[bool], None]) -> Iterator[None]:
    """Call `tell` with True when compilation of a kernel starts, and with False when it ends."""
    from numba.core import event  # noqa: PLC0415 - heavy

    depth = 0

    class Listener(event.Listener):
        """Counter of nested compilations."""

        def on_start(self, event: Any) -> None:  # noqa: ARG002
            """Enter a compilation."""
            nonlocal depth
            depth += 1
            if depth == 1:
                tell(True)

        def on_end(self, event: Any) -> None:  # noqa: ARG002
            """Leave a compilation."""
            nonlocal depth
            depth -= 1
            if depth == 0:
                tell(False)

    with event.install_listener("numba:compile", Listener()):
        yield
