"""Tables with words, dates and missing values: flybloom as it comes, beside pipelines of scikit-learn.

scripts/bench tables; needs tables/penguins.csv and tables/seattle-weather.csv in the folder FLYBLOOM_DATA.
Ten stratified folds, shuffled with seed 0; everything is learned inside the folds.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from flybloom import FlyBloomClassifier, FlyRidgeClassifier

TABLES = {"penguins": "species", "seattle-weather": "weather"}


def day_numbers(column: pd.DataFrame) -> np.ndarray:
    """The day and the day of the year, as somebody would prepare them by hand."""
    days = pd.to_datetime(column.iloc[:, 0])
    return np.column_stack([days.map(pd.Timestamp.toordinal), days.dt.day_of_year])


def neighbours(frame: pd.DataFrame) -> Pipeline:
    """Imputer, one-hot and kNN; dates as numbers that were made by hand."""
    dates = [name for name in frame if name == "date"]
    numbers = frame.select_dtypes("number").columns.tolist()
    words = [name for name in frame if name not in dates + numbers]
    scaled = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer(
        (scaled, numbers),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")), words),
        (make_pipeline(FunctionTransformer(day_numbers), StandardScaler()), dates),
    )
    return make_pipeline(columns, KNeighborsClassifier(5))


def main() -> None:
    """Print a table."""
    warnings.simplefilter("ignore", FutureWarning)
    folder = Path(os.environ["FLYBLOOM_DATA"]) / "tables"
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    print("| 10 folds | rows | kNN, dates left out | kNN | FlyBloomClassifier | FlyRidgeClassifier |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, target in TABLES.items():
        frame = pd.read_csv(folder / f"{name}.csv")
        y = frame.pop(target)
        without = frame.drop(columns="date", errors="ignore")
        contestants = [
            (neighbours(without), without),
            (neighbours(frame), frame),
            (FlyBloomClassifier(random_state=0), frame),
            (FlyRidgeClassifier(random_state=0), frame),
        ]
        scores = [cross_val_score(model, X, y, cv=folds, error_score="raise").mean() for model, X in contestants]
        print(f"| {name} | {len(frame)} | {' | '.join(f'{score:.3f}' for score in scores)} |", flush=True)


if __name__ == "__main__":
    main()
