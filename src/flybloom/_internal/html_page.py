"""Self-contained HTML pages without scripts, escaped, with common colours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import resources
from typing import Any

from flybloom.exceptions import require_extra

LIGHT = {
    "page": "#fbfaf8", "card": "#ffffff", "ink": "#23201d", "soft": "#6b645c", "line": "#e4dfd8",
    "accent": "#b5482a", "other": "#3b6ea5", "good": "#2f7d4f",
}  # fmt: skip
DARK = {
    "page": "#161412", "card": "#211e1b", "ink": "#ece7e1", "soft": "#a79f95", "line": "#3a352f",
    "accent": "#e2795a", "other": "#7fb0e6", "good": "#6fc492",
}  # fmt: skip


def render_page(package: str, extra: str, context: dict[str, Any], filters: Iterable[Callable[..., str]] = ()) -> str:
    """Render ``page.html.jinja`` of a package, which extends ``base``."""
    require_extra("jinja2", extra, "The page")
    from jinja2 import DictLoader, Environment  # noqa: PLC0415 - an extra, so only here

    templates = {
        name: resources.files(where).joinpath("page.html.jinja").read_text(encoding="utf-8")
        for name, where in {"base": "flybloom._internal", "page": package}.items()
    }
    environment = Environment(loader=DictLoader(templates), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update({function.__name__: function for function in filters})
    return environment.get_template("page").render(**context, light=LIGHT, dark=DARK)
