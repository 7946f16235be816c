"""Which heads have a role beyond what permuted targets give: the figure and its table, by
``core.statistics.discovery``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from headscope.analyses.chg.result import SOUGHT, ChgResult
from headscope.analyses.columns import Array, Table, flat, places, table
from headscope.core.statistics.discovery import RATE, Discoveries
from headscope.figures import curves
from headscope.figures.theme import Drawing, Palette, titled
from headscope.figures.view import View

_TITLE: Final = "Is it more than any targets would give?"
_SPREAD = 0.3
"""How far dots of one place are set apart, in fits."""


def discoveries(result: ChgResult, view: View) -> Drawing:
    """Each head's share of fits with a role against its share of fits on permuted targets."""
    found = result.discoveries(view.threshold)
    if not found:
        reading = (
            "This run has no fits on permuted targets: set null_fits to know which heads any targets give."
        )
        return titled({"data": [], "layout": {"height": 60}}, _TITLE, reading, absent=True)
    fits, null = int(result.ran.sum()), len(result.null_plus) if result.null_plus is not None else 0
    shares = {role: one.share for role, one in result.replication(view.threshold).items()}
    traces = [
        trace
        for role in SOUGHT
        for trace in _dots(
            role, result.vocabulary.labels[role], found[role], shares[role], (null, fits), view.colours
        )
    ]
    axis = {"range": [-6, 106], "tickvals": [0, 25, 50, 75, 100]}
    layout = {
        "height": 280,
        "xaxis": {**axis, "title": {"text": f"% of {null} fits on permuted targets"}},
        "yaxis": {**axis, "title": {"text": f"% of {fits} fits"}},
        "margin": {"l": 52, "r": 16, "t": 34, "b": 44},
    }
    labels = result.vocabulary.labels
    counts = " and ".join(f"{int(found[role].found.sum())} {labels[role]}" for role in SOUGHT)
    reading = (
        f"A dot is a head, set a little apart from others of its place. Filled: more often than targets "
        f"exchanged among the rows give, at a false-discovery rate of {100 * RATE:.0f} %: {counts}."
    )
    return titled({"data": traces, "layout": layout}, _TITLE, reading, threshold=view.threshold)


def rows(result: ChgResult, view: View) -> Table:
    """A row for each head: share of fits and of fits on permuted targets, p, q, and whether it stands out."""
    columns = places(result.model)
    shares = {role: one.share for role, one in result.replication(view.threshold).items()}
    for of, one in result.discoveries(view.threshold).items():
        role = result.vocabulary.names[of]
        columns += [
            (f"held_{role}", f"share of fits {role}", "share", flat(shares[of])),
            (f"null_{role}", f"share of fits on permuted targets {role}", "share", flat(one.null_share)),
            (f"p_{role}", f"p, {role}", "", flat(one.p)),
            (f"q_{role}", f"q, {role}", "", flat(one.q)),
            (f"found_{role}", f"stands out, {role}", "", flat(one.found)),
        ]
    return table(columns)


def _dots(
    role: str, label: str, one: Discoveries, share: Array, fits: tuple[int, int], colours: Palette
) -> list[dict[str, Any]]:
    layer, head = np.indices(share.shape)
    names = np.array([f"{at}.{of}" for at, of in zip(layer.flat, head.flat, strict=True)])
    aside = [
        flat(_set_apart(share.size, shift)).reshape(share.shape) / many for shift, many in enumerate(fits)
    ]
    traces = []
    for stands_out in (True, False):
        shown = one.found == stands_out
        traces.append(
            curves.dots(
                100 * (one.null_share + aside[0])[shown],
                100 * (share + aside[1])[shown],
                colours.role(role),
                label,
                showlegend=stands_out,
                marker={
                    "color": colours.role(role),
                    "size": 6,
                    "opacity": 0.75,
                    "symbol": "circle" if stands_out else "circle-open",
                },
                text=[
                    f"{name} {label}: q {q:.2g}"
                    for name, q in zip(names[flat(shown)], one.q[shown], strict=True)
                ],
                hovertemplate="%{text}<extra></extra>",
            )
        )
    return traces


def _set_apart(heads: int, turn: int) -> Array:
    """Small steps to either side that don't repeat soon (the golden ratio's and the silver's multiples)."""
    ratio = (0.6180339887, 0.4142135624)[turn]
    return _SPREAD * ((np.arange(heads) * ratio) % 1 - 0.5)
