"""What causal head gating draws: each function takes a result and a view, and gives a figure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import Figure
from headscope.analyses.chg import discovering, replicating, rounding, seed_curve, tables
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.columns import over_seeds, quietly
from headscope.core.gating import roles as gates
from headscope.core.gating.ablation import told
from headscope.core.statistics.enough import few_fits
from headscope.figures import curves, head_grid
from headscope.figures.meta import map_words, told_ability
from headscope.figures.theme import Drawing, Palette, titled
from headscope.figures.view import View

Array = NDArray[Any]

_READINGS = {
    "every": "Each cell is one head; its stripes are the seeds, and where they disagree the rest of the "
    "circuit can take over. A full cell replicates: a new fit would give its role again. A smaller one leans "
    "to it, the smallest is undecided.",
    "always": "A head has a colour only where every seed gave it that role; an empty cell means that the "
    "seeds disagree.",
    "any": "A head has the colour of any role that some seed gave it; violet means {needed} and {harmful}, "
    "at once or in different seeds.",
}
_GROUPS = " Brackets join heads that share keys and values."

_SCORES = {
    "facilitation": "G−: how far the head stays open although it is pushed shut",
    "interference": "1 − G+: how far it stays shut although it is pushed open",
    "irrelevance": "G+ (1 − G−): how far it goes wherever it is pushed",
}
_STATISTICS = {"every": "mean over the seeds", "always": "lowest of the seeds", "any": "highest of the seeds"}


def role_grid(result: ChgResult, view: View) -> Drawing:
    """Which heads the task needs, which harm it, and how sure the seeds are."""
    codes, ran = result.codes(view.threshold), result.ran
    figure = head_grid.roles(codes, ran, view.mode, view.colours, result.heads_a_group)
    words = result.vocabulary
    reading = _READINGS[view.mode].format(**words.labels) + (_GROUPS if result.heads_a_group > 1 else "")
    reading += _closed_by(result)
    reading += tables.spared_words(result, view)
    return titled(
        figure,
        words.title,
        _caution(result) + reading,
        vocabulary=map_words(words),
        ability=told_ability(result.ability),
        threshold=view.threshold,
        mode=view.mode,
        failed_seeds=int((~ran).sum()),
        verdicts=replicating.digits(result.replication(view.threshold)),
    )


def _closed_by(result: ChgResult) -> str:
    """What was done to closed heads, where it wasn't the paper's."""
    return "" if result.ablation == "zero" else f" Closed heads: {told(result.ablation)}."


def score_map(name: str) -> Callable[[ChgResult, View], Drawing]:
    """The map of one score: its mean over seeds; in the modes always and any its lowest or highest seed."""

    def draw(result: ChgResult, view: View) -> Drawing:
        score = result.scores[name]
        values = over_seeds(score, view.mode)
        figure = head_grid.magnitudes(values, view.colours, name=name, group=result.heads_a_group)
        title, meaning = result.vocabulary.questions[name], _SCORES[name]
        reading = f"{meaning}; {_STATISTICS[view.mode]}, from 0 to 1.{_closed_by(result)}"
        if name == "irrelevance":
            reading += tables.spared_words(result, view)
        return titled(figure, title, reading, score=name, statistic=_STATISTICS[view.mode], mode=view.mode)

    return draw


def ecdf(result: ChgResult, view: View) -> Drawing:
    """The share of heads that reach a score, seeds pooled, with the lowest and highest seed as a band."""
    traces: list[dict[str, Any]] = []
    several = result.ran.sum() > 1
    for name, colour in _score_lines(view.colours).items():
        word = result.vocabulary.scores[name]
        curve = gates.ecdf(result.scores[name])
        percent = [100 * part for part in (curve.pooled, curve.low, curve.high)]
        if several:
            traces.append(curves.band(curve.thresholds, percent[1], percent[2], colour, name))
        traces.append(
            curves.line(
                curve.thresholds,
                percent[0],
                colour,
                word,
                legendgroup=name,
                hovertemplate="%{y:.1f} % of heads at %{x:.2f} or more<extra></extra>",
            )
        )
    layout = {
        "height": 280,
        "xaxis": {"range": [0, 1], "title": {"text": "score"}, "tickvals": [0, 0.25, 0.5, 0.75, 1]},
        "yaxis": {"range": [0, 101], "title": {"text": "% of heads"}, "tickvals": [0, 25, 50, 75, 100]},
        "margin": {"l": 52, "r": 16, "t": 34, "b": 44},
        "shapes": [curves.rule(view.threshold, view.colours)],
    }
    band = "the band runs from the lowest to the highest seed" if several else "one seed has no band"
    reading = (
        f"Read a line at a score to see how many heads reach it; {band}, the dotted line is the threshold."
    )
    figure = {"data": traces, "layout": layout}
    return titled(figure, "How many heads have a score this high?", reading, threshold=view.threshold)


def loss(result: ChgResult, view: View) -> Drawing:
    """Loss while the gates were fitted: G+ and G− both go on where phase 0 ended."""
    colours = view.colours
    phases = (
        ("zero", "phase 0, no push", colours.muted, 0),
        ("plus", "G+, pushed open", colours.harmful, 1),
        ("minus", "G−, pushed shut", colours.needed, 1),
    )
    traces: list[dict[str, Any]] = []
    pooled = 1
    for key, word, colour, after in phases:
        ends, thin, pooled = curves.thinned(result.losses[key])
        x = ends + after * result.loss_zero.shape[1]
        mean = quietly(np.nanmean, thin, axis=0)
        hover = f"{word}<br>update %{{x}}: %{{y:.3f}} nats<extra></extra>"
        traces += [
            curves.threads(x, thin, colour, f"loss_{key}"),
            curves.line(x, mean, colour, word, legendgroup=f"loss_{key}", hovertemplate=hover),
        ]
    layout = {
        "height": 280,
        "xaxis": {"title": {"text": "update"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "loss on the targets, nats"}, "rangemode": "tozero"},
        "margin": {"l": 52, "r": 16, "t": 34, "b": 44},
        "shapes": [curves.rule(result.loss_zero.shape[1], colours)],
    }
    reading = (
        "Thin lines are seeds, thick ones their mean; both pushes start from the gates of phase 0's end."
    )
    if pooled > 1:
        reading += f" Each point is the mean of {pooled} updates."
    figure = {"data": traces, "layout": layout}
    return titled(figure, "Loss while the gates were fitted", reading, updates_per_point=pooled)


def heldout(result: ChgResult, view: View) -> Drawing:
    """Held-out accuracy and log-probability of the ungated model and under its gates, a dot per seed."""
    colours = view.colours
    lanes_told = result.vocabulary.conditions
    lane_colours = (colours.muted, colours.muted, colours.harmful, colours.needed)
    accuracy, log_probability = (
        result.heldout_accuracy * 100,
        result.heldout_log_probability,
    )
    rounded = dict(result.rounded)
    if rounded:
        rounded["accuracy"] = rounded["accuracy"] * 100
    spread = np.linspace(-0.16, 0.16, len(result.seeds)) if len(result.seeds) > 1 else np.zeros(1)
    traces: list[dict[str, Any]] = []
    binary = result.binary_accuracy
    for axis, values, hard, masks, unit in (
        ("x", accuracy, rounded.get("accuracy"), None if binary is None else 100 * binary, "%{x:.1f} %"),
        (
            "x2",
            log_probability,
            rounded.get("log_probability"),
            result.binary_log_probability,
            "%{x:.3f} nats",
        ),
    ):
        for lane, colour in enumerate(lane_colours):
            word = lanes_told[lane]
            hover = f"{word}: {unit}<extra></extra>"
            traces.append(
                curves.dots(values[lane], lane + spread, colour, word, xaxis=axis, hovertemplate=hover)
            )
        if hard is not None:
            traces += [
                _hollow(hard[at], 2 + at, spread, lane_colours[2 + at], axis, unit, lanes_told[2 + at])
                for at in (0, 1)
            ]
        if masks is not None:
            squares = {"symbol": "square", "size": 6}
            traces += [
                _hollow(
                    masks[at], 2 + at, spread, lane_colours[2 + at], axis, unit, lanes_told[2 + at], squares
                )
                for at in (0, 1)
            ]
        means = quietly(np.nanmean, values, axis=1)
        traces.append(_means(means, colours, axis, unit))
    shown = np.concatenate([log_probability, rounded.get("log_probability", log_probability[:0])])
    known = shown[np.isfinite(shown)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (-1.0, 0.0)
    pad = 0.12 * (high - low) or 0.1
    n_test = result.n_test
    lanes = {
        "range": [3.65 if rounded else 3.5, -0.6],
        "tickvals": [0, 1, 2, 3],
        "ticktext": list(lanes_told),
        "showgrid": False,
    }
    layout = {
        "height": 260,
        "xaxis": {
            "domain": [0, 0.45],
            "range": [0, 108],
            "tickvals": [0, 50, 100],
            "showgrid": True,
            "title": {"text": "accuracy, %"},
        },
        "xaxis2": {
            "domain": [0.55, 1],
            "anchor": "y",
            "showgrid": True,
            "nticks": 4,
            "tickangle": 0,
            "range": [low - pad, high + pad],
            "title": {"text": "log-probability, nats"},
        },
        "yaxis": {**lanes, "ticklen": 6, "ticks": "outside", "tickcolor": "rgba(0,0,0,0)"},
        "margin": {"l": 118, "r": 16, "t": 12, "b": 44},
    }
    held = f"{n_test} examples the fit never saw" if n_test else "examples the fit never saw"
    reading = f"On {held}: each dot is a seed, the bar their mean. Right is better in both."
    if rounded:
        reading += " Hollow diamonds: the same gates rounded to open or shut at 0.5."
    if binary is not None:
        reading += " Squares: the masks that a last phase made of them."
    caution = rounding.sentence(result.rounding, result.n_test)
    meta = {"n_test": n_test} | ({} if caution is None else {"caution": caution})
    return titled({"data": traces, "layout": layout}, "Does it hold on new examples?", reading, **meta)


def layers(result: ChgResult, view: View) -> Drawing:
    """How the roles change through the layers: shares of seeds x heads."""
    shares = tables.layer_shares(result, view.threshold)
    x, labels = np.arange(result.model.n_layers), result.vocabulary.labels
    traces = [
        curves.bars(x, 100 * shares[role], view.colours, role, labels[role])
        | {
            "hovertemplate": "layer %{x}: %{y:.0f} % " + labels[role] + "<extra></extra>",
            "showlegend": bool((shares[role] > 0).any()),
        }
        for role in ("needed", "both", "harmful", "undecided", "irrelevant")
    ]
    layout = {
        "height": 280,
        "barmode": "stack",
        "bargap": 0.14,
        "xaxis": {"title": {"text": "layer"}, "range": [-0.6, len(x) - 0.4]}
        | ({"tickvals": x.tolist()} if len(x) <= 12 else {"dtick": 5}),
        "yaxis": {
            "range": [0, 100],
            "title": {"text": "% of seeds × heads"},
            "tickvals": [0, 25, 50, 75, 100],
        },
        "margin": {"l": 52, "r": 16, "t": 34, "b": 44},
    }
    reading = "Each bar is a layer: the share of its heads, over all seeds, that has each role."
    figure = {"data": traces, "layout": layout}
    return titled(figure, "Roles through the layers", reading, threshold=view.threshold)


def _caution(result: ChgResult) -> str:
    """What must be said first: of few held-out rows, few fits, and of a steering map."""
    few = [said for said in (result.ability.caution, few_fits(int(result.ran.sum()))) if said]
    return "".join(f"{said} " for said in few) + _of_steering(result)


def _of_steering(result: ChgResult) -> str:
    if result.vocabulary.kind == "roles":
        return ""
    return (
        f"The model {result.ability.words} as it is: too few to say what a head is for. Gates that lift its "
        "answers show what could be made of the heads, not what they do. "
    )


def _score_lines(colours: Palette) -> dict[str, str]:
    return {
        "facilitation": colours.needed,
        "interference": colours.harmful,
        "irrelevance": colours.muted,
    }


def _hollow(
    values: Array,
    lane: int,
    spread: Array,
    colour: str,
    axis: str,
    unit: str,
    told: str,
    mask: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """One seed each under rounded gates, or under the last phase's mask, a little below its lane's dots."""
    diamond = {"symbol": "diamond-open", "size": 8, "color": colour, "line": {"width": 1.5}}
    marker, how = (diamond, "rounded") if mask is None else ({**mask, "color": colour}, "binarised")
    word = f"{told}, gates {how}"
    hover = f"{word}: {unit}<extra></extra>"
    return curves.dots(
        values, lane + 0.28 + spread / 4, colour, word, xaxis=axis, hovertemplate=hover, marker=marker
    )


def _means(means: Array, colours: Palette, axis: str, unit: str) -> dict[str, Any]:
    shape = "{:.1f} %" if axis == "x" else "{:.2f}"
    numbers = ["–" if np.isnan(mean) else shape.format(mean).replace("-", "−") for mean in means]
    return curves.dots(
        means,
        np.arange(len(means)),
        colours.ink,
        "mean",
        xaxis=axis,
        mode="markers+text",
        text=numbers,
        textposition="top center",
        textfont={"size": 11, "color": colours.ink},
        marker={"symbol": "line-ns", "size": 18, "line": {"width": 2, "color": colours.ink}},
        hovertemplate=f"mean: {unit}<extra></extra>",
        cliponaxis=False,
    )


FIGURES = (
    Figure("roles", role_grid, tables.heads, of_whole_run=True),
    *(Figure(name, score_map(name), tables.score(name)) for name in _SCORES),
    Figure("replication", replicating.replicates, replicating.rows),
    Figure("discoveries", discovering.discoveries, discovering.rows),
    Figure("seeds", seed_curve.seeds, seed_curve.rows),
    Figure("ecdf", ecdf, tables.ecdf),
    Figure("layers", layers, tables.layers),
    Figure("heldout", heldout, tables.heldout),
    Figure("loss", loss, tables.loss),
)
