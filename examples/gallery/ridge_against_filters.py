"""
Pairs against filters
=====================

`FlyBloomClassifier` reads each class off its own counts. `FlyRidgeClassifier` also counts which winners come together,
and finds weights by ridge regression: more accurate from few rows on. Both learn in one pass, and forget exactly.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier, FlyRidgeClassifier

X, y = load_digits(return_X_y=True)
X_new, y_new = X[1200:], y[1200:]
sizes = [100, 200, 400, 800, 1200]
models = {"filters": FlyBloomClassifier(random_state=0), "pairs": FlyRidgeClassifier(random_state=0)}
scores = {name: [model.fit(X[:n], y[:n]).score(X_new, y_new) for n in sizes] for name, model in models.items()}

# %%

figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
for (name, values), colour in zip(scores.items(), ("#3b6ea5", "#b5482a"), strict=True):
    ax.plot(sizes, values, "o-", color=colour, lw=2, label=name)
ax.set(xlabel="rows learned", ylabel="accuracy on new rows")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
