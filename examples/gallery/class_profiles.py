"""
What a class looks like
=======================

The winners of a class, traced back to the pixels that they sum. Red pixels are typical of the class, blue ones of the
others.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier
from flybloom.plots import ClassProfileDisplay, FeatureShareDisplay

X, y = load_digits(return_X_y=True)
model = FlyBloomClassifier(encoding="standard", random_state=0).fit(X, y)
ClassProfileDisplay.from_estimator(model, image_shape=(8, 8))
plt.show()

# %%
# And of single rows: which pixels speak for the label, against the class that comes next?

rows = X[[3, 9, 12, 15, 38]]
second = model.classes_[model.novelty(rows).argsort(axis=1)[:, 1]]
FeatureShareDisplay.from_estimator(model, rows, versus=second, image_shape=(8, 8))
plt.show()
