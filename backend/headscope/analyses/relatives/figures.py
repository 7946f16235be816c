"""What the relatives draw: the heads that matter most, a map for each measure, estimates and the truth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.base import Result
from headscope.analyses.columns import flat
from headscope.analyses.relatives import tables
from headscope.analyses.relatives.schema import MEASURES, Measure
from headscope.core.arrays import encode
from headscope.figures import bars, head_grid
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View

RANKED = 20
"""Heads in the bars."""


def heads(result: Result, view: View) -> Drawing:
    """The heads that cost most to leave out, or help most, with their standard errors."""
    values, error = flat(result.arrays["left_out"]), flat(result.arrays["left_out_se"])
    order = np.argsort(-np.abs(np.nan_to_num(values)), kind="stable")[:RANKED]
    order = order[np.argsort(-values[order], kind="stable")]
    names = [f"{layer}.{head}" for layer, head in zip(*np.divmod(order, result.model.n_heads), strict=True)]
    hover = "Head %{x}: %{y:.3g} nats<extra></extra>"
    trace = bars.head_bars(
        names, values[order], error[order], view.colours.needed, view.colours, "left out", hover
    )
    trace["marker"]["color"] = [
        view.colours.needed if value >= 0 else view.colours.harmful for value in values[order]
    ]
    layout = {
        "height": 280,
        "bargap": 0.3,
        "showlegend": False,
        "xaxis": bars.head_axis(len(names)),
        "yaxis": {"title": {"text": "rise of the loss, nats"}},
        "margin": {"l": 56, "r": 16, "t": 14, "b": 56},
    }
    reading = (
        f"How much the loss of {result.values['n_examples']} held-out examples rises when one head is "
        f"closed: the {len(names)} heads that change it most. Whiskers are standard errors over examples. "
        "The table holds all heads and all measures."
    )
    return titled({"data": [trace], "layout": layout}, "What each head costs when it is left out", reading)


def measure_map(measure: Measure) -> Callable[[Result, View], Drawing]:
    """The map of one measure; signed, but for importance."""

    def draw(result: Result, view: View) -> Drawing:
        values = result.arrays[measure.name]
        known = np.abs(values[np.isfinite(values)])
        most = float(known.max()) if len(known) and known.max() > 0 else 1.0
        group = result.model.n_heads // result.model.n_kv_heads
        if measure.name == "importance":
            figure = head_grid.magnitudes(values, view.colours, name=measure.name, high=most, group=group)
        else:
            figure = head_grid.signed(values, view.colours, name=measure.name, most=most, group=group)
        reading = (
            f"{measure.reading} Mean over {result.values['n_examples']} held-out examples, {measure.unit}."
        )
        if not len(known):
            reading = "Not measured: this architecture's parts don't sum to its logits."
        return titled(figure, measure.title, reading, score=measure.name, statistic="mean over examples")

    return draw


def estimates(result: Result, view: View) -> Drawing:
    """The two first-order estimates against what leaving a head out really costs."""
    left = flat(result.arrays["left_out"])
    layer, head = np.divmod(np.arange(len(left)), result.model.n_heads)
    colours = view.colours
    dots = []
    for name, words, colour in (
        ("path", "along the path", colours.needed),
        ("slope", "slope at the model as it is", colours.harmful),
    ):
        dots.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": words,
                "x": encode(left.astype(np.float32)),
                "y": encode(flat(result.arrays[name]).astype(np.float32)),
                "customdata": encode(np.stack([layer, head], axis=1).astype(np.uint16)),
                "marker": {"color": colour, "size": 8, "line": {"width": 0}, "opacity": 0.8},
                "hovertemplate": f"Head %{{customdata[0]}}.%{{customdata[1]}}, {words}: %{{y:.3g}} nats, "
                "left out %{x:.3g}<extra></extra>",
            }
        )
    zero = {"zeroline": True, "zerolinecolor": colours.line}
    layout = {
        "height": 320,
        "xaxis": {"title": {"text": "rise of the loss, left out, nats"}, **zero},
        "yaxis": {"title": {"text": "estimate, nats"}, **zero},
        "margin": {"l": 56, "r": 16, "t": 34, "b": 44},
    }
    reading = (
        "Estimates take one or a few slopes for all heads at once, leaving out takes a pass for each head. A "
        "slope near nothing beside a large rise is a loss that is flat until the head is nearly shut."
    )
    return titled({"data": dots, "layout": layout}, "Estimates against the truth", reading)


FIGURES: dict[str, Callable[[Result, View], Drawing]] = {
    "heads": heads,
    **{measure.name: measure_map(measure) for measure in MEASURES},
    "estimates": estimates,
}

TABLES = tables.TABLES
