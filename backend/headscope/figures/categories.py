"""The head grid with a kind for each head: colour, and a letter that says the same.

A kind is an index of ``tones`` or, from ``len(tones)`` on, one that has no colour of its own. ``meta.words``
holds a word for each, which the page shows where it would show a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import UInt8

from headscope.core.arrays import encode
from headscope.figures import head_grid
from headscope.figures.theme import CLEAR, Drawing, Palette

_LEGEND = 22
"""Pixels of a row of the legend."""

_SWATCH, _LETTER = 40, 7
"""Pixels that an entry of the legend takes beside its words, and of each letter of them."""

_SCREEN = 300
"""Pixels that a small screen leaves for a grid."""


@dataclass(frozen=True)
class Kind:
    """What the legend says of a kind, and the letter in its cells ("" for none)."""

    title: str
    letter: str
    tone: str = CLEAR


def kinds(
    codes: UInt8[np.ndarray, "layer head"],
    several: UInt8[np.ndarray, "layer head"],
    known: Sequence[Kind],
    colours: Palette,
    *,
    name: str,
    group: int = 1,
) -> Drawing:
    """A grid of kinds; a head that is of ``several`` shows its letter with a plus."""
    figure = head_grid.signed(codes.astype(np.float32), colours, name=name, group=group)
    steps = len(known)
    trace = figure["data"][0]
    trace |= {
        "zmin": -0.5,
        "zmax": steps - 0.5,
        "colorscale": [[(i + side) / steps, kind.tone] for i, kind in enumerate(known) for side in (0, 1)],
        "showscale": False,
    }
    there = [i for i in range(steps) if known[i].tone != CLEAR and (codes == i).any()]
    figure["data"] += [_letters(codes, several, known, colours, figure), *(_legend(known[i]) for i in there)]
    layout = figure["layout"]
    # As wide as the grid may be on a small screen: what doesn't fit a row goes above it.
    margin, entry = layout["margin"], max((_entry(known[i]) for i in there), default=1)
    least = min(layout["meta"]["max_width"], max(_SCREEN, 11 * codes.shape[0] + 80))
    in_a_row = max(1, (least - margin["l"] - margin["r"]) // entry)
    rows = -(-len(there) // in_a_row)
    layout["margin"] |= {"r": 16, "t": layout["margin"]["t"] + rows * _LEGEND}
    layout["height"] += rows * _LEGEND
    layout["showlegend"] = bool(there)
    layout["meta"]["words"] = [kind.title for kind in known]
    return figure


def _letters(
    codes: Any, several: Any, known: Sequence[Kind], colours: Palette, figure: Drawing
) -> dict[str, Any]:
    """The letters in the cells; no trace that the pointer meets."""
    at = [(layer, head) for layer, head in np.ndindex(*codes.shape) if known[codes[layer, head]].letter]
    head_y = figure["layout"]["meta"]["head_y"]
    return {
        "type": "scatter",
        "mode": "text",
        "x": encode(np.array([layer for layer, _ in at], np.float32)),
        "y": encode(np.array([head_y[head] for _, head in at], np.float32)),
        "text": [known[codes[place]].letter + ("+" if several[place] > 1 else "") for place in at],
        "textfont": {
            "size": 11,
            "color": [colours.panel if known[codes[place]].tone != CLEAR else colours.muted for place in at],
        },
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _entry(kind: Kind) -> int:
    """Pixels that the kind takes in the legend."""
    return _SWATCH + _LETTER * len(f"{kind.letter} {kind.title}")


def _legend(kind: Kind) -> dict[str, Any]:
    """A trace without points, for its line in the legend."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{kind.letter} {kind.title}",
        "x": [None],
        "y": [None],
        "marker": {"symbol": "square", "size": 11, "color": kind.tone},
        "hoverinfo": "skip",
    }
