"""
How sure is a prediction?
=========================

Prediction intervals and sets that cover the share of new rows that was asked for, from one model that forgets each
fold of its rows in turn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from flybloom import CrossConformal, FlyRidgeClassifier, FlyRidgeRegressor

rng = np.random.default_rng(0)
x = rng.uniform(-3, 3, 1200)
y = np.sin(2 * x) + 0.3 * rng.normal(size=1200)
model = FlyRidgeRegressor().fit(x[:800, None], y[:800])
conformal = CrossConformal(model, x[:800, None], y[:800])

# %%
# Intervals of 90 %: how many of the 400 new rows are inside?

low, high = conformal.predict_interval(x[800:, None], coverage=0.9).T
print(f"{((low <= y[800:]) & (y[800:] <= high)).mean():.3f} of new rows are inside")

# %%
# The more is to be covered, the larger are the sets of labels of handwritten digits.

X, labels = load_digits(return_X_y=True)
order = rng.permutation(len(labels))
own, new = order[:900], order[900:]
digits = FlyRidgeClassifier(1024).fit(X[own], labels[own])
sets = CrossConformal(digits, X[own], labels[own], n_folds=5)
asked = [0.8, 0.9, 0.95, 0.98, 0.99]
found = [sets.predict_set(X[new], coverage=share) for share in asked]
covered = [some[np.arange(len(new)), labels[new]].mean() for some in found]
size = [some.sum(axis=1).mean() for some in found]
print([f"{share}: {got:.3f} with {n:.2f} labels" for share, got, n in zip(asked, covered, size, strict=True)])

figure, (line, sizes) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
grid = np.linspace(-3, 3, 300)[:, None]
bounds = conformal.predict_interval(grid, coverage=0.9)
line.scatter(x[800:], y[800:], s=5, color="0.5")
line.fill_between(grid[:, 0], *bounds.T, color="#3b6ea5", alpha=0.25, lw=0, label="90 % of new rows")
line.plot(grid[:, 0], model.predict(grid), color="#b5482a", lw=2, label="prediction")
line.set(xlabel="x", ylabel="y")
line.legend(frameon=False, loc="lower right")
sizes.plot(asked, size, color="#b5482a", lw=2, marker="o")
sizes.set(xlabel="coverage that is asked for", ylabel="labels in a set, on average")
for ax in (line, sizes):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
