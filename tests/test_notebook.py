"""What notebooks show: models with what they have learned, and bars; in a real kernel."""

import nbformat
import pytest
from nbclient import NotebookClient
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from flybloom import (
    FlyBloomClassifier,
    FlyBloomClassifierCV,
    FlyBloomNovelty,
    FlyRidgeClassifier,
    OpenSetClassifier,
    SlidingWindow,
)
from flybloom.estimators.learned_page import in_words

CELLS = """
import flybloom
from sklearn.datasets import load_digits
X, y = load_digits(return_X_y=True)
model = flybloom.FlyBloomClassifier(1024, n_winners=16, random_state=0).fit(X, y)
model

with flybloom.progress(len(X)) as on_progress:
    flybloom.train(model, (X, y), "y", on_progress=on_progress)

_ = flybloom.FlyBloomClassifierCV(256, n_winners=8, verbose=True, random_state=0).fit(X[:200], y[:200])
""".strip().split("\n\n")


@pytest.mark.parametrize("kind", [FlyBloomClassifier, FlyRidgeClassifier, FlyBloomNovelty])
def test_a_model_shows_what_it_has_learned(kind, digits):
    """Under scikit-learn's diagram: rows, memory, and classes with the load of the fullest, where there are any."""
    X, y = digits
    model = kind(512, n_winners=16, encoding="standard", random_state=0)
    assert "flybloom-learned" not in model._repr_html_()
    page = model.fit(X, y)._repr_mimebundle_()["text/html"]
    assert "sk-estimator" in page
    assert '<td style="text-align:left">1,797</td>' in page
    assert ("10: 0, 1, 2, 3, 4, 5, ... 9" in page) == (kind is not FlyBloomNovelty)
    assert ("the fullest" in page) == (kind is not FlyBloomNovelty)
    assert "of counts" in page
    assert make_pipeline(StandardScaler(), model)._repr_html_()


SMALL = {"n_components": 256, "n_winners": 8, "encoding": "standard", "random_state": 0}


@pytest.mark.parametrize(
    ("wrapper", "n_rows"),
    [
        (OpenSetClassifier(FlyBloomClassifier(**SMALL)), 300),
        (SlidingWindow(FlyBloomClassifier(**SMALL), n_rows=200), 200),
        (FlyBloomClassifierCV(**SMALL, decay=0.4), 300),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_wrapper_shows_what_the_model_inside_has_learned(wrapper, n_rows, digits):
    """Once it has learned something; before there is the diagram alone."""
    assert "flybloom-learned" not in wrapper._repr_html_()
    page = getattr(wrapper, "fit", wrapper.partial_fit)(digits[0][:300], digits[1][:300])._repr_html_()
    assert f'<td style="text-align:left">{n_rows}</td>' in page


def test_what_is_shown_is_escaped_and_can_be_switched_off(digits):
    """Labels are text from anywhere; ``display="text"`` of scikit-learn is heeded."""
    X, y = digits
    model = FlyBloomClassifier(512, n_winners=16, encoding="standard", random_state=0)
    model.fit(X, [f"<b>{label}" for label in y])
    assert "<b>0" not in model._repr_html_()
    assert "&lt;b&gt;0" in model._repr_html_()
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()


def test_rows_of_the_sketch_are_told_of(digits):
    """Who shares a notebook may want to know."""
    X, y = digits
    page = FlyBloomClassifier(512, random_state=0).partial_fit(X[:50], y[:50])._repr_html_()
    assert "50 rows, from which the encoding was derived" in page


def test_bytes_in_words():
    """As people read them."""
    assert [in_words(n) for n in (0, 1023, 1024, 1536 * 1024, 2**60)] == [
        "0 bytes", "1023 bytes", "1.0 KiB", "1.5 MiB", "1048576.0 TiB",
    ]  # fmt: skip


def test_a_real_kernel_shows_model_bars_and_search(tmp_path):
    """A notebook is run; what its cells display is looked at."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown, bars, search = (cell.outputs for cell in book.cells)
    assert "flybloom-learned" in shown[0]["data"]["text/html"]
    widgets = book.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    assert "application/vnd.jupyter.widget-view+json" in bars[0]["data"]
    assert any("rows/s" in str(widget) for widget in widgets.values())
    assert search[0]["text"].rstrip().endswith("settings")
