"""What meaning draws: the map of names, the evidence of named heads, role against name."""

from __future__ import annotations

from typing import Any

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.meaning import tables
from headscope.analyses.meaning.evidence import Tested
from headscope.analyses.meaning.names import FAMILIES, NONE, UNKNOWN, family
from headscope.analyses.meaning.result import Cross, MeaningResult
from headscope.analyses.meaning.roles import ROLES, SIGNIFICANT
from headscope.core.arrays import encode
from headscope.figures import categories
from headscope.figures.categories import Kind
from headscope.figures.theme import Drawing, Palette, magnitude_scale, titled
from headscope.figures.view import View

SHOWN = 30
"""Named heads whose evidence is drawn; the table has all."""

_SMALL, _LARGE = 4.0, 16.0


def names(result: MeaningResult, view: View) -> Drawing:
    """The first name of every head, as colour and letter."""
    known = [
        *(Kind(each.title, each.letter, view.colours.functions[i]) for i, each in enumerate(FAMILIES)),
        Kind("unknown", ""),
        Kind("none of the names", "–"),
    ]
    first = result.first_name.astype(int)
    codes = np.select([first == UNKNOWN, first == NONE], [len(FAMILIES), len(FAMILIES) + 1], first)
    figure = categories.kinds(
        codes.astype(np.uint8),
        result.n_names.astype(np.uint8),
        known,
        view.colours,
        name="names",
        group=result.model.n_heads // result.model.n_kv_heads,
    )
    n_named = int((result.n_names > 0).sum())
    reading = (
        f"{n_named} of {first.size} heads have a name{_surely(result)}; a plus marks those with more "
        "than one, of which the most specific is shown. An empty cell is unknown: no test that was made "
        f"gives it a name.{result.model.added_note}"
    )
    return titled(figure, "What each head does", reading)


def evidence(result: MeaningResult, view: View) -> Drawing:
    """A row a named head, a column a test; full dots passed."""
    found = result.evidence
    heads = ranked(result)[:SHOWN]
    labels = [f"{layer}.{head}" for layer, head in heads]
    tests = [each.test.name for each in found.tested]
    traces = [
        trace
        for passed in (False, True)
        for trace in [_dots(result, heads, passed, view.colours)]
        if trace is not None
    ]
    layout = {
        "height": 150 + 20 * max(len(labels), 2),
        "showlegend": True,
        "xaxis": {
            "type": "category", "categoryorder": "array", "categoryarray": tests,
            "range": [-0.5, len(tests) - 0.5], "tickangle": -35,
        },
        "yaxis": {
            "type": "category", "categoryorder": "array", "categoryarray": labels[::-1],
            "range": [-0.5, max(len(labels), 1) - 0.5], "title": {"text": "layer.head"},
        },
        "margin": {"l": 60, "r": 16, "t": 34, "b": 110},
    }  # fmt: skip
    reading = (
        "No head passes any test."
        if not labels
        else f"The {len(labels)} heads with the most names. A dot is a score, the larger the nearer to what "
        "the test asks for; full dots surely passed, and name the head. The table has every head with "
        "every score."
    )
    return titled({"data": traces, "layout": layout}, "What the names rest on", reading)


