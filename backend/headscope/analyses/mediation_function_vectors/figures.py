"""What the function vectors draw: the map of effects, the strongest heads, the tasks beside each other."""

from __future__ import annotations

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.mediation_function_vectors import tables
from headscope.analyses.mediation_function_vectors.result import FunctionVectorsResult
from headscope.analyses.patch_effects import effect_map, ranked_bars, strongest
from headscope.core.arrays import encode
from headscope.figures.theme import Drawing, signed_scale, titled
from headscope.figures.view import View

_BY_TASK = 12
"""Heads in the picture of tasks."""


def effect(result: FunctionVectorsResult, view: View) -> Drawing:
    """How much each head brings the answer back, over all tasks of the run."""
    sure = result.over_tasks_significant > 0
    group = result.model.n_heads // result.model.n_kv_heads
    figure = effect_map(result.over_tasks, sure, view, "effect", group)
    reading = (
        "How much the right answer's probability rises when a head's mean output over clean prompts is "
        f"patched into prompts with shuffled labels, at the last token{_over(result)}. {_framed(result)}"
    )
    return titled(figure, "Average indirect effect", reading, statistic="average indirect effect")


def heads(result: FunctionVectorsResult, view: View) -> Drawing:
    """The strongest heads with the spread over prompts and tasks."""
    error = np.sqrt((result.error.astype(np.float64) ** 2).sum(0)) / len(result.error)
    sure = result.over_tasks_significant > 0
    hover = "Head %{x}: %{y:+.4f}<extra></extra>"
    figure = ranked_bars(result.over_tasks, error, sure, view, "rise of probability", hover)
    figure["layout"]["shapes"] = [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": result.over_tasks_limit,
            "y1": result.over_tasks_limit,
            "line": {"color": view.colours.muted, "width": 1, "dash": "dot"},
        }
    ]
    reading = (
        f"The heads with the largest effect{_over(result)}; whiskers are one standard error over prompts. "
        f"The dotted line is the mean over all heads and {result.params['sds']:g} standard deviations. "
        f"{_counted(result)}"
    )
    return titled(figure, "The strongest heads", reading)


def tasks(result: FunctionVectorsResult, view: View) -> Drawing:
    """The strongest heads in each task."""
    shown = strongest(result.effect.max(0), _BY_TASK)
    places = tuple(np.array(shown).T)
    values = result.effect[:, places[0], places[1]].T
    sure = result.significant[:, places[0], places[1]].T > 0
    most = float(np.abs(values).max()) or 1.0
    trace = {
        "type": "heatmap",
        "x": list(result.tasks),
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
    reading = (
        "The heads with the largest effect in any task, and their effect in each; a dot where the head "
        "stands out in that task."
    )
    if len(result.tasks) == 1:
        reading += " This run has one task: name more under “More tasks” to see which heads they share."
    return titled({"data": [trace], "layout": layout}, "Task by task", reading)


def answers(result: FunctionVectorsResult, view: View) -> Drawing:
    """The answer's probability in clean and in shuffled prompts, and with the strongest head patched."""
    names = list(result.tasks)
    patched = result.p_shuffled + result.effect.reshape(len(names), -1).max(1)
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
            ("right labels", result.p_clean, view.colours.ink),
            ("shuffled labels", result.p_shuffled, view.colours.muted),
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


def _over(result: FunctionVectorsResult) -> str:
    count = len(result.tasks)
    return f", mean over {count} tasks" if count > 1 else ""


def _framed(result: FunctionVectorsResult) -> str:
    if not result.over_tasks_significant.any():
        return f"{_counted(result)} Colours show the largest effect there is."
    return _counted(result, " and is framed", " and are framed")


def _counted(result: FunctionVectorsResult, one: str = "", several: str = "") -> str:
    """How many heads stand out; ``one`` and ``several`` say what else such a head does."""
    sure, limit = result.over_tasks_significant, result.over_tasks_limit
    if not sure.any():
        most = float(result.over_tasks.max())
        return f"No head stands out: the largest effect is {most:+.4f}, the limit {limit:.4f}."
    count = int(sure.sum())
    do = f"stands out{one}" if count == 1 else f"stand out{several}"
    return f"{count} of {sure.size} heads {do} (above {limit:.4f})."


FIGURES = (
    Figure("effect", effect, tables.effect),
    Figure("heads", heads, tables.effect),
    Figure("tasks", tasks, tables.effect),
    Figure("answers", answers, tables.answers),
)
