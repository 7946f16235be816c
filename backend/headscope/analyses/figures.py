"""A result's figures and their table twins, by name: what page, export, notebook and tests call.

A figure is plotly JSON without template (``headscope.figures.theme.theme()`` has both); arrays are typed;
``layout.meta`` holds ``title`` and ``reading``, a sentence that says how to read it. The table twin carries
the same content as numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headscope.analyses.agreement import figures as agreement
from headscope.analyses.base import Result
from headscope.analyses.battery import figures as battery
from headscope.analyses.cchg import figures as cchg
from headscope.analyses.chg import figures as chg
from headscope.analyses.columns import Table
from headscope.analyses.composition import figures as composition
from headscope.analyses.eigen import figures as eigen
from headscope.analyses.evaluation import figures as evaluation
from headscope.analyses.induction import figures as induction
from headscope.analyses.meaning import figures as meaning
from headscope.analyses.mediation_abstract_rules import figures as abstract_rules
from headscope.analyses.mediation_function_vectors import figures as function_vectors
from headscope.analyses.paths import figures as paths
from headscope.analyses.probe import figures as probe
from headscope.analyses.relatives import figures as relatives
from headscope.analyses.residual import figures as residual
from headscope.analyses.sequential_ablation import figures as sequential_ablation
from headscope.analyses.skip_trigrams import figures as skip_trigrams
from headscope.analyses.sufficiency import figures as sufficiency
from headscope.errors import Invalid, NotFound
from headscope.figures.theme import Figure
from headscope.figures.view import View, view

Draw = Callable[[Result, View], Figure]

FIGURES: Mapping[str, Mapping[str, Draw]] = {
    "chg": chg.FIGURES,
    "cchg": cchg.FIGURES,
    "evaluation": evaluation.FIGURES,
    "induction": induction.FIGURES,
    "battery": battery.FIGURES,
    "sufficiency": sufficiency.FIGURES,
    "sequential-ablation": sequential_ablation.FIGURES,
    "relatives": relatives.FIGURES,
    "probe": probe.FIGURES,
    "agreement": agreement.FIGURES,
    "mediation-function-vectors": function_vectors.FIGURES,
    "mediation-abstract-rules": abstract_rules.FIGURES,
    "eigen": eigen.FIGURES,
    "composition": composition.FIGURES,
    "skip-trigrams": skip_trigrams.FIGURES,
    "paths": paths.FIGURES,
    "residual": residual.FIGURES,
    "meaning": meaning.FIGURES,
}
TABLES: Mapping[str, Mapping[str, Callable[[Result, View], Table]]] = {
    "chg": chg.TABLES,
    "cchg": cchg.TABLES,
    "evaluation": evaluation.TABLES,
    "induction": induction.TABLES,
    "battery": battery.TABLES,
    "sufficiency": sufficiency.TABLES,
    "sequential-ablation": sequential_ablation.TABLES,
    "relatives": relatives.TABLES,
    "probe": probe.TABLES,
    "agreement": agreement.TABLES,
    "mediation-function-vectors": function_vectors.TABLES,
    "mediation-abstract-rules": abstract_rules.TABLES,
    "eigen": eigen.TABLES,
    "composition": composition.TABLES,
    "skip-trigrams": skip_trigrams.TABLES,
    "paths": paths.TABLES,
    "residual": residual.TABLES,
    "meaning": meaning.TABLES,
}

WHOLE: Mapping[str, str] = {
    "agreement": "facilitation",
    "chg": "roles",
    "induction": "heads",
    "battery": "heads",
}
"""The figure whose table is a whole run's CSV, where it isn't the first."""

ABOUT_ONE_HEAD: Mapping[str, tuple[str, ...]] = {
    "eigen": ("spectra",),
    "composition": ("partners",),
    "skip-trigrams": ("trigrams", "crossed"),
}
"""Figures that show one head, and say which in ``layout.meta.head``; ``head`` in the view picks it."""


def names(analysis: str) -> list[str]:
    """The figures of an analysis in the order of its page."""
    return list(FIGURES[analysis])


def whole(analysis: str) -> str:
    """The figure whose table is the CSV of a whole run."""
    return WHOLE.get(analysis, names(analysis)[0])


def build(
    result: Result,
    name: str,
    threshold: float = 0.5,
    mode: str = "every",
    theme: str = "light",
    head: str | None = None,
) -> Figure:
    """One figure. ``NotFound`` (unknown-figure) lists those there are; ``Invalid`` where a view can't be."""
    draw: Draw = _find(FIGURES, result, name)
    return draw(result, _of(result, view(threshold, mode, theme, head)))


def table(
    result: Result, name: str, threshold: float = 0.5, mode: str = "every", head: str | None = None
) -> Table:
    """The same content as numbers, at full resolution."""
    rows: Callable[[Result, View], Table] = _find(TABLES, result, name)
    return rows(result, _of(result, view(threshold, mode, head=head)))


def _of(result: Result, asked: View) -> View:
    """The view, if its head is one of the model's."""
    info = result.model
    if asked.head is not None and not (asked.head[0] < info.n_layers and asked.head[1] < info.n_heads):
        raise Invalid(
            f"{info.name} has no head {asked.head[0]}.{asked.head[1]}.",
            f"Layers run 0-{info.n_layers - 1}, heads 0-{info.n_heads - 1}.",
            code="no-head",
        )
    return asked


def _find(known: Mapping[str, Mapping[str, Any]], result: Result, name: str) -> Any:
    figures = known[result.analysis]
    if name not in figures:
        raise NotFound(
            f"There is no figure {name!r}.", f"Known: {', '.join(figures)}.", code="unknown-figure"
        )
    return figures[name]
