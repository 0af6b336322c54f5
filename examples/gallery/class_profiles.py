"""
What a class looks like
=======================

The winners of a class, traced back to the pixels that they sum. Red pixels are typical of the class, blue ones of the
others.
"""

from sklearn.datasets import load_digits

from flybloom import FlyBloomClassifier
from flybloom.plots import ClassProfileDisplay

X, y = load_digits(return_X_y=True)
model = FlyBloomClassifier(random_state=0).fit(X, y)
display = ClassProfileDisplay.from_estimator(model, image_shape=(8, 8))
