"""How sure a run's Always and Any shares are: the figure against the number of seeds, its table, and in words
how many seeds more would help. The numbers are those of ``core.statistics.certainty``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from headscope.analyses.chg.result import ChgResult
from headscope.analyses.columns import Array, Column, Table, table
from headscope.core.gating.vocabulary import ROLES as ROLES_OF_HEADS
from headscope.core.gating.vocabulary import Vocabulary
from headscope.core.statistics.certainty import (
    SETTLED,
    Certainty,
    Share,
    Suggestion,
    certainty,
    extrapolated_always,
    extrapolated_any,
    suggestion,
)
from headscope.core.statistics.share_intervals import share_intervals
from headscope.figures import curves
from headscope.figures.theme import Drawing, Palette, titled
from headscope.figures.view import View

ROLES: Final = {"needed": "facilitation", "harmful": "interference"}
"""The roles whose shares the page shows, and their scores."""

_TITLE = "How do the shares move with more seeds?"


def seeds(result: ChgResult, view: View) -> Drawing:
    """Always and Any of needed and harmful heads against the number of seeds, and a little further."""
    has = held(result, view.threshold)
    found = {role: certainty(per_seed) for role, per_seed in has.items()}
    advice = suggestion(has)
    traces: list[dict[str, Any]] = []
    for role, sure in found.items():
        if sure is not None:
            label = result.vocabulary.labels[role]
            traces += _lines(role, label, sure, has[role], advice, view.colours)
    layout = {
        "height": 280,
        "xaxis": {"title": {"text": "seeds"}, "rangemode": "tozero", "dtick": _every(result, advice)},
        "yaxis": {"title": {"text": "% of heads"}, "rangemode": "tozero"},
        "margin": {"l": 52, "r": 16, "t": 34, "b": 44},
        "shapes": [curves.rule(len(has["needed"]), view.colours)],
    }
    meta = {
        "threshold": view.threshold,
        "intervals": {role: dict(share_intervals(per_seed)) for role, per_seed in has.items()},
        **_advised(len(has["needed"]), advice, result.vocabulary),
    }
    return titled({"data": traces, "layout": layout}, _TITLE, _reading(result, has["needed"], advice), **meta)


def rows(result: ChgResult, view: View) -> Table:
    """A row for each role and number of seeds; beyond those there are, extrapolated and without interval."""
    has = held(result, view.threshold)
    advice = suggestion(has)
    names = result.vocabulary.names
    parts = [_role_rows(names[role], per_seed, advice) for role, per_seed in has.items()]
    columns: list[Column] = [
        (name, title, unit, np.concatenate([part[name] for part in parts]))
        for name, title, unit in (
            ("role", "role", ""),
            ("seeds", "seeds", ""),
            ("extrapolated", "extrapolated", ""),
            ("always", "in every seed", "share"),
            ("always_low", "in every seed, lower end of 95 %", "share"),
            ("always_high", "in every seed, upper end of 95 %", "share"),
            ("any", "in some seed", "share"),
            ("any_low", "in some seed, lower end of 95 %", "share"),
            ("any_high", "in some seed, upper end of 95 %", "share"),
        )
    ]
    return table(columns)


def held(result: ChgResult, threshold: float) -> dict[str, Array]:
    """By role: whether each head has it in each seed that finished, [seed, layer, head]."""
    return {role: np.asarray(result.scores[name][result.ran] >= threshold) for role, name in ROLES.items()}


def words(n: int, advice: Suggestion | None, vocabulary: Vocabulary = ROLES_OF_HEADS) -> str:
    """What more seeds would bring, for a reader."""
    if n == 0:
        return "No seed has a fit."
    if advice is None:
        return "One seed shows no spread, and nothing can be foreseen from it: add at least two."
    named = _named(advice.share, vocabulary)
    moves = f"One seed more is expected to move {named} by {_percent(advice.step)} of all heads"
    limit = _percent(SETTLED)
    if not advice.more:
        return f"Enough: no share is expected to move by {limit} of all heads with one seed more."
    if not advice.settled:
        return f"{moves}. It stays above {limit} with as many seeds as a run may have."
    far = " That is more than as many again: a rough guess." if advice.more > n else ""
    return f"{moves}. With about {advice.more} more, no share would move by {limit}.{far}"


def _lines(
    role: str, label: str, sure: Certainty, has: Array, advice: Suggestion | None, colours: Palette
) -> list[dict[str, Any]]:
    n, colour = len(has), colours.role(role)
    x, beyond = np.arange(1, n + 1), _beyond(n, advice)
    traces: list[dict[str, Any]] = []
    for name, share, dash, further in (
        ("some seed", sure.any, "solid", extrapolated_any),
        ("every seed", sure.always, "dash", extrapolated_always),
    ):
        group, hover = (
            f"{role} {name}",
            f"{label} in {name}, %{{x}} seeds: %{{y:.1f}} % of heads<extra></extra>",
        )
        if share.interval is not None:
            traces.append(curves.band(x, 100 * share.low, 100 * share.high, colour, group))
        traces.append(_curve(x, share, colour, f"{label} in {name}", dash, group, hover))
        if len(beyond):
            ahead = np.append(n, beyond)
            y = 100 * further(has, ahead.tolist())
            hover = hover.replace("<extra>", ", extrapolated<extra>")
            dotted = {"dash": "dot"}
            traces.append(
                curves.line(
                    ahead, y, colour, f"{label} {name} expected", line=dotted, legendgroup=group,
                    showlegend=False, hovertemplate=hover,
                )
            )  # fmt: skip
    return traces


def _curve(
    x: Array, share: Share, colour: str, name: str, dash: str, group: str, hover: str
) -> dict[str, Any]:
    style = {"mode": "lines+markers", "marker": {"size": 5, "color": colour}, "line": {"dash": dash}}
    return curves.line(x, 100 * share.mean, colour, name, legendgroup=group, hovertemplate=hover, **style)


def _beyond(n: int, advice: Suggestion | None) -> Array:
    """Numbers of seeds that the curve is carried on to: what is suggested, at most twice what there is."""
    return np.arange(n + 1, n + 1 + min(advice.more, n)) if advice else np.arange(0)


def _every(result: ChgResult, advice: Suggestion | None) -> int:
    most = len(result.seeds) + (advice.more if advice else 0)
    return 1 if most <= 12 else 5


def _advised(n: int, advice: Suggestion | None, vocabulary: Vocabulary) -> dict[str, Any]:
    return {"advice": words(n, advice, vocabulary), "more_seeds": None if advice is None else advice.more}


def _reading(result: ChgResult, has: Array, advice: Suggestion | None) -> str:
    n, vocabulary = len(has), result.vocabulary
    if n < 2:
        return words(n, advice, vocabulary)
    reading = (
        f"{words(n, advice, vocabulary)} Up to the dotted upright line: the mean over all sets of so many of "
        f"the {n} seeds; the band holds 95 % of such sets."
    )
    if advice is not None and advice.more:
        reading += " Beyond it, dotted: what further seeds are expected to show."
    return reading


def _role_rows(role: str, has: Array, advice: Suggestion | None) -> dict[str, Array]:
    n, sure = len(has), certainty(has)
    if sure is None:
        nothing = np.full(1, np.nan)
        shares = {name: nothing for part in ("always", "any") for name in _parts(part)}
        return {
            "role": np.array([role]),
            "seeds": np.zeros(1, int),
            "extrapolated": np.zeros(1, bool),
            **shares,
        }
    beyond = _beyond(n, advice)
    missing = np.full(len(beyond), np.nan)
    columns = {
        "role": np.full(n + len(beyond), role),
        "seeds": np.append(np.arange(1, n + 1), beyond),
        "extrapolated": np.append(np.zeros(n, bool), np.ones(len(beyond), bool)),
    }
    for part, share, further in (
        ("always", sure.always, extrapolated_always),
        ("any", sure.any, extrapolated_any),
    ):
        mean, low, high = _parts(part)
        columns[mean] = np.append(share.mean, further(has, beyond.tolist()))
        columns[low], columns[high] = np.append(share.low, missing), np.append(share.high, missing)
    return columns


def _parts(name: str) -> tuple[str, str, str]:
    return name, f"{name}_low", f"{name}_high"


def _named(share: str, vocabulary: Vocabulary) -> str:
    part, role = share.split()
    return f"the share {vocabulary.clauses[role]} in {'every' if part == 'always' else 'some'} seed"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"
