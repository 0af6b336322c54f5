"""Model sizes for private releases."""

from __future__ import annotations

import math

from flybloom.core.privacy.mechanisms import gaussian_scale
from flybloom.exceptions import require_extra

SHARE = 32  # components per winner
LEAST, MOST = 64, 4096
TOLERATED = 6  # how many times the mean count the deviation of the noise may be: sums over winners even it out


def private_sizes(n_rows: int, n_classes: int, epsilon: float, delta: float = 0.0) -> dict[str, int]:
    """Return suitable sizes for a model to be released with a privacy budget.

    The largest number of components, up to 4096, for which the standard deviation of the noise is below six times the
    mean count, ``n_rows / (32 * n_classes)``. See docs/privacy.md.

    Parameters
    ----------
    n_rows : int
        Approximate number of rows, known beforehand.
    n_classes : int
        Number of classes.
    epsilon : float
        The privacy loss, as in `FlyBloomClassifier.release`.
    delta : float, default=0.0
        The probability with which the bound may fail.

    Returns
    -------
    dict
        ``n_components``, a power of two, and ``n_winners``, for `FlyBloomClassifier`.

    Examples
    --------
    >>> from flybloom import private_sizes
    >>> private_sizes(60_000, 10, epsilon=1.0, delta=1e-5)
    {'n_components': 4096, 'n_winners': 128}
    >>> private_sizes(60_000, 10, epsilon=0.1)
    {'n_components': 2048, 'n_winners': 64}
    """
    require_extra("opendp", "privacy", "private_sizes")
    most_noise = TOLERATED * n_rows / (SHARE * n_classes)
    scale = gaussian_scale(epsilon, delta, 1.0) if delta > 0 else math.sqrt(2) / epsilon
    winners = (most_noise / scale) ** 2 if delta > 0 else most_noise / scale
    most = max(LEAST, min(MOST, winners * SHARE))
    n_components = 2 ** math.floor(math.log2(most))
    return {"n_components": n_components, "n_winners": n_components // SHARE}
