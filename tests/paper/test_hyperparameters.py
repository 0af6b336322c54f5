"""The curves of m, s, rho and c: the plan covers them, and the checks see the shapes that they speak of."""

import pytest

from flybloom.paper.experiments import hyperparameters
from flybloom.paper.hyperparameter_shapes import checks, reference_table

SETTINGS = {"names": ["digits"], "most_components": 64, "fixed_components": [16, 64], "n_folds": 10, "seed": 0}
FIXED = {"m": 256.0, "s": 0.3, "rho": 32, "c": 0.5}


def score_of(m, rho, c):
    """A score that can be told from every other one."""
    return m / 1000 + rho / 1e5 - c / 1e7


@pytest.fixture(scope="module")
def results():
    """What the units of the plan would return if accuracy were a formula; m < 2 rho is left out."""
    found = {}
    for unit in hyperparameters.plan(SETTINGS, None):
        m, winners, decays = (unit.arguments[name] for name in ("components", "winners", "decays"))
        scores = [
            {"rho": rho, "c": c, "accuracy": score_of(m, rho, c), "balanced_accuracy": -score_of(m, rho, c)}
            for rho in winners
            for c in decays
            if m * 64 >= 2 * rho
        ]
        found[unit.key] = {"d": 64, "scores": scores}
    return found


def test_each_pair_of_sizes_is_one_unit():
    """All numbers of winners and all decays come with it."""
    units = hyperparameters.plan({**SETTINGS, "names": ["digits", "letter"]}, "folder")
    assert (
        len({unit.key for unit in units}) == len(units) == 2 * (20 + 20)
    )  # (16, .1), (64, .1) and (64, .3) are shared
    assert all(unit.data == "folder" for unit in units)


def test_the_papers_values():
    """Ten on a geometric scale, and c = 1."""
    values = hyperparameters.values_of(2048)
    assert values["m"] == [4 * 2**i for i in range(10)]
    assert (values["rho"][0], values["rho"][-1]) == (4, 256)
    assert (values["s"][0], values["s"][-1]) == (0.1, 0.8)
    assert (values["c"][0], values["c"][-2:]) == (0.2, [0.9, 1.0])
    assert {len(values[name]) for name in ("m", "s", "rho")} == {10}


def test_curves_hold_the_scores_of_their_settings(results):
    """Every point of every curve, by a formula for the accuracy."""
    curves = hyperparameters.curves_of("digits", SETTINGS, results)
    n_curves = {varied: len(found) for varied, found in curves["accuracy"].items()}
    assert n_curves == dict.fromkeys(["m", "s", "rho", "c"], 8)
    for metric, sign in (("accuracy", 1), ("balanced_accuracy", -1)):
        for varied, found in curves[metric].items():
            for curve in found:
                for value, score in zip(curve["values"], curve["scores"], strict=True):
                    setting = {**curve["fixed"], varied: value}
                    assert score == sign * score_of(setting["m"], setting["rho"], setting["c"])


def test_too_many_winners_leave_a_gap(results):
    """Settings with m < 2 rho are left out."""
    fewer = {**SETTINGS, "fixed_components": [4, 64]}
    small = {**results}
    for unit in hyperparameters.plan(fewer, None):
        rho = [rho for rho in unit.arguments["winners"] if 2 * rho <= 64 * unit.arguments["components"]]
        small[unit.key] = {
            "d": 64,
            "scores": [
                {"rho": r, "c": c, "accuracy": 0.5, "balanced_accuracy": 0.5}
                for r in rho
                for c in unit.arguments["decays"]
            ],
        }
    curve = hyperparameters.curves_of("digits", fewer, small)["accuracy"]["rho"][0]
    assert curve["fixed"]["m"] == 4
    assert curve["values"] == [4, 6, 10, 16, 25, 40, 64, 102]


def test_figures_show_all_curves(results):
    """Eight in each of four panels."""
    summary = hyperparameters.summarise(SETTINGS, results)
    figures = hyperparameters.draw(summary)
    assert list(figures) == ["hyperparameters-1"]
    axes = figures["hyperparameters-1"].axes
    assert [len(ax.lines) for ax in axes] == [8, 8, 8, 8]
    curve = summary.numbers["curves"]["digits"]["balanced_accuracy"]["m"][0]
    assert axes[0].lines[0].get_ydata().tolist() == curve["scores"]


def test_a_unit_on_real_rows():
    """Winners that are too many are left out."""
    found = hyperparameters.run("digits", 4.0, 0.1, [8, 32, 200], [0.5, 1.0], n_folds=2, seed=0)
    assert found["d"] == 64
    assert [(score["rho"], score["c"]) for score in found["scores"]] == [(8, 0.5), (8, 1.0), (32, 0.5), (32, 1.0)]
    assert all(0.1 < score["accuracy"] < 1 for score in found["scores"])


def curve(*scores, **fixed):
    """A curve with values 0, 1, ..."""
    return {"fixed": {**FIXED, **fixed}, "values": list(range(len(scores))), "scores": list(scores)}


GOOD = {
    "m": [curve(0.5, 0.8, 0.9), curve(0.6, 0.95, 0.93)],
    "s": [curve(0.90, 0.93, 0.91)],
    "rho": [curve(0.5, 0.7, 0.9)],
    "c": [curve(0.90, 0.92, 0.91, 0.8)],
}


def held(name, n_features, curves):
    """Whether each check holds, in order: m, s, rho, drop at c = 1, flat below."""
    return [check.holds for check in checks(name, n_features, curves)]


def test_good_shapes_hold():
    """The shapes of many features."""
    assert held("many", 64, GOOD) == [True] * 5


@pytest.mark.parametrize(
    ("place", "varied", "bad"),
    [
        (0, "m", curve(0.9, 0.8, 0.7)),
        (0, "m", curve(0.5, 0.9, 0.8)),
        (1, "s", curve(0.8, 0.95, 0.9)),
        (2, "rho", curve(0.9, 0.95, 0.85)),
        (3, "c", curve(0.90, 0.92, 0.91, 0.905)),
        (4, "c", curve(0.80, 0.92, 0.91, 0.7)),
    ],
)
def test_each_check_fails_on_a_shape_of_its_own(place, varied, bad):
    """And on no other."""
    expected = [True] * 5
    expected[place] = False
    assert held("many", 64, {**GOOD, varied: [bad]}) == expected


def test_few_features_ask_for_other_shapes():
    """A fall with large m, and a best s in the middle."""
    assert held("few", 16, GOOD)[:2] == [False, False]
    middle = {"fixed": FIXED, "values": [0.1, 0.5, 0.8], "scores": [0.4, 0.7, 0.6]}
    assert held("few", 16, {**GOOD, "m": [curve(0.5, 0.8, 0.7)], "s": [middle]}) == [True] * 5
    early = {**middle, "scores": [0.7, 0.6, 0.5]}
    assert not held("few", 16, {**GOOD, "s": [early]})[1]


def test_the_table_of_references_picks_the_right_curves():
    """Only those with what is fixed."""
    curves = {"m": [curve(0.4, 0.6, 0.5, rho=8, c=1.0), curve(0.1, 0.2, 0.3, rho=8, c=0.5)]}
    rows = reference_table({"digits": curves}).rows
    assert rows == [["digits", "m", "rho = 8, c = 1", "0.39 -> 0.92", "0.40 -> 0.50, best 0.60 at 1 d"]]
