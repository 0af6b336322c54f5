"""
Certificates
============

How far may every pixel of a digit move, at the same time, before its label could change? `certify` proves a
lower bound for each row: no attack within it exists.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier
from flybloom.audit import certify
from flybloom.plots import CertificateDisplay

X, y = load_digits(return_X_y=True)
model = FlyBloomClassifier(2048, n_winners=32, encoding="standard", random_state=0).fit(X[:1600], y[:1600])
rows, labels = X[1600:1680], y[1600:1680]
radius = certify(model, rows)
print(f"median over {len(rows)} rows: every pixel may move by {np.median(radius):.3f} of 16 levels")

# %%
# How many rows are right and certified, and the rows that are surest, or that a little would turn.

order = np.argsort(radius)
figure = plt.figure(figsize=(9, 3.6), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=[1.2, 1])
CertificateDisplay.from_estimator(model, rows, labels, ax=left.subplots(), color="#b5482a", lw=2)
for ax, i in zip(right.subplots(2, 4).flat, [*order[-4:], *order[:4]], strict=True):
    ax.imshow(rows[i].reshape(8, 8), cmap="Greys")
    ax.set_title(f"{radius[i]:.3f}", fontsize=9)
    ax.set_axis_off()
right.suptitle("surest, and least sure", fontsize=10)
plt.show()
