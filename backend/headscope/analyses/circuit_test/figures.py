"""What a circuit test draws: the tests, faithfulness over sizes, random circuits, subsets, members."""

from __future__ import annotations

from typing import Any

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.circuit_test import tables
from headscope.analyses.circuit_test.circuit import RANKINGS
from headscope.analyses.circuit_test.result import CircuitTestResult
from headscope.core.arrays import encode
from headscope.core.model.info import head_name, heads_in_words
from headscope.core.statistics.circuit_tests import ALPHA
from headscope.figures import bars, curves, head_grid
from headscope.figures.theme import Drawing, Palette, titled
from headscope.figures.view import View

_LEAST_P = 1e-3
"""The left end of the axis of p; what lies beyond is drawn there, pointing on."""

MOST_BARS = 40
"""Members that are drawn; the table holds all."""


def tests(result: CircuitTestResult, view: View) -> Drawing:
    """p of each test; what it comes to in words stands in the reading."""
    colours, told = view.colours, [test for test in result.tests if test["p"] is not None]
    paint = {"shown": colours.needed, "refuted": colours.harmful, "open": colours.muted}
    p = np.array([test["p"] for test in told], np.float64)
    trace = {
        "type": "scatter",
        "mode": "markers+text",
        "x": encode(np.maximum(p, _LEAST_P).astype(np.float32)),
        "y": [test["title"] for test in told],
        "text": [test["outcome"] for test in told],
        "textposition": ["middle right" if beyond else "top center" for beyond in p < _LEAST_P],
        "marker": {
            "size": 11,
            "symbol": ["triangle-left" if beyond else "circle" for beyond in p < _LEAST_P],
            "color": [paint[test["outcome"]] for test in told],
            "line": {"width": 0},
        },
        "customdata": [f"{value:.2g}" for value in p],
        "hovertemplate": "%{y}: p = %{customdata}, %{text}<extra></extra>",
        "showlegend": False,
    }
    layout = {
        "height": 300,
        "xaxis": {"type": "log", "title": {"text": "p"}, "range": [-3.2, 0.25]},
        "yaxis": {"type": "category", "autorange": "reversed", "automargin": True},
        "margin": {"l": 120, "r": 16, "t": 24, "b": 44},
        "shapes": [curves.rule(ALPHA, colours)],
    }
    words = " ".join(f"{test['title']}: {test['verdict']}" for test in result.tests)
    reading = (
        f"Of the circuit of {heads_in_words(len(result.heads))}, on {result.n_test} held-out examples. "
        f"{words} The dotted line is p = 0.05. A small p shows minimality, sufficiency and necessity; "
        "it refutes equivalence and independence."
    )
    if (p < _LEAST_P).any():
        reading += f" A triangle at the left end stands for a p below {_LEAST_P}."
    return titled({"data": [trace], "layout": layout}, "What the tests say", reading, wide=True)


def faithfulness(result: CircuitTestResult, view: View) -> Drawing:
    """f over the share of heads kept, by ranking, with random rankings and the circuit itself."""
    colours, share = view.colours, 100 * result.kept_heads / result.n_heads
    hover = "%{x:.3g} % of heads, {}: %{y:.1f} %<extra></extra>"
    random = 100 * result.random_curve
    traces = [
        curves.band(share, random.min(axis=0), random.max(axis=0), colours.muted, "random"),
        _curve(share, random.mean(axis=0), colours.muted, "random rankings", hover, legendgroup="random"),
    ]
    for name, values in zip(result.rankings, result.curve, strict=True):
        traces.append(_curve(share, 100 * values, _colour(name, colours), RANKINGS[name].lower(), hover))
    traces.append(
        curves.dots(
            np.array([100 * len(result.heads) / result.n_heads]),
            np.array([np.nan if result.faithfulness is None else 100 * result.faithfulness]),
            colours.ink,
            "the circuit",
            showlegend=True,
            marker={"color": colours.ink, "size": 11, "symbol": "diamond", "line": {"width": 0}},
            hovertemplate=hover.replace("{}", "the circuit"),
        )
    )
    levels = [(0.0, "every head replaced"), (100.0, "the model")]
    chance = 100 * float(result.share(result.score_chance))
    if np.isfinite(chance) and chance > -100:
        levels.append((chance, "chance"))
    layout = {
        "height": 360,
        "xaxis": {"type": "log", "title": {"text": "% of heads kept, all others replaced"}},
        "yaxis": {"title": {"text": "faithfulness, %"}},
        "margin": {"l": 52, "r": 16, "t": 34, "b": 44},
        "shapes": [_level(at, colours) for at, _ in levels],
        "annotations": [_named(at, word, colours) for at, word in levels],
    }
    return titled(
        {"data": traces, "layout": layout}, "How faithful are the best heads?", _curves_read(result)
    )


