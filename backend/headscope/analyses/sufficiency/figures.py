"""What sufficiency draws: the curve beside random orders, and the subset on the head grid."""

from __future__ import annotations

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.columns import over_seeds
from headscope.analyses.sufficiency import tables
from headscope.analyses.sufficiency.result import SufficiencyResult
from headscope.figures import curves, head_grid
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View


def curve(result: SufficiencyResult, view: View) -> Drawing:
    """What is kept of the task with ever more heads open, best first, and in random orders."""
    colours, kept, random_k = view.colours, result.curve["kept"], result.random_open_heads
    low, high, mean = (100 * over_seeds(result.random["kept"], mode) for mode in ("always", "any", "every"))
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
            result.open_heads,
            100 * kept,
            colours.needed,
            "most needed first",
            hovertemplate=hover.replace("{}", "most needed first"),
        ),
    ]
    fewest = result.fewest
    shapes = [] if fewest is None else [curves.rule(fewest, colours)]
    guessing = _guessing(result)
    if guessing is not None:
        ends = np.array([0, result.n_heads])
        style = {"dash": "dot", "width": 1}
        told = "guessing every token alike: %{y:.1f} % of the gain<extra></extra>"
        level = np.full(2, guessing)
        traces.append(
            curves.line(ends, level, colours.muted, "guessing evenly", line=style, hovertemplate=told)
        )
    known = kept[np.isfinite(kept)]
    layout = {
        "height": 320,
        "xaxis": {"title": {"text": "open heads, all others closed"}, "range": [0, result.n_heads]},
        "yaxis": {
            "title": {"text": "% of the gain kept"},
            "range": [min([-5.0, *(100 * known - 5), *([] if guessing is None else [guessing - 5])]), 115.0],
        },
        "margin": {"l": 52, "r": 16, "t": 34, "b": 44},
        "shapes": shapes,
    }
    return titled(
        {"data": traces, "layout": layout}, "How many heads are enough?", _reading(result), fewest=fewest
    )


def subset(result: SufficiencyResult, view: View) -> Drawing:
    """The sufficient heads on the grid."""
    group = result.model.n_heads // result.model.n_kv_heads
    figure = head_grid.magnitudes(result.subset, view.colours, name="subset", group=group)
    figure["data"][0]["showscale"] = False
    fewest = result.fewest
    reading = (
        "No head is named: there is nothing to keep."
        if fewest is None
        else f"The {fewest} heads with the highest facilitation are open, all others closed. These gates can "
        "be put on the mixing board."
    )
    return titled(figure, "The heads that are enough", reading, statistic="open or closed")


def _guessing(result: SufficiencyResult) -> float | None:
    """Where guessing evenly lies between all heads closed and all open, %; None where nothing is gained."""
    gain = result.log_probability_open - result.log_probability_closed
    return 100 * (result.uniform - result.log_probability_closed) / gain if gain > 0 else None


def _reading(result: SufficiencyResult) -> str:
    if result.fewest is None or result.kept is None:
        return "The ungated model does no better than with all heads closed: there is nothing to keep."
    return (
        "The gain is how much higher the held-out log-probability of the ungated model lies than that of "
        f"the model with all heads closed. {result.fewest} of {result.n_heads} heads keep "
        f"{100 * result.kept:.1f} % of it, where {100 * result.params['keep']:g} % were asked for (dotted "
        f"line); the band runs from the lowest to the highest random order. {result.floor}"
    )


FIGURES = (Figure("curve", curve, tables.curve), Figure("subset", subset, tables.subset))
