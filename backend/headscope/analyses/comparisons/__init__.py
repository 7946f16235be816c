"""Views over several finished gating runs: one explicit dict. Loads no torch to import.

In a notebook, with results read by ``Result.from_json`` or handed out by a run::

    from headscope.analyses import comparisons
    figure = comparisons.build("ecdf", results, score="interference")   # plotly JSON
    table = comparisons.table("shares", results, threshold=0.6)

Page, API and command line call the same two functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from headscope.analyses.base import Result
from headscope.analyses.columns import Table
from headscope.analyses.comparisons.base import MOST, Chosen, Compared, CompareView, Comparison, choose
from headscope.analyses.comparisons.correlation import CORRELATION
from headscope.analyses.comparisons.ecdf import ECDF
from headscope.analyses.comparisons.overlap import OVERLAP
from headscope.analyses.comparisons.shares import SHARES
from headscope.core.gating.roles import SCORE_NAMES
from headscope.errors import Invalid, NotFound
from headscope.figures.theme import Drawing
from headscope.figures.view import view

__all__ = [
    "COMPARISONS",
    "MOST",
    "Chosen",
    "CompareView",
    "Compared",
    "Comparison",
    "build",
    "choose",
    "find",
    "look",
    "reported",
    "table",
]  # fmt: skip

COMPARISONS: dict[str, Comparison] = {
    "shares": SHARES,
    "ecdf": ECDF,
    "correlation": CORRELATION,
    "overlap": OVERLAP,
}


def build(
    name: str,
    runs: Iterable[Compared | Result],
    *,
    threshold: float = 0.5,
    mode: str = "every",
    score: str = "facilitation",
    published: bool = True,
    common: bool = False,
    theme: str = "light",
) -> Drawing:
    """One figure over several runs. ``layout.meta`` has ``title``, ``reading``, ``notes`` and ``runs``.

    ``NotFound`` (unknown-comparison), ``Invalid`` where the runs can't be compared: see ``choose``.
    """
    comparison = find(name)
    seen = look(threshold=threshold, mode=mode, score=score, published=published, common=common, theme=theme)
    chosen = choose(runs, comparison)
    return _told(comparison.draw(chosen, seen), chosen)


def table(
    name: str,
    runs: Iterable[Compared | Result],
    *,
    threshold: float = 0.5,
    mode: str = "every",
    score: str = "facilitation",
    published: bool = True,
    common: bool = False,
) -> Table:
    """The same content as numbers."""
    comparison = find(name)
    seen = look(threshold=threshold, mode=mode, score=score, published=published, common=common)
    return comparison.rows(choose(runs, comparison), seen)


def reported(
    name: str, runs: Iterable[Compared | Result], seen: CompareView
) -> tuple[Chosen, Drawing, Table]:
    """The runs as they were chosen, with both figure and table: what an export holds."""
    comparison = find(name)
    chosen = choose(runs, comparison)
    return chosen, _told(comparison.draw(chosen, seen), chosen), comparison.rows(chosen, seen)


def find(name: str) -> Comparison:
    """One of ``COMPARISONS``; ``NotFound`` (unknown-comparison) lists them."""
    if name not in COMPARISONS:
        raise NotFound(
            f"There is no comparison {name!r}.",
            f"Known: {', '.join(COMPARISONS)}.",
            code="unknown-comparison",
        )
    return COMPARISONS[name]


def look(
    *,
    threshold: float = 0.5,
    mode: str = "every",
    score: str = "facilitation",
    published: bool = True,
    common: bool = False,
    theme: str = "light",
) -> CompareView:
    """Checked: ``Invalid`` for a threshold outside (0, 1], an unknown mode, score or theme."""
    seen = CompareView(view(threshold, mode, theme), published=published, common=common)
    if score not in SCORE_NAMES:
        raise Invalid(f"There is no score {score!r}.", f"Use {', '.join(SCORE_NAMES)}.", code="unknown-score")
    return replace(seen, score=score)


def _told(figure: Drawing, chosen: Chosen) -> Drawing:
    named = [{"run": run.run, "label": run.label} for run in chosen.runs]
    meta = {**figure["layout"]["meta"], "notes": list(chosen.notes), "runs": named}
    return {**figure, "layout": {**figure["layout"], "meta": meta}}
