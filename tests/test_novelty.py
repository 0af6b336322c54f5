"""FlyBloomNovelty on real rows, and what it refuses."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

import flybloom
import reference
from flybloom import Encoding, FlyBloomNovelty
from flybloom.estimators.access import reading_learned
from flybloom.exceptions import IncompatibleHashError
from flybloom.streams import novelty_rate


@pytest.fixture(scope="module")
def digits_split(digits):
    """Zeros to learn, zeros to recognise, and other digits."""
    X, y = digits
    zeros = X[y == 0]
    return zeros[:90], zeros[90:], X[y != 0]


def test_old_names_warn_and_work(digits):
    """The parameter, when it is set as well and in older pickles, and the method."""
    with pytest.warns(FutureWarning, match="forget_after"):
        model = FlyBloomNovelty(64, recovery=90, random_state=0)
    assert "recovery" not in model.get_params()
    state = model.__getstate__()
    state["recovery"] = state.pop("forget_after")
    again = FlyBloomNovelty()
    again.__setstate__(state)
    assert again.forget_after == model.forget_after == 90
    with pytest.raises(TypeError, match="not both"):
        FlyBloomNovelty(recovery=90, forget_after=90)
    X = digits[0][:100]
    model.set_params(forget_after=None).fit(X)
    with pytest.warns(FutureWarning, match="flybloom.streams.novelty_rate"):
        assert (model.novel_winners(X) == novelty_rate(model, X)).all()
    assert not hasattr(model, "no_such_name")


def test_other_digits_are_novel(digits_split):
    """Far better than chance, out of the box."""
    learned, same, other = digits_split
    scores = FlyBloomNovelty(random_state=0).fit(learned).novelty(np.vstack([same, other]))
    assert roc_auc_score(np.r_[np.zeros(len(same)), np.ones(len(other))], scores) > 0.95


def test_the_threshold_holds_for_new_rows(digits):
    """About as many false alarms on rows never met as contamination says."""
    X = digits[0]
    rows = X[np.random.default_rng(0).permutation(len(X))]
    model = FlyBloomNovelty(contamination=0.1, random_state=0).fit(rows[:900])
    assert 0.05 < (model.predict(rows[900:]) == -1).mean() < 0.16
    assert 0.09 < (model.fit_predict(rows[:900]) == -1).mean() < 0.11


def test_what_was_not_met_for_long_becomes_novel_again(digits_split):
    """Novelty to the zeros rises, until they are forgotten as if never met."""
    zeros, _, other = digits_split
    model = FlyBloomNovelty(forget_after=160, random_state=0, encoding="none").fit(zeros[:40])
    at_first = model.novelty(zeros[:40]).mean()
    middle = model.partial_fit(other[:100]).novelty(zeros[:40]).mean()
    at_last = model.partial_fit(other[100:200]).novelty(zeros[:40]).mean()
    assert at_first < middle < at_last
    assert at_last > 3 * at_first
    never = FlyBloomNovelty(forget_after=160, random_state=0, encoding="none").fit(other[:200])
    assert_array_equal(model.counts_, never.counts_)


def test_bias_columns_show_how_far_a_row_is(rng):
    """Without them a row ten times as far in the same direction looks the same."""
    X = rng.standard_normal((500, 10))
    X -= X.mean(axis=0)
    near, far = X[:50], 10 * X[:50]
    settings = {"encoding": Encoding("standard", clip=np.inf), "readout": "filter", "random_state": 0}
    with_anchors = FlyBloomNovelty(**settings).fit(X)
    without = FlyBloomNovelty(**settings, bias_columns=0).fit(X)
    assert (with_anchors.novelty(far) > with_anchors.novelty(near) + 0.1).mean() > 0.9
    assert abs(without.novelty(far) - without.novelty(near)).max() < 0.01


def test_detectors_with_other_bias_columns_hash_differently(digits_split):
    """They have other names, and are not merged."""
    settings = {"encoding": "standard", "random_state": 0}
    a, b = (FlyBloomNovelty(50, bias_columns=share, **settings).fit(digits_split[0]) for share in (0.1, 0.5))
    with reading_learned(a) as mine, reading_learned(b) as theirs:
        assert mine.hasher.fingerprint != theirs.hasher.fingerprint
    with pytest.raises(IncompatibleHashError, match=r"bias=0.1"):
        a.merge(b)


def test_calibrate_sets_the_threshold_from_rows_held_out(digits_split):
    """Exactly that share of them is then an outlier."""
    learned, same, _ = digits_split
    model = FlyBloomNovelty(random_state=0).fit(learned).calibrate(same, 0.25)
    assert (model.predict(same) == -1).mean() == pytest.approx(0.25, abs=1 / len(same))
    with pytest.raises(ValueError, match=r"above 0 and up to 0.5. Got 0.7 instead"):
        model.calibrate(same, 0.7)


@pytest.mark.parametrize("positions", [None, [0], [0, 900], [0.0, 1.0], [-1, 0]])
def test_with_recovery_forgetting_needs_positions(digits_split, positions):
    """One for each row, among those met."""
    model = FlyBloomNovelty(forget_after=1000, random_state=0).fit(digits_split[0])
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="With forget_after, forget needs the position of each of the 2 rows"):
        model.forget(digits_split[0][:2], positions=positions)
    assert pickle.dumps(model) == before


def test_bad_rows_leave_the_detector_as_it_was(digits_split):
    """Whatever was learned before stays."""
    model = FlyBloomNovelty(random_state=0).fit(digits_split[0])
    before = pickle.dumps(model)
    for method in (model.fit, model.partial_fit, model.forget, model.novelty):
        with pytest.raises(ValueError, match="infinity"):
            method(np.full((2, 64), np.inf))
    for method in (model.partial_fit, model.forget, model.novelty):
        with pytest.raises(ValueError, match="X has 3 features, but FlyBloomNovelty is expecting 64"):
            method(np.ones((2, 3)))
    assert pickle.dumps(model) == before


def test_decay_is_read_when_scoring(digits_split):
    """It may change after fit."""
    learned, same, _ = digits_split
    model = FlyBloomNovelty(readout="filter", random_state=0).fit(learned).set_params(decay=0.1)
    other = FlyBloomNovelty(readout="filter", decay=0.1, random_state=0).fit(learned)
    assert_array_equal(model.novelty(same), other.novelty(same))


def test_alpha_is_read_when_scoring(digits_split):
    """It may change after fit."""
    learned, same, _ = digits_split
    model = FlyBloomNovelty(random_state=0).fit(learned)
    before = model.novelty(same)
    model.set_params(alpha=1.0)
    assert_array_equal(model.novelty(same), FlyBloomNovelty(alpha=1.0, random_state=0).fit(learned).novelty(same))
    assert (model.novelty(same) > before).all()


def test_new_values_of_constant_columns_are_novel(rng):
    """However small the difference, with and without bins."""
    for n_columns in (10, 150):
        X = rng.standard_normal((200, n_columns))
        X[:, : n_columns // 2] = 0.1
        model, new = FlyBloomNovelty().fit(X), X.copy()
        new[:, 0] += 1e-6
        assert (model.novelty(new) > model.novelty(X)).mean() > 0.95


def test_single_precision_is_precise_enough(digits):
    """Many components are solved in float32, which changes novelty by less than a thousandth of it."""
    X, _ = digits
    model = FlyBloomNovelty(1024, n_winners=256).fit(X[:1000])
    with reading_learned(model) as mine:
        learned, new = mine.hasher.winners(X[:1000]), mine.hasher.winners(X[1000:])
    assert_allclose(model.novelty(X[1000:]), reference.leverage(learned, new, 1024, 100.0), rtol=1e-3)


def test_few_rows_have_the_filter_novelty_of_many(digits_split):
    """Weights are derived for their winners alone, with the same bits."""
    learned, _, other = digits_split
    model = FlyBloomNovelty(1000, readout="filter").fit(learned)
    assert_array_equal(model.novelty(other), np.concatenate([model.novelty(row[None]) for row in other]))


def test_rows_between_clusters_are_outliers(rng):
    """As those beyond them are, and more than nine tenths of the rows of the clusters are not."""
    centers = np.array([[-3.0, 0.0], [3.0, 0.0]])
    X = (centers[:, None] + 0.3 * rng.standard_normal((2, 200, 2))).reshape(-1, 2)
    model = FlyBloomNovelty(random_state=0).fit(X)
    assert (model.predict(X) == 1).mean() > 0.9
    assert (model.predict([[0.0, 0.0], [9.0, 0.0], [3.0, 3.0]]) == -1).all()


def test_leverage_has_no_recovery(digits_split):
    """Pairs of winners know nothing of time."""
    model = FlyBloomNovelty(readout="leverage", forget_after=100)
    with pytest.raises(ValueError, match="forgets with time only where it reads filters"):
        model.fit(digits_split[0])


def test_a_detector_is_loaded_as_what_it_learned(digits_split, tmp_path):
    """Whatever its parameters were set to later; fit then goes by them again."""
    learned, same, _ = digits_split
    for readout, other in (("leverage", "filter"), ("filter", "leverage")):
        model = FlyBloomNovelty(readout=readout, random_state=0).fit(learned).set_params(readout=other)
        model.save(tmp_path / "model.fly")
        again = flybloom.load(tmp_path / "model.fly")
        assert again.readout_ == model.readout_ == readout
        assert_array_equal(again.novelty(same), model.novelty(same))
        assert model.fit(learned).readout_ == other
