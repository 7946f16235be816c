"""The table twins of sufficiency's figures."""

from __future__ import annotations

import numpy as np

from headscope.analyses.columns import Column, Table, flat, over_seeds, places, table
from headscope.analyses.sufficiency.result import SufficiencyResult
from headscope.figures.view import Mode, View


def curve(result: SufficiencyResult, view: View) -> Table:
    """A row for each number of open heads: what is kept, and what random orders keep."""
    columns: list[Column] = [
        ("open_heads", "open heads", "", result.open_heads),
        ("kept", "kept of the gain", "share", result.curve["kept"]),
        (
            "kept_beyond_guessing",
            "kept of the gain over guessing each token alike",
            "share",
            result.beyond_guessing(result.curve["log_probability"]),
        ),
        ("log_probability", "log-probability of the target", "nats", result.curve["log_probability"]),
        ("accuracy", "accuracy", "share", result.curve["accuracy"]),
    ]
    modes: tuple[tuple[str, str, Mode], ...] = (
        ("mean", "mean", "every"),
        ("low", "lowest", "always"),
        ("high", "highest", "any"),
    )
    for name, words, mode in modes:
        at_random = over_seeds(result.random["kept"], mode).tolist()
        known = dict(zip(result.random_open_heads.tolist(), at_random, strict=True))
        values = np.array([known.get(k, np.nan) for k in result.open_heads.tolist()], np.float32)
        columns.append((f"random_{name}", f"kept by random orders, {words}", "share", values))
    return table(columns)


def subset(result: SufficiencyResult, view: View) -> Table:
    """A row for each head: its rank by facilitation, its facilitation, whether it is in the subset."""
    info, order = result.model, result.order.astype(int)
    rank = np.empty(info.n_layers * info.n_heads, int)
    rank[order[:, 0] * info.n_heads + order[:, 1]] = np.arange(1, len(order) + 1)
    columns: list[Column] = [
        *places(info),
        ("open", "in the sufficient subset", "", flat(result.subset) > 0),
        ("rank", "rank by facilitation", "", rank),
        ("facilitation", "facilitation, mean over seeds", "", flat(result.facilitation)),
    ]
    return table(columns)
