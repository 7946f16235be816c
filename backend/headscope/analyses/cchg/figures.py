"""What contrastive gating draws: accuracy before and after, gate maps, the plain map, the curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.cchg import tables
from headscope.analyses.cchg.elsewhere import claims
from headscope.analyses.cchg.result import CchgResult, Outcome
from headscope.analyses.columns import over_seeds, quietly
from headscope.core.arrays import encode
from headscope.figures import curves, head_grid
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View

_STATISTICS = {"every": "mean over the seeds", "always": "lowest of the seeds", "any": "highest of the seeds"}
_MAPS = ("gates", "exchanged", "gates-shut", "exchanged-shut")
"""The map of each fit, in the order of the fits; the last two are there where both pushes were fitted."""


def accuracy(result: CchgResult, view: View) -> Drawing:
    """Each task's held-out accuracy without and with the gates, for each fit."""
    rows = tables.outcomes(result)
    colours = view.colours
    traces = [
        _bars(rows, "before", "ungated", colours.muted, colours.muted),
        _bars([row for row in rows if row.retained], "after", "gated, retained", colours.needed, colours.ink),
        _bars(
            [row for row in rows if not row.retained],
            "after",
            "gated, forgotten",
            colours.harmful,
            colours.ink,
        ),
    ]
    layout = {
        "height": 110 + 46 * len(rows),
        "barmode": "group",
        "bargap": 0.3,
        "xaxis": {"range": [0, 101], "title": {"text": "% right, held out"}},
        "yaxis": _task_axis(rows),
        "margin": {"l": 12, "r": 16, "t": 34, "b": 44},
    }
    first = result.fits[0]
    reading = (
        " ".join(claims(result.fits))
        + " Teacher-forced accuracy on rows that no fit saw, without and with the gates "
        f"({first['way']} sets "
        "first, then exchanged); whiskers run from the lowest to the highest seed. "
        + " ".join(_said(result, fit) for fit in result.fits)
    )
    return titled({"data": traces, "layout": layout}, "What is kept, what is lost", reading, wide=True)


def gate_map(index: int) -> Callable[[CchgResult, View], Drawing]:
    """The gates of one fit on the head grid; absent where the run has no such fit."""

    def draw(result: CchgResult, view: View) -> Drawing:
        fits = result.fits
        if index >= len(fits):
            return _absent(_MAPS[index], "This run fitted one push only.")
        fit = fits[index]
        values = over_seeds(result.g[fit["key"]], view.mode)
        figure = head_grid.magnitudes(values, view.colours, name="gate", group=_group(result))
        statistic = _STATISTICS[view.mode]
        reading = (
            f"Gates that keep {_list(fit['retain'])} and take away {_list(fit['forget'])}, "
            f"{tables.pushed(fit)}; {statistic}, 0 shut to 1 open. A head that is shut here and "
            "open in the plain map serves what is forgotten."
        )
        title = f"{_list(fit['retain'])} without {_list(fit['forget'])}"
        if len({each["push"] for each in fits}) > 1:
            title += f", pushed {fit['push']}"
        return titled(figure, title, reading, statistic=statistic, mode=view.mode)

    return draw


def plain(result: CchgResult, view: View) -> Drawing:
    """The plain gates of the causal head gating run that was named, under the same push."""
    push = result.fits[0]["push"]
    values = result.plain.get(push)
    if values is None:
        return _absent("plain", "No causal head gating run was named.")
    figure = head_grid.magnitudes(values, view.colours, name="gate", group=_group(result))
    name = "G+" if push == "open" else "G−"
    reading = (
        f"{name} of causal head gating, mean over its seeds: gates fitted to one task alone, under the same "
        "push as the contrastive ones."
    )
    return titled(figure, f"Plain gates ({name})", reading, statistic="mean over the seeds")


_DASHES = {
    ("named", "open"): "solid",
    ("named", "shut"): "dash",
    ("exchanged", "open"): "dot",
    ("exchanged", "shut"): "dashdot",
}


