"""What sequential ablation draws: delta over the number of heads taken, its two halves, and every seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.columns import over_seeds
from headscope.analyses.sequential_ablation import tables
from headscope.analyses.sequential_ablation.result import SequentialAblationResult
from headscope.analyses.sequential_ablation.summary import THRESHOLD, with_role
from headscope.core.gating.roles import SCORE_NAMES
from headscope.figures import curves as parts
from headscope.figures.theme import Drawing, Palette, titled
from headscope.figures.view import View

WORDS = {
    "facilitation": "needed first",
    "interference": "harmful first",
    "irrelevance": "doesn’t matter first",
}
_MARGIN = {"l": 56, "r": 16, "t": 34, "b": 44}


def curves(result: SequentialAblationResult, view: View) -> Drawing:
    """Delta over the heads taken, for each order by score, beside random orders."""
    k, colours = result.k, view.colours
    traces = _random(result, colours)
    for index, (name, colour) in enumerate(_colours(colours).items()):
        of_seeds = result.delta[index]
        mean = over_seeds(of_seeds, "every")
        if len(of_seeds) > 1:
            low, high = (over_seeds(of_seeds, mode) for mode in ("always", "any"))
            traces.append(parts.band(k, low, high, colour, name))
        joined = tables.joining(result, index)
        hover = f"{WORDS[name]}, %{{x}} heads: %{{y:.3f}} nats<br>%{{text}}<extra></extra>"
        traces.append(
            parts.line(k, mean, colour, WORDS[name], legendgroup=name, text=joined, hovertemplate=hover)
        )
    traces += [
        _run_out(result, view, index, colour) for index, colour in enumerate(_colours(colours).values())
    ]
    layout = {
        "height": 340,
        "xaxis": _axis(k, "heads taken, in order"),
        "yaxis": {"title": {"text": "closed − opened, nats"}},
        "margin": _MARGIN,
        "shapes": [_zero(colours)],
    }
    return titled(
        {"data": traces, "layout": layout},
        "Are the scores causal?",
        _reading(result, view),
        log_x=True,
        wide=True,
    )


def forms(result: SequentialAblationResult, view: View) -> Drawing:
    """The two log-probabilities whose difference delta is."""
    k, colours = result.k, view.colours
    traces = []
    for index, (name, colour) in enumerate(_colours(colours).items()):
        for form, values, dash in (
            ("closed", result.closed, "solid"),
            ("opened", result.opened, "dash"),
        ):
            hover = f"{WORDS[name]}, %{{x}} heads {form}: %{{y:.3f}} nats<extra></extra>"
            traces.append(
                parts.line(
                    k,
                    over_seeds(values[index], "every"),
                    colour,
                    WORDS[name],
                    line={"dash": dash},
                    legendgroup=name,
                    showlegend=form == "closed",
                    hovertemplate=hover,
                )
            )
    guessing = "guessing every token alike: %{y:.2f} nats<extra></extra>"
    level = np.full(2, result.uniform)
    dotted = {"dash": "dot", "width": 1}
    traces.append(
        parts.line(k[[0, -1]], level, colours.muted, "each token alike", line=dotted, hovertemplate=guessing)
    )
    layout = {
        "height": 320,
        "xaxis": _axis(k, "heads taken, in order"),
        "yaxis": {"title": {"text": "log-probability, nats"}},
        "margin": _MARGIN,
    }
    reading = (
        "Held-out log-probability of the targets with the heads taken closed (solid) and fully open "
        "(dashed), all others at G+. Where a dashed line stays level, opening those heads further changes "
        f"nothing. {result.floor}"
    )
    return titled(
        {"data": traces, "layout": layout}, "With the heads closed, and with them open", reading, log_x=True
    )


def seeds(result: SequentialAblationResult, view: View) -> Drawing:
    """One panel an order: thin lines are seeds, grey ones random orders."""
    k, colours, by_chance = result.k, view.colours, result.random_delta
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"height": 560, "margin": _MARGIN, "showlegend": False, "annotations": []}
    for index, (name, colour) in enumerate(_colours(colours).items()):
        axes = {"xaxis": f"x{index + 1}", "yaxis": f"y{index + 1}"}
        top = 1 - index * 0.35
        of_seeds = result.delta[index]
        traces += [
            parts.threads(k, by_chance, colours.muted, "random") | axes,
            parts.threads(k, of_seeds, colour, name) | {"opacity": 0.8} | axes,
        ]
        layout[f"xaxis{index + 1}"] = {
            **_axis(k, "heads taken, in order" if index == len(SCORE_NAMES) - 1 else ""),
            "anchor": f"y{index + 1}",
        }
        layout[f"yaxis{index + 1}"] = {"domain": [top - 0.245, top], "anchor": f"x{index + 1}", "nticks": 5}
        layout["annotations"].append(
            parts.label(0, top + 0.035, WORDS[name], colour, xref="paper", yref="paper")
        )
    layout["yaxis2"]["title"] = {"text": "closed − opened, nats"}
    n = len(result.seeds)
    whose = "The coloured line is the one seed, by its" if n == 1 else f"Coloured: {n} seeds, each by its"
    reading = (
        f"{whose} own order and base mask; grey are the {len(by_chance)} random orders. The table "
        "names the heads in the order in which they are taken."
    )
    return titled({"data": traces, "layout": layout}, "Every seed on its own", reading)


def _colours(colours: Palette) -> dict[str, str]:
    return dict(zip(SCORE_NAMES, (colours.needed, colours.harmful, colours.ink), strict=True))


def _random(result: SequentialAblationResult, colours: Palette) -> list[dict[str, Any]]:
    k, by_chance = result.k, result.random_delta
    low, mean, high = (over_seeds(by_chance, mode) for mode in ("always", "every", "any"))
    name = "random order" if len(by_chance) == 1 else f"{len(by_chance)} random orders"
    return [
        parts.band(k, low, high, colours.muted, "random") | {"opacity": 0.22},
        parts.line(
            k,
            mean,
            colours.muted,
            name,
            legendgroup="random",
            line={"width": 1.5, "dash": "dot"},
            hovertemplate=f"{name}, %{{x}} heads: %{{y:.3f}} nats<extra></extra>",
        ),
    ]


def _run_out(result: SequentialAblationResult, view: View, index: int, colour: str) -> dict[str, Any]:
    """A mark on a curve where the heads with that role are used up, the mean over seeds."""
    k, name = result.k.astype(float), SCORE_NAMES[index]
    have = with_role(result.score[index], view.threshold)
    height = np.interp(have, k, over_seeds(result.delta[index], "every").astype(float))
    shown = 0 < have < k[-1]
    return parts.dots(
        np.array([have if shown else np.nan]),
        np.array([height]),
        colour,
        f"{name} runs out",
        legendgroup=name,
        marker={"symbol": "diamond", "size": 9, "color": colour},
        hovertemplate=f"{have:.3g} heads have a {name} of {view.threshold:g} or more<extra></extra>",
    )


def _axis(k: np.ndarray, words: str) -> dict[str, Any]:
    return {"title": {"text": words}, "range": [0, int(k[-1])]}


def _zero(colours: Palette) -> dict[str, Any]:
    return {
        "name": "no change",
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": 0,
        "y1": 0,
        "line": {"color": colours.line, "width": 1},
    }


def _reading(result: SequentialAblationResult, view: View) -> str:
    seeds = len(result.seeds)
    needed, harmful, irrelevant = (result.ranked(name) for name in SCORE_NAMES)
    reading = (
        "How much lower (or higher) the held-out log-probability is with the first heads of an order closed "
        f"than with them open, all others at G+. Diamonds: no head with a score of {view.threshold:g} or "
        f"more is left. Until then (at {THRESHOLD:g}), needed first: {needed}; harmful first: {harmful}; "
        f"doesn’t matter first: {irrelevant}."
    )
    return reading + (
        " One seed has no band."
        if seeds == 1
        else f" Bands run from the lowest to the highest of {seeds} seeds."
    )


FIGURES = (
    Figure("curves", curves, tables.curves),
    Figure("forms", forms, tables.forms),
    Figure("seeds", seeds, tables.seeds),
)
