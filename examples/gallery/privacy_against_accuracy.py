"""
Privacy against accuracy
========================

``release(epsilon)`` adds noise to the counts, so that a release hardly depends on any one row. The smaller epsilon, the
more noise. Digits are few rows for that: with more rows, the same noise costs less.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier
from flybloom.plots import PrivacyDisplay

X, y = load_digits(return_X_y=True)
X = X - 8.0  # known beforehand: pixels go from 0 to 16
model = FlyBloomClassifier(1024, n_winners=16, encoding="none", random_state=0).fit(X[:1400], y[:1400])
X_new, y_new = X[1400:], y[1400:]

# %%

figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
PrivacyDisplay.from_estimator(
    model, X_new, y_new, epsilons=[0.25, 0.5, 1, 2, 4, 8], delta=1e-5, classes=range(10), ax=ax
)
plt.show()
