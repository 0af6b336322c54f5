"""All of scikit-learn's checks, for the defaults and for the paper's variants."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from flybloom import (
    FlyBloomClassifier,
    FlyBloomClassifierCV,
    FlyBloomNovelty,
    FlyHash,
    FlyRidgeClassifier,
    FlyRidgeMultiOutputClassifier,
    FlyRidgeRegressor,
    OpenSetClassifier,
)

TIES = (
    "with zeros and ones, rows of two features have only two hashes, so classes tie; the paper breaks ties at random, "
    "while the check wants the first of the tied"
)
AGAINST_WEIGHTS = (
    "the check wants absurd weights to give nearly all rows to one class, while the search wants accuracy and so "
    "chooses a decay of 1: a binary filter, which weights do not change"
)
THRESHOLDS = (
    "the check wants the labels whose probabilities are above a half; thresholds are such that as many rows "
    "left out exceed them as have the label, while probabilities are those of least log-loss"
)


def expected_failures(estimator):
    """The checks that an estimator cannot pass, with the reason."""
    if isinstance(estimator, FlyBloomClassifier) and not estimator.signed and estimator.decay == 1:
        return {"check_classifiers_train": TIES}
    if isinstance(estimator, FlyRidgeMultiOutputClassifier) and estimator.encoding == "auto":
        return {"check_classifier_multioutput": THRESHOLDS}
    if isinstance(estimator, FlyBloomClassifierCV) and estimator.decay == "auto":
        return {"check_class_weight_classifiers": AGAINST_WEIGHTS}
    return {}


@parametrize_with_checks(
    [
        FlyHash(),
        FlyHash(encoding="none", signed=False),
        FlyBloomClassifier(),
        FlyBloomClassifier(encoding="none", signed=False),
        FlyBloomClassifier(encoding="none", signed=False, decay=1.0),
        FlyBloomClassifier(class_weight="balanced"),
        FlyBloomClassifierCV([256, 1024]),
        FlyBloomClassifierCV(512, n_winners=[0.02, 0.1], decay=0.4, encoding="none", cv=3, scoring="balanced_accuracy"),
        FlyBloomClassifierCV(256, n_winners=[0.02, 0.1], decay=[0.2, 0.4], class_weight="balanced"),
        OpenSetClassifier(FlyBloomClassifier(random_state=0)),
        FlyRidgeClassifier(),
        FlyRidgeClassifier(256, encoding="none", alpha=0.01, class_weight="balanced"),
        FlyRidgeMultiOutputClassifier(),
        FlyRidgeMultiOutputClassifier(256, encoding="none", alpha=0.01),
        FlyRidgeRegressor(),
        FlyRidgeRegressor(256, encoding="none", alpha=0.01),
        FlyBloomNovelty(),
        FlyBloomNovelty(alpha=1.0, encoding="standard"),
        FlyBloomNovelty(encoding="none", signed=False),
        FlyBloomNovelty(forget_after=1000),
        FlyBloomNovelty(readout="filter"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_is_satisfied(estimator, check):
    """One check, one estimator."""
    check(estimator)
