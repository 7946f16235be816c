"""The evidence about a head in dispute, for the rules that explain it, and how it is put into words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from headscope.analyses.agreement.disagreement import Head
from headscope.analyses.agreement.methods import BY_NAME, Seen

GONE: Final = 0.25
"""The share of a cost below which it is gone."""


@dataclass(frozen=True)
class Explanation:
    """A sentence with its numbers, its kind, and the methods whose verdict it accounts for."""

    kind: str
    text: str
    accounts_for: Sequence[str]


@dataclass(frozen=True)
class HeadEvidence:
    """A head, the methods that find it and those that miss it, what they all say, and what was
    measured of it (``interventions.measured``, ``backup_heads.summary``).

    A cost *counts* from ``least`` nats on, and is *gone* where little of it is left.
    """

    place: Head
    found: Sequence[str]
    missed: Sequence[str]
    seen: Mapping[str, Seen]
    measured: Mapping[str, Any]
    least: float

    def number(self, name: str) -> float:
        """A measurement by name; NaN where it wasn't measured."""
        values = np.asarray(self.measured.get(name, ())).reshape(-1)
        return float(values[0]) if len(values) else float("nan")

    def heads(self, name: str) -> list[Head]:
        """A measurement that is heads."""
        pairs = np.asarray(self.measured.get(name, ())).reshape(-1, 2)
        return [(int(layer), int(head)) for layer, head in pairs]

    @property
    def closed(self) -> float:
        """What closing the head costs on the model as it is, nats."""
        return self.number("closed")

    @property
    def counts(self) -> bool:
        """Whether that counts."""
        return self.closed >= self.least

    def gone(self, name: str) -> bool:
        """Whether little of the closed head's cost is left under another condition."""
        return self.number(name) < GONE * self.closed

    def left(self, name: str, of: float | None = None) -> str:
        """What is left of a cost (the closed head's, unless given); below a hundredth it is noise."""
        value, whole = self.number(name), self.closed if of is None else of
        return "next to nothing" if abs(value) < 0.01 * whole else nats(value)

    def missing(self, *names: str) -> list[str]:
        """Of these methods, those that miss the head."""
        return [name for name in names if name in self.missed]

    def finding(self, *names: str) -> list[str]:
        """Of these methods, those that find it."""
        return [name for name in names if name in self.found]


def nats(value: float) -> str:
    """Three significant figures; the sign that pages use."""
    return f"{figure(value)} nats"


def figure(value: float) -> str:
    """A number without its unit."""
    return (f"{value:.3g}" if abs(value) >= 0.001 else "0").replace("-", "−")


def titles(names: Sequence[str]) -> str:
    """Methods in a sentence."""
    return listed([BY_NAME[name].title.lower() for name in names])


def listed(words: Sequence[str]) -> str:
    """One, two and three."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
