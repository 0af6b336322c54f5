"""How Sphinx makes the site; `scripts/docs` calls it.

The source folder is the whole repository, so that every link between README, docs, paper and changelog that works in
a checkout works on the site as well.
"""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_site"))

import commands  # noqa: E402 - in docs/_site, as is the next
import members  # noqa: E402

import flybloom  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "flybloom"
author = "The flybloom developers"
copyright = "The flybloom developers"  # noqa: A001 - Sphinx's name for it
version = release = flybloom.__version__

root_doc = "docs/index"
include_patterns = ["docs/**", "paper/README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
exclude_patterns = [
    "docs/_site",
    "docs/gallery/index.rst",
    "**/sg_execution_times.rst",
    ".*",
    "build",
    "demo",
    "reproduced",
    "src",
    "tests",
    "benchmarks",
]

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_site/templates"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = [
    "config.cache",  # the configuration holds a function, which no cache can keep
]

autosummary_generate = True
autosummary_context = {"own_methods": members.own_methods}
autodoc_typehints = "none"  # numpydoc has them in words
numpydoc_show_class_members = False  # the template of a class lists them

sphinx_gallery_conf = {
    "examples_dirs": "examples/gallery",
    "gallery_dirs": "docs/gallery",
    "filename_pattern": ".",
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,  # times differ from run to run; nothing else of the site does
    "show_signature": False,
    "plot_gallery": "True",
    "abort_on_example_error": True,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "flybloom"
html_static_path = ["_site/static"]
html_extra_path = ["_site/root"]  # the page at the top, which leads to docs/index.html
html_css_files = ["site.css"]
html_sidebars = {name: [] for name in ("docs/faq", "paper/README")}  # nothing is below these pages
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "logo": {"text": "flybloom"},
}


def _as_target(_app: object, _name: str, source: list[str]) -> None:
    """Turn the anchors that a checkout shows into those that Sphinx knows."""
    source[0] = re.sub(r'^<a id="([\w-]+)"></a>$', r"(\1)=", source[0], flags=re.MULTILINE)


def _escape_names(_app: object, _what: str, _name: str, _value: object, _options: object, lines: list[str]) -> None:
    """Keep names such as n_features_in_ from being read as links, in shapes and in lists of attributes.

    Inherited docstrings of scikit-learn refer to pages of its site.
    """
    lines[:] = [re.sub(r":ref:`([^<`]+) <\w+_score>`", r"\1", line) for line in lines]
    lines[:] = [
        re.sub(r"(?<=\w)_(?=[,) *])", r"\\_", line) if "shape (" in line or re.match(r"\w+_, \w+_", line) else line
        for line in lines
    ]


def _write_draw_page(app: Sphinx, error: Exception | None) -> None:
    """Write the page to draw on, at the top of the site."""
    if error is None and app.builder.name == "html":
        draw = runpy.run_path(str(HERE.parent / "examples" / "draw"), run_name="draw")
        (app.outdir / "draw.html").write_text(draw["page"](*draw["learn"]()), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Write the page of all commands, and read sources and docstrings as Sphinx needs them."""
    app.connect("builder-inited", lambda _: commands.write(HERE / "commands.md"))
    app.connect("build-finished", _write_draw_page)
    app.connect("source-read", _as_target)
    app.connect("autodoc-process-docstring", _escape_names, priority=400)  # before numpydoc
