"""
A messy table, end to end
=========================

Words, dates, missing values and a column of numbers that are names: nothing has to be prepared. The table is made up,
so that this example needs no file; who pays by card depends on the hour, the borough and the fare.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from flybloom import FlyBloomClassifier

rng = np.random.default_rng(0)
n = 3000
trips = pd.DataFrame(
    {
        "pickup": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 60 * 24 * 90, n), unit="min"),
        "borough": rng.choice(["Bronx", "Brooklyn", "Manhattan", "Queens"], n),
        "zone": pd.Categorical(rng.integers(1, 40, n)),
        "fare": rng.gamma(3, 6, n).round(2),
        "shared": rng.random(n) < 0.3,
    }
)
score = (trips["pickup"].dt.hour >= 18) + (trips["borough"] == "Manhattan") + trips["fare"] / 30 + rng.normal(0, 0.3, n)
paid_by = np.where(score > 1.3, "card", "cash")
trips.loc[rng.random(n) < 0.1, "borough"] = None
trips.loc[rng.random(n) < 0.1, "fare"] = np.nan
print(trips.head(4).to_string())

# %%

X_train, X_test, y_train, y_test = train_test_split(trips, paid_by, random_state=0)
model = FlyBloomClassifier(random_state=0).fit(X_train, y_train)
print("columns are read as", dict(zip(trips.columns, model.encoder_.kinds, strict=True)))
larger = pd.Series(y_test).value_counts(normalize=True).max()
print(f"accuracy {model.score(X_test, y_test):.3f}; who always says the larger class has {larger:.3f}")

# %%
# What tells? Leave out one column after the other.

without = {
    name: FlyBloomClassifier(random_state=0)
    .fit(X_train.drop(columns=name), y_train)
    .score(X_test.drop(columns=name), y_test)
    for name in trips
}
figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ax.barh(list(without), [model.score(X_test, y_test) - value for value in without.values()], color="#b5482a")
ax.axvline(0, color="0.3", lw=0.8)
ax.set(xlabel="accuracy lost without the column")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
