"""Outlines of single heads on the head grid: those that stand out."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from headscope.figures.head_grid import GAP_X, GAP_Y, Grid
from headscope.figures.theme import Drawing, Palette


def outlined(
    figure: Drawing, heads: Bool[np.ndarray, "layer head"], colours: Palette, group: int = 1
) -> Drawing:
    """A head grid with a frame round each of these heads; ``meta.outlined`` names them [layer, head]."""
    layers, count = heads.shape
    half_x, half_y = 0.5 - GAP_X / 2, 0.5 - GAP_Y / 2
    head_y = Grid(layers, count, 1, group).head_y
    framed = np.argwhere(heads).tolist()
    if not framed:
        return figure
    path = "".join(
        f"M{layer - half_x:g} {head_y[head] - half_y:g}H{layer + half_x:g}V{head_y[head] + half_y:g}"
        f"H{layer - half_x:g}Z"
        for layer, head in framed
    )
    line = {"color": colours.ink, "width": 2}
    frame = {"name": "outlined", "type": "path", "path": path, "line": line, "layer": "above"}
    layout = figure["layout"]
    meta = {**layout["meta"], "outlined": framed}
    return {**figure, "layout": {**layout, "shapes": [*layout["shapes"], frame], "meta": meta}}
