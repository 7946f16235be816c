"""What the probe draws: how much better than chance each head does, the best heads, the labels."""

from __future__ import annotations

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.columns import flat
from headscope.analyses.probe import tables
from headscope.analyses.probe.result import ProbeResult
from headscope.core.arrays import encode
from headscope.core.model.info import head_name
from headscope.figures import bars, head_grid
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View

RANKED = 20


def selectivity(result: ProbeResult, view: View) -> Drawing:
    """How much better than with shuffled labels each head does; the deepest colour is the best head's."""
    high = max(float(result.selectivity.max()), 0.01)
    words = "Held-out accuracy of a linear probe on each head, less that with shuffled labels."
    return _map(result, view, "selectivity", high, "How much better than shuffled labels", words)


def accuracy(result: ProbeResult, view: View) -> Drawing:
    """How often each head's probe is right, from 0 to 1."""
    words = "Held-out accuracy of a linear probe on each head."
    return _map(result, view, "accuracy", 1.0, "Accuracy", words)


def heads(result: ProbeResult, view: View) -> Drawing:
    """The heads that tell most, with their controls and chance."""
    colours = view.colours
    right, control = flat(result.accuracy), flat(result.control.mean(axis=0))
    order = np.argsort(-right, kind="stable")[:RANKED]
    names = [head_name(divmod(index, result.model.n_heads)) for index in order.tolist()]
    hover = "Head %{x}: %{y:.1f} %<extra></extra>"
    trace = bars.head_bars(names, 100 * right[order], None, colours.needed, colours, "the label", hover)
    shuffled = {
        "type": "scatter",
        "mode": "markers",
        "name": "shuffled labels",
        "x": names,
        "y": encode((100 * control[order]).astype(np.float32)),
        "marker": {"color": colours.muted, "size": 8, "symbol": "line-ew-open", "line": {"width": 2}},
        "hovertemplate": "Head %{x}, shuffled: %{y:.1f} %<extra></extra>",
    }
    chance = 100 * result.chance
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
        f"{result.n_test} held-out rows: the {len(names)} best. Ticks are the same with shuffled "
        f"labels; the dotted line is guessing the most frequent one, {chance:.0f} %."
    )
    return titled({"data": [trace, shuffled], "layout": layout}, "Which heads hold the label", reading)


def labels(result: ProbeResult, view: View) -> Drawing:
    """How many rows each label has."""
    colours = view.colours
    traces = [
        {
            "type": "bar",
            "name": words,
            "x": list(result.labels),
            "y": encode(np.array(rows, np.uint32)),
            "marker": {"color": colour, "line": {"width": 0}},
            "hovertemplate": f"%{{x}}: %{{y}} {words}<extra></extra>",
        }
        for rows, words, colour in (
            (result.train_rows, "training rows", colours.irrelevant),
            (result.test_rows, "held-out rows", colours.needed),
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


def _map(result: ProbeResult, view: View, name: str, high: float, title: str, words: str) -> Drawing:
    values = np.clip(result.arrays[name], 0, None)
    group = result.model.n_heads // result.model.n_kv_heads
    figure = head_grid.magnitudes(values, view.colours, name=name, high=high, group=group)
    chance = f"Guessing the most frequent label gets {100 * result.chance:.0f} %."
    return titled(figure, title, f"{words} {chance}", score=name, statistic="held-out rows")


FIGURES = (
    Figure("selectivity", selectivity, tables.heads),
    Figure("heads", heads, tables.heads),
    Figure("accuracy", accuracy, tables.heads),
    Figure("labels", labels, tables.labels),
)
