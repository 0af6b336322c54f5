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
from flybloom.plots import NoveltyDisplay

X, y = load_digits(return_X_y=True)
known = y < 8
X_train, y_train = X[:1200][known[:1200]], y[:1200][known[:1200]]
X_new, y_new = X[1200:], y[1200:]
model = OpenSetClassifier(FlyBloomClassifier(random_state=0), quantile=0.95).fit(X_train, y_train)
told = model.predict(X_new)
print(f"unknown digits told as such: {np.mean(told[y_new >= 8] == -1):.2f}")
print(f"known digits kept:           {np.mean(told[y_new < 8] != -1):.2f}")

# %%

group = np.where(y_new < 8, "0 to 7, which were learned", "8 and 9, which were not")
figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
NoveltyDisplay.from_estimator(model, X_new, groups=group, ax=ax)
plt.show()
