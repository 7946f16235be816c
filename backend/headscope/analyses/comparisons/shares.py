"""The paper's table 2: the share of heads with each role, Always and Any, by model and task.

Always = in every finished seed, Any = in at least one; the mean over seeds lies between. Both depend on how
many seeds there are, so ``common`` shows what m seeds of each run would give on average, m being the fewest
that any run has:

    Always at m = mean over heads of C(k, m) / C(n, m)        k of a head's n seeds give it the role
    Any at m    = mean over heads of 1 - C(n - k, m) / C(n, m)

which is exact: m of the n seeds are drawn without replacement (core.statistics.certainty). The intervals hold
where 95 % of sets of as many seeds would fall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import accumulate
from typing import Any

import numpy as np

from headscope.analyses.columns import Column, Table, table
from headscope.analyses.comparisons import published
from headscope.analyses.comparisons.base import Chosen, Compared, CompareView, Comparison
from headscope.core.arrays import encode
from headscope.core.gating import roles
from headscope.core.gating.roles import SCORE_NAMES
from headscope.core.statistics.certainty import certainty, expected_any
from headscope.core.statistics.intervals import Interval
from headscope.core.statistics.share_intervals import PARTS, Part, share_intervals
from headscope.figures.theme import Drawing, Palette, titled

NOTHING = float("nan")
NO_INTERVAL: Interval = (NOTHING, NOTHING)
_BAR, _ROW, _SPACE, _HEADING = 11, 20, 12, 30
"""Pixels of a bar, of a row's name, between rows, and of the published rows' heading."""


@dataclass(frozen=True)
class Row:
    """One model on one task: percentages of heads by score name, NaN where there are none."""

    source: str
    run: str
    model: str
    task: str
    label: str
    seeds: int
    threshold: float
    always: dict[str, float]
    any: dict[str, float]
    mean: dict[str, float]
    ends: dict[str, dict[Part, Interval]]
    """By score, of Always and Any; NaN where none is known."""


def row_of(run: Compared, threshold: float, seeds: int | None = None) -> Row:
    """A run's shares, of all its finished seeds, or as ``seeds`` of them give on average."""
    found = roles.shares(run.gating.g_plus, run.gating.g_minus, threshold)
    always = {name: 100 * share.always for name, share in found.items()}
    some = {name: 100 * share.any for name, share in found.items()}
    if seeds is not None and 0 < seeds < run.seeds:
        always, some = _drawn(run, threshold, seeds)
    return Row(
        source="run",
        run=run.run,
        model=run.model,
        task=run.task,
        label=run.label,
        seeds=min(run.seeds, seeds) if seeds else run.seeds,
        threshold=threshold,
        always=always,
        any=some,
        mean={name: 100 * share.mean for name, share in found.items()},
        ends={name: _ends(run, name, threshold, seeds) for name in SCORE_NAMES},
    )


def _ends(run: Compared, score: str, threshold: float, seeds: int | None) -> dict[Part, Interval]:
    """Both shares' intervals in percent, with all seeds or so many of them."""
    has = run.score(score)[run.ran] >= threshold
    if seeds is None or not 1 < seeds < run.seeds:
        of_all = share_intervals(has if seeds != 1 else has[:1])
        return {part: _in_percent(of_all[part] or NO_INTERVAL) for part in PARTS}
    sure = certainty(has)
    if sure is None:
        return dict.fromkeys(PARTS, NO_INTERVAL)
    curves = {part: getattr(sure, part) for part in PARTS}
    return {
        part: _in_percent((float(curve.low[seeds - 1]), float(curve.high[seeds - 1])))
        for part, curve in curves.items()
    }


def _in_percent(ends: Interval) -> Interval:
    return 100 * ends[0], 100 * ends[1]


def _drawn(run: Compared, threshold: float, seeds: int) -> tuple[dict[str, float], dict[str, float]]:
    """Always and Any as so many of the run's seeds give them on average; Always is 1 − Any of lacking it."""
    always, some = {}, {}
    for name in SCORE_NAMES:
        counts = (run.score(name)[run.ran] >= threshold).sum(axis=0).reshape(-1)
        always[name] = 100 * (1 - expected_any(run.seeds - counts, run.seeds, seeds))
        some[name] = 100 * expected_any(counts, run.seeds, seeds)
    return always, some


def _reference(one: published.Published) -> Row:
    return Row(
        source=f"published: {published.SOURCE}",
        run="",
        model=one.model,
        task=one.task,
        label=f"{one.model} · {one.task}",
        seeds=published.SEEDS,
        threshold=published.THRESHOLD,
        always={
            "facilitation": one.always_needed,
            "interference": one.always_harmful,
            "irrelevance": NOTHING,
        },
        any={"facilitation": one.any_needed, "interference": one.any_harmful, "irrelevance": NOTHING},
        mean=dict.fromkeys(SCORE_NAMES, NOTHING),
        ends={name: dict.fromkeys(PARTS, NO_INTERVAL) for name in SCORE_NAMES},
    )


