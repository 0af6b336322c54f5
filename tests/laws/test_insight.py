"""What insight must obey: similarity, rows left out, shares and profiles are those of the slow reference."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import reference
from flybloom import FlyBloomClassifier
from flybloom.report import class_profiles, class_similarity, most_similar_classes
from laws.strategies import labelled_rows

SIZES = {"n_components": 48, "n_winners": 6, "random_state": 3, "encoding": "none"}


def classifier(**parameters):
    """A small classifier, unscaled."""
    return FlyBloomClassifier(**{**SIZES, **parameters})


@given(labelled_rows(), st.floats(0.01, 1.0))
def test_similarity_is_the_cosine_of_the_filters(rows, decay):
    """And of their complements, for what classes are familiar with."""
    model = classifier(decay=decay).fit(*rows)
    assert_array_equal(class_similarity(model), reference.cosines(model.filters_))
    assert_array_equal(class_similarity(model, kind="familiarity"), reference.cosines(1 - model.filters_))


@given(labelled_rows(), st.sampled_from(["filters", "familiarity"]))
def test_similarity_is_symmetric_and_at_most_one(rows, of):
    """One on the diagonal; and pairs come in descending order, each once."""
    model = classifier().fit(*rows)
    similarity = class_similarity(model, kind=of)
    assert_array_equal(similarity, similarity.T)
    assert ((similarity >= 0) & (similarity <= 1)).all()
    assert (np.diag(similarity) == 1).all()
    pairs = most_similar_classes(model, 99, kind=of)
    n = len(model.classes_)
    assert len({(a, b) for a, b, _ in pairs}) == n * (n - 1) // 2
    values = [value for _, _, value in pairs]
    assert values == sorted(values, reverse=True)
    assert all(
        similarity[np.searchsorted(model.classes_, [a, b])[0], np.searchsorted(model.classes_, b)] == value
        for a, b, value in pairs
    )


@given(labelled_rows(integers=True), st.floats(0.01, 1.0))
def test_a_row_left_out_is_a_row_not_learned(rows, decay):
    """The shortcut equals learning all rows but one, for each row."""
    model = classifier(decay=decay).fit(*rows)
    shortcut = model.leave_one_out_novelty(*rows)
    for i in range(len(rows.y)):
        others = np.arange(len(rows.y)) != i
        without = classifier(decay=decay).partial_fit(rows.X[others], rows.y[others], classes=model.classes_)
        assert_array_equal(shortcut[i], without.novelty(rows.X[i : i + 1])[0])


@given(labelled_rows(), st.sampled_from(["novelty", "familiarity"]), st.booleans(), st.data())
def test_shares_are_those_of_the_reference_and_add_up_to_the_score(rows, of, signed, data):
    """For any class of the model, on any rows."""
    model = classifier(signed=signed).fit(*rows)
    labels = np.array([data.draw(st.sampled_from(model.classes_.tolist())) for _ in rows.y])
    shares = model.explain(rows.X, labels, kind=of)
    codes = np.searchsorted(model.classes_, labels)
    scores = model.novelty(rows.X)[np.arange(len(codes)), codes]
    assert_allclose(shares.sum(axis=1), scores if of == "novelty" else 1 - scores, rtol=1e-12, atol=1e-14)
    assert (shares >= 0).all()
    hashed = rows.X.astype(np.float32) if rows.X.dtype.kind == "f" else rows.X
    winners = np.sort(reference.winners(rows.X, model.connections_, model.signs_, 6), axis=1)
    weights = model.filters_ if of == "novelty" else 1 - model.filters_
    expected = [
        reference.feature_shares(x, j, weights[code], model.connections_, model.signs_)
        for x, j, code in zip(hashed, winners, codes, strict=True)
    ]
    assert_array_equal(shares, expected)


@given(labelled_rows(integers=True))
def test_shares_of_sparse_rows_on_threads_are_the_same(rows):
    """Containers and threads change nothing; no label means the predicted one."""
    X, y = np.tile(rows.X, (30, 1)), np.tile(rows.y, 30)
    model = classifier().fit(X, y)
    expected = model.explain(X, model.predict(X))
    assert_array_equal(model.explain(X), expected)
    assert_array_equal(model.set_params(n_jobs=2).explain(sparse.csr_matrix(X)), expected)


@given(labelled_rows(), st.booleans())
def test_profiles_are_those_of_the_reference(rows, contrast):
    """Share of the class's rows in which each component won, less the mean over the classes, traced to the features."""
    model = classifier().partial_fit(*rows, classes=[0, 1, 2, 3])
    rates = model.counts_ / np.maximum(model.class_count_, 1)[:, None]
    met = model.class_count_ > 0
    if contrast:
        rates[met] -= np.ascontiguousarray(rates[met].T).mean(axis=1)
    expected = reference.class_profiles(rates, model.connections_, model.signs_, rows.X.shape[1])
    assert_allclose(class_profiles(model, contrast=contrast), expected, rtol=1e-12, atol=1e-12)
    assert (class_profiles(model, contrast=contrast)[~met] == 0).all()
