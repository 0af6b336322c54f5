"""Whether somebody looks at what is going on."""

from __future__ import annotations

import sys


def is_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython  # noqa: PLC0415 - who is in a notebook has it already

    return hasattr(get_ipython(), "kernel")


def is_watched() -> bool:
    """Return whether standard error is a terminal, or is shown in a notebook."""
    return sys.stderr.isatty() or is_notebook()
