"""The table twins of contrastive gating's figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headscope.analyses.cchg.result import CchgResult, Outcome, TaskScored
from headscope.analyses.columns import Column, Table, flat, over_seeds, places, quietly, spread, table
from headscope.figures.view import View
from headscope.tasks.wordings import OTHER_FORMS


@dataclass(frozen=True)
class Row:
    """One task under one fit: held-out accuracy without and with the gates (mean, lowest, highest seed)."""

    fit: str
    regularisation: float
    task: str
    label: str
    forms: str
    retained: bool
    held_out: bool
    n: int
    before: float
    after: float
    low: float
    high: float
    logp_before: float
    logp_after: float


def outcomes(result: CchgResult) -> list[Row]:
    """A row for each fit and task: fitted tasks first, in the order of the parameters."""
    found = []
    for fit in result.fits:
        accuracy, logp = result.accuracy[fit["key"]], result.log_probability[fit["key"]]
        low, mean, high = (over_seeds(accuracy, mode) for mode in ("always", "every", "any"))
        for k in _side_by_side(result.tasks):
            task = result.tasks[k]
            retained = (task["set"] == "retain") == (fit["way"] == "named")
            found.append(
                Row(
                    fit=f"{fit['way']}, {pushed(fit)}",
                    regularisation=fit["regularisation"],
                    task=task["name"],
                    label=task["name"] + (" (held out)" if task["held_out"] else ""),
                    forms=_forms(result, task),
                    retained=retained,
                    held_out=task["held_out"],
                    n=task["n"],
                    before=float(result.accuracy_ungated[k]),
                    after=float(mean[k]),
                    low=float(low[k]),
                    high=float(high[k]),
                    logp_before=float(result.log_probability_ungated[k]),
                    logp_after=float(quietly(np.nanmean, logp[:, k])),
                )
            )
    return found


def _side_by_side(tasks: Sequence[TaskScored]) -> list[int]:
    """A task in the forms fitted, then the same in those held out."""
    names = [task["name"] for task in tasks]
    order = [name for name in names if not name.endswith(OTHER_FORMS)]
    return sorted(range(len(names)), key=lambda k: order.index(names[k].removesuffix(OTHER_FORMS)))


def _forms(result: CchgResult, task: TaskScored) -> str:
    """Whether a task stands in the forms that were fitted."""
    if int(result.params.get("forms", 1)) == 1:
        return "one"
    return "held out" if task.get("other_forms") else "fitted"


def accuracy(result: CchgResult, view: View) -> Table:
    """A row for each fit and task."""
    rows = outcomes(result)

    def column(name: str) -> np.ndarray:
        return np.array([getattr(row, name) for row in rows])

    before, after = column("before"), column("after")
    with np.errstate(invalid="ignore", divide="ignore"):
        left = np.where(before > 0, after / before, np.nan)
    columns: list[Column] = [
        ("fit", "sets", "", column("fit")),
        ("task", "task", "", column("task")),
        ("set", "in this fit", "", np.where(column("retained"), "retained", "forgotten")),
        ("held_out", "held-out task", "", column("held_out")),
        ("n", "held-out examples", "", column("n")),
        ("forms", "surface forms", "", column("forms")),
        ("accuracy_before", "accuracy, ungated", "share", before),
        ("accuracy_after", "accuracy, gated, mean over seeds", "share", after),
        ("accuracy_low", "accuracy, gated, lowest seed", "share", column("low")),
        ("accuracy_high", "accuracy, gated, highest seed", "share", column("high")),
        ("left", "left of its accuracy", "share", left),
        ("log_probability_before", "log-probability, ungated", "nats", column("logp_before")),
        ("log_probability_after", "log-probability, gated", "nats", column("logp_after")),
    ]
    return table(columns)


def gates(result: CchgResult, view: View) -> Table:
    """A row for each head: its gate in each fit over the seeds, and the plain gate where there is one."""
    columns: list[Column] = places(result.model)
    for fit in result.fits:
        stack, key = result.g[fit["key"]], fit["key"]
        words = f"gate, {fit['way']}, {pushed(fit)}"
        columns += [
            (f"gate_{key}", f"{words}, mean", "", flat(over_seeds(stack, "every"))),
            (f"low_{key}", f"{words}, lowest seed", "", flat(over_seeds(stack, "always"))),
            (f"high_{key}", f"{words}, highest seed", "", flat(over_seeds(stack, "any"))),
            (f"spread_{key}", f"{words}, spread over seeds", "", flat(spread(stack))),
        ]
    columns += [
        (f"plain_{push}", f"plain gate, pushed {push}", "", flat(values))
        for push, values in result.plain.items()
    ]
    return table(columns)


def loss(result: CchgResult, view: View) -> Table:
    """A row for each update: log-probabilities of both sets in each fit, mean over seeds."""
    columns: list[Column] = []
    for fit in result.fits:
        for curve, values in result.curves.items():
            mean = np.asarray(quietly(np.nanmean, values[fit["key"]], axis=0))
            words = f"{curve}, {fit['way']}, {pushed(fit)}"
            columns.append((f"{curve}_{fit['key']}", words, "nats", mean))
    updates = np.arange(1, len(columns[0][3]) + 1)
    return table([("update", "update", "", updates), *columns])


def pushed(fit: Outcome) -> str:
    """Lambda with its sign."""
    return f"λ {fit['regularisation']:+g}".replace("-", "−")
