"""What the eigenvalue analysis draws: the QK x OV plane, a map of each positivity, one head's spectra."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.eigen.result import EigenResult
from headscope.analyses.eigen.tables import eigenvalues, heads
from headscope.analyses.from_weights import how, joined
from headscope.core.model.info import head_name
from headscope.figures import head_grid, plane
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View

_MAPS = {
    "copying": (
        "ov",
        "What each head copies",
        "OV positivity: above 0 a head raises the very tokens it looks at, below 0 it lowers them.",
    ),
    "matching": (
        "qk_best",
        "What each head matches, through the best previous-token head",
        "QK positivity with keys written by the best previous-token head of an earlier layer: above 0 a head "
        "looks at what followed an earlier copy of its token. The first layer has none before it.",
    ),
    "matching-all": (
        "qk_all",
        "What each head matches, through all earlier heads",
        "The same with keys written by all earlier heads, each by its previous-token score.",
    ),
    "qk": (
        "qk",
        "What each head matches by itself",
        "QK positivity without any earlier head: above 0 a token looks at its own copies.",
    ),
    "qk-offset": (
        "qk_offset",
        "What each head matches at a distance",
        "QK positivity with rotary positions turned by a fixed distance between query and key.",
    ),
}


def induction_plane(result: EigenResult, view: View) -> Drawing:
    """Each head between QK positivity through the best previous-token head and OV positivity."""
    hover = (
        "Head %{customdata[0]}.%{customdata[1]}<br>matches %{x:+.2f}, copies %{y:+.2f}<br>"
        "induction score %{marker.color:.2f}<extra></extra>"
    )
    trace = plane.head_dots(
        result.positivity["qk_best"],
        result.positivity["ov"],
        result.named_by("induction").mean(axis=0),
        view.colours,
        hover,
        "induction score",
    )
    axis = {"range": [-1.05, 1.05], "tickvals": [-1, -0.5, 0, 0.5, 1], "zeroline": True}
    axis |= {"zerolinecolor": view.colours.line, "showgrid": False}
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


def positivity_map(name: str) -> Callable[[EigenResult, View], Drawing]:
    """A map of one positivity, -1 to 1."""
    spectrum, title, reading = _MAPS[name]

    def draw(result: EigenResult, view: View) -> Drawing:
        info = result.model
        empty = np.full((info.n_layers, info.n_heads), np.nan, np.float32)
        values = result.positivity.get(spectrum, empty)
        group = info.n_heads // info.n_kv_heads
        figure = head_grid.signed(values, view.colours, name=name, group=group)
        words = f"{reading} {how(result)}"
        if spectrum not in result.positivity:
            words = "This model's positions can't be turned by a fixed distance, so there is nothing to show."
        return titled(figure, title, words, score=name)

    return draw


def spectra(result: EigenResult, view: View) -> Drawing:
    """One head's eigenvalues in the complex plane; without a head the one that copies most."""
    place = view.head or result.most_copying
    colours = view.colours
    traces, largest = [], 0.0
    drawn = [
        (name, title, joined(result.spectra[name][place]), colour, symbol)
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
        score = float(result.positivity[name][place])
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


FIGURES = (
    Figure("plane", induction_plane, heads),
    *(Figure(name, positivity_map(name), heads) for name in _MAPS),
    Figure("spectra", spectra, eigenvalues, about_one_head=True),
)