def areas(result: CircuitTestResult, view: View) -> Drawing:
    """CMD by ranking; random rankings as their mean, from the nearest to the farthest."""
    colours, random = view.colours, result.random_cmd
    names = [*(RANKINGS[name] for name in result.rankings), "Random rankings"]
    values = np.append(result.cmd, random.mean())
    trace = bars.head_bars(
        names, values, None, colours.needed, colours, "CMD", "%{x}: CMD %{y:.3g}<extra></extra>"
    )
    trace["marker"]["color"] = [*(_colour(name, colours) for name in result.rankings), colours.muted]
    spread = np.zeros((2, len(values)), np.float32)
    spread[:, -1] = np.nan_to_num([random.max() - random.mean(), random.mean() - random.min()])
    trace["error_y"] = {
        "type": "data", "array": encode(spread[0]), "arrayminus": encode(spread[1]),
        "symmetric": False, "color": colours.muted, "thickness": 1, "width": 3,
    }  # fmt: skip
    layout = {
        "height": 280,
        "bargap": 0.4,
        "showlegend": False,
        "xaxis": {"type": "category"},
        "yaxis": {"title": {"text": "CMD"}, "rangemode": "tozero"},
        "margin": {"l": 52, "r": 16, "t": 14, "b": 64},
    }
    reading = (
        "The area between faithfulness and the model's, over the share of heads kept: less is better. The "
        f"whisker runs from the nearest to the farthest of {len(random)} random rankings. The table has the "
        "area under faithfulness (CPR) too, and what the best heads of each ranking keep, as many as the "
        "circuit has. The units are heads; MIB's are edges, so its numbers can't be compared with these."
    )
    return titled({"data": [trace], "layout": layout}, "How far from the model is each ranking?", reading)


def random(result: CircuitTestResult, view: View) -> Drawing:
    """Random circuits of the same size: how each does alone, and the model without it."""
    colours = view.colours
    hover = "alone %{x:.3g}, without it %{y:.3g}<extra>{}</extra>"
    size = len(result.heads)
    dots = [
        curves.dots(
            result.random, result.random_without, colours.muted, "random circuits", showlegend=True,
            hovertemplate=hover.replace("{}", "random"),
        ),
        curves.dots(
            np.array([result.score_circuit]), np.array([result.score_without]), colours.ink, "the circuit",
            showlegend=True, hovertemplate=hover.replace("{}", "the circuit"),
            marker={"color": colours.ink, "size": 11, "symbol": "diamond", "line": {"width": 0}},
        ),
    ]  # fmt: skip
    layout = {
        "height": 320,
        "xaxis": {"title": {"text": f"the circuit alone, {result.unit}"}},
        "yaxis": {"title": {"text": f"the model without it, {result.unit}"}},
        "margin": {"l": 56, "r": 16, "t": 34, "b": 44},
    }
    reading = (
        f"{_metric(result)} of circuits of {heads_in_words(size)}. One that is sufficient stands to the "
        "right of random ones, one that is needed in part below them. With every head replaced it is "
        f"{_n(result.score_none)}, by chance {_n(result.score_chance)}, of the model {_n(result.score_all)} "
        f"{result.unit}."
    )
    return titled({"data": dots, "layout": layout}, "Against random circuits", reading)


def completeness(result: CircuitTestResult, view: View) -> Drawing:
    """Circuit against model with the same heads knocked out."""
    colours = view.colours
    x, y = 100 * result.subset_whole, 100 * result.subset_kept
    known = np.concatenate([x, y, [0.0, 100.0]])
    ends = np.array([np.nanmin(known), np.nanmax(known)])
    data: list[Any] = [
        curves.line(ends, ends, colours.line, "equal", showlegend=False, hoverinfo="skip"),
        curves.dots(
            x,
            y,
            colours.needed,
            "subsets",
            customdata=encode(result.subset_size.astype(np.uint16)),
            hovertemplate="%{customdata} knocked out: model %{x:.1f} %, circuit %{y:.1f} %<extra></extra>",
        ),
    ]
    layout = {
        "height": 320,
        "xaxis": {"title": {"text": "model without K, %"}},
        "yaxis": {"title": {"text": "circuit without K, %"}},
        "margin": {"l": 56, "r": 16, "t": 14, "b": 44},
    }
    reading = (
        "Faithfulness of the model and of the circuit without the same random heads K of the circuit. On the "
        "line the circuit is complete; below it, other heads of the model stand in for those knocked out."
    )
    return titled({"data": data, "layout": layout}, "Is anything missing?", reading)


