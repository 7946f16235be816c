"""The head grid: layers left to right, heads top to bottom, one heatmap trace.

**Geometry.** Layer l is centred at x = l, head h at ``meta.head_y[h]`` (h, plus a little space for each
grouped-query group above it), head 0 on top. A cell has ``seeds`` stripes of equal width and is followed by
a thin gap: the trace's ``x`` and ``y`` are the *edges* of its columns and rows. With S stripes and
``cell_columns`` = S + 1:

    z row of head h              2 h                                (odd rows are gaps)
    z column of (layer, stripe)  layer * cell_columns + stripe      (column % cell_columns == S is a gap)

so a click at ``pointNumber = [row, column]`` is head row / 2, layer floor(column / cell_columns).

**Stripes.** Role codes are core.gating.roles': 0 undecided, 1 needed, 2 harmful, 3 both, 4 doesn't matter.
Code 5 is a gap, and the stripe of a seed without a fit. Mode ``every``: a cell's stripes are its seeds' codes
sorted by ``STRIPE_ORDER`` = needed, both, undecided, doesn't matter, harmful, gap; equal codes stay in seed
order. So a solid cell *is* "Always". Modes ``always`` and ``any``: all stripes of a cell carry one code, made
from the seeds that have a fit, where a seed with code 3 counts as needed and as harmful:

    needed in all (any) and harmful in all (any)  3
    needed in all (any)                           1
    harmful in all (any)                          2
    else doesn't matter in all (any)              4
    else                                          0        (5 where no seed has a fit)

**Fullness.** A cell whose role replicates in a new fit is full; one that leans or is undecided is drawn
smaller, by ``FULLNESS`` of ``meta.verdicts``, where there are any.

tests/golden/roles.json holds worked cases that Python and TypeScript both check.

Corners are a matter of pixels, so they are not in the figure: ``rounded`` adds them to a drawing of known
size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8
from numpy.typing import NDArray

from headscope.core.arrays import encode
from headscope.core.gating.roles import (
    BOTH,
    HARMFUL,
    IRRELEVANT,
    NEEDED,
    UNDECIDED,
)
from headscope.figures.theme import CLEAR, Drawing, Palette, magnitude_scale, role_scale, signed_scale
from headscope.figures.view import Mode

Array = NDArray[Any]

GAP = 5
STRIPE_ORDER = (NEEDED, BOTH, UNDECIDED, IRRELEVANT, HARMFUL, GAP)
_RANK = np.argsort(np.array(STRIPE_ORDER)).astype(np.uint8)

GAP_X, GAP_Y, GROUP_SPACE = 0.1, 0.1, 0.2
"""Widths of gaps in units of a layer and of a head; extra space between grouped-query groups."""

FULLNESS = (0.5, 0.75, 1.0)
"""Of a cell's width and height, by its verdict (``core.statistics.replication.VERDICTS``)."""

RADIUS = 4
"""Pixels of a cell's corners, where the cell is large enough."""


@dataclass(frozen=True)
class Grid:
    """The geometry of a grid: ``group`` query heads share keys and values (1: none do)."""

    layers: int
    heads: int
    stripes: int
    group: int = 1

    @property
    def cell_columns(self) -> int:
        """Columns from one layer to the next: the stripes and a gap."""
        return self.stripes + 1

    @property
    def head_y(self) -> Float[np.ndarray, " head"]:
        """Where each head's row is centred."""
        heads = np.arange(self.heads)
        spaces = heads // self.group if self.group > 1 else np.zeros(self.heads)
        return np.asarray(heads + GROUP_SPACE * spaces, dtype=float)

    def x_edges(self) -> Float[np.ndarray, " edge"]:
        """Left edges of all columns and the last one's right edge."""
        inside = np.linspace(GAP_X / 2 - 0.5, 0.5 - GAP_X / 2, self.stripes + 1)
        return np.concatenate([layer + inside for layer in range(self.layers)])

    def y_edges(self) -> Float[np.ndarray, " edge"]:
        """Upper edges of all rows and the last one's lower edge."""
        half = 0.5 - GAP_Y / 2
        return np.stack([self.head_y - half, self.head_y + half], axis=1).reshape(-1)

    def spread(self, cells: Array, gap: float) -> Array:
        """[layer, head, stripe] -> the heatmap's z with gap columns and rows between."""
        z = np.full((2 * self.heads, self.layers, self.cell_columns), gap, dtype=cells.dtype)
        z[::2, :, :-1] = cells.transpose(1, 0, 2)
        return z.reshape(2 * self.heads, -1)[:-1, :-1]

    def meta(self) -> dict[str, Any]:
        """What a page needs to know of the geometry."""
        return {
            "layers": self.layers,
            "heads": self.heads,
            "seeds": self.stripes,
            "cell_columns": self.cell_columns,
            "row_order": "head 0 on top",
            "heads_per_group": self.group,
            "head_y": [round(float(y), 3) for y in self.head_y],
            "gap": [GAP_X, GAP_Y],
            "max_width": self.max_width(),
        }

    def max_width(self) -> int:
        """Beyond this a grid of few layers would be drawn with cells like bars, pixels."""
        return round(90 + self.layers * float(np.clip(640 / self.layers, 44, 150)))

    def height(self) -> int:
        """Pixels: rows of 30 that shrink to 15 where there are many heads."""
        row = float(np.clip(420 / self.heads, 15, 30))
        return round(74 + row * (float(self.head_y[-1]) + 1))


