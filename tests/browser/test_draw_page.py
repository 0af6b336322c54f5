"""The page to draw on, in a real browser: drawing, learning, forgetting. Opt-in: pytest -m browser."""

import html
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.browser
DRAW = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "draw"), run_name="draw")
ACTIONS = """<script>
const box = () => element("pad").getBoundingClientRect();
const point = (kind, [x, y]) => element("pad").dispatchEvent(new PointerEvent(kind, {
  clientX: box().left + x * box().width, clientY: box().top + y * box().height, buttons: 1, bubbles: true }));
const draw = ([first, ...rest]) => { point("pointerdown", first); rest.forEach(p => point("pointermove", p)); show(); };
const press = (selector, i = 0) => document.querySelectorAll(selector)[i].click();
const seen = () => ({
  row: state.row && Array.from(state.row), winners: state.winners, label: element("label").textContent,
  novelty: state.row && model.novelty(state.winners), changed: Number(element("state").dataset.changed),
  classes: model.classes.map(entry => entry.label), rows: model.classes.map(entry => entry.rows),
  shown: document.querySelectorAll("#classes tr").length, taught: document.querySelectorAll("#taught li").length,
  speaks: state.row && Array.from(model.familiarityOf(state.row, state.winners, 0)),
});
const ONE = [[0.5, 0.1], [0.5, 0.9]], ZERO = Array.from({ length: 25 }, (_, i) => [
  0.5 + 0.2 * Math.cos(i * Math.PI / 12), 0.5 + 0.35 * Math.sin(i * Math.PI / 12)]);
%s
</script></body>"""
FRAME = """<!doctype html><title></title>
<iframe srcdoc="{page}" style="width:{width}px; height:3000px; border:0"></iframe>
<script>
addEventListener("load", () => {{
  const inner = document.querySelector("iframe").contentDocument, root = inner.documentElement;
  const style = element => inner.defaultView.getComputedStyle(element);
  document.title = JSON.stringify({{
    overflow: root.scrollWidth - root.clientWidth,
    background: style(inner.body).backgroundColor,
    small: [...inner.querySelectorAll("p, td, th, figcaption, button")].filter(
      element => parseFloat(style(element).fontSize) < 11).length,
  }});
}});
</script>
"""


@pytest.fixture(scope="module")
def learned():
    """The model of the page, and rows that it has not learned."""
    return DRAW["learn"]()


@pytest.fixture(scope="module")
def page(learned):
    """The page, with what it calls out to."""
    return DRAW["page"](*learned)


def acting(page, actions):
    """Return the page with a script that acts as somebody would, and writes what it sees to the title."""
    return page.replace("</body>", ACTIONS % actions)


def test_winners_and_novelty_are_those_of_the_library(title_of, page, learned, tmp_path):
    """Bit for bit the same winners, and the same novelty, for rows that the model has not learned."""
    model, rows = learned
    told = title_of(
        acting(page, "document.title = JSON.stringify(EXPORTED.examples.map(row => {"
        " const winners = model.winners(row); return { winners, novelty: model.novelty(winners) }; }));"), tmp_path
    )  # fmt: skip
    assert len(told) == len(rows) > 50
    np.testing.assert_array_equal([row["winners"] for row in told], model._hasher.ranked_winners(rows))
    np.testing.assert_allclose([row["novelty"] for row in told], model.novelty(rows), rtol=1e-12)


def test_a_drawing_is_told_as_the_library_tells_it(title_of, page, learned, tmp_path):
    """Pointer events become 64 whole numbers; label, novelty and shares are those of the same row in Python."""
    model, _ = learned
    told = title_of(
        acting(page, 'draw(ZERO); const zero = seen(); press("#clear"); const empty = seen();'
        " draw(ONE); document.title = JSON.stringify([zero, empty, seen()]);"), tmp_path
    )  # fmt: skip
    zero, empty, one = told
    assert (zero["label"], empty["label"], one["label"]) == ("0", "?", "1")
    row = np.array([zero["row"]])
    assert row.min() == 0
    assert 12 < row.max() <= 16
    assert zero["label"] == str(model.predict(row)[0])
    np.testing.assert_allclose(zero["novelty"], model.novelty(row)[0], rtol=1e-12)
    np.testing.assert_allclose(zero["speaks"], model.explain(row, [0], kind="familiarity")[0], rtol=1e-9, atol=1e-15)


def test_what_is_taught_is_forgotten_exactly(title_of, page, learned, tmp_path):
    """A new class comes, is told, and goes; after that all counts are those the page came with."""
    model, _ = learned
    told = title_of(
        acting(page, """
        draw([[0.1, 0.5], [0.9, 0.5]]);
        element("new-label").value = "dash";
        const before = seen();
        for (let i = 0; i < 4; i++) press("#new-class button");
        const after = seen();
        press("#clear"); draw(ZERO); press("#teach button", 3);
        const wrong = seen();
        press("#taught button", 4);
        const without = seen();
        press("#forget-all");
        document.title = JSON.stringify([before, after, wrong, without, seen()]);
        """), tmp_path
    )  # fmt: skip
    before, after, wrong, without, end = told
    assert before["changed"] == 0
    assert after["label"] == "dash"
    assert after["changed"] == model.n_winners_
    assert after["classes"] == [*before["classes"], "dash"]
    assert after["rows"][-1] == 4
    assert after["shown"] == 11
    assert wrong["changed"] == 2 * model.n_winners_
    assert without["changed"] == after["changed"]
    assert end["changed"] == end["taught"] == 0
    assert (end["classes"], end["rows"]) == (before["classes"], before["rows"])


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_overflows(title_of, page, width, tmp_path):
    """No sideways scrolling, and no text too small to read; dark where the reader prefers it."""
    framed = FRAME.format(page=html.escape(page), width=width)
    light = title_of(framed, tmp_path / "light")
    dark = title_of(framed, tmp_path / "dark", "--blink-settings=preferredColorScheme=0")
    assert (light["overflow"], light["small"]) == (0, 0)
    assert light["background"] != dark["background"]


def test_the_page_needs_no_network(page):
    """Nothing is loaded from elsewhere, and the counts in it are those of the model."""
    assert "http" not in page.replace('"http-equiv"', "")
    assert "<link" not in page
    assert " src=" not in page
    assert json.loads(page.split("const EXPORTED = ")[1].split(";\n")[0])["classes"] == [str(i) for i in range(10)]