def cross(result: MeaningResult, view: View) -> Drawing:
    """Names against roles of the gating run: heads in both, and how surely that isn't chance."""
    tests = [each["name"] for each in result.tests]
    layout: dict[str, Any] = {
        "height": 150 + 36 * len(tests),
        "xaxis": {"type": "category", "tickangle": -35, "showgrid": False},
        "yaxis": {"type": "category", "autorange": "reversed", "showgrid": False},
        "margin": {"l": 130, "r": 64, "t": 12, "b": 130},
    }
    found = result.cross
    if result.gated_steering is not None:
        reading = (
            f"The gating run is a steering map: the model {result.gated_steering} as it is, so that its "
            "heads have no roles to set the names against."
        )
        return titled({"data": [], "layout": layout}, "What the heads do", reading)
    if found is None:
        reading = "No causal head gating run was named, so there are no roles to set the names against."
        return titled({"data": [], "layout": layout}, "What the needed heads do", reading)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = found.count / found.sizes[:, None]
    trace = {
        "type": "heatmap",
        "x": [f"{words} ({size})" for (_, words, *_), size in zip(ROLES, found.sizes.tolist(), strict=True)],
        "y": tests,
        "z": encode(np.nan_to_num(share).T.astype(np.float32)),
        "zmin": 0,
        "zmax": 1,
        "colorscale": magnitude_scale(view.colours),
        "xgap": 2,
        "ygap": 2,
        "text": _cells(found),
        "texttemplate": "%{text}",
        "textfont": {"size": 11},
        "hovertemplate": "%{y}, %{x}<br>%{z:.0%} of the role’s heads<br>%{text}<extra></extra>",
    }
    null = "of their own layer" if result.params["within_layers"] else "of the model"
    task = result.gated_task
    reading = (
        f"How many heads with a role on {task} have each name; colour is the share of the role's heads. "
        f"p: how often as many would fall together if the names were dealt to the heads {null} at random, "
        f"corrected for all cells {_how(found)}; a star is p < 0.05."
    )
    return titled({"data": [trace], "layout": layout}, "What the needed heads do", reading, wide=True)


def ranked(result: MeaningResult) -> list[tuple[int, int]]:
    """The heads with a name: most names first, then in order of layer and head."""
    count = result.n_names.astype(int)
    heads = [(int(layer), int(head)) for layer, head in np.argwhere(count > 0)]
    return sorted(heads, key=lambda head: (-count[head], int(result.first_name[head]), head))


def _surely(result: MeaningResult) -> str:
    if result.q is not None:
        return " that passes a test"
    return " by a threshold alone (made before names were tested: run it again)"


def _how(found: Cross) -> str:
    return "after Holm" if found.least is None else "by the smallest p of permuted names"


def _dots(
    result: MeaningResult, heads: list[tuple[int, int]], passed: bool, colours: Palette
) -> dict[str, Any] | None:
    resting = result.resting
    points = [
        (each, head)
        for each in result.evidence.tested
        for head in heads
        if bool(each.passed[head]) == passed and np.isfinite(each.score[head])
    ]
    if not points:
        return None
    tones = [colours.functions[family(each.test.key)] if passed else colours.muted for each, _ in points]
    sizes = np.array([_size(each, head) for each, head in points], np.float32)
    marker = {"size": encode(sizes), "color": tones, "symbol": "circle" if passed else "circle-open"}
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "passed" if passed else "not passed",
        "x": [each.test.name for each, _ in points],
        "y": [f"{layer}.{head}" for _, (layer, head) in points],
        "hovertext": [tables.in_words(each, head, resting) for each, head in points],
        "hovertemplate": "Head %{y}<br>%{hovertext}<extra></extra>",
        "marker": marker,
    }


def _size(each: Tested, head: tuple[int, int]) -> float:
    """By the score over the threshold; over the largest score where a test has none."""
    most = each.test.threshold
    full = abs(most) if most else float(np.nanmax(np.abs(each.score))) or 1.0
    share = np.clip(each.test.sign * each.score[head] / full, 0, 1)
    return float(_SMALL + (_LARGE - _SMALL) * share)


def _cells(found: Cross) -> list[list[str]]:
    """By name and role: the count, and p where it can be tested."""
    return [
        [_cell(count, p) for count, p in zip(counts, ps, strict=True)]
        for counts, ps in zip(found.count.T.tolist(), found.corrected.T.tolist(), strict=True)
    ]


def _cell(count: int, p: float) -> str:
    if p != p:
        return str(count)
    return f"{count}{' *' if p < SIGNIFICANT else ''}<br>p {p:.2g}"


FIGURES = (
    Figure("names", names, tables.names),
    Figure("evidence", evidence, tables.evidence),
    Figure("cross", cross, tables.cross),
)