def rows(chosen: Chosen, look: CompareView) -> Table:
    """A row for each run, then the published ones; percentages of heads."""
    shown = _shown(chosen, look)
    fewest = chosen.fewest_seeds
    columns: list[Column] = [
        ("source", "source", "", np.array([row.source for row in shown])),
        ("run", "run", "", np.array([row.run for row in shown])),
        ("model", "model", "", np.array([row.model for row in shown])),
        ("task", "task", "", np.array([row.task for row in shown])),
        ("seeds", "seeds", "", np.array([row.seeds for row in shown])),
        ("threshold", "threshold", "", np.array([row.threshold for row in shown])),
    ]
    words = chosen.words(published=look.published)
    columns += _percentages(shown, words, "", "")
    if not look.common and _differ(chosen):
        at = [row_of(run, look.view.threshold, fewest) for run in chosen.runs]
        at += [_unknown(row) for row in shown[len(at) :]]
        columns += _percentages(at, words, f"_at_{fewest}", f" of {fewest} seeds")
    return table(columns)


def draw(chosen: Chosen, look: CompareView) -> Drawing:
    """Three bars a run: faint to Any, solid to Always, a line at the mean over seeds."""
    shown = _shown(chosen, look)
    own = len(chosen.runs)
    heights = [_ROW + _BAR * len(_measured(row)) + _SPACE for row in shown]
    heights[own - 1] += _HEADING if len(shown) > own else 0
    tops = list(accumulate(heights, initial=0))
    traces: list[dict[str, Any]] = []
    words = chosen.words(published=look.published)
    for score in SCORE_NAMES:
        traces += _bars(score, words[score], shown, tops, look.view.colours)
    names = [_name(row, top, look.view.colours) for row, top in zip(shown, tops, strict=False)]
    layout = {
        "height": tops[-1] + 78,
        "barmode": "overlay",
        "xaxis": {"range": [0, 100], "title": {"text": "% of heads"}, "showgrid": True, "nticks": 6},
        "yaxis": {"range": [tops[-1], 0], "showticklabels": False, "showgrid": False},
        "margin": {"l": 16, "r": 16, "t": 34, "b": 44},
        "annotations": names,
        "shapes": [],
    }
    if len(shown) > own:
        top = tops[own] - _HEADING
        names.append(_written(top, f"<b>Published</b>: {published.BRIEFLY}", look.view.colours.muted))
        layout["shapes"] = [_line(top - _SPACE / 2, look.view.colours)]
    reading = (
        f"Solid: heads that have the role in every seed (Always). Faint: in at least one (Any). The thin "
        f"line is the mean over single seeds; brackets hold the number of seeds. Whiskers are where 95 % of "
        f"sets of as many seeds would end. "
        f"A role counts from a score of {look.view.threshold:.2f} on."
    )
    if look.common:
        reading += f" Always and Any as {chosen.fewest_seeds} seeds of each run give them on average."
    if look.published:
        reading += f" {published.CAUTION}"
    return titled(
        {"data": traces, "layout": layout},
        "How many heads have which role?",
        reading,
        threshold=look.view.threshold,
        fewest_seeds=chosen.fewest_seeds,
        seeds_differ=_differ(chosen),
    )


SHARES = Comparison(
    name="shares",
    title="Shares of heads by role",
    summary="How many heads each task needs, in every seed and in some, beside the paper's Llama models.",
    least=1,
    one_model=False,
    follows=("threshold", "published", "common"),
    draw=draw,
    rows=rows,
)


def _shown(chosen: Chosen, look: CompareView) -> list[Row]:
    seeds = chosen.fewest_seeds if look.common else None
    own = [row_of(run, look.view.threshold, seeds) for run in chosen.runs]
    return own + ([_reference(one) for one in published.LLAMA] if look.published else [])


def _differ(chosen: Chosen) -> bool:
    return len({run.seeds for run in chosen.runs if run.seeds}) > 1


def _unknown(row: Row) -> Row:
    nothing = dict.fromkeys(SCORE_NAMES, NOTHING)
    return replace(
        row,
        run="",
        always=nothing,
        any=nothing,
        mean=nothing,
        ends={name: dict.fromkeys(PARTS, NO_INTERVAL) for name in SCORE_NAMES},
    )


