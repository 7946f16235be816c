"""What the composition analysis draws: a graph with a threshold, a matrix of each kind, a head's partners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import Figure
from headscope.analyses.composition import tables
from headscope.analyses.composition.result import CompositionResult
from headscope.analyses.composition.tables import KIND_WORDS, pairs_table, partner_table, partners, strongest
from headscope.analyses.from_weights import how
from headscope.core.arrays import encode
from headscope.core.model.info import head_name
from headscope.figures import bars, flow
from headscope.figures.theme import Drawing, magnitude_scale, titled
from headscope.figures.view import View

MOST_LINKS = 240
"""More lines than this are a felt, not a graph."""

MOST_HEADS = 96
"""Heads of a whole matrix; beyond, a cell is a pair of layers and holds their strongest pair of heads."""


def graph(kind: str) -> Callable[[CompositionResult, View], Drawing]:
    """The pairs above the threshold, which is a share of the strongest pair's score."""

    def draw(result: CompositionResult, view: View) -> Drawing:
        scores = result.scores(kind)
        most = float(np.nanmax(scores))
        pairs, values = strongest(scores, MOST_LINKS, view.threshold * most, view.head)
        info, colours = result.model, view.colours
        linked = np.zeros((info.n_layers, info.n_heads), dtype=bool)
        linked[pairs[:, 0], pairs[:, 1]] = linked[pairs[:, 2], pairs[:, 3]] = True
        span = max(most * (1 - view.threshold), 1e-9)
        strength = np.clip((values - view.threshold * most) / span, 0, 1)
        traces = [
            *flow.links(pairs, strength, colours),
            flow.nodes(info.n_layers, info.n_heads, linked, colours, view.head),
        ]
        layout = {
            "height": round(90 + 24 * min(info.n_heads, 20)),
            **flow.axes(info.n_layers, info.n_heads),
            "margin": {"l": 48, "r": 16, "t": 12, "b": 44},
        }
        of = f" of head {head_name(view.head)}" if view.head else ""
        reading = (
            f"{KIND_WORDS[kind][1]} {_counted(len(pairs), of)} at least {100 * view.threshold:.0f} % of the "
            f"strongest ({most:.3f} above random matrices). {how(result)}"
        )
        figure = {"data": traces, "layout": layout}
        return titled(figure, KIND_WORDS[kind][0], reading, threshold=view.threshold, kind=kind)

    return draw


def matrix(kind: str) -> Callable[[CompositionResult, View], Drawing]:
    """Every pair as a cell: earlier heads down, later heads across."""

    def draw(result: CompositionResult, view: View) -> Drawing:
        info = result.model
        scores = result.scores(kind)
        whole = info.n_layers * info.n_heads <= MOST_HEADS
        cells, names = _cells(scores, whole)
        trace = {
            "type": "heatmap",
            "name": kind,
            "x": names,
            "y": names,
            "z": encode(cells.astype(np.float32)),
            "zmin": 0,
            "zmax": float(np.nanmax(scores)),
            "colorscale": magnitude_scale(view.colours),
            "hovertemplate": "%{y} → %{x}: %{z:.3f}<extra></extra>",
        }
        axis = {"type": "category", "showgrid": False, "constrain": "domain", "nticks": 16}
        layout = {
            "height": 460,
            "xaxis": {**axis, "title": {"text": "later, which reads"}},
            "yaxis": {**axis, "autorange": "reversed", "title": {"text": "earlier, which writes"}},
            "margin": {"l": 60, "r": 56, "t": 12, "b": 56},
        }
        cell = "A cell is a pair of heads" if whole else "A cell is two layers and shows their strongest pair"
        reading = f"{KIND_WORDS[kind][1]} {cell}; what random matrices score is subtracted. {how(result)}"
        title = f"{KIND_WORDS[kind][0]}, all pairs"
        return titled({"data": [trace], "layout": layout}, title, reading, kind=kind, whole=whole)

    return draw


def partner_bars(result: CompositionResult, view: View) -> Drawing:
    """One head's strongest partners of each kind, earlier and later; without a head that of the best pair."""
    place = view.head or tables.busiest(result)
    colours = view.colours
    kinds = zip(KIND_WORDS, (colours.needed, colours.harmful, colours.both), strict=True)
    traces, count = [], 0
    for kind, colour in kinds:
        names, values = partners(result.scores(kind), place, most=8)
        count += len(names)
        traces.append(
            bars.head_bars(
                [f"{kind.upper()} {name}" for name in names],
                values,
                None,
                colour,
                colours,
                KIND_WORDS[kind][2],
                "%{x}: %{y:.3f}<extra></extra>",
            )
        )
    layout = {
        "height": 300,
        "bargap": 0.25,
        "xaxis": {**bars.head_axis(count), "title": {"text": "partner"}},
        "yaxis": {"title": {"text": "score above random"}, "zeroline": True, "zerolinecolor": colours.line},
        "margin": {"l": 56, "r": 16, "t": 34, "b": 84},
    }
    reading = (
        f"The heads that head {head_name(place)} reads most from (←) and that read most from it (→), for its "
        f"queries, keys and values. {how(result)}"
    )
    title = f"Partners of head {head_name(place)}"
    return titled({"data": traces, "layout": layout}, title, reading, head=list(map(int, place)))


def _counted(pairs: int, of: str) -> str:
    if pairs == 0:
        return f"No pair{of} scores"
    if pairs == 1:
        return f"The line is the one pair{of} that scores"
    shown = f"the {pairs} strongest" if pairs == MOST_LINKS else f"{pairs}"
    return f"Lines are {shown} pairs{of} that score"


def _cells(scores: NDArray[Any], whole: bool) -> tuple[NDArray[Any], list[str]]:
    layers, heads = scores.shape[:2]
    if whole:
        places = [head_name(divmod(index, heads)) for index in range(layers * heads)]
        return scores.reshape(layers * heads, -1), places
    filled = np.where(np.isnan(scores), -np.inf, scores).max(axis=(1, 3))
    return np.where(np.isneginf(filled), np.nan, filled), [f"layer {layer}" for layer in range(layers)]


FIGURES = (
    *(Figure(f"{kind}-graph", graph(kind), pairs_table(kind)) for kind in KIND_WORDS),
    Figure("partners", partner_bars, partner_table, about_one_head=True),
    *(Figure(f"{kind}-matrix", matrix(kind), pairs_table(kind)) for kind in KIND_WORDS),
)
