"""What the residual-stream analysis draws: norms, memory management, reads and writes."""

from __future__ import annotations

from typing import Any

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.from_weights import how
from headscope.analyses.residual import tables
from headscope.analyses.residual.result import ResidualResult
from headscope.core.arrays import encode
from headscope.figures import curves, head_grid, plane, ranked
from headscope.figures.theme import Drawing, magnitude_scale, titled
from headscope.figures.view import View

SHOWN = 30
BINS = 40


def norms(result: ResidualResult, view: View) -> Drawing:
    """Norms of the stream and of what each layer adds, mean over the prompt."""
    colours = view.colours
    traces = []
    for norm, words, colour in (
        (result.stream, "the stream before each layer", colours.ink),
        (result.attention, "attention adds", colours.needed),
        (result.mlp, "the MLP adds", colours.harmful),
    ):
        mean = norm.mean(axis=1)
        if not np.isfinite(mean).any():
            continue
        hover = f"{words}, layer %{{x}}: %{{y:.3g}}<extra></extra>"
        traces.append(curves.line(np.arange(len(mean)), mean, colour, words, hovertemplate=hover))
    layout = {
        "height": 300,
        "xaxis": {"title": {"text": "layer"}, "range": [-0.2, len(result.stream) - 0.8]},
        "yaxis": {"title": {"text": "norm, mean over the prompt"}, "type": "log"},
        "margin": {"l": 60, "r": 16, "t": 34, "b": 44},
    }
    reading = (
        "How large the stream is before each layer and behind the last, and how much attention and the MLP "
        "add to it. Where the stream is much larger than what is added, a layer changes little of it."
    )
    return titled({"data": traces, "layout": layout}, "How the stream grows", reading)


def memory(result: ResidualResult, view: View) -> Drawing:
    """Heads that take away what they read."""
    group = result.model.n_heads // result.model.n_kv_heads
    figure = head_grid.signed(-result.erasing, view.colours, name="erasing", group=group)
    reading = (
        "Red heads take away from the stream what they read from it, blue ones add it once more: minus and "
        "plus the positivity of W_V W_O. A red head that attends to the present token clears memory. "
        f"{how(result)}"
    )
    return titled(figure, "Which heads clear what they read?", reading)


def clearing(result: ResidualResult, view: View) -> Drawing:
    """Attention to the present token against clearing."""
    colours = view.colours
    hover = (
        "Head %{customdata[0]}.%{customdata[1]}<br>clears %{x:+.2f}, attends to itself %{y:.2f}"
        "<extra></extra>"
    )
    trace = plane.head_dots(
        result.erasing, result.current, result.current, colours, hover, "attention to itself"
    )
    layout = {
        "height": 380,
        "xaxis": {
            "range": [-1.05, 1.05],
            "title": {"text": "clears what it reads"},
            "zeroline": True,
            "zerolinecolor": colours.line,
        },
        "yaxis": {"range": [-0.03, 1.03], "title": {"text": "attention to the present token"}},
        "margin": {"l": 60, "r": 24, "t": 12, "b": 48},
    }
    reading = (
        "Heads at the top right look at the present token and take away what they read there: memory "
        f"management. Attention is measured on the run's prompt. {how(result)}"
    )
    return titled({"data": [trace], "layout": layout}, "Which heads manage memory?", reading)


def neurons(result: ResidualResult, view: View) -> Drawing:
    """How many neurons of each layer write against what they read."""
    cosine, colours = result.cosine, view.colours
    edges = np.linspace(-1, 1, BINS + 1)
    counts = np.stack(
        [np.histogram(row[np.isfinite(row)], edges)[0] for row in cosine]
        if cosine.size
        else [np.zeros(BINS)] * result.model.n_layers
    )
    trace = {
        "type": "heatmap",
        "x": encode(((edges[1:] + edges[:-1]) / 2).astype(np.float32)),
        "y": encode(np.arange(len(counts)).astype(np.float32)),
        "z": encode(np.log10(1 + counts).astype(np.float32)),
        "zmin": 0,
        "zmax": max(float(np.log10(1 + counts).max()), 1e-9),
        "colorscale": magnitude_scale(colours),
        "showscale": False,
        "customdata": encode(counts.astype(np.float32)),
        "hovertemplate": "layer %{y}, cosine %{x:.2f}: %{customdata} neurons<extra></extra>",
    }
    layout: dict[str, Any] = {
        "height": 80 + 12 * max(len(counts), 10),
        "xaxis": {"title": {"text": "cosine of a neuron's weights in and out"}, "range": [-1, 1]},
        "yaxis": {"title": {"text": "layer"}, "autorange": "reversed"},
        "margin": {"l": 52, "r": 16, "t": 12, "b": 48},
    }
    reading = (
        "Neurons to the left write against what they read: they clear it. Darker means more neurons, on a "
        f"logarithmic scale. {how(result)}"
        if cosine.size
        else "This model has no MLPs, so it has no neurons."
    )
    return titled({"data": [trace], "layout": layout}, "Which neurons clear what they read?", reading)


def reads(result: ResidualResult, view: View) -> Drawing:
    """The strongest pairs of a writer and a reader."""
    found = tables.reads(result, view)["rows"][:SHOWN]
    names = [f"{writer} → {reader}" for writer, reader, *_ in found]
    values = np.array([row[2] for row in found], np.float32)
    colours = view.colours
    trace = ranked.lying_bars(
        names, values, colours, "%{y}: %{x:.3f}<extra></extra>", colour=colours.scale[3]
    )
    layout = ranked.lying_axes(len(names), "share that is read", colours)
    random = result.model.d_model**-0.5
    layout["shapes"] = [curves.rule(random, colours)]
    of = f" of head {view.head[0]}.{view.head[1]}" if view.head else ""
    reading = (
        "Who reads most of what another one writes: the norm of both matrices' product over the product of "
        f"their norms. The dotted line is what random matrices give. {how(result)}"
    )
    return titled({"data": [trace], "layout": layout}, f"Who reads whom{of}?", reading)


def written(result: ResidualResult, view: View) -> Drawing:
    """How much each head writes at most."""
    info = result.model
    norm = dict(zip(result.writers, result.written.tolist(), strict=True))
    values = np.array(
        [[norm[f"{layer}.{head}"] for head in range(info.n_heads)] for layer in range(info.n_layers)]
    )
    group = info.n_heads // info.n_kv_heads
    figure = head_grid.magnitudes(
        values, view.colours, name="written", high=float(values.max()) or 1.0, group=group
    )
    reading = (
        "The norm of each head's W_V W_O: how much it writes at most for what it reads. The table has the "
        f"embedding and the MLPs, too, and who reads most of each. {how(result)}"
    )
    return titled(figure, "How much does each head write?", reading)


FIGURES = (
    Figure("norms", norms, tables.norms),
    Figure("memory", memory, tables.memory),
    Figure("clearing", clearing, tables.memory),
    Figure("neurons", neurons, tables.neurons),
    Figure("reads", reads, tables.reads),
    Figure("written", written, tables.written),
)
