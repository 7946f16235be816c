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


def matrix(
    values: Float[np.ndarray, "row row"],
    words: Sequence[Sequence[str]],
    hover: Sequence[Sequence[str]],
    names: Sequence[tuple[str, str]],
    scale: list[list[Any]],
    span: tuple[float, float],
    title: str,
    colours: Palette,
) -> dict[str, Any]:
    """Data and layout. ``words`` stand in the cells, ``names`` are two lines beside each row.

    A cell whose value is NaN has no colour; its words stand there all the same.
    """
    places = list(range(len(names)))
    trace = {
        "type": "heatmap",
        "z": encode(values.astype(np.float32)),
        "zmin": span[0],
        "zmax": span[1],
        "colorscale": scale,
        "xgap": 2,
        "ygap": 2,
        "hovertext": [list(row) for row in hover],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverongaps": True,
        "texttemplate": "%{text}",
        "text": [list(row) for row in words],
        "textfont": {"size": 12},
        "colorbar": {"title": {"text": title, "side": "right"}, "outlinewidth": 0, "thickness": 8},
    }
    empty = [
        {
            "x": column,
            "y": row,
            "text": words[row][column],
            "showarrow": False,
            "font": {"color": colours.muted},
        }
        for row in places
        for column in places
        if not np.isfinite(values[row, column])
    ]
    numbers = [str(place + 1) for place in places]
    named = [
        f"{number}. {escape(first, quote=False)}<br>{escape(second, quote=False)}"
        for number, (first, second) in zip(numbers, names, strict=True)
    ]
    last = len(places) - 0.5
    return {
        "data": [trace],
        "layout": {
            "height": 90 + CELL * len(places),
            "xaxis": {"tickvals": encode(np.arange(len(places), dtype=np.uint8)), "ticktext": numbers}
            | {"range": [-0.5, last], "side": "top", "fixedrange": True},
            "yaxis": {"tickvals": encode(np.arange(len(places), dtype=np.uint8)), "ticktext": named}
            | {"range": [last, -0.5], "showgrid": False, "fixedrange": True},
            "margin": {"l": 150, "r": 16, "t": 34, "b": 16},
            "annotations": empty,
        },
    }
