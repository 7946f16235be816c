"""Planes: one dot for a head between two scores, and eigenvalues in the complex plane.

Eigenvalues span many powers of ten, so their distance from the middle is the logarithm of the modulus: the
outer ring is the largest one, each ring inwards a tenth of it, and what is below the innermost ring is drawn
in the middle. The angle is the eigenvalue's own: right is positive, left is negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Complex, Float
from numpy.typing import NDArray

from headscope.core.arrays import encode
from headscope.figures.theme import Palette, magnitude_scale

Array = NDArray[Any]

DECADES = 4
"""Rings of the complex plane."""


def head_dots(
    x: Float[np.ndarray, "layer head"],
    y: Float[np.ndarray, "layer head"],
    colour: Float[np.ndarray, "layer head"],
    colours: Palette,
    hover: str,
    words: str,
) -> dict[str, Any]:
    """A dot for each head that has both scores; ``colour`` from 0 to 1, ``words`` name it.

    ``customdata`` is [layer, head], for the click; hover may use %{customdata[0]} and %{marker.color}.
    """
    layer, head = np.nonzero(np.isfinite(x) & np.isfinite(y))
    order = np.argsort(np.nan_to_num(colour[layer, head]), kind="stable")  # the strongest are drawn on top
    layer, head = layer[order], head[order]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "heads",
        "x": encode(x[layer, head].astype(np.float32)),
        "y": encode(y[layer, head].astype(np.float32)),
        "customdata": encode(np.stack([layer, head], axis=1).astype(np.uint16)),
        "marker": {
            "size": 9,
            "color": encode(np.nan_to_num(colour[layer, head]).astype(np.float32)),
            "cmin": 0,
            "cmax": 1,
            "colorscale": magnitude_scale(colours),
            "line": {"width": 1, "color": colours.muted},
            "colorbar": {"title": {"text": words, "side": "right"}, "outlinewidth": 0, "thickness": 8},
        },
        "showlegend": False,
        "hovertemplate": hover,
    }


def eigenvalue_dots(
    values: Complex[np.ndarray, " value"], largest: float, colour: str, name: str, symbol: str
) -> dict[str, Any]:
    """Eigenvalues in the plane of the module's docstring; ``largest`` is the modulus of the outer ring."""
    values = values[np.isfinite(values)]
    radius = _radius(np.abs(values), largest)
    angle = np.angle(values)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": encode((radius * np.cos(angle)).astype(np.float32)),
        "y": encode((radius * np.sin(angle)).astype(np.float32)),
        "customdata": encode(np.stack([values.real, values.imag], axis=1).astype(np.float32)),
        "marker": {"color": colour, "size": 7, "symbol": symbol, "opacity": 0.75, "line": {"width": 0}},
        "hovertemplate": f"{name}: %{{customdata[0]:.3g}} %{{customdata[1]:+.3g}} i<extra></extra>",
    }


def rings(largest: float, colours: Palette) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Shapes and annotations: a ring a power of ten, named by its modulus, and the two axes."""
    line = {"color": colours.line, "width": 1}
    shapes: list[dict[str, Any]] = []
    names = []
    for ring in range(1, DECADES + 1):
        radius = ring / DECADES
        shapes.append(
            {"type": "circle", "x0": -radius, "x1": radius, "y0": -radius, "y1": radius, "line": line}
            | {"layer": "below"}
        )
        modulus = largest * 10.0 ** (ring - DECADES)
        names.append(
            {"x": 0, "y": radius, "text": f"{modulus:.2g}", "showarrow": False, "yanchor": "bottom"}
            | {"font": {"size": 10, "color": colours.muted}}
        )
    for x, y in ((1, 0), (0, 1)):
        shapes.append({"type": "line", "x0": -x, "x1": x, "y0": -y, "y1": y, "line": line, "layer": "below"})
    return shapes, names


def square(colours: Palette) -> dict[str, Any]:
    """Two axes of one scale, without ticks."""
    axis = {"range": [-1.12, 1.12], "showgrid": False, "zeroline": False, "showticklabels": False}
    return {
        "xaxis": {**axis, "title": {"text": "real part"}, "constrain": "domain"},
        "yaxis": {**axis, "title": {"text": "imaginary part"}, "scaleanchor": "x", "constrain": "domain"},
    }


def _radius(modulus: Array, largest: float) -> Array:
    if not largest > 0:
        return np.zeros_like(modulus)
    with np.errstate(divide="ignore"):
        return np.clip(1 + np.log10(modulus / largest) / DECADES, 0, 1)
