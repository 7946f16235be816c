"""What ability draws: accuracy and log-probability against the number of in-context examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from headscope.analyses.ability.result import AbilityResult
from headscope.analyses.base import Figure
from headscope.analyses.columns import Array, Column, Table, table
from headscope.analyses.shots import words
from headscope.core.arrays import encode
from headscope.core.gating.ability import LEAST, Ability
from headscope.figures import curves
from headscope.figures.theme import Drawing, Palette, titled
from headscope.figures.view import View


def ability(result: AbilityResult, view: View) -> Drawing:
    """How much is answered right, and how likely the answers are, with more in-context examples."""
    colours, shots = view.colours, result.shots
    place = np.arange(len(shots))
    told = [words(number) for number in shots.tolist()]
    accuracy = 100 * result.accuracy
    traces = [
        _dashed(place, 100 * result.chance, colours, "by guessing", "x", "y", "guessing: %{y:.1f} %"),
        _points(
            place, accuracy, 100 * result.accuracy_interval, colours.needed, told, ("x", "y"),
            "%{text}: %{y:.1f} % right", "answered right",
        ),
        _dashed(
            place, np.full(len(shots), result.uniform), colours, "each token alike", "x2", "y2",
            "each token alike: %{y:.2f} nats",
        ),
        _points(
            place, result.log_probability, result.log_probability_interval, colours.both, told, ("x2", "y2"),
            "%{text}: %{y:.3f} nats", "log-probability",
        ),
    ]  # fmt: skip
    axis = {"tickvals": place.tolist(), "ticktext": list(map(str, shots.tolist()))}
    axis |= {"range": [-0.4, len(shots) - 0.6], "title": {"text": "in-context examples"}}
    layout = {
        "height": 320,
        "xaxis": {**axis, "domain": [0, 0.44]},
        "xaxis2": {**axis, "domain": [0.56, 1], "anchor": "y2"},
        "yaxis": {"range": [0, 105], "tickvals": [0, 25, 50, 75, 100], "title": {"text": "% answered right"}},
        "yaxis2": {"anchor": "x2", "title": {"text": "log-probability, nats"}},
        "margin": {"l": 52, "r": 16, "t": 34, "b": 44},
    }
    return titled(
        {"data": traces, "layout": layout}, "Can the model do it at all?", _reading(result), wide=True
    )


def rows(result: AbilityResult, view: View) -> Table:
    """A row for each number of in-context examples."""
    able = result.abilities
    columns: list[Column] = [
        ("shots", "in-context examples", "", result.shots),
        ("accuracy", "answered right", "share", result.accuracy),
        ("accuracy_low", "lower end of 95 %", "share", result.accuracy_interval[:, 0]),
        ("accuracy_high", "upper end of 95 %", "share", result.accuracy_interval[:, 1]),
        ("chance", "by guessing", "share", result.chance),
        ("can_do", "can do the task", "", _can_do(able)),
        ("taken", "taken by shots=auto", "", result.shots == result.auto),
        ("log_probability", "log-probability of the target", "nats", result.log_probability),
        ("log_probability_low", "lower end of 95 %", "nats", result.log_probability_interval[:, 0]),
        ("log_probability_high", "upper end of 95 %", "nats", result.log_probability_interval[:, 1]),
        ("uniform", "each token alike", "nats", np.full(len(able), result.uniform)),
        ("n_test", "held-out examples", "", result.n_test),
        ("n_left_out", "longer than the context", "", result.n_left_out),
    ]
    return table(columns)


def _can_do(able: list[Ability]) -> Array:
    """Yes, no, or nothing where the examples are too few to tell."""
    return np.array([each.can_do if each.told else None for each in able], object)


def _reading(result: AbilityResult) -> str:
    return (
        f"{result.notes[0]} It can do a task where it answers at least {100 * LEAST:.0f} % right and surely "
        f"more than guessing the most frequent answer would. shots=auto takes {words(result.auto)}: the "
        "fewest that come within 5 points of the best. Whiskers are intervals at 95 %."
    )


def _points(
    x: Array,
    y: Array,
    ends: Array,
    colour: str,
    told: list[str],
    axes: tuple[str, str],
    hover: str,
    name: str,
) -> dict[str, Any]:
    spread = np.nan_to_num(np.abs(ends - y[:, None]))
    return curves.dots(
        x,
        y,
        colour,
        name,
        mode="lines+markers",
        line={"color": colour, "width": 2},
        text=told,
        xaxis=axes[0],
        yaxis=axes[1],
        showlegend=True,
        error_y={
            "type": "data",
            "symmetric": False,
            "array": encode(spread[:, 1].astype(np.float32)),
            "arrayminus": encode(spread[:, 0].astype(np.float32)),
            "color": colour,
            "thickness": 1,
            "width": 3,
        },
        hovertemplate=hover + "<extra></extra>",
    )


def _dashed(
    x: Array, y: Array, colours: Palette, name: str, x_axis: str, y_axis: str, hover: str
) -> dict[str, Any]:
    return curves.line(
        x, y, colours.muted, name, xaxis=x_axis, yaxis=y_axis, line={"dash": "dot"},
        hovertemplate=hover + "<extra></extra>",
    )  # fmt: skip


FIGURES = (Figure("ability", ability, rows),)
