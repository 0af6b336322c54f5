"""The report in a real browser, at desktop and phone width, in light and dark. Opt-in: pytest -m browser."""

import html

import pytest

from flybloom import FlyBloomClassifier
from flybloom.report import report

pytestmark = pytest.mark.browser
FRAME = """<!doctype html><title></title>
<iframe srcdoc="{page}" style="width:{width}px; height:3000px; border:0"></iframe>
<script>
addEventListener("load", () => {{
  const inner = document.querySelector("iframe").contentDocument, root = inner.documentElement;
  const style = element => inner.defaultView.getComputedStyle(element);
  document.title = JSON.stringify({{
    width: inner.defaultView.innerWidth,
    overflow: root.scrollWidth - root.clientWidth,
    broken: [...inner.images].filter(image => !image.naturalWidth).length,
    images: inner.images.length,
    background: style(inner.body).backgroundColor,
    small: [...inner.querySelectorAll("p, td, th, dd, figcaption")].filter(
      element => parseFloat(style(element).fontSize) < 11).length,
  }});
}});
</script>
"""


@pytest.fixture(scope="module")
def page(digits):
    """A report with pictures."""
    X, y = digits
    model = FlyBloomClassifier(2048, n_winners=32, random_state=0).fit(X[:1000], y[:1000])
    return report(model, X[1000:], y[1000:], image_shape=(8, 8))


def in_frame(page, width):
    """Return a page that shows the report, as it is, in a frame of that width, and tells what it looks like."""
    return FRAME.format(page=html.escape(page), width=width)


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_overflows_and_every_picture_is_drawn(title_of, page, width, tmp_path):
    """No sideways scrolling of the page, no broken image, no text too small to read."""
    seen = title_of(in_frame(page, width), tmp_path)
    assert seen["width"] == width
    assert seen["overflow"] == 0
    assert seen["broken"] == 0
    assert seen["images"] > 5
    assert seen["small"] == 0


def test_dark_and_light_differ(title_of, page, tmp_path):
    """The page follows what the reader prefers."""
    light = title_of(in_frame(page, 1280), tmp_path / "light")
    dark = title_of(in_frame(page, 1280), tmp_path / "dark", "--blink-settings=preferredColorScheme=0")
    assert light["background"] != dark["background"]
