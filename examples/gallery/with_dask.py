"""
With Dask, bit for bit
======================

Blocks are counted where they are, and counts are added up. So the model of a Dask array is that of one machine,
whatever the size of the blocks.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier, distributed

X, y = load_digits(return_X_y=True)
alone = FlyBloomClassifier(2048, n_winners=32, random_state=0).fit(X, y)
for size in (100, 500, 1797):
    rows, labels = da.from_array(X, chunks=(size, 64)), da.from_array(y, chunks=size)
    model = distributed.fit(FlyBloomClassifier(2048, n_winners=32, random_state=0), rows, labels)
    print(f"blocks of {size:4} rows: {int((model.counts_ != alone.counts_).sum())} counts differ")

# %%
# What three blocks count, and their sum: the counts of one class, the components that won most.

blocks = [alone - alone for _ in range(3)]
for part, block in enumerate(blocks):
    block.partial_fit(X[part::3], y[part::3])
first = np.sort(np.argsort(-alone.counts_[0])[:60])
figure, axes = plt.subplots(4, 1, figsize=(8, 4), sharex=True, sharey=True, layout="constrained")
for ax, model, name in zip(axes, [*blocks, sum(blocks)], ["block 1", "block 2", "block 3", "sum"], strict=True):
    ax.bar(range(60), model.counts_[0, first], color="#b5482a" if name == "sum" else "#3b6ea5")
    ax.set_ylabel(name)
    ax.spines[["top", "right"]].set_visible(False)
axes[-1].set_xlabel("60 of 2048 components: how often each won among zeros")
print("the sum is the whole:", bool((sum(blocks).counts_ == alone.counts_).all()))
plt.show()