def _percentages(shown: Sequence[Row], told: Mapping[str, str], suffix: str, words: str) -> list[Column]:
    columns: list[Column] = []
    for score in SCORE_NAMES:
        word = told[score]
        columns += [
            (
                f"{score}_always{suffix}",
                f"{word}, Always{words}",
                "%",
                np.array([row.always[score] for row in shown]),
            ),
            (f"{score}_any{suffix}", f"{word}, Any{words}", "%", np.array([row.any[score] for row in shown])),
        ]
        for part, said in zip(PARTS, ("Always", "Any"), strict=True):
            for place, end in enumerate(("low", "high")):
                ends = np.array([row.ends[score][part][place] for row in shown])
                told_end = f"{word}, {said}{words}, {('lower', 'upper')[place]} end of 95 %"
                columns.append((f"{score}_{part}{suffix}_{end}", told_end, "%", ends))
        if not suffix:
            mean = np.array([row.mean[score] for row in shown])
            columns.append((f"{score}_mean", f"{word}, mean over seeds", "%", mean))
    return columns


def _measured(row: Row) -> list[str]:
    """The scores that a row has numbers for; all where it has none, so that the gap is seen."""
    known = [score for score in SCORE_NAMES if np.isfinite(row.any[score])]
    return known or list(SCORE_NAMES)


def _bars(
    score: str, word: str, shown: Sequence[Row], tops: Sequence[int], colours: Palette
) -> list[dict[str, Any]]:
    having = [(row, top) for row, top in zip(shown, tops, strict=False) if score in _measured(row)]
    y = np.array([top + _ROW + _BAR * (_measured(row).index(score) + 0.5) for row, top in having])
    colour = {"facilitation": colours.needed, "interference": colours.harmful, "irrelevance": colours.muted}[
        score
    ]
    told = [_told(word, row, score) for row, _ in having]

    def bar(part: Part, opacity: float, legend: bool) -> dict[str, Any]:
        values = [(row.always if part == "always" else row.any)[score] for row, _ in having]
        return {
            "type": "bar",
            "orientation": "h",
            "name": word,
            "legendgroup": score,
            "showlegend": legend,
            "x": encode(np.array(values, np.float32)),
            "y": encode(y.astype(np.float32)),
            "width": _BAR - 2,
            "opacity": opacity,
            "marker": {"color": colour, "line": {"width": 0}},
            "error_x": _whiskers(values, [row.ends[score][part] for row, _ in having], colours),
            "hovertext": told,
            "hovertemplate": "%{hovertext}<extra></extra>",
        }

    marks = {
        "type": "scatter",
        "mode": "markers",
        "legendgroup": score,
        "showlegend": False,
        "x": encode(np.array([row.mean[score] for row, _ in having], np.float32)),
        "y": encode(y.astype(np.float32)),
        "marker": {"symbol": "line-ns", "size": _BAR - 3, "line": {"width": 1.5, "color": colours.ink}},
        "hoverinfo": "skip",
    }
    return [
        bar("any", 0.32, False),
        bar("always", 1, True),
        marks,
    ]


def _whiskers(values: Sequence[float], ends: Sequence[Interval], colours: Palette) -> dict[str, Any]:
    spread = np.nan_to_num(np.abs(np.array(ends) - np.array(values)[:, None])).astype(np.float32)
    return {
        "type": "data",
        "symmetric": False,
        "array": encode(spread[:, 1]),
        "arrayminus": encode(spread[:, 0]),
        "color": colours.ink,
        "thickness": 1,
        "width": 3,
    }


def _told(word: str, row: Row, score: str) -> str:
    mean = "" if np.isnan(row.mean[score]) else f", {row.mean[score]:.1f} % on average"
    always, some = (_interval(row.ends[score][part]) for part in PARTS)
    return (
        f"{escape(row.label, quote=False)}<br>{word}: {row.always[score]:.1f} % in every seed{always}, "
        f"{row.any[score]:.1f} % in some{some}{mean}"
    )


def _interval(ends: Interval) -> str:
    return "" if np.isnan(ends[0]) else f" (95 %: {ends[0]:.1f} to {ends[1]:.1f})"


def _name(row: Row, top: int, colours: Palette) -> dict[str, Any]:
    own = row.source == "run"
    name = escape(row.label, quote=False)
    return _written(
        top, f"{name} ({row.seeds})" if own else f"<i>{name}</i>", colours.ink if own else colours.muted
    )


def _written(top: int, text: str, colour: str) -> dict[str, Any]:
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": top + _ROW / 2 + 1, "showarrow": False}
    return {**place, "text": text, "font": {"size": 12, "color": colour}}


def _line(y: float, colours: Palette) -> dict[str, Any]:
    """Between what was computed here and what was published."""
    line = {"color": colours.muted, "width": 1, "dash": "dot"}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line}
