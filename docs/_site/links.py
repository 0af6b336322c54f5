"""Look at a built site, and at Markdown that is not on it, for links that lead nowhere. Needs no network.

    python docs/_site/links.py SITE [MARKDOWN ...]

Every address within the site must be a file, and every #place in it must be there. Each page must link to another one
in its own text, so that a reader can go on.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

MADE = {"genindex.html", "search.html", "py-modindex.html", "draw.html", "api", "paper"}  # what programs write


class Page(HTMLParser):
    """What a page links to, what it links to in its own text, and the places in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.own_links: list[str] = []
        self.places: set[str] = set()
        self._articles = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag points to, and its name."""
        self._articles += tag == "article"
        known = dict(attrs)
        self.places |= {value for name in ("id", "name") if (value := known.get(name))}
        link = known.get("href") or known.get("src")
        if link is not None and not urlsplit(link).scheme and not urlsplit(link).netloc:
            self.links.append(link)
            if self._articles and tag == "a":
                self.own_links.append(link)

    def handle_endtag(self, tag: str) -> None:
        """Note where the text ends."""
        self._articles -= tag == "article"


def faults(site: Path) -> Iterator[str]:
    """Yield a sentence for each fault of a built site."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for link in page.links:
            target, place = urlsplit(link).path, unquote(urlsplit(link).fragment)
            found = (path.parent / unquote(target)).resolve() if target else path
            if not found.exists():
                yield f"{name}: {link} leads to no file"
            elif place and found in pages and place not in pages[found].places:
                yield f"{name}: {link} names a place that is not there"
        others = [link for link in page.own_links if urlsplit(link).path.endswith(".html")]
        if not others and not MADE.intersection(name.parts):
            yield f"{name}: links to no other page"


def faults_of_markdown(path: Path) -> Iterator[str]:
    """Yield a sentence for each link of a Markdown file to a file that is not there."""
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if not urlsplit(link).scheme and urlsplit(link).path and not (path.parent / urlsplit(link).path).exists():
            yield f"{path}: {link} leads to no file"


def main(site: Path, *markdown: Path) -> None:
    """Print all faults, and fail if there are any."""
    found = [*faults(site), *(fault for path in markdown for fault in faults_of_markdown(path))]
    for fault in found:
        print(fault)
    print(f"{len(list(site.rglob('*.html')))} pages, {len(found)} dead links", file=sys.stderr)
    sys.exit(bool(found))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
