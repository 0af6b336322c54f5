"""
A head on embeddings that gains classes and loses rows
======================================================

An encoder made the vectors; the head counts. Whatever comes and goes, it is the head of the rows that are there.
"""

# %%
# What an encoder would return: unit vectors. Here the pixels of digits stand for them.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from flybloom import FlyRidgeClassifier

images, labels = load_digits(return_X_y=True)
vectors = normalize(images).astype(np.float32)
is_test = np.arange(len(labels)) % 4 == 0
X, y = vectors[~is_test], labels[~is_test]

# %%
# Two classes after two, without a look back. After each task, all classes so far are asked about.

head, accuracies = FlyRidgeClassifier(), []
for task in range(5):
    rows = np.isin(y, (2 * task, 2 * task + 1))
    head.partial_fit(X[rows], y[rows])
    met = is_test & (labels < 2 * task + 2)
    accuracies.append(head.score(vectors[met], labels[met]))

fig, ax = plt.subplots(figsize=(6, 3))
ax.plot(range(2, 11, 2), accuracies, marker="o")
ax.set(xlabel="classes so far", ylabel="accuracy on all of them", ylim=(0.9, 1.005))
fig.tight_layout()

# %%
# In the end it is the head that learned all classes at once.

at_once = FlyRidgeClassifier().fit(X, y)
assert (head.pair_counts_ == at_once.pair_counts_).all()

# %%
# Rows are deleted on request, and nothing is left of them.

print(head.forget(X[:200], y[:200]))
assert (head.pair_counts_ == FlyRidgeClassifier().fit(X[200:], y[200:]).pair_counts_).all()
