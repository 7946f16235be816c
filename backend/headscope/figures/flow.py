"""A layered graph of heads: layers left to right, heads top to bottom, lines from earlier to later heads."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from headscope.core.arrays import encode
from headscope.figures.theme import Palette

Array = NDArray[Any]

STRENGTHS = 4
"""Widths of lines: one trace each, as plotly has one width a trace."""


def links(
    pairs: Int[np.ndarray, "pair 4"],
    strength: Float[np.ndarray, " pair"],
    colours: Palette,
) -> list[dict[str, Any]]:
    """A line for each pair (layer, head, later layer, head), wider and darker by ``strength`` [0, 1]."""
    traces = []
    bins = np.clip((strength * STRENGTHS).astype(int), 0, STRENGTHS - 1)
    for level in range(STRENGTHS):
        chosen = pairs[bins == level].astype(float)
        if not len(chosen):
            continue
        gap = np.full(len(chosen), np.nan)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": encode(np.stack([chosen[:, 0], chosen[:, 2], gap], 1).reshape(-1).astype(np.float32)),
                "y": encode(np.stack([chosen[:, 1], chosen[:, 3], gap], 1).reshape(-1).astype(np.float32)),
                "line": {"color": colours.scale[level + 1], "width": 1 + level},
                "opacity": 0.8,
                "hoverinfo": "skip",
                "showlegend": False,
            }
        )
    return traces


def nodes(
    n_layers: int, n_heads: int, linked: Array, colours: Palette, chosen: tuple[int, int] | None
) -> dict[str, Any]:
    """A dot for every head; those with a line (``linked`` [layer, head]) stand out, a chosen one is large."""
    layer, head = np.divmod(np.arange(n_layers * n_heads), n_heads)
    size = np.where(linked.reshape(-1), 9, 5)
    if chosen is not None:
        size[chosen[0] * n_heads + chosen[1]] = 14
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "heads",
        "x": encode(layer.astype(np.float32)),
        "y": encode(head.astype(np.float32)),
        "customdata": encode(np.stack([layer, head], 1).astype(np.uint16)),
        "marker": {
            "size": encode(size.astype(np.uint8)),
            "color": [colours.needed if held else colours.irrelevant for held in linked.reshape(-1)],
            "line": {"width": 0},
        },
        "showlegend": False,
        "hovertemplate": "Head %{customdata[0]}.%{customdata[1]}<extra></extra>",
    }


def axes(n_layers: int, n_heads: int) -> dict[str, Any]:
    """Layers and heads as in the head grid: head 0 on top."""
    shared = {"showgrid": False, "zeroline": False, "fixedrange": True}
    return {
        "xaxis": {**shared, "range": [-0.5, n_layers - 0.5], "title": {"text": "layer"}}
        | ({"dtick": 1} if n_layers <= 12 else {"dtick": 5}),
        "yaxis": {**shared, "range": [n_heads - 0.5, -0.5], "title": {"text": "head"}}
        | ({"dtick": 1} if n_heads <= 16 else {"dtick": 4}),
    }
