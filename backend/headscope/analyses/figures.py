"""A result's figures and their table twins, by name: what page, export, notebook and tests call.

A figure is plotly JSON without template (``headscope.figures.theme.theme()`` has both); arrays are typed;
``layout.meta`` holds ``title`` and ``reading``, a sentence that says how to read it. The table twin carries
the same content as numbers.
"""

from __future__ import annotations

from headscope.analyses.base import Result
from headscope.analyses.columns import Table
from headscope.analyses.request import find
from headscope.errors import Invalid
from headscope.figures.theme import Drawing
from headscope.figures.view import View, view


def names(analysis: str) -> list[str]:
    """The figures of an analysis in the order of its page."""
    return [figure.name for figure in find(analysis).figures]


def build(
    result: Result,
    name: str,
    threshold: float = 0.5,
    mode: str = "every",
    theme: str = "light",
    head: str | None = None,
) -> Drawing:
    """One figure. ``NotFound`` (unknown-figure) lists those there are; ``Invalid`` where a view can't be."""
    figure = find(result.analysis).figure(name)
    return figure.draw(result, _of(result, view(threshold, mode, theme, head)))


def table(
    result: Result, name: str, threshold: float = 0.5, mode: str = "every", head: str | None = None
) -> Table:
    """The same content as numbers, at full resolution."""
    figure = find(result.analysis).figure(name)
    return figure.rows(result, _of(result, view(threshold, mode, head=head)))


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
