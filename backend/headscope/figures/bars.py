"""Bars for named heads, with whiskers for their spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.core.arrays import encode
from headscope.figures.theme import Palette

Array = NDArray[Any]


def head_bars(
    heads: Sequence[str],
    values: Array,
    spread: Array | None,
    colour: str,
    colours: Palette,
    name: str,
    hover: str,
) -> dict[str, Any]:
    """A bar for each head, "16.0" below it; the whisker is one ``spread`` up and down, NaN for none."""
    trace: dict[str, Any] = {
        "type": "bar",
        "name": name,
        "x": list(heads),
        "y": encode(np.asarray(values, np.float32)),
        "marker": {"color": colour, "line": {"width": 0}},
        "hovertemplate": hover,
    }
    if spread is not None and np.isfinite(spread).any():
        trace["error_y"] = {
            "type": "data",
            "array": encode(np.nan_to_num(np.asarray(spread, np.float32))),
            "color": colours.muted,
            "thickness": 1,
            "width": 3,
        }
    return trace


def head_axis(count: int) -> dict[str, Any]:
    """An axis of head names: they are words, however much they look like numbers."""
    return {"type": "category", "title": {"text": "layer.head"}, "range": [-0.6, max(count, 1) - 0.4]}
