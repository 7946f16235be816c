"""A matrix of one number for each pair: rows and columns are the same things, named beside the rows."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from jaxtyping import Float

from headscope.core.arrays import encode
from headscope.figures.theme import Palette

CELL = 56
"""Pixels from one row to the next."""

_LINE = 18
"""Pixels from one name to the next."""


def matrix(
    values: Float[np.ndarray, "row row"],
    words: Sequence[Sequence[str]],
    hover: Sequence[Sequence[str]],
    names: Sequence[str],
    scale: list[list[Any]],
    span: tuple[float, float],
    colours: Palette,
) -> dict[str, Any]:
    """Data and layout. ``words`` stand in the cells, ``names`` are listed above; the axes count them.

    A cell whose value is NaN has no colour; its words stand there all the same.
    """
    count = len(names)
    known = np.isfinite(values)
    trace = {
        "type": "heatmap",
        "z": encode(values.astype(np.float32)),
        "zmin": span[0],
        "zmax": span[1],
        "colorscale": scale,
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "hovertext": [list(row) for row in hover],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverongaps": True,
        "texttemplate": "%{text}",
        "text": [[word if known[i, j] else "" for j, word in enumerate(row)] for i, row in enumerate(words)],
        "textfont": {"size": 12},
    }
    empty = [
        {"x": int(j), "y": int(i), "text": words[i][j], "showarrow": False, "font": {"color": colours.muted}}
        for i, j in np.argwhere(~known)
    ]
    above = _LINE * count + 34
    axis = {"tickvals": encode(np.arange(count, dtype=np.uint8)), "showgrid": False, "fixedrange": True}
    numbers = [str(place + 1) for place in range(count)]
    return {
        "data": [trace],
        "layout": {
            "height": above + CELL * count + 16,
            "xaxis": {**axis, "ticktext": numbers, "range": [-0.5, count - 0.5], "side": "top"},
            "yaxis": {**axis, "ticktext": numbers, "range": [count - 0.5, -0.5]},
            "margin": {"l": 28, "r": 16, "t": above, "b": 16},
            "annotations": [*empty, *_listed(names, colours)],
            "meta": {"max_width": max(440, 44 + 130 * count)},
        },
    }


def _listed(names: Sequence[str], colours: Palette) -> list[dict[str, Any]]:
    """The names, a line each, over the drawing; pixels above it do not depend on its height."""
    return [
        {
            "text": f"{place + 1}. {escape(name, quote=False)}",
            "showarrow": False,
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "xshift": -24,
            "y": 1,
            "yref": "paper",
            "yanchor": "bottom",
            "yshift": 24 + _LINE * (len(names) - 1 - place),
            "font": {"size": 12, "color": colours.ink},
        }
        for place, name in enumerate(names)
    ]
