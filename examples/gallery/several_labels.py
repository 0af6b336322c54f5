"""
Several labels a row
====================

Pairs of winners are counted once, however many labels there are. Thresholds are chosen by leaving rows out: rare labels
have few rows whose probability is above a half.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score

from flybloom import FlyRidgeMultiOutputClassifier

X, Y = make_multilabel_classification(3000, n_features=40, n_classes=12, n_labels=3, random_state=1)
model = FlyRidgeMultiOutputClassifier().fit(X[:2000], sparse.csr_matrix(Y[:2000]))  # dense or sparse
by_threshold = f1_score(Y[2000:], model.predict(X[2000:]), average=None, zero_division=0)
by_half = f1_score(Y[2000:], model.predict_proba(X[2000:]) > 0.5, average=None, zero_division=0)
print(f"mean F1 of labels {by_threshold.mean():.3f}, {by_half.mean():.3f} with probabilities above a half")

# %%
# A part of the rows is forgotten, exactly, and other rows are added from a model that learned them elsewhere.

other = FlyRidgeMultiOutputClassifier().fit(X[1500:2000], Y[1500:2000])
rest = model - other
assert (rest.predict(X) == FlyRidgeMultiOutputClassifier().fit(X[:1500], Y[:1500]).predict(X)).all()
assert ((rest + other).predict(X) == model.predict(X)).all()

# %%
# How often labels are there, and what thresholds are worth.

share = Y[:2000].mean(axis=0)
order = np.argsort(share)
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.plot(by_threshold[order], color="#b5482a", lw=2, marker="o", label="thresholds from rows left out")
ax.plot(by_half[order], color="#3b6ea5", lw=2, marker="o", label="probabilities above a half")
ax.set_xticks(range(12), [f"{100 * share[k]:.0f} %" for k in order])
ax.set(xlabel="share of the rows that have the label", ylabel="F1 of new rows", ylim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
