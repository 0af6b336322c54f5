"""All of scikit-learn's checks, for the defaults and for the paper's variants."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from flybloom import FlyBloomClassifier, FlyBloomClassifierCV, FlyHash

TIES = (
    "with zeros and ones, rows of two features have only two hashes, so classes tie; the paper breaks ties at random, "
    "while the check wants the first of the tied"
)


def expected_failures(estimator):
    """The checks that an estimator cannot pass, with the reason."""
    if isinstance(estimator, FlyBloomClassifier) and not estimator.signed:
        return {"check_classifiers_train": TIES}
    return {}


@parametrize_with_checks(
    [
        FlyHash(),
        FlyHash(scaling="none", signed=False),
        FlyBloomClassifier(),
        FlyBloomClassifier(scaling="none", signed=False),
        FlyBloomClassifier(scaling="none", signed=False, decay=1.0),
        FlyBloomClassifierCV([256, 1024]),
        FlyBloomClassifierCV(512, n_winners=[0.02, 0.1], decay=0.4, scaling="none", cv=3, scoring="balanced_accuracy"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_is_satisfied(estimator, check):
    """One check, one estimator."""
    check(estimator)