def stripes(
    codes: UInt8[np.ndarray, "seed layer head"], ran: Array, mode: Mode
) -> UInt8[np.ndarray, "layer head seed"]:
    """Role codes per cell and stripe, by the rule above. ``ran`` [seed] says which seeds have a fit."""
    known = np.where(np.asarray(ran)[:, None, None], codes, GAP).astype(np.uint8)
    if mode == "every":
        order = np.argsort(_RANK[known], axis=0, kind="stable")
        return np.take_along_axis(known, order, axis=0).transpose(1, 2, 0)
    whole = _gathered(codes[np.asarray(ran)], mode)
    return np.repeat(whole[:, :, None], len(codes), axis=2)


def roles(
    codes: UInt8[np.ndarray, "seed layer head"],
    ran: Array,
    mode: Mode,
    colours: Palette,
    group: int = 1,
) -> Drawing:
    """The role grid. Undecided stripes are clear; the hairline round each cell shows where they are."""
    seeds, layers, heads = codes.shape
    grid = Grid(layers, heads, seeds, group)
    trace = {
        "name": "roles",
        "z": encode(grid.spread(stripes(codes, ran, mode), GAP)),
        "zmin": -0.5,
        "zmax": 5.5,
        "colorscale": role_scale(colours),
        "showscale": False,
    }
    figure = _figure(grid, trace, colours)
    figure["layout"]["shapes"].insert(0, _hairlines(grid, colours))
    return figure


def magnitudes(
    values: Float[np.ndarray, "layer head"],
    colours: Palette,
    *,
    name: str,
    high: float = 1.0,
    group: int = 1,
) -> Drawing:
    """One number per head on the sequential scale from 0 to ``high``; a head without one (NaN) is empty."""
    layers, heads = values.shape
    grid = Grid(layers, heads, 1, group)
    trace = {
        "name": name,
        "z": encode(grid.spread(values[:, :, None].astype(np.float32), np.nan)),
        "zmin": 0,
        "zmax": high,
        "colorscale": magnitude_scale(colours),
        "showscale": True,
    }
    figure = _figure(grid, trace, colours)
    figure["layout"]["margin"]["r"] = 56
    return figure


def signed(
    values: Float[np.ndarray, "layer head"],
    colours: Palette,
    *,
    name: str,
    most: float = 1.0,
    group: int = 1,
) -> Drawing:
    """One number per head from -``most`` to ``most``, 0 in the panel's own colour; NaN is empty."""
    figure = magnitudes(values, colours, name=name, high=most, group=group)
    figure["data"][0] |= {"zmin": -most, "colorscale": signed_scale(colours)}
    layers, heads = values.shape
    figure["layout"]["shapes"].insert(0, _hairlines(Grid(layers, heads, 1, group), colours))
    return figure


def rounded(figure: Drawing, width: int, height: int, colours: Palette) -> Drawing:
    """The grid with round corners, for a drawing of that size: a mask over the gaps, with hairlines."""
    meta, layout = figure["layout"]["meta"], figure["layout"]
    x_axis, y_axis, margin = layout["xaxis"], layout["yaxis"], layout["margin"]
    unit_x = abs(x_axis["range"][1] - x_axis["range"][0]) / (width - margin["l"] - margin["r"])
    unit_y = abs(y_axis["range"][1] - y_axis["range"][0]) / (height - margin["t"] - margin["b"])
    half_x, half_y = 0.5 - meta["gap"][0] / 2, 0.5 - meta["gap"][1] / 2
    radius = min(RADIUS, 0.6 * half_x / unit_x, 0.6 * half_y / unit_y)
    rx, ry = radius * unit_x, radius * unit_y
    verdicts = meta.get("verdicts")
    cells = [
        _round_rectangle(
            layer - half_x * full, y - half_y * full, layer + half_x * full, y + half_y * full, rx, ry
        )
        for head, y in enumerate(meta["head_y"])
        for layer in range(meta["layers"])
        for full in (FULLNESS[int(verdicts[layer][head])] if verdicts else 1.0,)
    ]
    frame = f"M-9 -9H{meta['layers'] + 9}V{meta['heads'] * 2 + 9}H-9Z"
    mask = {
        "name": "cells",
        "type": "path",
        "path": frame + "".join(cells),
        "fillcolor": colours.panel,
        "fillrule": "evenodd",
        "line": {"color": colours.line, "width": 1},
        "layer": "above",
    }
    others = [shape for shape in layout["shapes"] if shape.get("name") != "cells"]
    return {**figure, "layout": {**layout, "shapes": [mask, *others]}}


