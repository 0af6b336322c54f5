"""What learning must obey, whatever the data: order, blocks, threads, copies and containers make no difference."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

import reference
from flybloom import FlyBloomClassifier, FlyHash
from laws.strategies import block_cuts, labelled_rows

SIZES = {"n_components": 48, "n_winners": 6, "random_state": 3}


def classifier(**parameters):
    """A small classifier; unscaled unless said otherwise, because the first block fixes the scaling."""
    return FlyBloomClassifier(**{"encoding": "none", **SIZES, **parameters})


def assert_same_model(a, b):
    """Everything learned is equal, bit for bit."""
    assert_array_equal(a.classes_, b.classes_)
    assert_array_equal(a.class_count_, b.class_count_)
    assert_array_equal(a.counts_, b.counts_)
    assert a.counts_.dtype == b.counts_.dtype


@given(st.data(), labelled_rows())
def test_learning_in_blocks_equals_learning_at_once(data, rows):
    """Any way of cutting the stream leads to the same model."""
    model = classifier()
    for block in data.draw(block_cuts(len(rows.y))):
        model.partial_fit(rows.X[block], rows.y[block])
    assert_same_model(model, classifier().fit(*rows))


@given(st.data(), labelled_rows(), st.sampled_from(["none", "center", "standard"]))
def test_the_order_of_rows_is_irrelevant(data, rows, scaling):
    """Also to the scaling, because its sums are exact."""
    order = np.array(data.draw(st.permutations(range(len(rows.y)))))
    whole = classifier(encoding=scaling).fit(*rows)
    permuted = classifier(encoding=scaling).fit(rows.X[order], rows.y[order])
    assert_same_model(whole, permuted)
    if scaling != "none":
        assert_array_equal(whole.center_, permuted.center_)
    assert_array_equal(whole.predict(rows.X)[order], permuted.predict(rows.X[order]))


@given(labelled_rows())
def test_counts_are_those_of_the_reference(rows):
    """Standardised and signed: the whole way from rows to counts in plain numpy."""
    model = classifier(encoding="standard+clip=inf").fit(*rows)
    scaled = reference.standardise(rows.X)
    winners = reference.winners(scaled, model.connections_, model.signs_, model.n_winners_)
    assert_array_equal(model.counts_, reference.counts(reference.hashes(winners, 48), rows.y, model.classes_))


@given(labelled_rows(integers=True), st.floats(0.01, 1.0))
def test_novelty_is_that_of_the_reference(rows, decay):
    """The whole way from rows to f_i(x), bit for bit."""
    model = classifier(decay=decay).fit(*rows)
    winners = reference.winners(rows.X, model.connections_, model.signs_, model.n_winners_)
    w = reference.filters(reference.counts(reference.hashes(winners, 48), rows.y, model.classes_), decay)
    assert_array_equal(model.filters_, w)
    assert_array_equal(model.novelty(rows.X), reference.novelty(w, winners))


@given(labelled_rows())
def test_decay_one_is_the_binary_filter_of_the_paper(rows):
    """AND NOT of hashes, one row after the other."""
    model = classifier(decay=1.0, signed=False).fit(*rows)
    h = FlyHash(**SIZES, encoding="none", signed=False).fit_transform(rows.X).toarray()
    assert_array_equal(model.filters_, reference.binary_filters(h, rows.y, model.classes_))


@given(st.data(), labelled_rows(), st.sampled_from(["none", "standard"]))
def test_a_weight_is_a_number_of_copies(data, rows, scaling):
    """Weight 3 equals three copies, weight 0 leaves a row out, with its class; the scaling included."""
    n = len(rows.y)
    weights = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    weights[:2] += 1
    copies = np.repeat(np.arange(n), weights)
    weighted = classifier(encoding=scaling).partial_fit(*rows, sample_weight=weights)
    copied = classifier(encoding=scaling).partial_fit(rows.X[copies], rows.y[copies])
    assert_same_model(weighted, copied)


@given(labelled_rows(least=20), st.sampled_from(["none", "standard"]))
def test_threads_change_nothing(rows, scaling):
    """One thread, two, or as many as there are; enough rows for several blocks."""
    X, y = np.tile(rows.X, (20, 1)), np.tile(rows.y, 20)
    models = [classifier(encoding=scaling, n_jobs=n).fit(X, y) for n in (None, 2, -1)]
    for model in models[1:]:
        assert_same_model(model, models[0])
        assert_array_equal(model.predict(X), models[0].predict(X))
        assert_array_equal(model.novelty(X), models[0].novelty(X))


@given(labelled_rows(), st.booleans(), st.sampled_from([sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array]))
def test_sparse_rows_equal_dense_rows(rows, signed, container):
    """In any sparse format, at the same precision."""
    dense, from_sparse = classifier(signed=signed).fit(*rows), classifier(signed=signed)
    from_sparse.fit(container(rows.X), rows.y)
    assert_same_model(dense, from_sparse)
    assert_array_equal(dense.predict(rows.X), from_sparse.predict(container(rows.X)))


@given(labelled_rows(integers=True), st.integers(1, 9), st.integers(-50, 50))
def test_the_paper_s_hash_ignores_shifts_and_scales(rows, a, b):
    """h(a x + b) = h(x) for a > 0, because each component sums the same number of features."""
    hasher = FlyHash(**SIZES, encoding="none", signed=False).fit(rows.X)
    assert_array_equal(hasher.winners(a * rows.X + b), hasher.winners(rows.X))


@given(labelled_rows(), st.integers(1, 6), st.integers(6, 48))
def test_hashes_are_nested_in_winners_and_components(rows, rho, m):
    """Fewer winners are a prefix; with fewer components, those that remain win in the same order."""
    full = FlyHash(48, n_winners=48, encoding="none", random_state=1).fit(rows.X).winners(rows.X)
    few = FlyHash(48, n_winners=rho, encoding="none", random_state=1).fit(rows.X).winners(rows.X)
    small = FlyHash(m, n_winners=rho, encoding="none", random_state=1).fit(rows.X).winners(rows.X)
    assert_array_equal(full[:, :rho], few)
    assert_array_equal([[j for j in row if j < m][:rho] for row in full], small)


@given(labelled_rows(), st.data())
def test_hashes_are_nested_in_connections(rows, data):
    """The first connections of a larger hash are the smaller hash."""
    d = rows.X.shape[1]
    s = data.draw(st.integers(1, d))
    larger = FlyHash(**SIZES, n_connections=d, encoding="none").fit(rows.X)
    smaller = FlyHash(**SIZES, n_connections=s, encoding="none").fit(rows.X)
    expected = reference.winners(rows.X, larger.connections_[:, :s], larger.signs_[:, :s], 6)
    assert_array_equal(smaller.winners(rows.X), expected)


@given(labelled_rows())
def test_scoring_is_pure(rows):
    """Predicting changes nothing, keeps nothing, and sees each row alone."""
    model = classifier(encoding="standard+clip=inf").fit(*rows)
    before = model.counts_.copy()
    X = rows.X.copy()
    together = model.predict(X)
    assert_array_equal(X, rows.X)
    assert_array_equal(model.counts_, before)
    assert_array_equal(together, [model.predict(row[None])[0] for row in X])


@given(labelled_rows())
def test_scores_agree_with_each_other(rows):
    """Novelty lies in [0, 1], probabilities sum to one and order as the novelty does, and predict takes a least."""
    model = classifier(encoding="standard+clip=inf").fit(*rows)
    novelty, probability = model.novelty(rows.X), model.predict_proba(rows.X)
    assert ((novelty >= 0) & (novelty <= 1)).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    codes = np.searchsorted(model.classes_, model.predict(rows.X))
    chosen = np.take_along_axis(novelty, codes[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(chosen, novelty.min(axis=1), rtol=1e-13)
    chosen = np.take_along_axis(probability, codes[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(chosen, probability.max(axis=1), rtol=1e-13)
