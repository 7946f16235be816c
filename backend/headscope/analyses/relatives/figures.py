"""What the relatives draw: the heads that matter most, a map for each measure, estimates beside ablations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.columns import flat
from headscope.analyses.relatives import tables
from headscope.analyses.relatives.result import MEASURES, Measure, RelativesResult
from headscope.core.arrays import encode
from headscope.core.model.info import head_name
from headscope.figures import bars, head_grid
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View

RANKED = 20
"""Heads in the bars."""

_COMPARED = [measure for measure in MEASURES if measure.name in ("left_out", "path", "slope")]
"""Leave-one-out, and its first-order estimates."""


def heads(result: RelativesResult, view: View) -> Drawing:
    """The heads that cost most to leave out, or help most, with their standard errors."""
    values, error = flat(result.left_out), flat(result.errors["left_out"])
    order = np.argsort(-np.abs(np.nan_to_num(values)), kind="stable")[:RANKED]
    order = order[np.argsort(-values[order], kind="stable")]
    names = [head_name(divmod(index, result.model.n_heads)) for index in order.tolist()]
    hover = "Head %{x}: %{y:.3g} nats<extra></extra>"
    trace = bars.head_bars(
        names, values[order], error[order], view.colours.needed, view.colours, "leave-one-out", hover
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
        f"How much the loss of {result.n_examples} held-out examples rises when one head is closed: the "
        f"{len(names)} heads that change it most. Whiskers are standard errors over examples. The table "
        "holds all heads and all measures."
    )
    return titled({"data": [trace], "layout": layout}, "Largest leave-one-out effects", reading)


def measure_map(measure: Measure) -> Callable[[RelativesResult, View], Drawing]:
    """The map of one measure; signed, but for importance."""

    def draw(result: RelativesResult, view: View) -> Drawing:
        values = result.known(measure)
        known = np.abs(values[np.isfinite(values)])
        most = float(known.max()) if len(known) and known.max() > 0 else 1.0
        group = result.model.n_heads // result.model.n_kv_heads
        if measure.name == "importance":
            figure = head_grid.magnitudes(values, view.colours, name=measure.name, high=most, group=group)
        else:
            figure = head_grid.signed(values, view.colours, name=measure.name, most=most, group=group)
        reading = f"{measure.reading} Mean over {result.n_examples} held-out examples, {measure.unit}."
        if result.unconverged(measure):
            reading = result.why_unconverged
        elif not len(known):
            reading = "Not measured: this architecture's parts don't sum to its logits."
        return titled(figure, measure.title, reading, score=measure.name, statistic="mean over examples")

    return draw


def estimates(result: RelativesResult, view: View) -> Drawing:
    """The two first-order estimates against what leaving a head out really costs."""
    colours = view.colours
    left_out, *estimated = _COMPARED
    x = flat(result.effects(left_out)).astype(np.float32)
    places = np.stack(np.divmod(np.arange(len(x)), result.model.n_heads), axis=1).astype(np.uint16)
    dots = []
    for measure, colour in zip(estimated, (colours.needed, colours.harmful), strict=True):
        if result.unconverged(measure):
            continue
        words = measure.title.lower()
        dots.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": words,
                "x": encode(x),
                "y": encode(flat(result.effects(measure)).astype(np.float32)),
                "customdata": encode(places),
                "marker": {"color": colour, "size": 8, "line": {"width": 0}, "opacity": 0.8},
                "hovertemplate": f"Head %{{customdata[0]}}.%{{customdata[1]}}, {words}: %{{y:.3g}} nats, "
                "leave-one-out %{x:.3g}<extra></extra>",
            }
        )
    zero = {"zeroline": True, "zerolinecolor": colours.line}
    layout = {
        "height": 320,
        "xaxis": {"title": {"text": "leave-one-out, nats"}, **zero},
        "yaxis": {"title": {"text": "estimate, nats"}, **zero},
        "margin": {"l": 56, "r": 16, "t": 34, "b": 44},
    }
    reading = (
        "Estimates take one or a few gradients for all heads at once, leave-one-out takes a pass for each "
        "head. A small gradient beside a large effect: the loss is flat until the head is nearly closed."
    )
    if not result.path_converged:
        reading = f"{reading} {result.why_unconverged}"
    return titled({"data": dots, "layout": layout}, "Gradient estimates against leave-one-out", reading)


FIGURES = (
    Figure("heads", heads, tables.heads),
    *(Figure(measure.name, measure_map(measure), tables.measured(measure)) for measure in MEASURES),
    Figure("estimates", estimates, tables.measured(*_COMPARED)),
)
