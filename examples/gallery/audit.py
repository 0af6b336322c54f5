"""
Which rows made this prediction?
================================

Exact answers about learned rows, without learning again: which labels the others disagree with, and what a prediction
would be without each row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from flybloom import FlyRidgeClassifier
from flybloom.audit import influence, label_errors

X, y = load_digits(return_X_y=True)
given = y.copy()
rng = np.random.default_rng(3)
wrong = rng.permutation(1000)[:60]
given[wrong] = (y[wrong] + rng.integers(1, 10, 60)) % 10
model = FlyRidgeClassifier(1024).fit(X[:1000], given[:1000])

# %%
# Labels that the model without their row finds unlikely: of 60 that were flipped, how many are among the first 60?

found = label_errors(model, X[:1000], given[:1000])
n_found = np.isin(found.ranked[:60], wrong).sum()
print(f"{n_found} of 60")

# %%
# A new row, and the learned rows without which its prediction would change most.

row = X[1204:1205]
answer = influence(model, X[:1000], given[:1000], row)
print("predicted:", model.predict(row)[0], "labels of the rows behind it:", given[answer.ranked[:6]])

figure, axes = plt.subplots(2, 7, figsize=(9, 3), layout="constrained")
for ax, at, what in zip(axes[0], [None, *answer.ranked[:6]], ["the row", *given[answer.ranked[:6]]], strict=True):
    ax.imshow((row if at is None else X[at]).reshape(8, 8), cmap="gray_r")
    ax.set_title(str(what), fontsize=9)
for ax, at in zip(axes[1], found.ranked[:7], strict=True):
    ax.imshow(X[at].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{given[at]}, rather {found.suggested[at]}", fontsize=9)
for ax in axes.ravel():
    ax.set_axis_off()
figure.suptitle("above: rows behind a prediction; below: the most suspicious labels", fontsize=10)
plt.show()
