"""Draw sentences of the documentation at random, so that a person can judge their wording.

    python benchmarks/sentences.py                     # 200 sentences of the pages and docstrings, numbered
    python benchmarks/sentences.py --seed 2 --number 50

The draw depends on the seed and on the text alone. Code, tables, headings and lists of links are left out.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "docs/benchmarks/*.md")
GENERATED = {"commands.md"}
MARKUP = re.compile(r"```.*?```|:::.*?:::|<!--.*?-->|\$\$.*?\$\$|!\[[^]]*\]\([^)]*\)", re.DOTALL)
SECTION = re.compile(
    r"^(Parameters|Attributes|Returns|Raises|Notes|References|Methods|Yields|Warns)\n-+$", re.MULTILINE
)
END = re.compile(r"(?<=[.:?!])\s+(?=[A-Z`*\[(])")
SHORTEST = 5  # words; shorter pieces are labels rather than sentences


def paragraphs_of_page(text: str) -> Iterator[str]:
    """Yield the paragraphs and list items of a page of Markdown, without code, tables and headings."""
    for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", MARKUP.sub("\n\n", text)):
        if not part.lstrip().startswith(("#", "|", "    ", ">", "(")):
            yield re.sub(r"^\s*(?:[-*]|\d+\.) ", "", part)


def paragraphs_of_docstring(text: str) -> Iterator[str]:
    """Yield the paragraphs of a docstring, without examples and without the line that names a parameter."""
    for part in re.split(r"\n\s*\n", SECTION.sub("\n", text.partition("\nExamples\n")[0])):
        lines = [line for line in part.splitlines() if not re.match(r"\s*(>>>|\.\.\.|\.\. |-+$)", line)]
        for item in re.split(r"\n(?=\S+.* : )|\n(?=[a-z_]+\n)", "\n".join(lines)):
            head, _, rest = item.partition("\n")
            yield rest if " : " in head else item


def docstrings_of(path: Path) -> Iterator[str]:
    """Yield the docstrings of a module: its own, and those of its classes and functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found = ast.get_docstring(node)
            if found:
                yield found


def sentences() -> list[tuple[str, str]]:
    """Return all sentences, each with the file that it is from."""
    found = []
    pages = [path for pattern in PAGES for path in sorted(PROJECT.glob(pattern)) if path.name not in GENERATED]
    sources = [(page, paragraphs_of_page(page.read_text(encoding="utf-8"))) for page in pages]
    modules = sorted((PROJECT / "src").rglob("*.py"))
    sources += [
        (path, (part for text in docstrings_of(path) for part in paragraphs_of_docstring(text))) for path in modules
    ]
    for path, paragraphs in sources:
        parts = [part for paragraph in paragraphs for part in END.split(" ".join(paragraph.split()))]
        found += [(str(path.relative_to(PROJECT)), part) for part in parts if len(part.split()) >= SHORTEST]
    return found


def main() -> None:
    """Print a draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=200)
    arguments = parser.parse_args()
    known = sentences()
    drawn = random.Random(arguments.seed).sample(known, min(arguments.number, len(known)))  # noqa: S311 - no secret
    print(f"{len(drawn)} of {len(known)} sentences, seed {arguments.seed}\n")
    for i, (path, sentence) in enumerate(drawn, 1):
        print(f"{i:3}. {path}: {sentence}")


if __name__ == "__main__":
    main()
