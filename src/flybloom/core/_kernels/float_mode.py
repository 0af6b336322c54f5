"""Floats below the least normal one: processors can be told to take them for zero, which changes scores.

Some libraries, built for speed, tell that the thread that loads them, and the threads it starts inherit it. Whether
somebody has is seen in one multiplication; only then the register that says so is needed, and numba with it.
"""

TINY, ONE = 5e-324, 1.0  # the least float above zero, and what leaves it as it is


class SmallFloatsKept:
    """A context in which this thread, and those that it starts, compute with the smallest floats."""

    def __enter__(self) -> None:
        """Begin."""
        self._before = 0
        if TINY * ONE == 0.0:
            from flybloom.core._kernels import _float_register  # noqa: PLC0415 - mostly not needed

            self._before = _float_register.keep_small_floats() if _float_register.HAS_MODE else 0

    def __exit__(self, *error: object) -> None:
        """Compute as before."""
        if self._before:
            from flybloom.core._kernels import _float_register  # noqa: PLC0415

            _float_register.restore(self._before)
