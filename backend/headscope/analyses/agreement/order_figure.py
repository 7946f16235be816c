"""The first picture of agreement: how alike gating and each other measure order the heads."""

from __future__ import annotations

from typing import Any

import numpy as np

from headscope.analyses.agreement.methods import BY_NAME
from headscope.analyses.agreement.result import AgreementResult
from headscope.analyses.agreement.sentence import chief, sentence
from headscope.core.arrays import encode
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View


def order(result: AgreementResult, view: View) -> Drawing:
    """Each measure's rank correlation with facilitation, its interval, and what wouldn't have been seen."""
    orders, colours = result.orders, view.colours
    unseen = max((each.detectable for each in orders.values() if np.isfinite(each.detectable)), default=0.0)
    rho, low, high = (
        np.array([getattr(each, name) for each in orders.values()], np.float32)
        for name in ("rho", "low", "high")
    )
    trace = {
        "type": "scatter",
        "mode": "markers",
        "name": "rank correlation",
        "x": encode(rho),
        "y": [BY_NAME[name].title for name in orders],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": encode(high - rho),
            "arrayminus": encode(rho - low),
            "thickness": 1.5,
            "width": 4,
            "color": colours.muted,
        },
        "marker": {"size": 9, "color": colours.needed, "line": {"width": 0}},
        "hovertemplate": "%{y}: %{x:.2f}<extra></extra>",
    }
    layout = {
        "height": 90 + 34 * max(len(orders), 1),
        "xaxis": {
            "range": [-1.02, 1.02],
            "title": {"text": "rank correlation with facilitation"},
            "zeroline": True,
        },
        "yaxis": {"type": "category", "autorange": "reversed", "showgrid": False},
        "margin": {"l": 160, "r": 16, "t": 12, "b": 44},
        "shapes": [
            {
                "type": "rect", "yref": "paper", "x0": -unseen, "x1": unseen, "y0": 0, "y1": 1,
                "fillcolor": colours.irrelevant, "opacity": 0.25, "line": {"width": 0}, "layer": "below",
            }
        ],
    }  # fmt: skip
    first = chief(orders)
    reading = (
        f"{sentence(first, orders[first])} A dot is a measure, its line the 95 % interval over heads. A "
        "correlation within the grey band is smaller than what would have been seen."
        if first
        else "This run was made before intervals and power were counted: run it again."
    )
    meta: dict[str, Any] = {} if first else {"absent": True}
    return titled({"data": [trace], "layout": layout}, "Do gating and other measures agree?", reading, **meta)
