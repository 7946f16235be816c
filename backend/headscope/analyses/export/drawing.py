"""A figure as it stands alone: with template, title, legend and size, where the page has words of its own."""

from __future__ import annotations

from html import escape
from typing import Any

from headscope.core.gating.roles import ROLE_NAMES
from headscope.figures import head_grid, theme
from headscope.figures.theme import Drawing, Palette

WIDTH = 760
"""Pixels of a picture that has no width of its own."""

MIN_GRID_WIDTH, MAX_GRID_WIDTH = 580, 1200
TITLE_SPACE = 72
LEGEND_SPACE = 24


def is_grid(figure: Drawing) -> bool:
    """Whether it is a head grid, which has a size of its own and round corners."""
    return "cell_columns" in figure["layout"]["meta"]


def standing_alone(figure: Drawing, title: str, colours: str, *, with_roles: bool = False) -> Drawing:
    """The figure with all that a reader needs who sees nothing else; ``with_roles``: with their legend."""
    palette = theme.palette(colours)
    layout, meta = figure["layout"], figure["layout"]["meta"]
    grid = is_grid(figure)
    width = min(MAX_GRID_WIDTH, max(MIN_GRID_WIDTH, meta["max_width"])) if grid else WIDTH
    above = TITLE_SPACE + (LEGEND_SPACE if with_roles else 0)
    margin = layout.get("margin", {})
    margin = {**margin, "t": margin.get("t", 0) + above}
    words = {
        "text": escape(meta["title"]),
        "font": {"size": 17, "color": palette.ink, "weight": 600},
        "subtitle": {
            "text": escape(f"{title} · {_look(meta)}" if _look(meta) else title),
            "font": {"size": 13, "color": palette.muted},
        },
        "x": 24 / width,
        "xanchor": "left",
        "y": 1 - 26 / (layout["height"] + above),
        "yanchor": "middle",
    }
    layout = {
        **layout,
        "template": theme.template(palette),
        "width": width,
        "height": layout["height"] + above,
        "margin": margin,
        "title": words,
    }
    figure = {**figure, "layout": layout}
    if with_roles:
        figure = _with_legend(figure, palette)
    if not grid:
        return figure
    across = min(width, meta["max_width"])
    figure = _narrowed(figure, across) if across < width else figure
    return head_grid.rounded(figure, across, layout["height"], palette)


def _narrowed(figure: Drawing, across: int) -> Drawing:
    """A grid of few layers: its cells keep their width, title and legend have the whole picture's."""
    layout = figure["layout"]
    sides = layout["margin"]["l"] + layout["margin"]["r"]
    end = (across - sides) / (layout["width"] - sides)
    heatmap = {**figure["data"][0], "colorbar": {"x": end + 0.02}}
    layout = {**layout, "xaxis": {**layout["xaxis"], "domain": [0, end]}}
    return {"data": [heatmap, *figure["data"][1:]], "layout": layout}


def _look(meta: dict[str, Any]) -> str:
    parts = []
    if meta.get("statistic"):
        parts.append(meta["statistic"])
    elif meta.get("mode"):
        parts.append({"every": "every seed", "always": "in all seeds", "any": "in any seed"}[meta["mode"]])
    if meta.get("threshold") and "kind" not in meta:  # a composition's reading says what its share is of
        parts.append(f"role at ≥ {meta['threshold']:.2f}")
    return " · ".join(parts)


def _with_legend(figure: Drawing, colours: Palette) -> Drawing:
    words = dict(zip(ROLE_NAMES, figure["layout"]["meta"]["vocabulary"]["roles"], strict=True))
    shown = ("needed", "harmful", "both", "irrelevant", "undecided")
    keys = [_key(role, words[role], colours) for role in shown]
    legend = {"x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "itemsizing": "trace"}
    return {
        "data": figure["data"] + keys,
        "layout": {**figure["layout"], "legend": legend, "showlegend": True},
    }


def _key(role: str, word: str, colours: Palette) -> dict[str, Any]:
    clear = role == "undecided"
    marker = {
        "symbol": "square",
        "size": 11,
        "color": colours.panel if clear else colours.role(role),
        "line": {"color": colours.line, "width": 1 if clear else 0},
    }
    return {
        "type": "scatter",
        "mode": "markers",
        "name": word,
        "x": [None],
        "y": [None],
        "marker": marker,
        "hoverinfo": "skip",
    }
