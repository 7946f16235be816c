"""What an evaluation of gates draws: accuracy without and with them, and the gates."""

from __future__ import annotations

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.columns import Column, Table, flat, places, table
from headscope.analyses.evaluation.result import EvaluationResult
from headscope.core.arrays import encode
from headscope.figures import head_grid
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View


def accuracy(result: EvaluationResult, view: View) -> Drawing:
    """Held-out accuracy of each task, as the model is and under the gates."""
    names = [task["name"] for task in result.tasks]
    colours = view.colours
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": names,
            "x": encode(100 * result.accuracy[:, column]),
            "marker": {"color": colour, "line": {"width": 0}},
            "hovertemplate": "%{y}: %{x:.1f} %<extra>" + name + "</extra>",
        }
        for column, name, colour in ((0, "without gates", colours.muted), (1, "with gates", colours.needed))
    ]
    guessed = encode(np.array([100 * task["chance"] for task in result.tasks], np.float32))
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": "by guessing",
            "y": names,
            "x": guessed,
            "marker": {"symbol": "line-ns", "size": 22, "line": {"width": 2, "color": colours.ink}},
            "hovertemplate": "%{y}: guessing gets %{x:.1f} %<extra></extra>",
        }
    )
    layout = {
        "height": 110 + 44 * len(names),
        "barmode": "group",
        "bargap": 0.3,
        "xaxis": {"range": [0, 101], "title": {"text": "% right of held-out examples"}},
        "yaxis": {"type": "category", "autorange": "reversed"},
        "margin": {"l": 12, "r": 16, "t": 34, "b": 44},
    }
    reading = f"The gates are “{result.origin['name']}”. Rows are held out; guessing gets " + ", ".join(
        f"{100 * task['chance']:.0f} % on {task['name']}" for task in result.tasks
    )
    return titled({"data": traces, "layout": layout}, "Without and with the gates", reading + ".", wide=True)


def gates(result: EvaluationResult, view: View) -> Drawing:
    """The gates on the head grid."""
    group = result.model.n_heads // result.model.n_kv_heads
    figure = head_grid.magnitudes(result.gates, view.colours, name="gate", group=group)
    told = result.origin
    reading = f"“{told['name']}” ({told['origin'] or 'by hand'}); 0 shut to 1 open."
    return titled(figure, "The gates", reading, statistic="gate")


def accuracy_table(result: EvaluationResult, view: View) -> Table:
    """A row for each task."""
    tasks = result.tasks
    uniform = np.full(len(tasks), -np.log(result.model.d_vocab))
    columns: list[Column] = [
        ("task", "task", "", np.array([task["name"] for task in tasks])),
        ("n", "held-out examples", "", np.array([task["n"] for task in tasks])),
        ("chance", "by guessing", "share", np.array([task["chance"] for task in tasks])),
    ]
    for name, words, unit, values in (
        ("accuracy", "accuracy", "share", result.accuracy),
        ("log_probability", "log-probability", "nats", result.log_probability),
    ):
        columns += [
            (f"{name}_before", f"{words}, without gates", unit, values[:, 0]),
            (f"{name}_after", f"{words}, with gates", unit, values[:, 1]),
        ]
    columns.append(("uniform", "log-probability, each token alike", "nats", uniform))
    return table(columns)


def gates_table(result: EvaluationResult, view: View) -> Table:
    """A row for each head."""
    columns: list[Column] = [*places(result.model), ("gate", "gate", "", flat(result.gates))]
    return table(columns)


FIGURES = (
    Figure("accuracy", accuracy, accuracy_table),
    Figure("gates", gates, gates_table),
)
