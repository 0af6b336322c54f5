"""
Privacy against accuracy
========================

``release(epsilon)`` adds noise to the counts, so that a release hardly depends on any one row. The smaller epsilon, the
more noise. Digits are few rows for that: with more rows, the same noise costs less.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier

X, y = load_digits(return_X_y=True)
X = X - 8.0  # known beforehand: pixels go from 0 to 16
model = FlyBloomClassifier(1024, n_winners=16, encoding="none", random_state=0).fit(X[:1400], y[:1400])
X_new, y_new = X[1400:], y[1400:]

# %%

epsilons = [0.25, 0.5, 1, 2, 4, 8]
scores = [
    [model.release(epsilon, delta=1e-5, classes=range(10), random_state=seed).score(X_new, y_new) for seed in range(5)]
    for epsilon in epsilons
]
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.axhline(model.score(X_new, y_new), color="0.5", ls="--", label="without noise")
ax.errorbar(
    epsilons, np.mean(scores, axis=1), np.std(scores, axis=1), color="#b5482a", lw=2, capsize=3, label="released"
)
ax.set(xscale="log", xlabel="epsilon: smaller is more private", ylabel="accuracy on new rows", xticks=epsilons)
ax.set_xticklabels([f"{epsilon:g}" for epsilon in epsilons])
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
