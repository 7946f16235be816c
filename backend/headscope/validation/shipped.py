"""The results of validation that ship, as the commands wrote them; loads no torch.

Each file in ``results/`` is what ``headscope validate … --summary FILE`` wrote.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from headscope.errors import NotFound
from headscope.figures.theme import Drawing, Palette, titled

FOLDER: Final = Path(__file__).parent / "results"

MEASURES: Final[Mapping[str, str]] = {
    "needed": "needed",
    "harmful": "harmful",
    "useless": "doesn’t matter",
    "pair": "pair, by closing both",
    "shares": "pair, by shares of fits",
}
"""The measures of ``cells`` in words."""

GOALS: Final[Mapping[str, float]] = {"needed": 0.95, "harmful": 0.95, "pair": 0.9}
"""The least mean AUROC in every cell."""


@dataclass(frozen=True)
class Validation:
    """One table that ships: what it shows, in words, and the command that makes it."""

    name: str
    title: str
    summary: str
    command: str

    @property
    def content(self) -> Mapping[str, Any]:
        """``passed``, ``models_planned``, ``params`` and ``cells`` (``cells.to_json``)."""
        return _read(self.name)


VALIDATIONS: Final = {
    one.name: one
    for one in (
        Validation(
            "planted",
            "Planted by hand, pushed from within the clamp",
            "Every weight was set by hand. Gates that phase 0 carried beyond the clamp start the push at its "
            "edge.",
            "headscope validate chg",
        ),
        Validation(
            "planted-as-printed",
            "Planted by hand, as the paper prints it",
            "The same models. A head that phase 0 carried beyond the clamp is never pushed: that is where "
            "useless heads are lost.",
            "headscope validate chg --as-printed",
        ),
        Validation(
            "programs",
            "Compiled programs and trained circuits",
            "RASP programs that Tracr compiled to weights, and small trained models, each among heads that "
            "do nothing for the answer.",
            "headscope validate programs",
        ),
    )
}


def find(name: str) -> Validation:
    """One of ``VALIDATIONS``; ``NotFound`` (unknown-validation) lists them."""
    if name not in VALIDATIONS:
        raise NotFound(
            f"There is no validation {name!r}.",
            f"Known: {', '.join(VALIDATIONS)}.",
            code="unknown-validation",
        )
    return VALIDATIONS[name]


def figure(one: Validation, colours: Palette) -> Drawing:
    """AUROC by cell: a dot for the mean over draws, a line for its 95 % interval, a colour a measure."""
    cells = [cell for cell in one.content["cells"] if cell["counted"]]
    names = [cell["name"] for cell in cells]
    tints = [colours.needed, colours.harmful, colours.muted, colours.series[0], colours.series[1]]
    traces = []
    for number, ((measure, label), tint) in enumerate(zip(MEASURES.items(), tints, strict=True)):
        rows = [(y, cell["found"][measure]["auroc"]) for y, cell in enumerate(cells)]
        known = [(y, area) for y, area in rows if area["n"]]
        if not known:
            continue
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": label,
                "x": [area["mean"] for _, area in known],
                "y": [y + 0.14 * (number - 2) for y, _ in known],
                "marker": {"color": tint, "size": 7},
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [area["high"] - area["mean"] for _, area in known],
                    "arrayminus": [area["mean"] - area["low"] for _, area in known],
                    "color": tint,
                    "thickness": 1,
                    "width": 0,
                },
                "text": [f"{names[y]}: {area['n']} draws" for y, area in known],
                "hovertemplate": f"{label} %{{x:.3f}}<br>%{{text}}<extra></extra>",
            }
        )
    layout = {
        "height": 110 + 62 * len(cells),
        "xaxis": {"title": {"text": "AUROC over heads"}, "range": [0.45, 1.02]},
        "yaxis": {"tickvals": list(range(len(cells))), "ticktext": names, "autorange": "reversed"},
        "margin": {"l": 250, "r": 16, "t": 40, "b": 44},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        "shapes": [
            {
                "type": "line", "xref": "x", "yref": "paper", "x0": 0.95, "x1": 0.95, "y0": 0, "y1": 1,
                "line": {"color": colours.muted, "width": 1, "dash": "dot"},
            }
        ],
    }  # fmt: skip
    reading = (
        "The chance that a head of the role scores higher than one without it, mean over draws; the line "
        "holds 95 %. Dotted: the goal for needed and harmful heads. One half is chance."
    )
    return titled({"data": traces, "layout": layout}, one.title, reading)


@cache
def _read(name: str) -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return content
