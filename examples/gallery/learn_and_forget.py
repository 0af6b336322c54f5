"""
Learn and forget, live
======================

A model meets the ten digits one after the other. Then it forgets them, in the same order. What it knows of a class
comes and goes, and in the end its counts are what they were: all zero.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier

X, y = load_digits(return_X_y=True)
X_test, y_test, X, y = X[1400:], y[1400:], X[:1400], y[:1400]
whole = FlyBloomClassifier(random_state=0).fit(X, y)

# %%
# An empty model that hashes as the whole one does learns digit after digit, and then forgets them again.

model = whole - whole
recall = []
for learns in (True, False):
    for digit in range(10):
        rows = y == digit
        change = model.partial_fit if learns else model.forget
        change(X[rows], y[rows])
        told = model.predict(X_test) if len(model.classes_) else np.full(len(y_test), -1)
        recall.append([np.mean(told[y_test == label] == label) for label in range(10)])

print("counts that are left:", int(model.counts_.sum()))

# %%

figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
image = ax.imshow(np.transpose(recall), cmap="Oranges", aspect="auto", vmin=0, vmax=1)
ax.axvline(9.5, color="0.3", lw=1)
ax.set(xlabel="learned 0, 1, ... 9, then forgotten 0, 1, ... 9", ylabel="digit", yticks=range(10), xticks=range(20))
ax.set_xticklabels([f"+{digit}" for digit in range(10)] + [f"-{digit}" for digit in range(10)])
figure.colorbar(image, label="found again among new rows")
plt.show()
