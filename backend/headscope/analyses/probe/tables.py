"""The table twins of the probe's figures."""

from __future__ import annotations

import numpy as np

from headscope.analyses.columns import Column, Table, flat, places, spread, table
from headscope.analyses.probe.result import ProbeResult
from headscope.figures.view import View


def heads(result: ProbeResult, view: View) -> Table:
    """A row for each head: accuracy, control and its spread, selectivity, corrected p."""
    columns: list[Column] = [
        *places(result.model),
        ("accuracy", "held-out accuracy", "share", flat(result.accuracy)),
        ("control", "accuracy with shuffled labels", "share", flat(result.control.mean(axis=0))),
        ("control_sd", "sd over controls", "share", flat(spread(result.control))),
        ("selectivity", "selectivity", "share", flat(result.selectivity)),
        ("p", "p, corrected for the number of heads", "", flat(result.p)),
        ("significant", "significant", "", flat(result.significant) > 0),
    ]
    return table(columns)


def labels(result: ProbeResult, view: View) -> Table:
    """A row for each label: how many rows it has."""
    columns: list[Column] = [
        ("label", "label", "", np.array(result.labels, dtype=object)),
        ("train", "training rows", "", np.array(result.train_rows)),
        ("test", "held-out rows", "", np.array(result.test_rows)),
    ]
    return table(columns)
