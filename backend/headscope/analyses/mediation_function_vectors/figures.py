"""What the function vectors draw: the map of effects, the strongest heads, the tasks beside each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.base import Result
from headscope.analyses.mediating import effect_map, ranked_bars, strongest
from headscope.analyses.mediation_function_vectors import tables
from headscope.core.arrays import encode
from headscope.figures.theme import Drawing, signed_scale, titled
from headscope.figures.view import View

_BY_TASK = 12
"""Heads in the picture of tasks."""


def effect(result: Result, view: View) -> Drawing:
    """How much each head brings the answer back, over all tasks of the run."""
    sure = result.arrays["over_tasks_significant"] > 0
    group = result.model.n_heads // result.model.n_kv_heads
    figure = effect_map(result.arrays["over_tasks"], sure, view, "effect", group)
    reading = (
        "The rise of the right answer's probability when the head's mean output over clean prompts is put "
        f"into prompts with shuffled labels, at the last token{_over(result)}. {_framed(result)}"
    )
    return titled(figure, "What brings the task back", reading, statistic="average indirect effect")


def heads(result: Result, view: View) -> Drawing:
    """The strongest heads with the spread over prompts and tasks."""
    arrays = result.arrays
    error = np.sqrt((arrays["error"].astype(np.float64) ** 2).sum(0)) / len(arrays["error"])
    sure = arrays["over_tasks_significant"] > 0
    hover = "Head %{x}: %{y:+.4f}<extra></extra>"
    figure = ranked_bars(arrays["over_tasks"], error, sure, view, "rise of probability", hover)
    figure["layout"]["shapes"] = [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": result.values["over_tasks_limit"],
            "y1": result.values["over_tasks_limit"],
            "line": {"color": view.colours.muted, "width": 1, "dash": "dot"},
        }
    ]
    reading = (
        f"The heads with the largest effect{_over(result)}; whiskers are one standard error over prompts. "
        f"The dotted line is the mean over all heads and {result.params['sds']:g} standard deviations. "
        f"{_counted(result)}"
    )
    return titled(figure, "The strongest heads", reading)


def tasks(result: Result, view: View) -> Drawing:
    """The strongest heads in each task."""
    shown = strongest(result.arrays["effect"].max(0), _BY_TASK)
    places = tuple(np.array(shown).T)
    values = result.arrays["effect"][:, places[0], places[1]].T
    sure = result.arrays["significant"][:, places[0], places[1]].T > 0
    most = float(np.abs(values).max()) or 1.0
    trace = {
        "type": "heatmap",
        "x": list(result.values["tasks"]),
        "y": [f"{layer}.{head}" for layer, head in shown],
        "z": encode(values.astype(np.float32)),
        "zmin": -most,
        "zmax": most,
        "colorscale": signed_scale(view.colours),
        "xgap": 2,
        "ygap": 2,
        "text": [["•" if each else "" for each in row] for row in sure.tolist()],
        "texttemplate": "%{text}",
        "hovertemplate": "Head %{y}, %{x}: %{z:+.4f}<extra></extra>",
    }
    layout = {
        "height": 110 + 26 * len(shown),
        "xaxis": {"type": "category", "side": "top", "fixedrange": True},
        "yaxis": {
            "type": "category",
            "autorange": "reversed",
            "showgrid": False,
            "title": {"text": "layer.head"},
        },
        "margin": {"l": 60, "r": 56, "t": 40, "b": 16},
    }
    several = len(result.values["tasks"]) > 1
    reading = (
        "The heads with the largest effect in any task, and their effect in each; a dot where the head "
        "stands out in that task."
    )
    if not several:
        reading += " This run has one task: name more under “More tasks” to see which heads they share."
    return titled({"data": [trace], "layout": layout}, "Task by task", reading)


def answers(result: Result, view: View) -> Drawing:
    """The answer's probability in clean and in shuffled prompts, and with the strongest head patched."""
    arrays, names = result.arrays, list(result.values["tasks"])
    patched = arrays["p_shuffled"] + arrays["effect"].reshape(len(names), -1).max(1)
    traces = [
        {
            "type": "bar",
            "name": words,
            "x": names,
            "y": encode(100 * values.astype(np.float32)),
            "marker": {"color": colour, "line": {"width": 0}},
            "hovertemplate": f"%{{x}}, {words}: %{{y:.3g}} %<extra></extra>",
        }
        for words, values, colour in (
            ("right labels", arrays["p_clean"], view.colours.ink),
            ("shuffled labels", arrays["p_shuffled"], view.colours.muted),
            ("shuffled, strongest head patched", patched, view.colours.needed),
        )
    ]
    layout = {
        "height": 280,
        "barmode": "group",
        "bargap": 0.3,
        "xaxis": {"type": "category"},
        "yaxis": {"title": {"text": "probability of the answer, %"}, "rangemode": "tozero"},
        "margin": {"l": 52, "r": 16, "t": 34, "b": 44},
    }
    reading = (
        "Mean probability of the answer's first token. What the shuffled labels take away is all that a head "
        "could bring back; one head brings back little of it."
    )
    return titled({"data": traces, "layout": layout}, "What shuffled labels cost", reading)


FIGURES: dict[str, Callable[[Result, View], Drawing]] = {
    "effect": effect,
    "heads": heads,
    "tasks": tasks,
    "answers": answers,
}

TABLES = tables.TABLES


def _over(result: Result) -> str:
    count = len(result.values["tasks"])
    return f", mean over {count} tasks" if count > 1 else ""


def _framed(result: Result) -> str:
    counted = _counted(result).replace("stand out", "stand out and are framed")
    return counted.replace("stands out (", "stands out and is framed (") + (
        "" if result.arrays["over_tasks_significant"].any() else " Colours show the largest effect there is."
    )


def _counted(result: Result) -> str:
    sure, most = result.arrays["over_tasks_significant"], float(result.arrays["over_tasks"].max())
    limit = result.values["over_tasks_limit"]
    if not sure.any():
        return f"No head stands out: the largest effect is {most:+.4f}, the limit {limit:.4f}."
    count = int(sure.sum())
    return f"{count} of {sure.size} heads {'stands' if count == 1 else 'stand'} out (above {limit:.4f})."
