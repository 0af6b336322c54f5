"""
With Dask, bit for bit
======================

Blocks are counted where they are, and counts are added up. So the model of a Dask array is that of one machine,
whatever the size of the blocks.
"""

import dask.array as da
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier, distributed
from flybloom.plots import CountsDisplay

X, y = load_digits(return_X_y=True)
alone = FlyBloomClassifier(2048, n_winners=32, random_state=0).fit(X, y)
for size in (100, 500, 1797):
    rows, labels = da.from_array(X, chunks=(size, 64)), da.from_array(y, chunks=size)
    model = distributed.fit(FlyBloomClassifier(2048, n_winners=32, random_state=0), rows, labels)
    print(f"blocks of {size:4} rows: {int((model.counts_ != alone.counts_).sum())} counts differ")

# %%
# What three blocks count, and their sum, of the components that won most: each row is a digit.

blocks = [alone - alone for _ in range(3)]
for part, block in enumerate(blocks):
    block.partial_fit(X[part::3], y[part::3])
print("the sum is the whole:", bool((sum(blocks).counts_ == alone.counts_).all()))
CountsDisplay.from_estimators({"block 1": blocks[0], "block 2": blocks[1], "block 3": blocks[2], "sum": sum(blocks)})
plt.show()
