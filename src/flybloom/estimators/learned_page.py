"""HTML summary of a model for notebooks, below scikit-learn's diagram."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from flybloom.estimators.access import reading_learned

if TYPE_CHECKING:
    from flybloom.core.model import Model

MAX_LABELS = 6
MAX_COUNTS = 2**24  # a table beyond that is not looked through just to be shown
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


class ShowsInside:
    """Mixin that shows a summary of the inner model in notebooks."""

    shown_inside: ClassVar[str]  # the attribute that holds the model

    def _html_repr(self) -> str:
        """Return the HTML for notebooks."""
        diagram: str = super()._html_repr()  # type: ignore[misc]
        model: Any = getattr(self, self.shown_inside, None)
        if not hasattr(model, "_reading_learned"):  # not fitted yet, or of another library
            return diagram
        with reading_learned(model) as learned:
            return diagram + as_html(learned_facts(learned))


def learned_facts(learned: Model) -> dict[str, str]:
    """Return the summary: rows, classes, memory, and the occupancy of the fullest filter."""
    counts = learned.counts
    facts = {"rows": f"{counts.unit.rows(counts.n_rows):,}"}
    if learned.origin is not None and learned.origin.sketch.n_distinct:
        facts["sketch"] = f"{learned.origin.sketch.n_distinct:,} rows, from which the encoding was derived"
    classes = getattr(counts, "classes", None)
    if classes is not None:
        more = f", ... {classes[-1]}" if len(classes) > MAX_LABELS else ""
        facts["classes"] = f"{len(classes)}: {', '.join(map(str, classes[:MAX_LABELS]))}{more}" if len(classes) else "0"
    facts["memory"] = (
        f"{in_words(counts.n_bytes)} of counts, {in_words(learned.hasher.projection.n_bytes)} of connections"
    )
    table = getattr(counts, "table", None)
    if counts.n_winners and table is not None and classes is not None and 0 < table.size <= MAX_COUNTS:
        used = np.count_nonzero(table, axis=0) / len(table)
        facts["load"] = f"{used.max():.1%} of the components have won in class {classes[used.argmax()]}, the fullest"
    return facts


def as_html(facts: dict[str, str]) -> str:
    """Return facts as an HTML table in the colours of the surrounding page."""
    rows = "".join(
        f'<tr><th style="text-align:left;padding-right:1em">{html.escape(name)}</th>'
        f'<td style="text-align:left">{html.escape(value)}</td></tr>'
        for name, value in facts.items()
    )
    return f'<table class="flybloom-learned">{rows}</table>'


def in_words(n_bytes: int) -> str:
    """Format a number of bytes."""
    step = min(max(n_bytes.bit_length() - 1, 0) // 10, len(UNITS) - 1)
    return f"{n_bytes / 1024**step:.{min(step, 1)}f} {UNITS[step]}"
