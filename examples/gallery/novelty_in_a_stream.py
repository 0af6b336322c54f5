"""
Novelty in a stream
===================

A detector without labels learns digits one block after the other. Zeros stop coming after a third of the stream, and
come back at the end. With ``forget_after`` what has not come for long is forgotten, and is new again.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from flybloom import FlyBloomNovelty
from flybloom.plots import NoveltyDisplay

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
zeros, others = X[y == 0], X[y != 0]
probe, zeros = zeros[:40], zeros[40:]
model = FlyBloomNovelty(forget_after=600, encoding="standard", random_state=0)
remembers = FlyBloomNovelty(readout="filter", encoding="standard", random_state=0)

# %%
# The stream: 60 blocks of 40 rows. After each, both detectors are asked about zeros that neither has learned.

novelty = []
for block in range(60):
    has_zeros = block < 20 or block >= 50
    rows = others[rng.integers(len(others), size=36 if has_zeros else 40)]
    rows = np.vstack([rows, zeros[rng.integers(len(zeros), size=4)]]) if has_zeros else rows
    for detector in (model, remembers):
        detector.partial_fit(rows)
    novelty.append([detector.novelty(probe).mean() for detector in (model, remembers)])

# %%

figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.axvspan(20, 50, color="0.92", label="no zeros come")
ax.plot(np.array(novelty)[:, 0], color="#b5482a", lw=2, label="forget_after=600")
ax.plot(np.array(novelty)[:, 1], color="#3b6ea5", lw=2, label="remembers all")
ax.set(xlabel="block of 40 rows", ylabel="novelty of zeros")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# How novel rows of each kind are in the end. Zeros have come back, threes were there all the time, noise never was.

noise = rng.integers(0, 17, size=(200, 64)).astype(float)
rows = np.vstack([probe, X[y == 3], noise])
kinds = ["zeros"] * len(probe) + ["threes"] * int((y == 3).sum()) + ["noise"] * len(noise)
figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
NoveltyDisplay.from_estimator(model, rows, groups=kinds, ax=ax)
plt.show()
