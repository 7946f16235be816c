"""What the abstract rules draw: a map for each kind of head, and the strongest of all three."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.mediation_abstract_rules import tables
from headscope.analyses.mediation_abstract_rules.result import AbstractRulesResult
from headscope.analyses.mediation_abstract_rules.schema import KINDS, Kind
from headscope.analyses.patch_effects import effect_map, strongest
from headscope.figures import bars
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View

_EACH = 6
"""Heads of each kind in the bars."""

_READINGS = {
    "abstraction": "How far a head, patched at the examples' third items as it was under the other rule, "
    "turns the answer to that rule: it carries which variable an item is, not which token",
    "induction": "How far a head, patched at the last token as it was under the other rule, turns the "
    "answer to that rule: it carries which variable comes next",
    "retrieval": "How far a head, patched at the last token as it was where the question's items stood the "
    "other way round, brings that question's answer: it carries the token itself",
}


def kind_map(kind: Kind) -> Callable[[AbstractRulesResult, View], Drawing]:
    """The map of one kind's scores."""

    def draw(result: AbstractRulesResult, view: View) -> Drawing:
        sure = result.significant[kind.name] > 0
        group = result.model.n_heads // result.model.n_kv_heads
        figure = effect_map(result.score[kind.name], sure, view, f"{kind.words} score", group)
        reading = f"{_READINGS[kind.name]}. {_counted(result, kind)}"
        title = f"{kind.words.capitalize()} heads"
        return titled(figure, title, reading, statistic="mean over pairs")

    return draw


def heads(result: AbstractRulesResult, view: View) -> Drawing:
    """The strongest heads of each kind, in all three scores."""
    shown = sorted({head for kind in KINDS for head in strongest(result.score[kind.name], _EACH)})
    places = tuple(np.array(shown).T)
    names = [f"{layer}.{head}" for layer, head in shown]
    colours = view.colours
    traces = [
        bars.head_bars(
            names,
            result.score[kind.name][places],
            result.error[kind.name][places],
            colour,
            colours,
            kind.words,
            f"Head %{{x}}, {kind.words}: %{{y:+.3f}}<extra></extra>",
        )
        for kind, colour in zip(KINDS, colours.series, strict=False)
    ]
    layout = {
        "height": 300,
        "barmode": "group",
        "bargap": 0.25,
        "xaxis": bars.head_axis(len(names)),
        "yaxis": {"title": {"text": "score, logits"}, "zeroline": True, "zerolinecolor": colours.line},
        "margin": {"l": 52, "r": 16, "t": 34, "b": 56},
    }
    reading = (
        f"The {_EACH} heads with the largest score of each kind, in the order of layers; whiskers are one "
        "standard error over pairs. In the architecture that Yang et al. describe, abstraction comes in "
        "early layers, symbolic induction in the middle, retrieval late."
    )
    return titled({"data": traces, "layout": layout}, "The strongest heads of each kind", reading)


def _counted(result: AbstractRulesResult, kind: Kind) -> str:
    sure, params = result.significant[kind.name], result.params
    kept, tried = result.kept[kind.swapped], result.tried[kind.swapped]
    ways = {"max": "corrected by the largest score", "holm": "corrected after Holm", "none": "uncorrected"}
    count, level = int(sure.sum()), f"a p below {params['alpha']:g}"
    have = "has" if count == 1 else "have"
    found = f"{count} of {sure.size} heads, framed, {have} {level}" if count else f"No head has {level}"
    pairs = f"The model is right on both contexts in {kept} of {tried} pairs; these are patched."
    return f"{found}, {ways[params['correction']]}. {pairs}"


FIGURES = (
    *(Figure(kind.name, kind_map(kind), tables.of_kind(kind)) for kind in KINDS),
    Figure("heads", heads, tables.heads),
)
