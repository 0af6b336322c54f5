"""
Numbers: learn in parts, forget, hand on
========================================

A regressor of counts adds up and forgets exactly. Targets here depend on five of ten columns, partly on two at a time.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score

from flybloom import FlyRidgeRegressor

X, y = make_friedman1(3000, noise=1.0, random_state=0)
X_test, y_test = X[2000:], y[2000:]

# %%
# More rows, learned block by block, and the score on rows that are never learned.

sizes, scores, plain = [100, 200, 400, 800, 1200, 1600, 2000], [], []
model = FlyRidgeRegressor()
for begin, end in zip([0, *sizes[:-1]], sizes, strict=True):
    model.partial_fit(X[begin:end], y[begin:end])
    scores.append(model.score(X_test, y_test))
    plain.append(Ridge().fit(X[:end], y[:end]).score(X_test, y_test))
print(dict(zip(sizes, np.round(scores, 3), strict=True)))

# %%
# A thousand targets turn out to be wrong. Forgetting them gives the model that never saw them, bit for bit.

spoilt = FlyRidgeRegressor().fit(np.vstack([X[:2000], X[:1000]]), np.r_[y[:2000], np.full(1000, 40.0)])
before = spoilt.score(X_test, y_test)
print(spoilt.forget(X[:1000], np.full(1000, 40.0)))
assert (spoilt.predict(X_test) == FlyRidgeRegressor().fit(X[:2000], y[:2000]).predict(X_test)).all()
print(f"R2 {before:.3f} with the wrong targets, {spoilt.score(X_test, y_test):.3f} without them")

# %%
# Each learned row is predicted as if it alone had not been learned: an honest score without a second fit.

left_out = spoilt.leave_one_out_predict(X[:2000], y[:2000])
print(f"R2 of rows left out {r2_score(y[:2000], left_out):.3f}, of new rows {spoilt.score(X_test, y_test):.3f}")

figure, (curve, cloud) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
curve.plot(sizes, scores, color="#b5482a", lw=2, marker="o", label="FlyRidgeRegressor")
curve.plot(sizes, plain, color="0.6", lw=2, label="linear ridge regression")
curve.set(xlabel="rows learned", ylabel="R2 of new rows", ylim=(0.4, 1))
curve.legend(frameon=False)
cloud.scatter(y[:2000], left_out, s=4, color="#3b6ea5", alpha=0.5)
cloud.plot([0, 30], [0, 30], color="0.6", lw=1)
cloud.set(xlabel="target", ylabel="prediction of the row left out")
for ax in (curve, cloud):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
