"""How counts are read, by filters or by Bayes: which one when, in files, frozen, in ONNX, with proofs and shares."""

from copy import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import flybloom
import mutations
from flybloom import AdaptiveWindow, FlyBloomClassifier, FlyBloomClassifierCV, SlidingWindow, report
from flybloom.audit import certify
from flybloom.cli.predictions import Predictions
from flybloom.exceptions import ModelFileError
from flybloom.export import predictor, to_onnx
from forgetting import after_forgetting


@pytest.fixture
def texts(rng):
    """Sparse rows of 2000 words in three classes, as a vectorizer makes them."""
    y = np.arange(240) % 3
    often = rng.integers(0, 2000, (3, 60))
    words = np.array([[*rng.choice(often[label], 12), *rng.integers(0, 2000, 12)] for label in y])
    X = sparse.csr_matrix((rng.random(words.size) + 0.1, words.ravel(), np.arange(0, words.size + 1, 24)), (240, 2000))
    return X, y


@pytest.fixture
def model(digits):
    """A small model that is read by Bayes."""
    X, y = digits
    return FlyBloomClassifier(256, n_winners=16, readout="bayes", random_state=0).fit(X[:500], y[:500])


def test_auto_is_bayes_for_texts_with_sizes_that_suit_it(texts):
    """And filters otherwise; whoever asks for filters has their sizes."""
    found = FlyBloomClassifier(random_state=0).fit(*texts)
    assert (found.readout_, found.n_components_, found.n_connections_, found.n_winners_) == ("bayes", 131_072, 3, 384)
    assert found.score(*texts) > 0.9
    found = FlyBloomClassifier(readout="filter", random_state=0).fit(*texts)
    assert (found.readout_, found.n_components_, found.n_connections_, found.n_winners_) == ("filter", 32768, 6, 256)
    X, y = texts
    others = {"encoding": "none"}, {"encoding": "standard"}
    dense = [FlyBloomClassifier(512, random_state=0, **settings).fit(X.toarray(), y) for settings in ({}, *others)]
    few = FlyBloomClassifier(512, random_state=0).fit(X[:, :1000], y)
    as_it_comes = FlyBloomClassifier(512, encoding="none", random_state=0).fit(X, y)
    assert {each.readout_ for each in (*dense, few, as_it_comes)} == {"filter"}


def test_it_may_be_changed_after_fit(model, digits):
    """Nothing is learned anew, and novelty is that of filters whatever it is."""
    X, y = digits
    filters = FlyBloomClassifier(256, n_winners=16, random_state=0).fit(X[:500], y[:500])
    assert_array_equal(model.counts_, filters.counts_)
    assert_array_equal(model.novelty(X), filters.novelty(X))
    assert (model.predict(X) != filters.predict(X)).any()
    assert_array_equal(model.set_params(readout="filter").predict_proba(X), filters.predict_proba(X))
    with pytest.raises(ValueError, match="'readout' parameter"):
        model.set_params(readout="ridge").predict(X)


def test_files_say_how_counts_are_read(texts, tmp_path):
    """Only where it is not by filters, so that other files stay as they are; files of before are read by filters."""
    X, y = texts
    path = tmp_path / "model.fly"
    for settings, stored in (({}, "auto"), ({"readout": "bayes"}, "bayes"), ({"encoding": "none"}, None)):
        saved = FlyBloomClassifier(512, random_state=0, **settings).fit(X, y)
        saved.save(path)
        again = flybloom.load(path)
        header, arrays = mutations.parts(path.read_bytes())
        described = mutations.described(header)
        assert described["parameters"].get("readout") == stored
        assert again.get_params() == saved.get_params()
        assert_array_equal(again.decision_function(X), saved.decision_function(X))
        small = predictor.load(path)
        assert_array_equal(small.predict(X.toarray()), saved.predict(X))
        assert_allclose(small.predict_proba(X.toarray()), saved.predict_proba(X), rtol=1e-12, atol=1e-300)
        if stored == "auto":
            del described["parameters"]["readout"]
            path.write_bytes(mutations.repaired(header, described, arrays))
            assert flybloom.load(path).readout_ == "filter"
            assert_array_equal(predictor.load(path).predict(X.toarray()), flybloom.load(path).predict(X))


