"""
Labels that look wrong
======================

Leave each row out, exactly and without learning again, and see whether the others agree with its label. 5 % of the
labels here are wrong on purpose; the question is how many of them come first.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
flipped = rng.permutation(len(y))[: len(y) // 20]
given = y.copy()
given[flipped] = (y[flipped] + rng.integers(1, 10, len(flipped))) % 10

# %%
# How much more novel is a row to the class it is said to be of than to the nearest other one?

model = FlyBloomClassifier(encoding="standard", random_state=0).fit(X, given)
novelty = model.leave_one_out_novelty(X, given)
own = novelty[np.arange(len(y)), given]
others = novelty.copy()
others[np.arange(len(y)), given] = np.inf
suspicion = own - others.min(axis=1)
order = np.argsort(-suspicion)
n_wrong = len(flipped)
found = np.cumsum(np.isin(order, flipped))
print(f"of the {n_wrong} most suspicious labels, {found[n_wrong - 1]} are wrong")

# %%
# Where `cleanlab <https://github.com/cleanlab/cleanlab>`_ is installed, its ranking stands beside it, given the
# out-of-sample probabilities of the same model.

figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.plot(found, color="#b5482a", lw=2, label="flybloom, rows left out")
try:
    from cleanlab.rank import get_label_quality_scores
except ImportError:
    print("cleanlab is not installed")
else:
    probabilities = np.exp(-novelty / model.temperature)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    ranked = np.argsort(get_label_quality_scores(given, probabilities))
    ax.plot(np.cumsum(np.isin(ranked, flipped)), color="#3b6ea5", lw=2, label="cleanlab, same probabilities")
ax.plot([0, n_wrong], [0, n_wrong], color="0.6", ls="--", label="the best there can be")
ax.set(xlabel="labels looked at, the most suspicious first", ylabel="wrong labels found", xlim=(0, 4 * n_wrong))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
