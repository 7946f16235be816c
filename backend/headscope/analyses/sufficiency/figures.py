"""What sufficiency draws: the curve beside random orders, and the subset on the head grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.base import Result
from headscope.analyses.columns import over_seeds
from headscope.analyses.sufficiency import tables
from headscope.figures import curves, head_grid
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View


def curve(result: Result, view: View) -> Drawing:
    """What is kept of the task with ever more heads open, best first, and in random orders."""
    arrays, colours, values = result.arrays, view.colours, result.values
    low, mean, high = (100 * over_seeds(arrays["random_kept"], mode) for mode in ("always", "every", "any"))
    random_k = arrays["random_open_heads"]
    hover = "%{x} heads, {}: %{y:.1f} % kept<extra></extra>"
    traces = [
        curves.band(random_k, low, high, colours.muted, "random"),
        curves.line(
            random_k,
            mean,
            colours.muted,
            "random orders",
            legendgroup="random",
            hovertemplate=hover.replace("{}", "random order"),
        ),
        curves.line(
            arrays["open_heads"],
            100 * arrays["kept"],
            colours.needed,
            "most needed first",
            hovertemplate=hover.replace("{}", "most needed first"),
        ),
    ]
    fewest, keep = values["fewest"], result.params["keep"]
    shapes = [] if fewest is None else [curves.rule(fewest, colours)]
    known = arrays["kept"][np.isfinite(arrays["kept"])]
    layout = {
        "height": 320,
        "xaxis": {"title": {"text": "open heads, all others closed"}, "range": [0, values["n_heads"]]},
        "yaxis": {
            "title": {"text": "% of the gain kept"},
            "range": [min(-5.0, 100 * float(known.min()) - 5) if len(known) else -5.0, 115.0],
        },
        "margin": {"l": 52, "r": 16, "t": 34, "b": 44},
        "shapes": shapes,
    }
    reading = (
        "The gain is how much higher the held-out log-probability of the model as it is lies than that of "
        "the model with all heads closed. "
    )
    if fewest is None:
        reading = "The model as it is does no better than with all heads closed: there is nothing to keep."
    else:
        reading += (
            f"{fewest} of {values['n_heads']} heads keep {100 * values['kept']:.1f} % of it, where "
            f"{100 * keep:g} % were asked for (dotted line); the band runs from the lowest to the highest "
            "random order."
        )
    return titled({"data": traces, "layout": layout}, "How many heads are enough?", reading, fewest=fewest)


def subset(result: Result, view: View) -> Drawing:
    """The sufficient heads on the grid."""
    group = result.model.n_heads // result.model.n_kv_heads
    figure = head_grid.magnitudes(result.arrays["subset"], view.colours, name="subset", group=group)
    figure["data"][0]["showscale"] = False
    fewest = result.values["fewest"]
    reading = (
        "No head is named: there is nothing to keep."
        if fewest is None
        else f"The {fewest} heads with the highest facilitation are open, all others closed. These gates can "
        "be put on the mixing board."
    )
    return titled(figure, "The heads that are enough", reading, statistic="open or closed")


FIGURES: dict[str, Callable[[Result, View], Drawing]] = {"curve": curve, "subset": subset}

TABLES = tables.TABLES