def test_a_wrong_readout_is_refused_and_none_is_by_filters(model, digits, tmp_path):
    """Of files, whoever reads them; of pickles from before."""
    model.save(tmp_path / "model.fly")
    header, arrays = mutations.parts((tmp_path / "model.fly").read_bytes())
    described = mutations.described(header)
    described["parameters"]["readout"] = "ridge"
    (tmp_path / "model.fly").write_bytes(mutations.repaired(header, described, arrays))
    for load in (flybloom.load, predictor.load):
        with pytest.raises(ModelFileError, match="readout"):
            load(tmp_path / "model.fly")
    state = model.__getstate__()
    del state["readout"]
    old = FlyBloomClassifier.__new__(FlyBloomClassifier)
    old.__setstate__(state)
    assert_array_equal(old.predict(digits[0]), model.set_params(readout="filter").predict(digits[0]))


@pytest.mark.parametrize("readout", ["bayes", "filter"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_frozen_model_says_the_same(model, digits, tmp_path, readout, class_weight):
    """Labels, ties included, and probabilities, to the bit, and scores, also from its file."""
    X, y = digits
    model = FlyBloomClassifier(256, n_winners=12, random_state=0).fit(X[:500], np.append(y[:499], y[:1]))
    frozen = model.set_params(class_weight=class_weight, readout=readout).freeze()
    assert_array_equal(frozen._decision_scores(X), model._decision_scores(X))
    frozen.save(tmp_path / "small.fly")
    nothing = np.zeros((1, X.shape[1]))
    for rows in (X, X[:3], nothing):
        for other in (frozen, flybloom.load(tmp_path / "small.fly")):
            assert_array_equal(other.predict(rows), model.predict(rows))
            assert_array_equal(other.predict_proba(rows), model.predict_proba(rows))
        assert_array_equal(predictor.load(tmp_path / "small.fly").predict(rows), model.predict(rows))


@pytest.mark.parametrize("wrong", [{"unit": 0.3}, {"unit": 1}, {"unit": None}, {"divisor": 0}, {"divisor": 1.0}])
def test_a_frozen_file_that_no_filters_have_is_refused(model, tmp_path, wrong):
    """Weights are whole numbers of a power of two, and sums are divided by a number of winners."""
    model.set_params(readout="filter").freeze().save(tmp_path / "small.fly")
    header, arrays = mutations.parts((tmp_path / "small.fly").read_bytes())
    described = {**mutations.described(header), **wrong}
    (tmp_path / "small.fly").write_bytes(mutations.repaired(header, described, arrays))
    for load in (flybloom.load, predictor.load):
        with pytest.raises(ModelFileError, match="its weights are not"):
            load(tmp_path / "small.fly")


def test_onnx_says_the_same(model, digits):
    """As for all weights that are added up."""
    onnxruntime = pytest.importorskip("onnxruntime")
    graph = to_onnx(model)
    label, probabilities = onnxruntime.InferenceSession(graph.SerializeToString()).run(None, {"X": digits[0]})
    assert_array_equal(label, model.predict(digits[0]))
    assert_allclose(probabilities, model.predict_proba(digits[0]), atol=1e-6)


def test_shares_of_features_add_up_to_the_score(model, digits):
    """Less what all rows have alike; filters have shares of the novelty instead."""
    X, _ = digits
    none = np.zeros((1, X.shape[1]))
    shares = model.explain(X[:20], kind="score").sum(axis=1)
    codes = model.predict(X[:20])
    frozen = model.freeze()
    assert_allclose(shares, frozen._decision_scores(X[:20])[np.arange(20), codes] - frozen.intercept_[codes])
    assert model.explain(none, labels=3, kind="novelty").shape == none.shape
    with pytest.raises(ValueError, match='Use kind="familiarity"'):
        model.set_params(readout="filter").explain(X[:1], kind="score")


def test_labels_are_certified(model, digits, rng):
    """No change within the radius turns a label that is certified, and some are."""
    X = digits[0][500:520]
    model = clone(model).set_params(encoding="standard+rotation").fit(digits[0][:500], digits[1][:500])
    holds = certify(model, X, 0.02)
    assert holds.any()
    for _ in range(20):
        moved = X + rng.uniform(-0.02, 0.02, X.shape)
        assert_array_equal(model.predict(moved)[holds], model.predict(X)[holds])


def test_scores_of_the_command_line_are_those_that_decide(model, digits):
    """And of filters the novelty."""
    X, _ = digits
    for readout, word in (("bayes", "score"), ("filter", "novelty")):
        said = Predictions(model.set_params(readout=readout), probabilities=False, scores=True, id_name=None)
        table = said.table(np.ones(5, bool), X[:5], None)
        assert table.column_names[1] == f"{word}_0"
        columns = np.column_stack([table[name].to_numpy() for name in table.column_names[1:]])
        assert_array_equal(columns if word == "score" else -columns, model._decision_scores(X[:5]))


def test_a_report_of_it(model, digits):
    """Is about what predicts."""
    X, y = digits
    found = report.facts(model, X[500:], y[500:])
    assert found["scores"]["mistakes"] == (model.predict(X[500:]) != y[500:]).sum()
    assert found["parameters"]["readout"] == "bayes"


def test_windows(texts, digits):
    """A sliding window takes it; several windows are compared by filters, and say so."""
    X, y = digits
    windowed = SlidingWindow(FlyBloomClassifier(256, readout="bayes", encoding="none", random_state=0), n_rows=300)
    plain = FlyBloomClassifier(256, readout="bayes", encoding="none", random_state=0).fit(X[200:500], y[200:500])
    assert_array_equal(windowed.fit(X[:500], y[:500]).decision_function(X), plain.decision_function(X))
    with pytest.raises(TypeError, match='readout="filter"'):
        AdaptiveWindow(FlyBloomClassifier(readout="bayes")).fit(X, y)
    rivals = AdaptiveWindow(FlyBloomClassifier(256, random_state=0), n_rows=[50, None]).fit(*texts)
    assert rivals.predict(texts[0]).shape == (240,)
    assert rivals.model_.readout_ == "filter"


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("cv", ["loo", 3])
def test_a_search_scores_what_models_say(texts, cv, class_weight, tmp_path):
    """Each row by a model that never saw it, to the bit; and the best model is one fitted by itself."""
    X, y = texts
    y = np.where(np.arange(240) % 5 > 0, y, 0)
    sizes = {"n_connections": [2, 3], "n_winners": [16, 32]}
    search = FlyBloomClassifierCV([512], **sizes, cv=cv, class_weight=class_weight, random_state=0).fit(X, y)
    best, params = search.best_estimator_, search.best_params_
    assert (len(search.cv_results_["params"]), best.readout_, params["decay"]) == (4, "bayes", "auto")
    one = FlyBloomClassifier(**params, class_weight=class_weight, random_state=0)
    if cv == "loo":
        scores = one.fit(X, y).leave_one_out_decision(X, y)
    else:
        scores = np.empty((240, 3))
        for train, test in StratifiedKFold(3).split(X, y):
            scores[test] = one.fit(X[train], y[train]).decision_function(X[test])
    assert_array_equal(search.oof_novelty_, -scores / (0.25 * params["n_winners"]))
    told = search.classes_[scores.argmax(axis=1)] == y
    fold_scores = [told] if cv == "loo" else [told[test] for _, test in StratifiedKFold(3).split(X, y)]
    assert_allclose(search.best_score_, np.mean([part.mean() for part in fold_scores]))
    assert_array_equal(best.decision_function(X), one.fit(X, y).decision_function(X))
    search.save(tmp_path / "search.fly")
    again = flybloom.load(tmp_path / "search.fly")
    assert_array_equal(again.predict_proba(X), search.predict_proba(X))
    assert_array_equal(again.oof_predict_proba_, search.oof_predict_proba_)


def test_a_search_with_weights_leaves_out_all_of_a_row(texts):
    """A row of weight 2 is two rows, and both are left out."""
    X, y = texts[0][:90], texts[1][:90]
    weights = np.arange(90) % 2 + 1
    settings = {"n_components": [256], "n_connections": [2], "n_winners": [16], "random_state": 0}
    found = FlyBloomClassifierCV(**settings).fit(X, y, sample_weight=weights).oof_novelty_
    whole = FlyBloomClassifier(256, n_connections=2, n_winners=16, random_state=0).fit(X, y, weights)
    for i in range(0, 90, 13):
        left = after_forgetting(copy(whole), X[i], y[i : i + 1], weights[i : i + 1])
        assert_array_equal(found[i], -left.decision_function(X[i])[0] / 4.0)


def test_a_search_by_words_tries_sizes_that_suit_texts(texts):
    """And filters theirs, if they are asked for."""
    assert FlyBloomClassifierCV().estimate_memory(1000, 5000, 3, sparse=True) > FlyBloomClassifierCV(
        readout="filter"
    ).estimate_memory(1000, 5000, 3, sparse=True)
    search = FlyBloomClassifierCV(n_winners=[384], cv=2, random_state=0).fit(*texts)
    assert {params["n_components"] for params in search.cv_results_["params"]} == {32768, 131_072}
    assert {params["n_connections"] for params in search.cv_results_["params"]} == {1, 2, 3, 6}
