"""Pairs of sets of fits that ship: whether roles that replicate came again. Loads no torch.

``results/roles.json`` holds what ``headscope validate roles … --summary FILE`` wrote, a pair for each model
and task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from headscope.errors import Invalid
from headscope.figures import curves
from headscope.figures.theme import Drawing, Palette, titled

FILE: Final = Path(__file__).parent / "results" / "roles.json"

ROLES: Final[Mapping[str, str]] = {
    "needed": "needed",
    "harmful": "harmful",
    "irrelevant": "doesn’t matter",
}
"""The roles in words."""

_SYMBOLS: Final = ("circle", "diamond", "square", "triangle-up", "cross", "star")
_LARGEST = 26
"""Of a dot, in pixels: that of the most heads of its pair."""


@dataclass(frozen=True)
class Pair:
    """Two sets of ``fits`` with disjoint seeds; ``steering`` where the model can't do the task.

    ``roles`` is what ``replication.to_json`` gives: heads called ``replicates``, those that came again, rates
    predicted and seen by count, correlations.
    """

    model: str
    task: str
    fits: int
    steering: bool
    command: str
    roles: Mapping[str, Mapping[str, Any]]

    @property
    def passed(self) -> bool:
        """Whether enough heads came again in every role that was claimed."""
        return all(role["passed"] for role in self.roles.values())

    @property
    def name(self) -> str:
        """Model and task."""
        return f"{self.model}, {self.task}"


def pairs(file: Path = FILE) -> tuple[Pair, ...]:
    """Those of a file, in its order; none where there is no file. Raises ``Invalid`` for another content."""
    if not file.is_file():
        return ()
    try:
        return tuple(Pair(**pair) for pair in json.loads(file.read_text(encoding="utf-8"))["pairs"])
    except (ValueError, KeyError, TypeError) as error:
        raise Invalid(
            f"{file} isn’t a summary of `headscope validate roles`: {error}.",
            "Name another file, or remove this one.",
            code="bad-summary",
        ) from error


def with_pair(pair: Pair, before: Sequence[Pair]) -> bytes:
    """A file's content with a pair in the place of the one of its model and task, or at the end."""
    kept = [pair if one.name == pair.name else one for one in before]
    kept += [] if pair in kept else [pair]
    content = {"validation": "roles", "pairs": [asdict(one) for one in kept]}
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


@cache
def shipped() -> tuple[Pair, ...]:
    """The pairs that ship."""
    return pairs()


def figure(found: Sequence[Pair], colours: Palette) -> Drawing:
    """Rate predicted against rate seen: a dot for the heads that so many fits gave a role, a colour a role, a
    shape a pair.
    """
    traces: list[dict[str, Any]] = [
        curves.line(
            np.array([0, 100]),
            np.array([0, 100]),
            colours.muted,
            "as said",
            line={"width": 1, "dash": "dot"},
            hoverinfo="skip",
            showlegend=False,
        )
    ]
    for at, pair in enumerate(found):
        symbol, most = _SYMBOLS[at % len(_SYMBOLS)], _most_heads(pair)
        for role, label in ROLES.items():
            traces.append(_dots(pair, role, label, symbol, most, colours))
        traces.append(_key(pair.name, colours.muted, symbol))
    traces += [_key(label, colours.role(role), "circle") for role, label in ROLES.items()]
    axis = {"range": [-4, 104], "tickvals": [0, 25, 50, 75, 100]}
    layout = {
        "height": 460,
        "xaxis": {**axis, "title": {"text": "% of new fits, as said by one set"}},
        "yaxis": {**axis, "title": {"text": "% of the other set’s fits"}},
        "margin": {"l": 56, "r": 16, "t": 34, "b": 44},
    }
    reading = (
        "A dot is all heads that so many of one set’s fits gave a role: how likely a new fit gives it, as "
        "that set says, and how often the other set, whose seeds it never saw, gave it; the larger the more "
        "heads. On the dotted line both are the same."
    )
    return titled({"data": traces, "layout": layout}, "Is what is said of a new fit true?", reading)


def _dots(pair: Pair, role: str, label: str, symbol: str, most: int, colours: Palette) -> dict[str, Any]:
    rows = pair.roles[role]["rows"]
    heads = np.array([row["heads"] for row in rows], float)
    trace = curves.dots(
        100 * np.array([row["predicted"] for row in rows]),
        100 * np.array([row["seen"] for row in rows]),
        colours.role(role),
        f"{label}: {pair.name}",
        text=[f"{row['heads']} heads, in {row['count']} of {pair.fits} fits" for row in rows],
        hovertemplate=f"{pair.name}<br>{label}, %{{text}}<br>said %{{x:.0f}} %, seen %{{y:.0f}} %"
        "<extra></extra>",
    )
    sizes = np.maximum(4, _LARGEST * np.sqrt(heads / most)).round(1).tolist()
    trace["marker"] = {**trace["marker"], "size": sizes, "symbol": symbol, "opacity": 0.6}
    return trace


def _key(name: str, colour: str, symbol: str) -> dict[str, Any]:
    """A line of the legend; no dot of its own."""
    nowhere = np.array([np.nan])
    trace = curves.dots(nowhere, nowhere, colour, name)
    return {**trace, "showlegend": True, "marker": {**trace["marker"], "symbol": symbol}}


def _most_heads(pair: Pair) -> int:
    return max(int(row["heads"]) for role in pair.roles.values() for row in role["rows"])
