"""
Which classes are alike
=======================

Counts of two classes that share many winners are hard to tell apart. The similarity needs no test rows: it is read off
the model. The tree joins the classes that are most alike first.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier
from flybloom.plots import ClassSimilarityDisplay
from flybloom.report import most_similar_classes

model = FlyBloomClassifier(random_state=0).fit(*load_digits(return_X_y=True))
for first, second, similarity in most_similar_classes(model, 3, kind="familiarity"):
    print(f"{first} and {second}: {similarity:.2f}")

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
display = ClassSimilarityDisplay.from_estimator(model, similarity="familiarity", ax=left)
display.plot(kind="dendrogram", ax=right)
plt.show()
