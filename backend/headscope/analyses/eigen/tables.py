"""The table twins of the eigenvalue figures."""

from __future__ import annotations

import numpy as np

from headscope.analyses.columns import Column, Table, flat, places, quietly, table
from headscope.analyses.eigen.result import EigenResult
from headscope.analyses.from_weights import joined
from headscope.core.model.info import head_name
from headscope.figures.view import View

_POSITIVITIES = (
    ("ov", "OV positivity (copies)"),
    ("qk", "QK positivity by itself"),
    ("qk_best", "QK positivity through the best previous-token head"),
    ("qk_all", "QK positivity through all earlier heads"),
    ("qk_offset", "QK positivity at a distance"),
)


def heads(result: EigenResult, view: View) -> Table:
    """A row for each head: its positivities, who feeds its keys, and its scores on repeated tokens."""
    info = result.model
    columns = places(info)
    for name, title in _POSITIVITIES:
        if name in result.positivity:
            columns.append((f"{name}_positivity", title, "", flat(result.positivity[name])))
    best = ["" if layer < 0 else head_name((layer, head)) for layer, head in result.best_previous.tolist()]
    columns.append(("best_previous", "best previous-token head before", "", np.repeat(best, info.n_heads)))
    for name, title, scores in (
        ("previous", "previous-token score", result.named_by("previous")),
        ("induction", "induction score", result.named_by("induction")),
    ):
        mean = quietly(np.nanmean, scores, axis=0)
        columns.append((name, f"{title}, mean over draws", "", flat(mean)))
    return table(columns)


def eigenvalues(result: EigenResult, view: View) -> Table:
    """A row for each eigenvalue of one head: OV, QK, and QK through the best previous-token head."""
    place = view.head or result.most_copying
    n = result.model.d_head
    columns: list[Column] = [
        ("head", "layer.head", "", np.repeat(head_name(place), n)),
        ("rank", "rank by modulus", "", np.arange(n)),
    ]
    for name, title in (("ov", "OV"), ("qk", "QK"), ("qk_best", "QK through a previous-token head")):
        values = joined(result.spectra[name][place])
        columns += [
            (f"{name}_real", f"{title}, real part", "", values.real),
            (f"{name}_imag", f"{title}, imaginary part", "", values.imag),
        ]
    return table(columns)
