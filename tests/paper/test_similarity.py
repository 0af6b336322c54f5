"""Similar classes: means over projections, trees, and checks that can fail."""

import numpy as np
import pytest

from flybloom.paper.experiments import similarity


def close(n, pairs):
    """A similarity of 0.9 between all classes but some pairs."""
    found = np.full((n, n), 0.9)
    for (a, b), value in pairs.items():
        found[a, b] = found[b, a] = value
    np.fill_diagonal(found, 1)
    return found.tolist()


def result(pairs):
    """Both similarities alike, of ten digits."""
    return {"classes": [str(i) for i in range(10)], **dict.fromkeys(similarity.KINDS, close(10, pairs))}


SETTINGS = {"names": ["mnist"], "n_seeds": 2}


def test_units_have_names_of_their_own():
    """Data set and projection."""
    units = similarity.plan({"names": ["mnist", "letter"], "n_seeds": 3}, "folder")
    assert len({unit.key for unit in units}) == len(units) == 6


def test_a_unit_compares_classes():
    """Symmetric, one on the diagonal; familiarity spreads out."""
    found = similarity.run("digits", 0)
    assert found["classes"] == [str(i) for i in range(10)]
    for kind in similarity.KINDS:
        values = np.array(found[kind])
        assert values.shape == (10, 10)
        assert (np.diag(values) == 1).all()
        assert (values == values.T).all()
    assert np.mean(found["filters"]) > np.mean(found["familiarity"])


def test_branches_of_a_tree():
    """Two pairs, then all: single linkage joins at the nearest, average at the mean."""
    values = np.array(close(4, {(0, 1): 0.99, (2, 3): 0.97, (0, 2): 0.95}))
    single, average = (similarity.joins(values, linkage) for linkage in similarity.LINKAGES)
    assert [branch for branch, _ in single] == [{0, 1}, {2, 3}, {0, 1, 2, 3}]
    assert [height for _, height in single] == pytest.approx([0.01, 0.03, 0.05])
    assert average[-1][1] == pytest.approx((0.05 + 3 * 0.1) / 4)
    assert similarity.height_of(frozenset([2, 3]), single) == (pytest.approx(0.03), True)
    assert similarity.height_of(frozenset([1, 2]), single) == (pytest.approx(0.05), False)


def test_their_pairs_are_looked_for_in_the_mean_and_in_each_projection():
    """The mean decides, the projections are counted."""
    theirs = result({(4, 9): 0.99, (7, 9): 0.98})
    other = result({(4, 9): 0.99, (3, 5): 0.97})
    summary = similarity.summarise(SETTINGS, {"mnist/seed00": theirs, "mnist/seed01": other})
    pair, _ = summary.checks
    assert pair.holds
    assert pair.note == "on top in 1 of 2 projections"
    assert summary.tables[0].rows[0][:5] == [
        "mnist", "(4, 9); (7, 9)", "filters", "(4, 9) 0.990; (7, 9) 0.940; (3, 5) 0.935", "1/2"
    ]  # fmt: skip
    pair, _ = similarity.summarise(SETTINGS, {"mnist/seed00": other, "mnist/seed01": other}).checks
    assert not pair.holds


def test_the_tree_is_held_against_theirs():
    """A tree that lacks most of their branches fails, one that chains as theirs holds."""
    summary = similarity.summarise(SETTINGS, {"mnist/seed00": result({(4, 9): 0.99, (3, 8): 0.98})})
    assert not summary.checks[1].holds
    branches = summary.tables[1].rows
    assert branches[0] == ["4 9", 0.0147, 0.01, "yes", 0.01, "yes"]
    assert branches[2][2:4] == [0.1, "no"]
    nested = {
        (4, 9): 0.99, (3, 8): 0.985, (1, 6): 0.984, (7, 9): 0.98, (5, 8): 0.978, (0, 1): 0.976, (2, 6): 0.97,
        (5, 2): 0.96, (7, 3): 0.95,
    }  # fmt: skip
    assert similarity.summarise(SETTINGS, {"mnist/seed00": result(nested)}).checks[1].holds


def test_the_figure_has_two_maps_and_a_tree():
    """With the values, and similar classes side by side."""
    summary = similarity.summarise(SETTINGS, {"mnist/seed00": result({(4, 9): 0.99})})
    axes = similarity.draw(summary)["similarity"].axes
    assert [len(ax.images) for ax in axes] == [1, 1, 0]
    assert axes[0].images[0].get_array()[4, 9] == 0.99
    assert [label.get_text() for label in axes[2].get_xticklabels()[:2]] == ["4", "9"]
