"""Search of the settings of FBFC and FBFC*: many at once from one pass, or the authors' Bayesian search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from flybloom._internal.typing import Array, Codes, Scaling
from flybloom.estimators.base import SCALINGS
from flybloom.estimators.densify import Densify
from flybloom.estimators.fly_hash import FlyHash
from flybloom.estimators.tuning.held_out import Hashed, Held, Split, fold_splits
from flybloom.exceptions import require_extra
from flybloom.paper.scores import SEED, Record, Splits, accuracy, balanced_accuracy, mean


@dataclass(frozen=True)
class Space:
    """A grid of settings; each pair of m and s is hashed once.

    Parameters
    ----------
    components : tuple of float
        m, as multiples of d.
    connections : tuple of float
        s, as shares of d; at least 2, as the authors have it.
    winners : tuple of int
        rho; those above half of the components are left out.
    decays : tuple of float
        c.
    scaling : str
        What is done to the columns.
    signed : bool
        Whether connections have signs.
    densify : tuple of bool
        Whether rows are densified first.
    class_weights : tuple of str
        "none" or "balanced": how much the rows of each class count.
    projections : int
        How many projections are tried with each pair of m and s: the authors' search drew a new one for each setting.
    most_components, most_connections, fewest_components : int or None
        Bounds of m and s, whatever d is.
    """

    components: tuple[float, ...]
    connections: tuple[float, ...]
    winners: tuple[int, ...]
    decays: tuple[float, ...]
    scaling: Scaling = "none"
    signed: bool = False
    densify: tuple[bool, ...] = (False,)
    class_weights: tuple[str, ...] = ("none",)
    projections: int = 1
    fewest_components: int = 2
    most_components: int | None = None
    most_connections: int | None = None

    @classmethod
    def of(cls, table: dict[str, Any]) -> Space:
        """Return the space that a table of a profile describes."""
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in table.items()
        }
        return cls(**values)

    def sizes(self, n_features: int) -> list[tuple[int, int]]:
        """Return the pairs of m and s for a number of features."""
        most = self.most_components or np.inf, self.most_connections or np.inf
        ms = {int(min(max(times * n_features, self.fewest_components), most[0])) for times in self.components}
        ss = {int(min(max(2, share * n_features), most[1], n_features)) for share in self.connections}
        return [(m, s) for m in sorted(ms) for s in sorted(ss)]

    def winners_for(self, n_components: int) -> list[int]:
        """Return the numbers of winners for a number of components."""
        return sorted(rho for rho in self.winners if 2 * rho <= n_components)


def search_grid(X: Array, y: Array, splits: Splits, space: Space, seed: int, n_jobs: int | None = 1) -> list[Record]:
    """Score every setting of a space on every split, with one projection for all of them.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    y : ndarray of shape (n,)
        Their labels.
    splits : list of pairs
        Positions of training and test rows.
    space : Space
        What is tried.
    seed : int
        Of the connections of the first projection; the next ones have the next seeds.
    n_jobs : int or None, default=1
        Number of threads.

    Returns
    -------
    list of dict
        ``params``, and the list of scores on the splits for each metric.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from flybloom.paper.fly_search import Space, search_grid
    >>> from flybloom.paper.scores import best, folds
    >>> X, y = load_digits(return_X_y=True)
    >>> space = Space(components=(16, 64), connections=(0.1,), winners=(32,), decays=(0.5, 1.0))
    >>> records = search_grid(X, y, folds(X, y, 3), space, seed=0)
    >>> len(records), best(records, "accuracy")["params"]["c"]
    (4, 0.5)
    """
    codes = np.unique(y, return_inverse=True)[1].astype(np.int64)
    held_out_splits = fold_splits(splits, np.ones(codes.size, np.int64))
    records = []
    for own_seed in range(seed, seed + space.projections):
        for densify in space.densify:
            rows = Densify(random_state=own_seed).fit_transform(X) if densify else X
            for m, s in space.sizes(rows.shape[1]):
                own = {"densify": densify, "m": m, "s": s, "seed": own_seed}
                for record in _with_sizes(rows, codes, held_out_splits, space, m, s, own_seed, n_jobs):
                    record["params"] = {**own, **record["params"]}
                    records.append(record)
    return records


def _with_sizes(
    X: Array, codes: Codes, splits: list[Split], space: Space, m: int, s: int, seed: int, n_jobs: int | None
) -> Iterator[Record]:
    """Yield the records of all settings with these sizes: the rows are hashed once."""
    choices = space.winners_for(m)
    if not choices:
        return

    hasher = FlyHash(
        m, n_connections=s, n_winners=choices[-1], signed=space.signed, encoding=SCALINGS[space.scaling],
        random_state=seed, n_jobs=n_jobs,
    )  # fmt: skip
    ranked, weights = hasher.fit(X).winners(X), np.ones(codes.size, np.int64)  # fewer winners are the first of them
    for rho in choices:
        hashed = Hashed(np.ascontiguousarray(ranked[:, :rho]), codes, weights, m)
        counts = hashed.counts()
        scores = np.empty((len(space.class_weights), len(splits), len(space.decays), 2))
        for at_split, split in enumerate(splits):
            true = codes[split.test]
            learned = hashed.without(counts, split)
            for of_weight, class_weight in zip(scores, space.class_weights, strict=True):
                weight: Any = None if class_weight == "none" else "balanced"
                held = Held(hashed, split, learned, weight, seed=seed, n_jobs=n_jobs)
                predicted = [held.predict(decay) for decay in space.decays]
                of_weight[at_split] = [
                    (accuracy(true, labels), balanced_accuracy(true, labels)) for labels in predicted
                ]
        for of_weight, class_weight in zip(scores, space.class_weights, strict=True):
            for at, decay in enumerate(space.decays):
                own = {"rho": rho, "c": decay, "scaling": space.scaling, "signed": space.signed}
                yield {
                    "params": {**own, "class_weight": class_weight},
                    "accuracy": of_weight[:, at, 0].tolist(),
                    "balanced_accuracy": of_weight[:, at, 1].tolist(),
                }


@dataclass(frozen=True)
class BayesianSpace:
    """The authors' search: Gaussian-process minimisation over continuous ranges.

    Parameters
    ----------
    most_components : float
        Largest m, as a multiple of d.
    binary : bool
        Whether c is 1 (FBFC) or from 0.2 to 0.9 (FBFC*).
    n_calls, n_random : int
        Settings that are tried, and how many of them before the process is asked.
    """

    most_components: float = 2048.0
    binary: bool = False
    n_calls: int = 60
    n_random: int = 15


def search_bayesian(X: Array, y: Array, splits: Splits, space: BayesianSpace, seed: int) -> list[Record]:
    """Score settings proposed by scikit-optimize, which maximises the balanced accuracy as in the authors' code.

    Parameters
    ----------
    X, y, splits, seed
        As in `search_grid`.
    space : BayesianSpace
        Where to search.

    Returns
    -------
    list of dict
        As of `search_grid`, in the order of the calls.
    """
    require_extra("skopt", "paper", "The authors' search")
    from skopt import gp_minimize  # noqa: PLC0415 - an extra
    from skopt.space import Integer, Real  # noqa: PLC0415

    records: list[Record] = []

    def loss(point: list[Any]) -> float:
        densify, times, share, rho, *decay = point
        one = Space(
            (float(times),), (float(share),), (int(rho),), tuple(map(float, decay)) or (1.0,), densify=(bool(densify),)
        )
        found = search_grid(X, y, splits, one, seed)
        if not found:  # more winners than half of the components: the authors took half
            m, _ = one.sizes(X.shape[1])[0]
            found = search_grid(X, y, splits, Space(**{**asdict(one), "winners": (max(2, m // 2),)}), seed)
        records.extend(found)
        return -mean(found[0], "balanced_accuracy") if found else 0.0

    ranges = [Integer(0, 1), Real(2.0, space.most_components), Real(0.0, 0.5), Integer(8, 256)]
    if not space.binary:
        ranges.append(Real(0.2, 0.9))
    gp_minimize(loss, ranges, n_calls=space.n_calls, n_initial_points=space.n_random, acq_func="EI", random_state=SEED)
    return records
