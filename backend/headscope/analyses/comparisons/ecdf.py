"""How a score is spread over the heads, task by task, one model over the other.

Complementary: at a score, the share of heads that reach it. Seeds are pooled; the band runs from the lowest
to the highest seed. Curves are core.gating.roles' ``ecdf`` at 101 scores.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from headscope.analyses.columns import Array, Column, Table, table
from headscope.analyses.comparisons.base import Chosen, Compared, CompareView, Comparison
from headscope.core.gating import roles
from headscope.core.gating.roles import SCORE_NAMES
from headscope.figures import curves
from headscope.figures.theme import Drawing, Palette, titled

_PANEL, _BETWEEN, _ABOVE, _BELOW = 190, 46, 60, 44
"""Pixels of a task's panel, between two, above the first and below the last."""

_DASHES = ("solid", "dash", "dot", "dashdot")


def draw(chosen: Chosen, look: CompareView) -> Drawing:
    """A panel for each task, a line for each model, the lowest and highest seed as a band."""
    tasks = list(dict.fromkeys(run.task for run in chosen.runs))
    styles = {key: number for number, key in enumerate(dict.fromkeys(map(_series, chosen.runs)))}
    colours = look.view.colours
    traces: list[dict[str, Any]] = []
    told: set[str] = set()
    for run in chosen.runs:
        key = _series(run)
        axis = _axis(tasks.index(run.task))
        traces += _curve(run, look.score, _style(styles[key], colours), key, axis, key not in told)
        told.add(key)
    layout = _panels(tasks, look.view.threshold, colours)
    word = chosen.words()[look.score]
    reading = (
        f"Read a line at a score to see how many heads reach it; “{word}” is {_FORMULAS[look.score]}. The "
        "band runs from the lowest to the highest seed, the dotted line is the threshold. Lines of one shape "
        "mean equally spread scores, not the same heads."
    )
    steering = any(run.gating.vocabulary.kind == "steering" for run in chosen.runs)
    title = "How many heads have a score this high?" if steering else _TITLES[look.score]
    return titled(
        {"data": traces, "layout": layout}, title, reading, threshold=look.view.threshold, score=look.score
    )


def rows(chosen: Chosen, look: CompareView) -> Table:
    """A row for each run and score from 0 to 1: the share of heads that reach it, all three scores."""
    pieces = []
    for run in chosen.runs:
        curve = {name: roles.ecdf(run.score(name)) for name in SCORE_NAMES}
        points = len(curve["facilitation"].thresholds)
        pieces.append((run, curve, points))

    def joined(name: str, part: str) -> Array:
        return np.concatenate([getattr(curve[name], part) for _, curve, _ in pieces])

    columns: list[Column] = [
        (
            key,
            key,
            "",
            np.repeat([getattr(run, key) for run, *_ in pieces], [points for *_, points in pieces]),
        )
        for key in ("run", "model", "task")
    ]
    columns.append(("score", "score", "", joined("facilitation", "thresholds")))
    for name in SCORE_NAMES:
        columns += [
            (name, f"heads with {name} this high", "share", joined(name, "pooled")),
            (f"{name}_low", "lowest seed", "share", joined(name, "low")),
            (f"{name}_high", "highest seed", "share", joined(name, "high")),
        ]
    return table(columns)


ECDF = Comparison(
    name="ecdf",
    title="Distributions of scores",
    summary="How many heads reach a score, task by task, models laid over one another.",
    least=1,
    one_model=False,
    follows=("threshold", "score"),
    draw=draw,
    rows=rows,
)

_TITLES = {
    "facilitation": "How many heads are needed this much?",
    "interference": "How many heads are this harmful?",
    "irrelevance": "How many heads matter this little?",
}
_FORMULAS = {
    "facilitation": "G−, how far a head stays open although it is pushed shut",
    "interference": "1 − G+, how far it stays shut although it is pushed open",
    "irrelevance": "G+ (1 − G−), how far it goes wherever it is pushed",
}


def _series(run: Compared) -> str:
    """A line's name: the model, and the run where a task has several of that model."""
    return run.model + run.label.removeprefix(f"{run.model} · {run.task}")


def _style(number: int, colours: Palette) -> dict[str, Any]:
    """Colour and dashes, so that no two of twenty look alike and none needs its colour."""
    return {"color": colours.series[number % len(colours.series)], "dash": _DASHES[number % len(_DASHES)]}


def _axis(panel: int) -> str:
    return "" if panel == 0 else str(panel + 1)


def _curve(
    run: Compared, score: str, style: dict[str, Any], name: str, axis: str, first: bool
) -> list[dict[str, Any]]:
    curve = roles.ecdf(run.score(score))
    axes = {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}
    word = escape(name, quote=False)
    line = curves.line(
        curve.thresholds,
        100 * curve.pooled,
        style["color"],
        word,
        line={"dash": style["dash"]},
        legendgroup=name,
        showlegend=first,
        hovertemplate=f"{word}: %{{y:.1f}} % of heads at %{{x:.2f}} or more<extra></extra>",
        **axes,
    )
    band = curves.band(curve.thresholds, 100 * curve.low, 100 * curve.high, style["color"], name)
    return [band | axes, line]


def _panels(tasks: list[str], threshold: float, colours: Palette) -> dict[str, Any]:
    inside = _PANEL * len(tasks) + _BETWEEN * (len(tasks) - 1)
    layout: dict[str, Any] = {
        "height": inside + _ABOVE + _BELOW,
        "margin": {"l": 52, "r": 16, "t": _ABOVE, "b": _BELOW},
        "annotations": [],
        "shapes": [],
        "legend": {"y": 1 + 22 / inside},
    }
    for panel, task in enumerate(tasks):
        top = 1 - panel * (_PANEL + _BETWEEN) / inside
        axis, last = _axis(panel), panel == len(tasks) - 1
        layout[f"xaxis{axis}"] = {
            "anchor": f"y{axis}",
            "range": [0, 1],
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "title": {"text": "score" if last else ""},
        }
        layout[f"yaxis{axis}"] = {
            "anchor": f"x{axis}",
            "domain": [max(0.0, top - _PANEL / inside), top],
            "range": [0, 101],
            "tickvals": [0, 50, 100],
            "title": {"text": "% of heads"},
        }
        layout["annotations"].append(
            {
                "text": escape(task, quote=False),
                "showarrow": False,
                "x": 0,
                "xref": "paper",
                "xanchor": "left",
            }
            | {"y": top, "yref": "paper", "yanchor": "bottom", "font": {"size": 13, "color": colours.ink}}
        )
        layout["shapes"].append(
            curves.rule(threshold, colours) | {"xref": f"x{axis}", "yref": f"y{axis} domain"}
        )
    return layout
