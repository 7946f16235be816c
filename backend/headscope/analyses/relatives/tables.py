"""The table twins of the relatives' figures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.base import Result
from headscope.analyses.columns import Column, Table, flat, places, table
from headscope.analyses.relatives.schema import MEASURES, Measure
from headscope.figures.view import View


def heads(result: Result, view: View) -> Table:
    """A row for each head, the one that costs most to leave out first: every measure and its error."""
    columns: list[Column] = [*places(result.model), *(c for m in MEASURES for c in _columns(result, m))]
    order = np.argsort(-np.nan_to_num(flat(result.arrays["left_out"]), nan=-np.inf), kind="stable")
    return table([(name, title, unit, values[order]) for name, title, unit, values in columns])


def one(measure: Measure) -> Callable[[Result, View], Table]:
    """A row for each head: one measure and its error."""

    def rows(result: Result, view: View) -> Table:
        return table([*places(result.model), *_columns(result, measure)])

    return rows


def estimates(result: Result, view: View) -> Table:
    """A row for each head: what leaving it out costs, and what the two estimates say."""
    names = ("left_out", "path", "slope")
    return table(
        [*places(result.model), *(c for m in MEASURES if m.name in names for c in _columns(result, m))]
    )


def _columns(result: Result, measure: Measure) -> list[Column]:
    return [
        (measure.name, measure.title.lower(), measure.unit, flat(result.arrays[measure.name])),
        (
            f"{measure.name}_se",
            f"{measure.title.lower()}, standard error",
            measure.unit,
            flat(result.arrays[f"{measure.name}_se"]),
        ),
    ]


TABLES: dict[str, Callable[[Result, View], Table]] = {
    "heads": heads,
    **{measure.name: one(measure) for measure in MEASURES},
    "estimates": estimates,
}
