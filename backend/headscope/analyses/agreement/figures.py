"""What agreement draws: the heads in dispute, each method against gating's scores, how far they agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.agreement import ablation_figure, tables
from headscope.analyses.agreement.disagreement import standing
from headscope.analyses.agreement.methods import BY_NAME, Seen
from headscope.analyses.agreement.order_figure import order
from headscope.analyses.agreement.result import OVER_SEEDS, AgreementResult, Score
from headscope.analyses.agreement.statistics import NUMBERS
from headscope.analyses.base import Figure
from headscope.core.arrays import encode
from headscope.figures.theme import Drawing, Palette, magnitude_scale, signed_scale, titled
from headscope.figures.view import View

Array = NDArray[Any]

_ACROSS = 3
"""Small pictures in a row."""


def disagreements(result: AgreementResult, view: View) -> Drawing:
    """A row for each head in dispute that was explained, a column for each method."""
    told, colours = result.disagreements, view.colours
    seen = result.seen
    at = [tuple(int(part) for part in each["head"].split(".")) for each in told]
    standings = {name: standing(each) for name, each in seen.items()}
    z = np.array([[standings[name][head] for name in seen] for head in at], np.float32).reshape(
        len(at), len(seen)
    )
    marks = [[_mark(seen[name], head) for name in seen] for head in at]
    trace = {
        "type": "heatmap",
        "name": "standing",
        "x": [BY_NAME[name].title for name in seen],
        "y": [each["head"] for each in told],
        "z": encode(z),
        "text": marks,
        "texttemplate": "%{text}",
        "zmin": 0,
        "zmax": 1,
        "xgap": 2,
        "ygap": 2,
        "colorscale": magnitude_scale(colours),
        "showscale": False,
        "hovertemplate": "Head %{y}, %{x}: %{z:.2f} of its largest<extra></extra>",
    }
    layout = {
        "height": 110 + 30 * max(len(told), 1),
        "xaxis": {"type": "category", "side": "top", "showgrid": False, "tickangle": -30},
        "yaxis": {
            "type": "category",
            "range": [max(len(told), 1) - 0.5, -0.5],
            "showgrid": False,
            "title": {"text": "layer.head"},
        },
        "margin": {"l": 60, "r": 16, "t": 84, "b": 12},
    }
    if told:
        reading = (
            f"{result.n_disputed} of {result.seeds_needing.size} heads are {_disputed(result)}; here are the "
            f"{len(told)} on which they differ most. The deeper the colour, the larger the head stands in "
            "that method; a full dot says that the method finds it, an empty one that it doesn't, both "
            "beyond its error. The table says why they differ."
        )
    else:
        reading = "There is no head that one of these methods surely finds and another surely doesn't."
    return titled(
        {"data": [trace], "layout": layout},
        "Where the methods disagree",
        reading,
        wide=True,
        disagreements=told,
        methods={name: BY_NAME[name].title for name in seen},
    )


def against(score: Score) -> Callable[[AgreementResult, View], Drawing]:
    """Each method's effect against facilitation or interference: a small picture for each."""

    def draw(result: AgreementResult, view: View) -> Drawing:
        seen = {name: each for name, each in result.seen.items() if name != "gating"}
        rows = -(-len(seen) // _ACROSS)
        data, layout = [], _small_pictures(len(seen), rows, score)
        for number, (name, each) in enumerate(seen.items()):
            axis = "" if number == 0 else str(number + 1)
            layout[f"xaxis{axis}"]["title"] = {"text": _axis_title(name)}
            for found in (False, True):
                data.append(
                    _dots(result, score, name, each.effect, each.found == found, found, axis, view.colours)
                )
        if data:
            data[0]["showlegend"] = data[1]["showlegend"] = True
        reading = (
            f"A dot is a head: its {score}, mean over {result.n_seeds} seeds with a line from the "
            "lowest to the highest, against its effect by each measure. Blue ones are those that the measure "
            "finds."
        )
        highest = float(result.score(score)["high"].max())
        limit = float(result.params["threshold"])
        if highest < limit:
            reading += f" No head has {score} of {limit:g} in any seed; the highest is {highest:.2g}."
        none = [BY_NAME[name].title for name, each in seen.items() if not each.found.any()]
        if none:
            reading += f" {', '.join(none)} {'finds' if len(none) == 1 else 'find'} no head."
        title = (
            "Needed by gating, and by other measures"
            if score == "facilitation"
            else "Harmful by gating, and by other measures"
        )
        return titled({"data": data, "layout": layout}, title, reading, wide=True)

    return draw


def finds(result: AgreementResult, view: View) -> Drawing:
    """Precision and recall of gating for each method."""
    names = result.others
    numbers = result.statistics
    shown = [BY_NAME[name].title for name in names]
    bars = []
    for number, colour, words in (
        ("recall", view.colours.needed, "of the heads it finds, gating finds"),
        ("precision", view.colours.both, "of the heads gating finds, it finds"),
    ):
        values = 100 * numbers[:, NUMBERS.index(number)]
        bars.append(
            {
                "type": "bar",
                "name": words,
                "x": shown,
                "y": encode(values.astype(np.float32)),
                "marker": {"color": colour, "line": {"width": 0}},
                "hovertemplate": f"%{{x}}: {words} %{{y:.0f}} %<extra></extra>",
            }
        )
    layout = {
        "height": 300,
        "barmode": "group",
        "bargap": 0.3,
        "xaxis": {"type": "category"},
        "yaxis": {"range": [0, 104], "title": {"text": "% of heads"}},
        "margin": {"l": 52, "r": 16, "t": 34, "b": 60},
    }
    empty = [BY_NAME[name].title for name, row in zip(names, numbers, strict=True) if not row[0]]
    reading = (
        "Gating finds a head whose facilitation reaches the threshold in at least one seed. The table has "
        "Welch's t of facilitation, found heads against the others, and rank correlations."
    )
    if empty:
        reading += f" {', '.join(empty)}: no head is significant, so there is nothing to find."
    return titled({"data": bars, "layout": layout}, "Does gating find the same heads?", reading)


def correlations(result: AgreementResult, view: View) -> Drawing:
    """Spearman's rho of every two measures."""
    shown = [title for _, title in tables.correlated(result)]
    found = result.correlations.astype(np.float32)
    trace = {
        "type": "heatmap",
        "name": "rank correlation",
        "x": shown,
        "y": shown,
        "z": encode(found),
        "zmin": -1,
        "zmax": 1,
        "xgap": 2,
        "ygap": 2,
        "texttemplate": "%{z:.2f}",
        "colorscale": signed_scale(view.colours),
        "hovertemplate": "%{y} and %{x}: %{z:.2f}<extra></extra>",
    }
    layout = {
        "height": 120 + 30 * len(shown),
        "xaxis": {"type": "category", "showgrid": False, "tickangle": -30},
        "yaxis": {"type": "category", "showgrid": False, "autorange": "reversed"},
        "margin": {"l": 120, "r": 16, "t": 12, "b": 90},
    }
    reading = (
        "Spearman's rank correlation over heads: 1 where two measures order the heads alike, 0 where they "
        "have nothing to do with one another."
    )
    return titled({"data": [trace], "layout": layout}, "Do measures order the heads alike?", reading)


def _mark(seen: Seen, head: tuple[int, ...]) -> str:
    if seen.sure is None:
        return "●" if seen.found[head] else ""
    return ("○", "", "●")[int(seen.sure[head]) + 1]


def _disputed(result: AgreementResult) -> str:
    if result.sure:
        return "surely found by some methods and surely not by others"
    return "found by some methods and not by others, errors not counted (run it again to count them)"


def _dots(
    result: AgreementResult,
    score: Score,
    name: str,
    effect: Array,
    which: Array,
    found: bool,
    axis: str,
    colours: Palette,
) -> dict[str, Any]:
    layer, head = np.nonzero(which & np.isfinite(effect))
    mean, low, high = (result.score(score)[word][layer, head] for word in OVER_SEEDS)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "found by the measure" if found else "not found",
        "legendgroup": "found" if found else "other",
        "showlegend": False,
        "x": encode(effect[layer, head].astype(np.float32)),
        "y": encode(mean.astype(np.float32)),
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": encode((high - mean).astype(np.float32)),
            "arrayminus": encode((mean - low).astype(np.float32)),
            "thickness": 1,
            "width": 0,
            "color": colours.muted,
        },
        "customdata": encode(np.stack([layer, head], axis=1).astype(np.uint16)),
        "marker": {
            "size": 8,
            "color": colours.needed if found else colours.irrelevant,
            "line": {"width": 1, "color": colours.muted},
        },
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "hovertemplate": f"Head %{{customdata[0]}}.%{{customdata[1]}}: {score} %{{y:.2f}}, "
        f"{BY_NAME[name].title.lower()} %{{x:.3g}}<extra></extra>",
    }


