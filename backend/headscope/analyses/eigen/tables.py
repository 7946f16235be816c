"""The table twins of the eigenvalue figures."""

from __future__ import annotations

import numpy as np

from headscope.analyses.base import Result
from headscope.analyses.columns import Column, Table, flat, places, quietly, table
from headscope.analyses.from_weights import head_name, joined
from headscope.figures.view import View

_POSITIVITIES = (
    ("ov_positivity", "OV positivity (copies)"),
    ("qk_positivity", "QK positivity by itself"),
    ("qk_best_positivity", "QK positivity through the best previous-token head"),
    ("qk_all_positivity", "QK positivity through all earlier heads"),
    ("qk_offset_positivity", "QK positivity at a distance"),
)


def heads(result: Result, view: View) -> Table:
    """A row for each head: its positivities, who feeds its keys, and its scores on repeated tokens."""
    info = result.model
    columns = places(info)
    for name, title in _POSITIVITIES:
        if name in result.arrays:
            columns.append((name, title, "", flat(result.arrays[name])))
    best = [
        "" if layer < 0 else head_name((layer, head))
        for layer, head in result.arrays["best_previous"].tolist()
    ]
    columns.append(("best_previous", "best previous-token head before", "", np.repeat(best, info.n_heads)))
    for name, title in (("previous", "previous-token score"), ("induction", "induction score")):
        mean = quietly(np.nanmean, result.arrays[name], axis=0)
        columns.append((name, f"{title}, mean over draws", "", flat(mean)))
    return table(columns)


def eigenvalues(result: Result, view: View) -> Table:
    """A row for each eigenvalue of one head: OV, QK, and QK through the best previous-token head."""
    place = view.head or most_copying(result)
    n = result.model.d_head
    columns: list[Column] = [
        ("head", "layer.head", "", np.repeat(head_name(place), n)),
        ("rank", "rank by modulus", "", np.arange(n)),
    ]
    for name, title in (("ov", "OV"), ("qk", "QK"), ("qk_best", "QK through a previous-token head")):
        values = joined(result.arrays[name][place])
        columns += [
            (f"{name}_real", f"{title}, real part", "", values.real),
            (f"{name}_imag", f"{title}, imaginary part", "", values.imag),
        ]
    return table(columns)


def most_copying(result: Result) -> tuple[int, int]:
    """The head with the highest OV positivity."""
    score = np.nan_to_num(result.arrays["ov_positivity"], nan=-2)
    layer, head = np.unravel_index(int(score.argmax()), score.shape)
    return int(layer), int(head)
