"""What the probe draws: how much better than chance each head does, the best heads, the labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.base import Result
from headscope.analyses.columns import flat
from headscope.analyses.probe import tables
from headscope.core.arrays import encode
from headscope.figures import bars, head_grid
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View

RANKED = 20


def score_map(name: str, title: str, words: str) -> Callable[[Result, View], Drawing]:
    """One number of every head on the grid."""

    def draw(result: Result, view: View) -> Drawing:
        values = np.clip(result.arrays[name], 0, None)
        high = 1.0 if name == "accuracy" else max(float(values.max()), 0.01)
        group = result.model.n_heads // result.model.n_kv_heads
        figure = head_grid.magnitudes(values, view.colours, name=name, high=high, group=group)
        chance = f"Guessing the most frequent label gets {100 * result.values['chance']:.0f} %."
        return titled(figure, title, f"{words} {chance}", score=name, statistic="held-out rows")

    return draw


def heads(result: Result, view: View) -> Drawing:
    """The heads that tell most, with their controls and chance."""
    colours = view.colours
    accuracy, control = flat(result.arrays["accuracy"]), flat(result.arrays["control"].mean(axis=0))
    order = np.argsort(-accuracy, kind="stable")[:RANKED]
    names = [f"{layer}.{head}" for layer, head in zip(*np.divmod(order, result.model.n_heads), strict=True)]
    hover = "Head %{x}: %{y:.1f} %<extra></extra>"
    trace = bars.head_bars(names, 100 * accuracy[order], None, colours.needed, colours, "the label", hover)
    shuffled = {
        "type": "scatter",
        "mode": "markers",
        "name": "shuffled labels",
        "x": names,
        "y": encode((100 * control[order]).astype(np.float32)),
        "marker": {"color": colours.muted, "size": 8, "symbol": "line-ew-open", "line": {"width": 2}},
        "hovertemplate": "Head %{x}, shuffled: %{y:.1f} %<extra></extra>",
    }
    chance = 100 * result.values["chance"]
    line = {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": chance,
        "y1": chance,
        "line": {"color": colours.muted, "width": 1, "dash": "dot"},
    }
    layout = {
        "height": 300,
        "bargap": 0.3,
        "xaxis": bars.head_axis(len(names)),
        "yaxis": {"range": [0, 100], "title": {"text": "% right, held out"}},
        "margin": {"l": 52, "r": 16, "t": 34, "b": 56},
        "shapes": [line],
    }
    reading = (
        f"How often a linear probe on what the head mixed at the last prompt token names the label of "
        f"{result.values['n_test']} held-out rows: the {len(names)} best. Ticks are the same with shuffled "
        f"labels; the dotted line is guessing the most frequent one, {chance:.0f} %."
    )
    return titled({"data": [trace, shuffled], "layout": layout}, "Which heads hold the label", reading)


def labels(result: Result, view: View) -> Drawing:
    """How many rows each label has."""
    values, colours = result.values, view.colours
    traces = [
        {
            "type": "bar",
            "name": words,
            "x": list(values["labels"]),
            "y": encode(np.array(values[key], np.uint32)),
            "marker": {"color": colour, "line": {"width": 0}},
            "hovertemplate": f"%{{x}}: %{{y}} {words}<extra></extra>",
        }
        for key, words, colour in (
            ("train_rows", "training rows", colours.irrelevant),
            ("test_rows", "held-out rows", colours.needed),
        )
    ]
    layout = {
        "height": 260,
        "barmode": "group",
        "xaxis": {"type": "category"},
        "yaxis": {"title": {"text": "rows"}},
        "margin": {"l": 52, "r": 16, "t": 34, "b": 44},
    }
    reading = (
        "Labels with too few training rows are left out; the more even the rest, the less guessing gets."
    )
    return titled({"data": traces, "layout": layout}, "The labels", reading)


FIGURES: dict[str, Callable[[Result, View], Drawing]] = {
    "selectivity": score_map(
        "selectivity",
        "How much better than shuffled labels",
        "Held-out accuracy of a linear probe on each head, less that with shuffled labels.",
    ),
    "heads": heads,
    "accuracy": score_map("accuracy", "Accuracy", "Held-out accuracy of a linear probe on each head."),
    "labels": labels,
}

TABLES = tables.TABLES
