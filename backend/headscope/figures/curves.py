"""Parts of the smaller drawings: lines with a band, thin lines, dots in lanes, stacked bars. Arrays typed."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headscope.core.arrays import encode
from headscope.figures.theme import Palette

Array = NDArray[Any]
Trace = dict[str, Any]

MAX_POINTS = 100
"""Longer curves are drawn as means of equal pieces, at most this many; such a figure says so in ``meta``."""


def line(x: Array, y: Array, colour: str, name: str, **more: Any) -> Trace:
    """A line with its name; hover shows the name and the numbers."""
    style = {"color": colour, "width": 2, **more.pop("line", {})}
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": encode(_small(x)),
        "y": encode(_small(y)),
        "line": style,
        **more,
    }


def band(x: Array, low: Array, high: Array, colour: str, group: str) -> Trace:
    """The area between two curves, faint, silent and out of the legend."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": encode(_small(np.concatenate([x, x[::-1]]))),
        "y": encode(_small(np.concatenate([high, low[::-1]]))),
        "fill": "toself",
        "fillcolor": colour,
        "line": {"width": 0, "color": colour},
        "opacity": 0.16,
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": group,
    }


def threads(x: Array, curves: Float[np.ndarray, "curve point"], colour: str, group: str) -> Trace:
    """Many thin lines as one trace; NaN separates them."""
    gap = np.full((len(curves), 1), np.nan)
    xs = np.tile(np.append(x, x[-1]), len(curves)).astype(np.uint16)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": encode(xs),
        "y": encode(_small(np.concatenate([curves, gap], axis=1).reshape(-1))),
        "line": {"color": colour, "width": 1},
        "opacity": 0.28,
        "hoverinfo": "skip",
        "showlegend": False,
        "legendgroup": group,
    }


def thinned(curves: Float[np.ndarray, "curve step"]) -> tuple[Array, Array, int]:
    """(x, curves, k): each point is the mean of k steps and stands at their last; k is 1 for short curves.

    A last piece shorter than k is averaged over what it has.
    """
    steps = curves.shape[1]
    k = -(-steps // MAX_POINTS)
    starts = np.arange(0, steps, k)
    ends = np.append(starts[1:], steps)
    sums = np.add.reduceat(curves.astype(float), starts, axis=1)
    return ends, sums / (ends - starts), k


def dots(x: Array, y: Array, colour: str, name: str, **more: Any) -> Trace:
    """One dot for each value."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": encode(_small(x)),
        "y": encode(_small(y)),
        "marker": {"color": colour, "size": 8, "opacity": 0.75, "line": {"width": 0}},
        "showlegend": False,
        **more,
    }


def bars(x: Array, y: Array, colours: Palette, role: str, name: str) -> Trace:
    """One role's part of stacked bars; undecided is the panel with a line round it."""
    outlined = role == "undecided"
    marker = {
        "color": colours.panel if outlined else colours.role(role),
        "line": {"color": colours.line, "width": 1 if outlined else 0},
    }
    return {
        "type": "bar",
        "name": name,
        "x": encode(x.astype(np.uint16)),
        "y": encode(_small(y)),
        "marker": marker,
    }


def rule(x: float, colours: Palette) -> dict[str, Any]:
    """A dotted upright line through the whole drawing."""
    return {
        "name": "threshold",
        "type": "line",
        "x0": x,
        "x1": x,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"color": colours.muted, "width": 1, "dash": "dot"},
    }


def label(x: float, y: float, text: str, colour: str, **more: Any) -> dict[str, Any]:
    """A word at a point, in the colour of what it names."""
    return {
        "x": x,
        "y": y,
        "text": text,
        "showarrow": False,
        "xanchor": "left",
        "font": {"color": colour, "size": 12},
        **more,
    }


def _small(values: Array) -> Array:
    return np.asarray(values).astype(np.float32)
