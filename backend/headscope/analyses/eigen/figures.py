"""What the eigenvalue analysis draws: the QK x OV plane, a map of each positivity, one head's spectra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from headscope.analyses.base import Result
from headscope.analyses.eigen import tables
from headscope.analyses.from_weights import head_name, how, joined
from headscope.figures import head_grid, plane
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View

_MAPS = {
    "copying": (
        "ov_positivity",
        "What each head copies",
        "OV positivity: above 0 a head raises the very tokens it looks at, below 0 it lowers them.",
    ),
    "matching": (
        "qk_best_positivity",
        "What each head matches, through the best previous-token head",
        "QK positivity with keys written by the best previous-token head of an earlier layer: above 0 a head "
        "looks at what followed an earlier copy of its token. The first layer has none before it.",
    ),
    "matching-all": (
        "qk_all_positivity",
        "What each head matches, through all earlier heads",
        "The same with keys written by all earlier heads, each by its previous-token score.",
    ),
    "qk": (
        "qk_positivity",
        "What each head matches by itself",
        "QK positivity without any earlier head: above 0 a token looks at its own copies.",
    ),
    "qk-offset": (
        "qk_offset_positivity",
        "What each head matches at a distance",
        "QK positivity with rotary positions turned by a fixed distance between query and key.",
    ),
}


def induction_plane(result: Result, view: View) -> Drawing:
    """Each head between QK positivity through the best previous-token head and OV positivity."""
    arrays, colours = result.arrays, view.colours
    hover = (
        "Head %{customdata[0]}.%{customdata[1]}<br>matches %{x:+.2f}, copies %{y:+.2f}<br>"
        "induction score %{marker.color:.2f}<extra></extra>"
    )
    trace = plane.head_dots(
        arrays["qk_best_positivity"],
        arrays["ov_positivity"],
        arrays["induction"].mean(axis=0),
        colours,
        hover,
        "induction score",
    )
    axis = {"range": [-1.05, 1.05], "tickvals": [-1, -0.5, 0, 0.5, 1], "zeroline": True}
    axis |= {"zerolinecolor": colours.line, "showgrid": False}
    layout = {
        "height": 420,
        "xaxis": {**axis, "title": {"text": "matches: QK positivity through a previous-token head"}},
        "yaxis": {**axis, "title": {"text": "copies: OV positivity"}},
        "margin": {"l": 60, "r": 24, "t": 12, "b": 48},
    }
    reading = (
        "Each dot is a head after the first layer. Induction heads stand at the top right: they match what "
        f"came before an earlier copy, and copy what followed. Colour is the score measured on random tokens "
        f"that repeat. {how(result)}"
    )
    return titled({"data": [trace], "layout": layout}, "Which heads look like induction heads?", reading)


def positivity_map(name: str) -> Callable[[Result, View], Drawing]:
    """A map of one positivity, -1 to 1."""
    array, title, reading = _MAPS[name]

    def draw(result: Result, view: View) -> Drawing:
        info = result.model
        empty = np.full((info.n_layers, info.n_heads), np.nan, np.float32)
        values = result.arrays.get(array, empty)
        group = info.n_heads // info.n_kv_heads
        figure = head_grid.signed(values, view.colours, name=name, group=group)
        words = f"{reading} {how(result)}"
        if array not in result.arrays:
            words = "This model's positions can't be turned by a fixed distance, so there is nothing to show."
        return titled(figure, title, words, score=name)

    return draw


def spectra(result: Result, view: View) -> Drawing:
    """One head's eigenvalues in the complex plane; without a head the one that copies most."""
    place = view.head or tables.most_copying(result)
    colours = view.colours
    traces, largest = [], 0.0
    drawn = [
        (name, title, joined(result.arrays[name][place]), colour, symbol)
        for name, title, colour, symbol in (
            ("ov", "OV", colours.needed, "circle"),
            ("qk", "QK", colours.harmful, "diamond"),
            ("qk_best", "QK through a previous-token head", colours.both, "x-thin-open"),
        )
    ]
    # the three have no common unit, so each has its own outer ring
    for name, title, values, colour, symbol in drawn:
        moduli = np.abs(values[np.isfinite(values)])
        if not len(moduli):
            continue
        largest = float(moduli.max())
        score = float(result.arrays[f"{name}_positivity"][place])
        words = f"{title} ({score:+.2f})".replace("-", "−")
        traces.append(plane.eigenvalue_dots(values, largest, colour, words, symbol))
    shapes, names = plane.rings(1.0, colours)
    layout = {
        "height": 420,
        **plane.square(colours),
        "shapes": shapes,
        "annotations": names,
        "margin": {"l": 24, "r": 24, "t": 40, "b": 32},
    }
    reading = (
        "Every dot is an eigenvalue. Right is positive: the head raises (OV) or looks at (QK) the token "
        "itself; left is negative. The outer ring is the circuit's largest eigenvalue, each ring inwards a "
        f"tenth of it. In brackets: positivity. {how(result)}"
    )
    title = f"Eigenvalues of head {head_name(place)}"
    return titled({"data": traces, "layout": layout}, title, reading, head=list(map(int, place)))


FIGURES: dict[str, Callable[[Result, View], Drawing]] = {
    "plane": induction_plane,
    "copying": positivity_map("copying"),
    "matching": positivity_map("matching"),
    "matching-all": positivity_map("matching-all"),
    "qk": positivity_map("qk"),
    "qk-offset": positivity_map("qk-offset"),
    "spectra": spectra,
}

TABLES: dict[str, Callable[[Result, View], Any]] = {
    **dict.fromkeys((*FIGURES,), tables.heads),
    "spectra": tables.eigenvalues,
}
