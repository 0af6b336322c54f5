"""
Drift, and a window that follows it
===================================

Half-way through this stream the labels change: each digit is called by the next one's name. A model of all rows has to
outvote its past. `SlidingWindow` forgets the row that leaves whenever one comes, exactly, and is right again soon.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier, SlidingWindow
from flybloom.plots import StreamDisplay
from flybloom.streams import test_then_train

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
X, y = np.vstack([X, X[order]]), np.concatenate([y, (y[order] + 1) % 10])

# %%
# Each row is predicted first, and learned afterwards.


def new_model():
    return FlyBloomClassifier(4096, n_winners=64, encoding="standard", random_state=0)


models = {"all rows": new_model(), "the last 600": SlidingWindow(new_model(), n_rows=600)}
scores = {name: test_then_train(model, [(X, y)], block_rows=32) for name, model in models.items()}
for name, score in scores.items():
    print(f"{name}: {score.accuracy:.3f}")

# %%

figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
StreamDisplay.from_scores(scores, ax=ax)
ax.axvline(len(y) // 2, color="0.5", lw=1)
plt.show()