def loss(result: CchgResult, view: View) -> Drawing:
    """Log-probabilities of both sets while the gates were fitted."""
    colours, traces, pooled = view.colours, [], 1
    for fit in result.fits:
        dash = _DASHES[fit["way"], fit["push"]]
        for word, colour in (("retained", colours.needed), ("forgotten", colours.harmful)):
            x, thin, pooled = curves.thinned(result.curves[word][fit["key"]])
            mean = np.asarray(quietly(np.nanmean, thin, axis=0))
            name = f"{word}, {fit['way']}" + (", shut" if fit["push"] == "shut" else "")
            traces.append(
                curves.line(
                    x, mean, colour, name, line={"dash": dash}, hovertemplate="%{y:.2f} nats<extra></extra>"
                )
            )
    layout = {
        "height": 300,
        "xaxis": {"title": {"text": "update"}},
        "yaxis": {"title": {"text": "log-probability, nats"}},
        "margin": {"l": 52, "r": 16, "t": 34 if len(traces) <= 4 else 58, "b": 44},
    }
    reading = (
        "Mean log-probability of the batches' targets, over seeds. Once what is forgotten lies 5 nats below "
        "what is retained it is left alone."
    )
    if pooled > 1:
        reading += f" Each point is the mean of {pooled} updates."
    return titled({"data": traces, "layout": layout}, "While the gates were fitted", reading, pooled=pooled)


def _bars(rows: list[tables.Row], which: str, name: str, colour: str, whisker: str) -> dict[str, Any]:
    """Horizontal bars, a row each; ``before`` has no spread."""
    trace: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": [_place(row) for row in rows],
        "x": encode(np.array([100 * getattr(row, which) for row in rows], np.float32)),
        "marker": {"color": colour, "line": {"width": 0}},
        "hovertemplate": "%{x:.1f} %<extra>" + name + "</extra>",
    }
    if which == "after":
        trace["error_x"] = {
            "type": "data",
            "symmetric": False,
            "array": encode(np.nan_to_num(np.array([100 * (r.high - r.after) for r in rows], np.float32))),
            "arrayminus": encode(
                np.nan_to_num(np.array([100 * (r.after - r.low) for r in rows], np.float32))
            ),
            "color": whisker,
            "thickness": 1,
            "width": 3,
        }
    return trace


def _place(row: tables.Row) -> str:
    """A name of its own for a task in a fit."""
    return f"{row.fit}: {row.task}"


def _task_axis(rows: list[tables.Row]) -> dict[str, Any]:
    """Tasks below the fit that they are in, whose words have a line of their own: bars keep their room."""
    shown: dict[str, str] = {}
    for row in rows:
        shown.setdefault(row.fit, f"<b>{row.fit}</b>")
        shown[_place(row)] = row.label
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": list(shown),
        "tickvals": list(shown),
        "ticktext": list(shown.values()),
        "range": [len(shown) - 0.5, -0.5],
        "showgrid": False,
    }


def _said(result: CchgResult, fit: Outcome) -> str:
    if fit["kept"] is None or fit["left"] is None:
        return f"{_list(fit['retain'])} without {_list(fit['forget'])}: no number."
    return (
        f"{_list(fit['retain'])} without {_list(fit['forget'])}: {fit['kept']:.0%} left of what is retained, "
        f"{fit['left']:.0%} of what is forgotten; {fit['seeds_apart']} of {fit['of_seeds']} seeds set them "
        f"apart (at least {result.keep:.0%}, below {result.lose:.0%})."
    )


def _absent(name: str, reading: str) -> Drawing:
    """What stands for a figure that this run can't have; the page leaves it out."""
    return titled({"data": [], "layout": {"height": 60}}, name.replace("-", " "), reading, absent=True)


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)


def _group(result: CchgResult) -> int:
    return result.model.n_heads // result.model.n_kv_heads


FIGURES = (
    Figure("accuracy", accuracy, tables.accuracy),
    *(Figure(name, gate_map(index), tables.gates) for index, name in enumerate(_MAPS)),
    Figure("plain", plain, tables.gates),
    Figure("loss", loss, tables.loss),
)
