"""What the analysis draws: loss by position, the documents' scores, what closing heads does to them."""

from __future__ import annotations

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.in_context_learning import tables
from headscope.analyses.in_context_learning.result import InContextLearningResult, interval
from headscope.analyses.in_context_learning.schema import EARLY, LATE
from headscope.core.arrays import encode
from headscope.core.model.info import head_name
from headscope.core.statistics.intervals import bootstrap_interval
from headscope.figures import bars, curves
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View


def loss(result: InContextLearningResult, view: View) -> Drawing:
    """Loss by position: how much less a token costs when there is more text before it."""
    first, last, means = tables.binned(result)
    low, high = bootstrap_interval(means)
    place, colour = (first + last) / 2, view.colours.scale[3]
    hover = "position %{x:.0f}: %{y:.2f} nats<extra></extra>"
    traces = [
        curves.band(place, low, high, colour, "loss"),
        curves.line(place, means.mean(axis=1), colour, "loss", showlegend=False, hovertemplate=hover),
    ]
    layout = {
        "height": 280,
        "xaxis": {"title": {"text": "position in the document"}, "range": [0, result.loss.shape[1]]},
        "yaxis": {"title": {"text": "loss, nats"}},
        "margin": {"l": 52, "r": 16, "t": 14, "b": 44},
        "shapes": [curves.rule(position, view.colours) for position in (EARLY, LATE)],
    }
    reading = (
        f"What a token costs after so many others; a point is the mean of {tables.BIN} positions over "
        f"{len(result.documents)} documents ({result.source}), the band its interval at 95 % over documents. "
        f"{_told(result)}"
    )
    figure = {"data": traces, "layout": layout}
    return titled(figure, "What a token costs, the further into a text", reading, pair=[EARLY, LATE])


def documents(result: InContextLearningResult, view: View) -> Drawing:
    """The smoothed score of each document, the lowest first."""
    colours, order = view.colours, np.argsort(result.smoothed, kind="stable")
    place = np.arange(1, len(order) + 1)
    traces = [
        curves.dots(
            place,
            result.smoothed[order],
            colours.scale[3],
            "smoothed score",
            text=[f"document {number + 1}" for number in result.documents[order].tolist()],
            hovertemplate="%{text}: %{y:+.2f} nats<extra></extra>",
        )
    ]
    mean = float(result.smoothed.mean())
    layout = {
        "height": 280,
        "xaxis": {"title": {"text": "documents, lowest first"}, "range": [0, len(order) + 1]},
        "yaxis": {"title": {"text": "smoothed score, nats"}, "zeroline": True, "zerolinecolor": colours.line},
        "margin": {"l": 52, "r": 16, "t": 14, "b": 44},
        "shapes": [
            {
                "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": mean, "y1": mean,
                "line": {"color": colours.muted, "width": 1, "dash": "dot"},
            }
        ],
    }  # fmt: skip
    below = int((result.smoothed < 0).sum())
    reading = (
        f"Each dot is a document: its mean loss around position {LATE} less that around {EARLY}. "
        f"{below} of {len(order)} are below 0; the dotted line is their mean."
    )
    return titled({"data": traces, "layout": layout}, "Documents differ", reading)


def heads(result: InContextLearningResult, view: View) -> Drawing:
    """Heads closed one at a time: by how much the smoothed score rises."""
    colours, changes = view.colours, result.smoothed_changes
    names = [head_name(head) for head in result.closed_heads]
    mean, (low, high) = changes.mean(axis=1), bootstrap_interval(changes)
    hover = "Head %{x} closed: %{y:+.3f} nats<extra></extra>"
    trace = bars.head_bars(names, mean, None, colours.scale[3], colours, "rise", hover)
    trace["error_y"] = {
        "type": "data",
        "symmetric": False,
        "array": encode((high - mean).astype(np.float32)),
        "arrayminus": encode((mean - low).astype(np.float32)),
        "color": colours.muted,
        "thickness": 1,
        "width": 3,
    }
    layout = {
        "height": 280,
        "bargap": 0.3,
        "showlegend": False,
        "xaxis": bars.head_axis(len(names)),
        "yaxis": {
            "title": {"text": "rise of the score, nats"},
            "zeroline": True,
            "zerolinecolor": colours.line,
        },
        "margin": {"l": 52, "r": 16, "t": 14, "b": 56},
    }
    reading = (
        "By how much the smoothed score rises when this head alone is closed (it gives 0 everywhere): above "
        "0, later tokens lose more than early ones do, so the head serves in-context learning. Whiskers are "
        "intervals at 95 % over documents, of each head by itself. A head that is needed everywhere costs "
        "both alike: the table has the rise early in the text, too."
        f"{result.model.added_note}"
        if names
        else "No head was closed in this run: name some, or an induction run."
    )
    return titled({"data": [trace], "layout": layout}, "In-context learning without a head", reading)


def _told(result: InContextLearningResult) -> str:
    (low, high), (low_smooth, high_smooth) = interval(result.scores), interval(result.smoothed)
    window = result.params["window"]
    return (
        f"In-context-learning score, loss at {LATE} minus loss at {EARLY} (dotted): "
        f"{_number(result.scores.mean())} nats ({_number(low)} to {_number(high)}); of means over {window} "
        f"tokens on either side of each: {_number(result.smoothed.mean())} ({_number(low_smooth)} to "
        f"{_number(high_smooth)})."
    )


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


FIGURES = (
    Figure("loss", loss, tables.loss),
    Figure("heads", heads, tables.heads),
    Figure("documents", documents, tables.documents),
)