def _gathered(codes: Array, mode: Mode) -> Array:
    if not len(codes):
        return np.full(codes.shape[1:], GAP, dtype=np.uint8)
    hold = np.all if mode == "always" else np.any
    needed = hold(np.isin(codes, (NEEDED, BOTH)), axis=0)
    harmful = hold(np.isin(codes, (HARMFUL, BOTH)), axis=0)
    irrelevant = hold(codes == IRRELEVANT, axis=0)
    choices = [needed & harmful, needed, harmful, irrelevant]
    return np.select(choices, [BOTH, NEEDED, HARMFUL, IRRELEVANT], default=UNDECIDED).astype(np.uint8)


def _figure(grid: Grid, trace: dict[str, Any], colours: Palette) -> Drawing:
    heatmap = {
        "type": "heatmap",
        "x": encode(grid.x_edges().astype(np.float32)),
        "y": encode(grid.y_edges().astype(np.float32)),
        "hoverinfo": "none",
        **trace,
    }
    grouped = grid.group > 1
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True, "tickmode": "array"}
    head_y = grid.head_y
    shown = range(0, grid.heads, 1 if grid.heads <= 16 else 2 if grid.heads <= 40 else 4)
    ticks = _layer_ticks(grid.layers)
    layout = {
        "height": grid.height(),
        "dragmode": False,
        "margin": {"l": 64 if grouped else 52, "r": 16, "t": 10, "b": 48},
        "xaxis": {
            **axis,
            "range": [-0.5, grid.layers - 0.5],
            "tickvals": ticks,
            "ticktext": [str(tick) for tick in ticks],
            "title": {"text": "layer"},
        },
        "yaxis": {
            **axis,
            "range": [float(head_y[-1]) + 0.5, -0.5],
            "tickvals": [round(float(head_y[head]), 3) for head in shown],
            "ticktext": [str(head) for head in shown],
            "ticks": "outside",
            "ticklen": 16 if grouped else 6,
            "tickcolor": CLEAR,
            "title": {"text": "head"},
        },
        "shapes": _brackets(grid, colours) if grouped else [],
        "meta": grid.meta(),
    }
    return {"data": [heatmap], "layout": layout}


def _layer_ticks(layers: int) -> list[int]:
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if layers / step <= 10 or step == 100)
    ticks = list(range(0, layers, step))
    if ticks[-1] != layers - 1:
        if layers - 1 - ticks[-1] < step / 2:
            ticks.pop()
        ticks.append(layers - 1)
    return ticks


def _hairlines(grid: Grid, colours: Palette) -> dict[str, Any]:
    half_x, half_y = 0.5 - GAP_X / 2, 0.5 - GAP_Y / 2
    path = "".join(
        f"M{_n(layer - half_x)} {_n(y - half_y)}H{_n(layer + half_x)}V{_n(y + half_y)}H{_n(layer - half_x)}Z"
        for y in grid.head_y
        for layer in range(grid.layers)
    )
    line = {"color": colours.line, "width": 1}
    return {"name": "cells", "type": "path", "path": path, "line": line, "layer": "below"}


def _brackets(grid: Grid, colours: Palette) -> list[dict[str, Any]]:
    half = 0.5 - GAP_Y / 2
    firsts = range(0, grid.heads, grid.group)
    spans = [(grid.head_y[first] - half, grid.head_y[first + grid.group - 1] + half) for first in firsts]
    path = "".join(f"M-6 {_n(top)}H-11V{_n(bottom)}H-6" for top, bottom in spans)
    return [
        {
            "name": "kv-groups",
            "type": "path",
            "path": path,
            "xref": "paper",
            "xanchor": 0,
            "xsizemode": "pixel",
            "line": {"color": colours.muted, "width": 1},
            "opacity": 0.5,
        }
    ]


def _round_rectangle(left: float, top: float, right: float, bottom: float, rx: float, ry: float) -> str:
    return (
        f"M{_n(left + rx)} {_n(top)}H{_n(right - rx)}Q{_n(right)} {_n(top)} {_n(right)} {_n(top + ry)}"
        f"V{_n(bottom - ry)}Q{_n(right)} {_n(bottom)} {_n(right - rx)} {_n(bottom)}"
        f"H{_n(left + rx)}Q{_n(left)} {_n(bottom)} {_n(left)} {_n(bottom - ry)}"
        f"V{_n(top + ry)}Q{_n(left)} {_n(top)} {_n(left + rx)} {_n(top)}Z"
    )


def _n(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
