"""What a battery draws: a map for each score over all prompts, the strongest heads, the prompts' losses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.battery import tables
from headscope.analyses.battery.result import BatteryResult
from headscope.analyses.columns import flat
from headscope.core.arrays import encode
from headscope.core.model.info import head_name
from headscope.core.patterns.scores import ABOVE_LEVEL, SCORES
from headscope.figures import bars, curves, head_grid
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View

RANKED = 20


def score_map(index: int) -> Callable[[BatteryResult, View], Drawing]:
    """The map of one score: its mean over the prompts that gave it a value."""
    score = SCORES[index]

    def draw(result: BatteryResult, view: View) -> Drawing:
        found = result.over_prompts(score.name)
        values = found.mean
        known = values[np.isfinite(values)]
        high = max(1.0, float(known.max())) if score.unit and len(known) else 1.0
        group = result.model.n_heads // result.model.n_kv_heads
        figure = head_grid.magnitudes(values, view.colours, name=score.name, high=high, group=group)
        gave = int(found.count.max())
        level = "" if found.queries is None else f" {ABOVE_LEVEL}"
        reading = f"{score.reading}{level} Mean over the {gave:,} prompts that gave a value."
        if gave and not found.tells:
            reading += f" {_too_few(found.queries)}"
        if not gave:
            reading = f"{score.reading} No prompt gave a value: nothing repeats in them."
        return titled(figure, score.title, reading, score=score.name, statistic="mean over prompts")

    return draw


def heads(result: BatteryResult, view: View) -> Drawing:
    """The strongest induction heads over the prompts."""
    found = result.over_prompts("induction")
    mean, error = flat(found.mean), flat(found.sd)
    order = np.argsort(-np.where(np.isfinite(mean), mean, -np.inf), kind="stable")
    order = order[np.isfinite(mean[order])][:RANKED]
    names = [head_name(divmod(index, result.model.n_heads)) for index in order.tolist()]
    hover = "Head %{x}: %{y:.3f}<extra></extra>"
    trace = bars.head_bars(
        names, mean[order], error[order], view.colours.scale[3], view.colours, "induction", hover
    )
    layout = {
        "height": 280,
        "bargap": 0.3,
        "showlegend": False,
        "xaxis": bars.head_axis(len(names)),
        "yaxis": {"range": [0, 1], "title": {"text": "induction"}, "tickvals": [0, 0.25, 0.5, 0.75, 1]},
        "margin": {"l": 52, "r": 16, "t": 14, "b": 56},
    }
    reading = (
        "Mean over prompts; whiskers are one standard deviation over prompts. The table holds all heads, all "
        "scores, and the prompts where each is strongest."
    )
    if found.queries is not None:
        reading = f"{ABOVE_LEVEL} {reading}" if found.tells else f"{_too_few(found.queries)} {reading}"
    return titled({"data": [trace], "layout": layout}, "The strongest induction heads", reading)


def _too_few(queries: int | None) -> str:
    tokens = "one token" if queries == 1 else f"{queries} tokens"
    return f"Too few repeats to tell: the prompts have {tokens} to measure it by, which names no head."


def prompts(result: BatteryResult, view: View) -> Drawing:
    """Each prompt's loss on repeats against its loss on tokens seen for the first time."""
    first, repeat = result.loss_first, result.loss_repeat
    both = np.isfinite(first) & np.isfinite(repeat)
    hover = "prompt %{customdata}: first %{x:.2f}, repeats %{y:.2f} nats<extra></extra>"
    dots = curves.dots(first[both], repeat[both], view.colours.scale[3], "prompts", hovertemplate=hover)
    dots["customdata"] = encode((np.flatnonzero(both) + 1).astype(np.uint32))
    most = float(np.ceil(max(first[both].max(), repeat[both].max()))) if both.any() else 1.0
    ends = np.array([0.0, most])
    even = curves.line(
        ends, ends, view.colours.muted, "no difference", line={"width": 1, "dash": "dot"}, hoverinfo="skip"
    )
    layout = {
        "height": 320,
        "showlegend": False,
        "xaxis": {"range": [0, most], "title": {"text": "loss of tokens seen for the first time, nats"}},
        "yaxis": {"range": [0, most], "title": {"text": "loss of repeats, nats"}},
        "margin": {"l": 52, "r": 16, "t": 14, "b": 44},
    }
    reading = (
        f"Each dot is one of the {int(both.sum()):,} prompts with repeats that follow a repeat; below the "
        "dotted line the repeats are cheaper. The table holds all prompts."
    )
    return titled({"data": [even, dots], "layout": layout}, "What repeats cost in each prompt", reading)


_INDUCTION, *_OTHERS = (
    Figure(score.name, score_map(index), tables.score(index)) for index, score in enumerate(SCORES)
)

FIGURES = (
    _INDUCTION,
    Figure("heads", heads, tables.heads, of_whole_run=True),
    Figure("prompts", prompts, tables.prompts),
    *_OTHERS,
)