def minimality(result: CircuitTestResult, view: View) -> Drawing:
    """What knocking out each member costs, over the band of heads from outside."""
    colours = view.colours
    order = np.argsort(-result.loss, kind="stable")[:MOST_BARS]
    names = [head_name(result.heads[place]) for place in order.tolist()]
    hover = f"Head %{{x}}: %{{y:.3g}} {result.unit}<extra></extra>"
    trace = bars.head_bars(names, result.loss[order], None, colours.needed, colours, "loss", hover)
    shown = result.loss_p[order] <= ALPHA
    trace["marker"]["color"] = [colours.needed if each else colours.muted for each in shown.tolist()]
    low, high = (float(each) for each in np.quantile(result.inflated, [0, 1 - ALPHA]))
    layout = {
        "height": 280,
        "bargap": 0.3,
        "showlegend": False,
        "xaxis": bars.head_axis(len(names)),
        "yaxis": {"title": {"text": f"cost, {result.unit}"}},
        "margin": {"l": 56, "r": 16, "t": 14, "b": 56},
        "shapes": [_between(low, high, colours)],
    }
    reading = (
        "What the circuit loses when one of its heads is knocked out, costliest first; blue where that is "
        f"more than {len(result.inflated)} heads from outside explain, each added and removed again (p up to "
        "0.05; the band runs from the least of those to their 95 % quantile)."
    )
    if len(result.loss) > MOST_BARS:
        reading += f" {MOST_BARS} of {len(result.loss)} are drawn, the table holds all."
    return titled({"data": [trace], "layout": layout}, "Is every head needed?", reading)


def heads(result: CircuitTestResult, view: View) -> Drawing:
    """The circuit on the grid."""
    group = result.model.n_heads // result.model.n_kv_heads
    figure = head_grid.magnitudes(result.gates, view.colours, name="circuit", group=group)
    figure["data"][0]["showscale"] = False
    reading = f"The {heads_in_words(len(result.heads))} of {result.n_heads} that were tested."
    return titled(figure, "The circuit", reading, statistic="in the circuit or not")


def _curves_read(result: CircuitTestResult) -> str:
    if result.faithfulness is None:
        return "The model does no better than with every head replaced: there is nothing to be faithful to."
    return (
        f"{_metric(result)}, as a share of what the model gains over itself with every head replaced "
        f"({_n(result.score_none)} to {_n(result.score_all)} {result.unit}; chance is "
        f"{_n(result.score_chance)}). The best heads of each ranking are kept. The circuit of "
        f"{heads_in_words(len(result.heads))} reaches {100 * result.faithfulness:.1f} %; the band is from "
        f"the lowest to the highest of {len(result.random_curve)} random rankings."
    )


def _curve(x: Any, y: Any, colour: str, name: str, hover: str, **more: Any) -> dict[str, Any]:
    return curves.line(x, y, colour, name, hovertemplate=hover.replace("{}", name), **more)


def _colour(name: str, colours: Palette) -> str:
    place = list(RANKINGS).index(name)
    return colours.needed if place == 0 else colours.series[place - 1]


def _level(at: float, colours: Palette) -> dict[str, Any]:
    line = {"color": colours.muted, "width": 1, "dash": "dot"}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": at, "y1": at, "line": line}


def _named(at: float, word: str, colours: Palette) -> dict[str, Any]:
    """At the right end, where curves have left every level but the model's."""
    return curves.label(1, at, word, colours.muted, xref="paper", xanchor="right", yanchor="bottom")


def _between(low: float, high: float, colours: Palette) -> dict[str, Any]:
    return {
        "type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": low, "y1": high, "line": {"width": 0},
        "fillcolor": colours.muted, "opacity": 0.16, "layer": "below",
    }  # fmt: skip


def _n(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _metric(result: CircuitTestResult) -> str:
    return "Logit difference" if result.unit == "logits" else "Mean log-probability of the targets"


FIGURES = (
    Figure("tests", tests, tables.tests),
    Figure("faithfulness", faithfulness, tables.curves),
    Figure("areas", areas, tables.areas),
    Figure("random", random, tables.random),
    Figure("completeness", completeness, tables.completeness),
    Figure("minimality", minimality, tables.minimality),
    Figure("heads", heads, tables.heads),
)
