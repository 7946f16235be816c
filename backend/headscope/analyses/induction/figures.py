"""What the induction analysis draws: a map for each score, the strongest heads, losses, ablations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.columns import flat, over_seeds, quietly, spread
from headscope.analyses.induction import tables
from headscope.analyses.induction.result import InductionResult
from headscope.core.model.info import head_name
from headscope.core.patterns.scores import ABOVE, ABOVE_LEVEL, SCORES, Score
from headscope.figures import bars, curves, head_grid
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View

RANKED = 20
"""Heads in the ranked bars."""

_STATISTICS = {"every": "mean over the draws", "always": "lowest of the draws", "any": "highest of the draws"}

_READINGS = {
    "induction": "How much each token of the second copy looks at the token that came next the first time",
    "prefix": "How much each repeated token looks at all the tokens that followed an earlier copy of it",
    "duplicate": "How much each token of the second copy looks at itself in the first",
    "previous": "How much each token of the second copy looks at the token just before it",
    "current": "How much each token of the second copy looks at itself",
    "sink": "How much each token of the second copy looks at the very first token, where idle heads rest",
    "entropy": "How widely the tokens of the second copy look, in nats: 0 for a single token",
}


def score_map(score: Score) -> Callable[[InductionResult, View], Drawing]:
    """The map of one score: its mean over draws; in the modes always and any its lowest or highest draw."""

    def draw(result: InductionResult, view: View) -> Drawing:
        values = over_seeds(result.named_by(score.name), view.mode)
        high = float(np.log(result.positions)) if score.name == "entropy" else 1.0
        group = result.model.n_heads // result.model.n_kv_heads
        figure = head_grid.magnitudes(values, view.colours, name=score.name, high=high, group=group)
        statistic = _STATISTICS[view.mode]
        scale = "from 0 to an even look at all tokens" if score.name == "entropy" else "from 0 to 1"
        reading = f"{_READINGS[score.name]}; {statistic}, {scale}."
        if score.name in ABOVE and result.above:
            reading += f" {ABOVE_LEVEL}"
        if score.name == "prefix" and result.params["copies"] == 2:
            reading += " With two copies it is the induction score" + (
                ", columns included." if result.above else "."
            )
        return titled(figure, score.title, reading, score=score.name, statistic=statistic, mode=view.mode)

    return draw


def heads(result: InductionResult, view: View) -> Drawing:
    """The strongest induction heads, with the spread over draws."""
    mean, error = (flat(values) for values in _over_draws(result.named_by("induction")))
    order = np.argsort(-mean, kind="stable")[:RANKED]
    names = [head_name(divmod(index, result.model.n_heads)) for index in order.tolist()]
    colour = view.colours.scale[3]
    hover = "Head %{x}: %{y:.3f}<extra></extra>"
    trace = bars.head_bars(names, mean[order], error[order], colour, view.colours, "induction", hover)
    layout = {
        "height": 280,
        "bargap": 0.3,
        "showlegend": False,
        "xaxis": bars.head_axis(len(names)),
        "yaxis": {"range": [0, 1], "title": {"text": "induction"}, "tickvals": [0, 0.25, 0.5, 0.75, 1]},
        "margin": {"l": 52, "r": 16, "t": 14, "b": 56},
    }
    reading = (
        f"The {len(names)} heads that look most at what came next the first time; whiskers are one standard "
        "deviation over the draws. The table holds all heads and all scores."
        f"{f' {ABOVE_LEVEL}' if result.above else ''}{result.model.added_note}"
    )
    return titled({"data": [trace], "layout": layout}, "The strongest induction heads", reading)


def loss(result: InductionResult, view: View) -> Drawing:
    """Loss by position: how much cheaper a token is when it has been seen before."""
    mean, error = _over_draws(result.loss)
    position = np.arange(1, len(mean))
    mean, error = mean[1:], np.nan_to_num(error[1:])
    colour = view.colours.scale[3]
    hover = "position %{x}: %{y:.2f} nats<extra></extra>"
    traces = [
        curves.band(position, mean - error, mean + error, colour, "loss"),
        curves.line(position, mean, colour, "loss", showlegend=False, hovertemplate=hover),
    ]
    layout = {
        "height": 280,
        "xaxis": {"title": {"text": "position in the sequence"}, "range": [0, len(mean)]},
        "yaxis": {"title": {"text": "loss, nats"}, "rangemode": "tozero"},
        "margin": {"l": 52, "r": 16, "t": 14, "b": 44},
        "shapes": [curves.rule(start, view.colours) for start in result.copies_start[1:]],
    }
    first, second = tables.copies(result)
    early, late = result.learning_pair
    learning = float(quietly(np.nanmean, result.learning))
    reading = (
        "Dotted lines are where the tokens begin again; the band is one standard deviation over the draws. "
        f"The first copy costs {_number(first)} nats a token, the second {_number(second)}. In-context "
        f"learning, loss at position {late} minus loss at {early}: {_number(learning)} nats."
    )
    return titled(
        {"data": traces, "layout": layout},
        "What a token costs when it comes again",
        reading,
        pair=[early, late],
    )


def ablation(result: InductionResult, view: View) -> Drawing:
    """The strongest heads gated off, one at a time, with later heads free to respond and not."""
    names = [head_name(head) for head in result.ablated_heads]
    traces: list[dict[str, Any]] = []
    for rise, words, colour in (
        (result.rise_free, "patterns free", view.colours.scale[3]),
        (result.rise_frozen, "patterns held", view.colours.scale[1]),
    ):
        mean, error = _over_draws(rise)
        hover = f"Head %{{x}} off, {words}: %{{y:+.3f}} nats<extra></extra>"
        traces.append(bars.head_bars(names, mean, error, colour, view.colours, words, hover))
    layout = {
        "height": 280,
        "barmode": "group",
        "bargap": 0.3,
        "xaxis": bars.head_axis(len(names)),
        "yaxis": {
            "title": {"text": "rise of the loss, nats"},
            "zeroline": True,
            "zerolinecolor": view.colours.line,
        },
        "margin": {"l": 52, "r": 16, "t": 34, "b": 56},
    }
    reading = (
        "By how much the second copy's loss rises without the head. With the patterns held, all heads look "
        "where they looked before: what is left is what the head itself moved. With the patterns free, later "
        "heads respond."
        if names
        else "No head was gated off in this run."
    )
    return titled({"data": traces, "layout": layout}, "The repeat without its induction heads", reading)


def _over_draws(values: Any) -> tuple[Any, Any]:
    return over_seeds(values, "every"), spread(values)


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


_INDUCTION, *_OTHERS = (Figure(score.name, score_map(score), tables.score(score.name)) for score in SCORES)

FIGURES = (
    _INDUCTION,
    Figure("heads", heads, tables.heads, of_whole_run=True),
    Figure("loss", loss, tables.loss),
    Figure("ablation", ablation, tables.ablation),
    *_OTHERS,
)
