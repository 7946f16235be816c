"""The table twins of the probe's figures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.base import Result
from headscope.analyses.columns import Column, Table, flat, places, spread, table
from headscope.figures.view import View


def heads(result: Result, view: View) -> Table:
    """A row for each head: accuracy, control and its spread, selectivity, corrected p."""
    arrays = result.arrays
    columns: list[Column] = [
        *places(result.model),
        ("accuracy", "held-out accuracy", "share", flat(arrays["accuracy"])),
        ("control", "accuracy with shuffled labels", "share", flat(arrays["control"].mean(axis=0))),
        ("control_sd", "sd over controls", "share", flat(spread(arrays["control"]))),
        ("selectivity", "selectivity", "share", flat(arrays["selectivity"])),
        ("p", "p, corrected for the number of heads", "", flat(arrays["p"])),
        ("significant", "significant", "", flat(arrays["significant"]) > 0),
    ]
    return table(columns)


def labels(result: Result, view: View) -> Table:
    """A row for each label: how many rows it has."""
    values = result.values
    columns: list[Column] = [
        ("label", "label", "", np.array(values["labels"], dtype=object)),
        ("train", "training rows", "", np.array(values["train_rows"])),
        ("test", "held-out rows", "", np.array(values["test_rows"])),
    ]
    return table(columns)


TABLES: dict[str, Callable[[Result, View], Table]] = {
    "selectivity": heads,
    "heads": heads,
    "accuracy": heads,
    "labels": labels,
}
