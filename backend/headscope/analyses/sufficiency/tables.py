"""The table twins of sufficiency's figures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.base import Result
from headscope.analyses.columns import Column, Table, flat, over_seeds, places, table
from headscope.figures.view import View


def curve(result: Result, view: View) -> Table:
    """A row for each number of open heads: what is kept, and what random orders keep."""
    arrays = result.arrays
    columns: list[Column] = [
        ("open_heads", "open heads", "", arrays["open_heads"]),
        ("kept", "kept of the gain", "share", arrays["kept"]),
        ("log_probability", "log-probability of the target", "nats", arrays["log_probability"]),
        ("accuracy", "accuracy", "share", arrays["accuracy"]),
    ]
    for name, words, mode in (
        ("mean", "mean", "every"),
        ("low", "lowest", "always"),
        ("high", "highest", "any"),
    ):
        known = dict(
            zip(arrays["random_open_heads"].tolist(), over_seeds(arrays["random_kept"], mode), strict=True)  # type: ignore[arg-type]
        )
        values = np.array([known.get(k, np.nan) for k in arrays["open_heads"].tolist()], np.float32)
        columns.append((f"random_{name}", f"kept by random orders, {words}", "share", values))
    return table(columns)


def subset(result: Result, view: View) -> Table:
    """A row for each head: its rank by facilitation, its facilitation, whether it is in the subset."""
    info, order = result.model, result.arrays["order"].astype(int)
    rank = np.empty(info.n_layers * info.n_heads, int)
    rank[order[:, 0] * info.n_heads + order[:, 1]] = np.arange(1, len(order) + 1)
    columns: list[Column] = [
        *places(info),
        ("open", "in the sufficient subset", "", flat(result.arrays["subset"]) > 0),
        ("rank", "rank by facilitation", "", rank),
        ("facilitation", "facilitation, mean over seeds", "", flat(result.arrays["facilitation"])),
    ]
    return table(columns)


TABLES: dict[str, Callable[[Result, View], Table]] = {"curve": curve, "subset": subset}
