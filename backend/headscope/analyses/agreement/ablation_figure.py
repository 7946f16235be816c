"""Which roles survive another ablation: a picture of counts, and a table of heads."""

from __future__ import annotations

from typing import Any

import numpy as np

from headscope.analyses.agreement.ablations import ROLES, role_of
from headscope.analyses.agreement.result import AgreementResult
from headscope.analyses.columns import Column, Table, table
from headscope.core.arrays import encode
from headscope.core.gating.ablation import ABLATIONS
from headscope.core.model.info import head_name
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View

_TITLE = "Which roles survive another ablation"


def survival(result: AgreementResult, view: View) -> Drawing:
    """Heads with a role under the run's own ablation, under another, under both, and under both by chance."""
    rows, colours = result.survival, view.colours
    bars = (
        ("here", f"by {result.ablation}", colours.muted),
        ("there", "by the other", colours.line),
        ("both", "by both", colours.needed),
        ("expected", "by both, if unrelated", colours.harmful),
    )
    labels = [f"{row['role']}, {row['ablation']}" for row in rows]
    traces: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": name,
            "x": labels,
            "y": encode(np.array([row[key] for row in rows], np.float32)),
            "marker": {"color": colour, "line": {"width": 0}},
            "hovertemplate": f"%{{x}}, {name}: %{{y:.3g}} heads<extra></extra>",
        }
        for key, name, colour in bars
    ]
    layout = {
        "height": 280,
        "barmode": "group",
        "xaxis": {"type": "category"},
        "yaxis": {"title": {"text": "heads"}, "rangemode": "tozero"},
        "margin": {"l": 56, "r": 16, "t": 34, "b": 44},
    }
    return titled({"data": traces, "layout": layout}, _TITLE, _reading(result))


def heads(result: AgreementResult, view: View) -> Table:
    """Each head that has a role under some ablation: its role under each, with the shares of seeds."""
    shares = {"needed": result.needed_by, "harmful": result.harmful_by}
    kinds = [kind for kind in ABLATIONS if kind in result.needed_by]
    roles = {
        kind: np.array(
            [
                role_of({role: float(shares[role][kind].flat[index]) for role in ROLES})
                for index in range(result.needed_by[kind].size)
            ],
            dtype=object,
        )
        for kind in kinds
    }
    if not kinds:
        return table([("head", "head", "", np.array(["none"], dtype=object))])
    some = np.flatnonzero(np.any([each != "neither" for each in roles.values()], axis=0))
    names = [head_name(divmod(index, result.model.n_heads)) for index in some.tolist()]
    columns: list[Column] = [("head", "head", "", np.array(names, dtype=object))]
    for kind in kinds:
        columns.append((f"role_{kind}", f"by {kind}", "", roles[kind][some]))
        for role in ROLES:
            values = shares[role][kind].reshape(-1)[some]
            columns.append((f"{role}_{kind}", f"{role} by {kind}", "share", values))
    return table(columns)


def _reading(result: AgreementResult) -> str:
    if not result.survival:
        return (
            "No gating run with another ablation was named: with `by_mean`, `by_resample` or "
            "`by_counterfactual` this shows which heads keep their role."
        )
    told = "; ".join(
        f"{row['both']} of {row['here']} {row['role']} heads are so by {row['ablation']} too "
        f"({row['expected']:.3g} expected of unrelated ones)"
        for row in result.survival
    )
    return (
        f"A head has a role where at least half of the seeds give it. {told[0].upper()}{told[1:]}. The table "
        "holds every head's role under each ablation."
    )
