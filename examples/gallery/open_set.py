"""
None of these
=============

A classifier that has learned the digits 0 to 7 meets 8 and 9 as well. `OpenSetClassifier` leaves each learned row out
once, exactly, to find how novel a row of a known class may be; what is more novel belongs to none.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier, OpenSetClassifier

X, y = load_digits(return_X_y=True)
known = y < 8
X_train, y_train = X[:1200][known[:1200]], y[:1200][known[:1200]]
X_new, y_new = X[1200:], y[1200:]
model = OpenSetClassifier(FlyBloomClassifier(random_state=0), quantile=0.95).fit(X_train, y_train)
told = model.predict(X_new)
print(f"unknown digits told as such: {np.mean(told[y_new >= 8] == -1):.2f}")
print(f"known digits kept:           {np.mean(told[y_new < 8] != -1):.2f}")

# %%

novelty = model.estimator_.novelty(X_new)
nearest = novelty.argmin(axis=1)
excess = novelty.min(axis=1) - np.broadcast_to(model.threshold_, novelty.shape[1])[nearest]
bins = np.linspace(-0.6, 0.6, 41)
figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
ax.hist(excess[y_new < 8], bins, color="#3b6ea5", alpha=0.7, label="0 to 7, which were learned")
ax.hist(excess[y_new >= 8], bins, color="#b5482a", alpha=0.7, label="8 and 9, which were not")
ax.axvline(0, color="0.2", ls="--", label="threshold, from rows left out")
ax.set(xlabel="novelty to the nearest class, less its threshold", ylabel="rows")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
