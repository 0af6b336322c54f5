"""The report: facts that are true, and a page that is safe, complete and needs nothing."""

import base64
import json
import re
import struct
import sys
import zlib
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix, log_loss
from sklearn.neighbors import KNeighborsClassifier

from flybloom import FlyBloomClassifier, FlyRidgeClassifier
from flybloom.report import class_similarity, facts, render, report
from flybloom.report.html import grey_image, heat_image, number, percent, size

pytest.importorskip("jinja2")
NASTY = '<script>alert("1")</script>'
VOID = {"meta", "img"}


@pytest.fixture(scope="module")
def model(digits):
    """A small classifier of the first 1000 digits."""
    X, y = digits
    return FlyBloomClassifier(2048, n_winners=32, random_state=0).fit(X[:1000], y[:1000])


@pytest.fixture(scope="module")
def test_rows(digits):
    """The other digits."""
    return digits[0][1000:], digits[1][1000:]


@pytest.fixture(scope="module")
def found(model, test_rows):
    """Facts about them."""
    return facts(model, *test_rows, image_shape=(8, 8))


class Page(HTMLParser):
    """Reads a page; knows its tags, texts and attributes, and refuses tags that do not match."""

    def __init__(self, page):
        """Read at once."""
        super().__init__()
        self.tags, self.open, self.texts, self.attributes = [], [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        """Keep the tag."""
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Keep a tag without contents."""
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_endtag(self, tag):
        """Check that it was the last to be opened."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Keep the text."""
        self.texts.append(data.strip())


def test_facts_are_those_of_scikit_learn(model, test_rows, found):
    """Scores and confusion, computed elsewhere."""
    X, y = test_rows
    predicted = model.predict(X)
    assert found["scores"]["accuracy"] == pytest.approx(accuracy_score(y, predicted))
    assert found["scores"]["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y, predicted))
    assert found["scores"]["log_loss"] == pytest.approx(log_loss(y, model.predict_proba(X)))
    assert found["confusion"] == confusion_matrix(y, predicted).tolist()
    assert found["scores"]["mistakes"] == (y != predicted).sum()


def test_facts_add_up(model, test_rows, found):
    """Histograms and bins hold every row once; pairs hold what the confusion holds; occupancy is that of the counts."""
    y = test_rows[1]
    assert sum(found["novelty"]["right"]) + sum(found["novelty"]["wrong"]) == len(y)
    assert sum(found["novelty"]["wrong"]) == found["scores"]["mistakes"]
    assert sum(found["calibration"]["rows"]) == len(y)
    rights = [n * a for n, a in zip(found["calibration"]["rows"], found["calibration"]["accuracy"], strict=True) if n]
    assert sum(rights) == pytest.approx(found["scores"]["accuracy"] * len(y))
    confusion = np.array(found["confusion"])
    for pair in found["pairs"]:
        a, b = int(pair["a"]), int(pair["b"])
        assert pair["mistakes"] == confusion[a, b] + confusion[b, a]
        assert all({example["label"], example["predicted"]} == {pair["a"], pair["b"]} for example in pair["examples"])
    np.testing.assert_allclose([c["occupancy"] for c in found["classes"]], (model.counts_ > 0).mean(axis=1))


def test_facts_are_plain_and_the_page_follows_from_them_alone(found):
    """Written to json and read again they give the same page."""
    assert render(json.loads(json.dumps(found))) == render(found)


def test_the_page_is_whole_and_loads_nothing(model, test_rows, tmp_path):
    """Tags match, no scripts, no addresses but data inside; written to the file as returned."""
    page = report(model, *test_rows, tmp_path / "report.html", image_shape=(8, 8))
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    parsed = Page(page)
    assert not {"script", "link", "iframe", "object"} & set(parsed.tags)
    sources = [value for _, name, value in parsed.attributes if name in {"src", "href", "action"}]
    assert sources
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    assert not [name for _, name, _ in parsed.attributes if name.startswith("on")]
    assert "url(" not in page
    for heading in (
        "Confusion",
        "Hardest pairs",
        "Class similarity",
        "Calibration",
        "Novelty",
        "Classes",
        "Parameters",
    ):
        assert heading in parsed.texts


def test_labels_names_and_title_are_escaped(digits):
    """Whatever they hold, they stay text."""
    X, y = digits
    frame = pd.DataFrame(X, columns=[f"{NASTY}{i}" for i in range(64)])
    labels = np.array([NASTY, "b & c", "'\"quotes\"'"])[y % 3]
    model = FlyBloomClassifier(256, n_winners=8, random_state=0).fit(frame[:1000], labels[:1000])
    page = report(model, frame[1000:], labels[1000:], title=NASTY)
    parsed = Page(page)
    assert "script" not in parsed.tags
    assert NASTY not in page
    assert NASTY in parsed.texts
    assert "b & c" in parsed.texts


def test_labels_never_learned_count_as_mistakes(model, test_rows):
    """They get a row of the confusion, and the page says so."""
    X, y = test_rows
    found = facts(model, X, np.where(y == 3, 12, y))
    assert found["scores"]["unlearned_rows"] == (y == 3).sum()
    assert found["labels"][-1] == "12"
    assert found["classes"][-1]["occupancy"] is None
    assert "never learned" in render(found)


def test_large_labels_of_another_type_stay_apart(digits):
    """Whole numbers that are one and the same as floats."""
    X, y = digits
    labels = 2**53 + y % 2
    model = FlyBloomClassifier(256, n_winners=8, random_state=0).fit(X[:1000], labels[:1000])
    found = facts(model, X[1000:], labels[1000:].astype(np.uint64))
    assert found["labels"] == [str(2**53), str(2**53 + 1)]
    assert {**found, "timings": None} == {**facts(model, X[1000:], labels[1000:]), "timings": None}
    assert found["pairs"][0]["mistakes"] == found["scores"]["mistakes"] > 0


def test_many_classes_make_a_picture_instead_of_a_table(rng):
    """Thirty classes, of which two have no test rows."""
    X, y = rng.random((300, 12)), np.arange(300) % 30
    model = FlyBloomClassifier(256, n_winners=8, random_state=0).fit(X, y)
    page = report(model, X[y < 28], y[y < 28])
    Page(page)
    assert page.count('class="picture"') == 3
    assert 'class="heat"' not in page


@pytest.fixture(scope="module")
def many():
    """A model of 250 classes that it often confuses, with test rows, some of a label that it has not learned."""
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 250
    X = rng.standard_normal((250, 12))[y] + 0.8 * rng.standard_normal((2000, 12))
    model = FlyBloomClassifier(512, n_winners=8, class_weight="balanced", random_state=0).fit(X[:1000], y[:1000])
    return model, X[1000:], np.where(y[1000:] == 7, 999, y[1000:])


def test_pairs_of_many_classes_are_those_most_often_mistaken(many):
    """What is said of pairs stays within bounds, is right, and is said of the hardest ones; classes are all there."""
    model, X, y = many
    found, predicted = facts(model, X, y), model.predict(X)
    labels = np.array(found["labels"], int)
    assert (len(labels), found["omitted_classes"], len(found["classes"])) == (100, 151, 251)
    confusion = confusion_matrix(y, predicted, labels=[*range(250), 999])
    at = np.where(labels == 999, 250, labels)
    assert_array_equal(found["confusion"], confusion[np.ix_(at, at)])
    mistakes = np.triu(confusion + confusion.T, 1)[:250, :250]
    hardest = np.sort(mistakes[mistakes > 0])[::-1][:5]
    assert [pair["mistakes"] for pair in found["pairs"]] == hardest.tolist()
    learned = np.array(found["similarity"]["labels"], int)
    for kind in ("filters", "familiarity"):
        expected = class_similarity(model, kind=kind)[np.ix_(learned, learned)]
        assert_array_equal(found["similarity"][kind], expected.round(6))
    np.testing.assert_allclose([c["background"] for c in found["classes"][:-1]], model.filters_.mean(axis=1))
    page = Page(render(found))
    assert any("100 classes of 251" in text for text in page.texts)
    assert any("200 of 251 classes" in text for text in page.texts)
    assert len(render(found)) < 300_000


def test_blocks_change_nothing(many, monkeypatch):
    """Neither those of rows nor those of classes; sparse rows of any format can be cut."""
    model, X, y = many
    model = FlyBloomClassifier(512, n_winners=8, encoding="none", random_state=0).fit(X, y)
    whole = facts(model, sparse.csr_matrix(X), y)
    monkeypatch.setattr("flybloom.report.summary.VALUES_AT_ONCE", 512 * 7)
    for rows in (X, sparse.csr_matrix(X), sparse.coo_matrix(X), X.tolist()):
        assert {**facts(model, rows, y), "timings": None} == {**whole, "timings": None}


def test_fewer_mistakes_than_pairs_are_filled_with_the_most_similar(many):
    """Labels of the confusion are those tested most often, where nothing is mistaken."""
    model, X, _ = many
    y = model.predict(X)
    found = facts(model, X, y)
    assert found["scores"]["mistakes"] == 0
    similarity = np.array(found["similarity"]["familiarity"])
    assert [pair["similarity"] for pair in found["pairs"]] == pytest.approx(
        np.sort(similarity[np.triu_indices(100, 1)])[::-1][:5], abs=1e-6
    )
    tested = np.sort(np.unique(y, return_counts=True)[1])[::-1]
    assert sum(map(sum, found["confusion"])) == tested[:100].sum()


def test_sparse_rows_and_one_class_are_reported(digits):
    """No row is mistaken, and nothing divides by zero."""
    X, y = digits
    model = FlyBloomClassifier(256, n_winners=8, encoding="none", random_state=0).partial_fit(X[y == 3], y[y == 3])
    found = facts(model, sparse.csr_matrix(X[y == 3]), y[y == 3])
    assert found["scores"]["accuracy"] == 1
    assert found["pairs"] == []
    Page(render(found))


def test_pictures_are_valid_png():
    """Their chunks have right sums, and their pixels are those of the array."""
    values = np.arange(6.0).reshape(2, 3)
    for address, channels in ((grey_image(values), 1), (heat_image(values / 5, (1, 2, 3)), 4)):
        data = base64.b64decode(address.removeprefix("data:image/png;base64,"))
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        at, chunks = 8, {}
        while at < len(data):
            length = struct.unpack(">I", data[at : at + 4])[0]
            name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
            assert zlib.crc32(name + body) == struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0]
            chunks[name] = body
            at += 12 + length
        assert struct.unpack(">II", chunks[b"IHDR"][:8]) == (3, 2)
        pixels = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(2, 1 + 3 * channels)[:, 1:]
        np.testing.assert_array_equal(pixels.reshape(2, 3, channels)[..., -1], (values / 5 * 255).round())
    assert grey_image(np.ones((2, 2)))


def test_numbers_are_written_for_people():
    """Thin spaces between thousands, dashes for nothing, units that fit."""
    assert number(12345.678, 1) == "12\u202f345.7"
    assert (number(None), percent(None)) == ("\u2013", "\u2013")
    assert percent(0.1234) == "12.3\u202f%"
    assert [size(n) for n in (5, 2048, 3 * 2**20, 2**41)] == [
        "5\u202fB",
        "2.0\u202fKiB",
        "3.0\u202fMiB",
        "2048.0\u202fGiB",
    ]


@pytest.mark.parametrize("alpha", ["gcv", 0.3])
def test_pairs_of_winners_have_a_section_of_their_own(digits, test_rows, alpha):
    """The penalty and what was tried instead of novelty; similarity of scores instead of filters."""
    X, y = digits
    model = FlyRidgeClassifier(512, alpha=alpha, random_state=0).fit(X[:1000], y[:1000])
    found = facts(model, *test_rows, image_shape=(8, 8))
    assert found["scores"]["accuracy"] == accuracy_score(test_rows[1], model.predict(test_rows[0]))
    assert found["novelty"] is None
    assert found["similarity"]["scores"] == class_similarity(model).round(6).tolist()
    penalty = found["penalty"]
    assert (penalty["alpha"], penalty["is_chosen"]) == (model.alpha_, alpha == "gcv")
    assert [[point["alpha"], point["gcv"]] for point in penalty["tried"]] == model.gcv_.tolist()
    assert found["calibration"]["temperature"] == model.temperature_
    assert found["sizes"]["bytes"] == model.counts_.nbytes + 512 * 513 // 2 * 4
    page = Page(render(json.loads(json.dumps(found))))
    assert "Weights" in page.texts
    assert not {"Novelty", "background"} & set(page.texts)
    assert ("polyline" in page.tags) == (alpha == "gcv")
    tabular = facts(model, test_rows[0], test_rows[1])
    shares = model.explain(test_rows[0][:1], 3) - model.explain(test_rows[0][:1], 5)
    assert shares.shape == (1, 64)
    assert all(example["features"] for pair in tabular["pairs"] for example in pair["examples"])


def test_what_cannot_be_reported_is_refused(model, test_rows, digits):
    """Other models, and images of another size."""
    with pytest.raises(
        TypeError, match=r"must be a FlyBloomClassifier or a FlyRidgeClassifier. Got KNeighborsClassifier instead"
    ):
        facts(KNeighborsClassifier().fit(*digits), *test_rows)
    with pytest.raises(ValueError, match=r"must multiply to the 64 features of X. Got \(7, 8\) instead"):
        facts(model, *test_rows, image_shape=(7, 8))


def test_without_jinja_the_page_says_what_to_install(found, monkeypatch):
    """Facts need no extra."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'flybloom[report]'")):
        render(found)
