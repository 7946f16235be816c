"""The table twins of the relatives' figures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.columns import Column, Table, flat, places, table
from headscope.analyses.relatives.result import MEASURES, Measure, RelativesResult
from headscope.figures.view import View


def heads(result: RelativesResult, view: View) -> Table:
    """A row for each head, the largest leave-one-out effect first: every measure and its error."""
    columns = [*places(result.model), *_measured(result, MEASURES)]
    order = np.argsort(-np.nan_to_num(flat(result.left_out), nan=-np.inf), kind="stable")
    return table([(name, title, unit, values[order]) for name, title, unit, values in columns])


def measured(*measures: Measure) -> Callable[[RelativesResult, View], Table]:
    """A row for each head: some measures and their errors."""

    def rows(result: RelativesResult, view: View) -> Table:
        return table([*places(result.model), *_measured(result, measures)])

    return rows


def _measured(result: RelativesResult, measures: tuple[Measure, ...]) -> list[Column]:
    columns: list[Column] = []
    for measure in measures:
        title, unit = measure.title.lower(), measure.unit
        values, errors = result.known(measure), result.errors[measure.name]
        if result.unconverged(measure):
            title, errors = f"{title} (not converged)", values
        columns += [
            (measure.name, title, unit, flat(values)),
            (f"{measure.name}_se", f"{title}, standard error", unit, flat(errors)),
        ]
    return columns