def _small_pictures(count: int, rows: int, score: str) -> dict[str, Any]:
    across = min(count, _ACROSS) or 1
    layout: dict[str, Any] = {
        "height": 60 + 230 * max(rows, 1),
        "margin": {"l": 52, "r": 16, "t": 34, "b": 44},
    }
    for number in range(count):
        row, column = divmod(number, _ACROSS)
        axis = "" if number == 0 else str(number + 1)
        left, bottom = column / across, 1 - (row + 1) / rows
        layout[f"xaxis{axis}"] = {
            "domain": [left + 0.02, left + 0.9 / across],
            "anchor": f"y{axis}",
        }
        layout[f"yaxis{axis}"] = {
            "domain": [bottom + 0.24 / rows, bottom + 1 / rows],
            "anchor": f"x{axis}",
            "range": [-0.05, 1.05],
            "tickvals": [0, 0.5, 1],
            "title": {"text": score if column == 0 else ""},
        }
    return layout


def _axis_title(name: str) -> str:
    method = BY_NAME[name]
    return f"{method.title}, {method.unit}" if method.unit else method.title


FIGURES = (
    Figure("order", order, tables.order),
    Figure("disagreements", disagreements, tables.disagreements),
    Figure("facilitation", against("facilitation"), tables.heads, of_whole_run=True),
    Figure("interference", against("interference"), tables.heads),
    Figure("finds", finds, tables.finds),
    Figure("correlations", correlations, tables.correlations),
    Figure("ablations", ablation_figure.survival, ablation_figure.heads),
)
