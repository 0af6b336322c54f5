"""Numbers of components, connections and winners: requested and resolved values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

import numpy as np

# Chosen by measurement, see docs/benchmarks/defaults.md.
AUTO_COMPONENTS = 32768
AUTO_CONNECTIONS = 64
TEXT_CONNECTIONS, TEXT_WINNERS = 6, 256  # few of the many features of a row are there, and each is to be told apart
BAYES_COMPONENTS, BAYES_CONNECTIONS, BAYES_WINNERS = 131_072, 3, 384  # the same where shares of wins are read
IMAGE_CONNECTIONS = 24
AUTO_WINNERS = 128
PAIR_COMPONENTS = (1024, 2048, 4096)
EMBEDDING_COMPONENTS = (2048, 8192, 8192)  # of pairs: accuracy rises with the number, see docs/benchmarks/embeddings.md
EMBEDDING_CONNECTIONS = 32  # of pairs: as accurate as 64, and hashed in half the time
VALUE_COMPONENTS = (2048, 4096)  # of embeddings with values: up to so few rows, and for more
VALUES_PER_COLUMN = 2  # no fewer components than that, so that columns have products beside them
PRODUCT_CONNECTIONS = 2  # columns that are multiplied
PAIR_ROWS = (1_000, 20_000)  # up to which there are so few, and so many
CLASS_ROWS = (1_000, 2_000)  # the same where one class is told from others
PAIR_WINNERS = 8  # one of so many components wins; where they see no windows, no more than
MAX_PAIR_WINNERS, MANY_PAIR_WINNERS = 256, 16  # these, or one of so many
LEVERAGE_WINNERS, MAX_LEVERAGE_WINNERS = 4, 512  # one of so many components, and no more
LEVERAGE_CONNECTIONS = 32  # to more than a few columns
PAIR_CONNECTIONS, FEW_COLUMNS = 16, 100  # of more, many weigh nothing: connections are those of first-order counts

FLOATS = (float, np.floating)


class Seen(Enum):
    """Type of input, which determines default sizes."""

    COLUMNS = "columns"
    IMAGES = "images"  # through windows, or gradients: few sums see all
    WORDS = "words"  # of texts: sparse rows of very many features
    EMBEDDINGS = "embeddings"  # many columns that are only centred: no few of them tell anything
    SCALED_EMBEDDINGS = "scaled embeddings"  # the same, standardised: their values can be compared


@dataclass(frozen=True)
class Sizes:
    """Requested sizes: integers, multiples or shares, or "auto"."""

    n_components: Any = "auto"
    n_connections: Any = "auto"
    n_winners: Any = "auto"

    needs_n_rows: ClassVar[bool] = False  # whether sizes follow the number of rows as well
    of_words: ClassVar[tuple[int, int, int]] = AUTO_COMPONENTS, TEXT_CONNECTIONS, TEXT_WINNERS

    def for_features(
        self,
        n_features: int,
        n_columns: int | None = None,
        n_rows: int | None = None,  # noqa: ARG002
        seen: Seen = Seen.COLUMNS,
    ) -> tuple[int, int, int]:
        """Resolve m, s and rho for a number of features.

        Connections are relative to encoded columns; "auto" takes half of them, up to a limit.
        """
        auto_components, most_connections, most_winners = AUTO_COMPONENTS, AUTO_CONNECTIONS, AUTO_WINNERS
        if seen is Seen.WORDS:
            auto_components, most_connections, most_winners = self.of_words
        elif seen is Seen.IMAGES:
            most_connections = IMAGE_CONNECTIONS
        n_hashed = n_features if n_columns is None else n_columns
        m, s, rho = self.n_components, self.n_connections, self.n_winners
        m = auto_components if m == "auto" else max(1, round(m * n_features)) if isinstance(m, FLOATS) else int(m)
        if s == "auto":
            s = max(1, min(round(n_hashed / 2), most_connections))
        s = max(1, round(s * n_hashed)) if isinstance(s, FLOATS) else int(s)
        if s > n_hashed:
            columns = "feature(s) of X" if n_hashed == n_features else "column(s) that the encoding makes of X"
            msg = (
                f"n_connections={s} exceeds the {n_hashed} {columns}. "
                "Lower n_connections, or pass a float for a share of the features."
            )
            raise ValueError(msg)
        if rho == "auto":
            rho = max(1, min(most_winners, m // 4))
        rho = max(1, round(rho * m)) if isinstance(rho, FLOATS) else int(rho)
        if rho > m:
            msg = f"n_winners={rho} exceeds n_components_={m}. Lower n_winners or raise n_components."
            raise ValueError(msg)
        return m, s, rho


@dataclass(frozen=True)
class BayesSizes(Sizes):
    """Sizes for naive Bayes: many components for wide sparse rows."""

    of_words = BAYES_COMPONENTS, BAYES_CONNECTIONS, BAYES_WINNERS


@dataclass(frozen=True)
class PairSizes(Sizes):
    """Sizes for pair counts, whose cost is quadratic in the components."""

    of_words = AUTO_COMPONENTS, PAIR_CONNECTIONS, MAX_PAIR_WINNERS  # how many components follows from the rows
    rows: ClassVar[tuple[int, int]] = PAIR_ROWS

    @property
    def needs_n_rows(self) -> bool:  # type: ignore[override]
        """Whether the number of components follows the number of rows."""
        return bool(self.n_components == "auto")

    def for_features(
        self,
        n_features: int,
        n_columns: int | None = None,
        n_rows: int | None = None,
        seen: Seen = Seen.COLUMNS,
    ) -> tuple[int, int, int]:
        """Resolve m, s and rho for numbers of features and rows."""
        m, s, rho = self.n_components, self.n_connections, self.n_winners
        if m == "auto":
            few, many = self.rows
            choices = EMBEDDING_COMPONENTS if seen is Seen.EMBEDDINGS else PAIR_COMPONENTS
            m = choices[0 if n_rows is not None and n_rows <= few else 2 if (n_rows or 0) > many else 1]
        n_hashed = n_features if n_columns is None else n_columns
        if s == "auto" and seen is Seen.EMBEDDINGS:
            s = min(round(n_hashed / 2), EMBEDDING_CONNECTIONS)
        elif s == "auto" and min(n_features, n_hashed) <= FEW_COLUMNS:
            s = max(1, min(round(n_hashed / 2), PAIR_CONNECTIONS))
        if rho == "auto":
            n_components = Sizes(m).for_features(n_features)[0]
            rho = max(1, n_components // PAIR_WINNERS)
            if seen is not Seen.IMAGES:
                rho = min(rho, max(MAX_PAIR_WINNERS, n_components // MANY_PAIR_WINNERS))
        return super(PairSizes, PairSizes(m, s, rho)).for_features(n_features, n_columns, seen=seen)


@dataclass(frozen=True)
class ClassPairSizes(PairSizes):
    """Sizes for pair counts of classes, which gain from more components sooner than targets do.

    With `n_winners=0`, and for embeddings, components have values.
    """

    rows = CLASS_ROWS

    def for_features(
        self,
        n_features: int,
        n_columns: int | None = None,
        n_rows: int | None = None,
        seen: Seen = Seen.COLUMNS,
    ) -> tuple[int, int, int]:
        """Resolve m, s and rho for numbers of features and rows; rho is 0 where components have values."""
        m, s, rho = self.n_components, self.n_connections, self.n_winners
        if seen is Seen.SCALED_EMBEDDINGS:
            seen, rho = Seen.EMBEDDINGS, 0 if s == rho == "auto" else rho
        if rho != 0:
            return super().for_features(n_features, n_columns, n_rows, seen)
        d = n_features if n_columns is None else n_columns
        most = most_components(d)
        if m == "auto":
            m = VALUE_COMPONENTS[n_rows is None or n_rows > PAIR_ROWS[0]]
            m = min(max(m, VALUES_PER_COLUMN * d), most)
        m = max(1, round(m * n_features)) if isinstance(m, FLOATS) else int(m)
        if s not in ("auto", PRODUCT_CONNECTIONS):
            msg = f"n_winners=0 multiplies two columns. Got n_connections={s} instead. Leave it out, or set n_winners."
            raise ValueError(msg)
        if m > most:
            msg = f"n_components={m} exceeds the {most} columns and products of two of {d} columns. Lower it."
            raise ValueError(msg)
        return m, PRODUCT_CONNECTIONS, 0


@dataclass(frozen=True)
class LeverageSizes(PairSizes):
    """Sizes for leverage."""

    def for_features(
        self,
        n_features: int,
        n_columns: int | None = None,
        n_rows: int | None = None,
        seen: Seen = Seen.COLUMNS,
    ) -> tuple[int, int, int]:
        """Resolve m, s and rho for numbers of features and rows."""
        m, s, rho = self.n_components, self.n_connections, self.n_winners
        n_hashed = n_features if n_columns is None else n_columns
        if m == "auto":
            m = PAIR_COMPONENTS[(n_features <= FEW_COLUMNS) + ((n_rows or 0) > PAIR_ROWS[1])]
        if s == "auto" and seen in (Seen.COLUMNS, Seen.EMBEDDINGS):
            most = AUTO_CONNECTIONS if n_features <= FEW_COLUMNS else LEVERAGE_CONNECTIONS
            s = max(1, min(round(n_hashed / 2), most))
        if rho == "auto":
            rho = max(1, min(MAX_LEVERAGE_WINNERS, Sizes(m).for_features(n_features)[0] // LEVERAGE_WINNERS))
        return PairSizes(m, s, rho).for_features(n_features, n_columns, n_rows, seen)


def most_components(n_columns: int) -> int:
    """Return how many components with values there can be: columns, and pairs of columns."""
    return n_columns * (1 + (n_columns - 1) // 2)
