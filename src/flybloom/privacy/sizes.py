"""How large a model should be that is to be released: noise asks for fewer components."""

from __future__ import annotations

import math

from flybloom.exceptions import require_extra
from flybloom.privacy.mechanisms import gaussian_scale

SHARE = 32  # one of so many components wins
LEAST, MOST = 64, 4096
TOLERATED = 6  # how many times the mean count the deviation of the noise may be: sums over winners even it out


def private_sizes(n_rows: int, n_classes: int, epsilon: float, delta: float = 0.0) -> dict[str, int]:
    """Return sizes for a model that is to be released with a budget.

    As many components, up to 4096, as leave the deviation of the noise below six times the mean count, which is
    ``n_rows / (32 * n_classes)`` where one of 32 components wins. How that was found is in docs/privacy.md.

    Parameters
    ----------
    n_rows : int
        About how many rows there are, as known beforehand.
    n_classes : int
        How many classes.
    epsilon, delta : float
        The budget.

    Returns
    -------
    dict
        ``n_components``, a power of two, and ``n_winners``, for `FlyBloomClassifier`.

    Examples
    --------
    >>> from flybloom.privacy.sizes import private_sizes
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
