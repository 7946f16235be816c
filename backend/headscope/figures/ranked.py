"""Bars that lie, one below the other, with words beside them: ranked paths, trigrams, tokens."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.core.arrays import encode
from headscope.core.model.glyphs import Glyph, label
from headscope.figures.theme import Palette

Array = NDArray[Any]


def token_word(content: bytes, glyph: Glyph | None = None) -> str:
    """What a token is called (``core.model.glyphs``), without markup."""
    return escape(label(content, glyph), quote=False)


def lying_bars(
    words: Sequence[str], values: Array, colours: Palette, hover: str, *, colour: str | None = None
) -> dict[str, Any]:
    """The first on top; without a ``colour`` positive ones in one and negative ones in another."""
    values = np.asarray(values, np.float32)
    painted = [colours.needed if value >= 0 else colours.harmful for value in values]
    return {
        "type": "bar",
        "orientation": "h",
        "y": [f"{number + 1}. {word}" for number, word in enumerate(words)],
        "x": encode(values),
        "marker": {"color": colour or painted, "line": {"width": 0}},
        "showlegend": False,
        "hovertemplate": hover,
    }


def lying_axes(count: int, title: str, colours: Palette) -> dict[str, Any]:
    """Layout for so many bars."""
    return {
        "height": 80 + 22 * max(count, 1),
        "bargap": 0.25,
        "xaxis": {"title": {"text": title}, "zeroline": True, "zerolinecolor": colours.line},
        "yaxis": {"type": "category", "range": [max(count, 1) - 0.4, -0.6], "showgrid": False},
        "margin": {"l": 180, "r": 16, "t": 12, "b": 44},
    }
