"""
Pairs against filters
=====================

`FlyBloomClassifier` reads each class off its own counts. `FlyRidgeClassifier` also counts which winners come together,
and finds weights by ridge regression: more accurate from few rows on. Both learn in one pass, and forget exactly.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import LearningCurveDisplay

from flybloom import FlyBloomClassifier, FlyRidgeClassifier

X, y = load_digits(return_X_y=True)
models = {"filters": FlyBloomClassifier(random_state=0), "pairs": FlyRidgeClassifier(random_state=0)}

# %%
# Three folds; what is shaded is the spread between them.

figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
for (name, model), colour in zip(models.items(), ("#3b6ea5", "#b5482a"), strict=True):
    display = LearningCurveDisplay.from_estimator(
        model, X, y, train_sizes=[100, 200, 400, 800], cv=3, score_type="test", ax=ax,
        line_kw={"color": colour, "marker": "o"}, fill_between_kw={"color": colour, "alpha": 0.2},
    )  # fmt: skip
    display.lines_[0].set_label(name)
ax.set(xlabel="rows learned", ylabel="accuracy on new rows")
ax.legend()
plt.show()
