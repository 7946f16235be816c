"""From measured numbers to sentences: what would explain that methods disagree on a head.

Every explanation names the methods whose verdict it accounts for. A cost *counts* where it is at least
``floor`` nats, and is *gone* where less than a quarter of it is left. What no explanation accounts for is
said to be unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headscope.analyses.agreement.disagreement import Head
from headscope.analyses.agreement.methods import BY_NAME

_GONE = 0.25
_SATURATED = (0.2, 0.8)
_AT_LAST_TOKEN = ("direct", "mediation", "induction", "retrieval")
_ONE_HEAD_AT_A_TIME = ("left_out", "path", "slope", "importance")


@dataclass(frozen=True)
class Explanation:
    """A sentence with its numbers, its kind, and the methods whose verdict it accounts for."""

    kind: str
    text: str
    accounts_for: Sequence[str]


def explanations(
    head: Head, found: Sequence[str], missed: Sequence[str], seen: Mapping[str, Any], floor: float
) -> list[Explanation]:
    """What the evidence of ``evidence.evidence`` says of a head's verdicts; ``unknown`` closes the list where
    a method of the smaller side is left.
    """
    facts = _Facts(head, found, missed, seen, floor)
    rules = (
        _elsewhere,
        _indirect,
        _redundant,
        _taken_over,
        _in_company,
        _saturated,
        _flat,
        _cancels,
        _spare,
        _harms,
        _unused,
    )
    told = [made for rule in rules if (made := rule(facts)) is not None]
    covered = {name for made in told for name in made.accounts_for}
    sides = [(len(side), [name for name in side if name not in covered], side) for side in (found, missed)]
    _, open_questions, smaller = min(sides, key=lambda each: (each[0], len(each[1])))
    if open_questions:
        words = _titles(open_questions)
        verb = "finds" if smaller is found else "misses"
        text = f"Nothing that was measured explains why {words} {verb} it."
        told.append(Explanation("unknown", text, open_questions))
    return told


@dataclass(frozen=True)
class _Facts:
    head: Head
    found: Sequence[str]
    missed: Sequence[str]
    seen: Mapping[str, Any]
    floor: float

    def number(self, name: str) -> float:
        """Evidence by name; NaN where it wasn't measured."""
        return float(np.asarray(self.seen[name]).reshape(-1)[0]) if name in self.seen else float("nan")

    @property
    def closed(self) -> float:
        return self.number("closed")

    @property
    def counts(self) -> bool:
        return self.closed >= self.floor

    def left(self, name: str) -> str:
        """What is left of the closed head's cost, in words; below a hundredth it is noise."""
        value = self.number(name)
        return "next to nothing" if abs(value) < 0.01 * self.closed else nats(value)

    def gone(self, name: str) -> bool:
        """Whether little of the closed head's cost is left under another condition."""
        return self.number(name) < _GONE * self.closed

    def of(self, side: Sequence[str], names: Sequence[str]) -> list[str]:
        return [name for name in names if name in side]


def _elsewhere(facts: _Facts) -> Explanation | None:
    if not (facts.counts and facts.gone("at_answers")):
        return None
    text = (
        f"It acts at earlier tokens: closed everywhere it costs {nats(facts.closed)}, closed only where the "
        f"answers are predicted {facts.left('at_answers')}. Direct attribution and mediation at the last "
        "token look there alone."
    )
    return Explanation("other-positions", text, facts.of(facts.missed, _AT_LAST_TOKEN))


def _indirect(facts: _Facts) -> Explanation | None:
    if not (facts.counts and facts.gone("later_held")):
        return None
    layer, head = (int(value) for value in facts.seen["through"])
    text = (
        "It acts by way of later heads: with all of them held as they were, closing it costs "
        f"{facts.left('later_held')} of {nats(facts.closed)}"
    )
    if facts.gone("through_held"):
        text += f"; with {layer}.{head} alone held, {facts.left('through_held')}"
    return Explanation("indirect", text + ".", facts.of(facts.missed, ("direct",)))


def _redundant(facts: _Facts) -> Explanation | None:
    interaction, both = facts.number("interaction"), facts.number("both_closed")
    if not (both >= facts.floor and interaction >= max(facts.floor, 0.5 * both)):
        return None
    layer, head = (int(value) for value in facts.seen["partner"])
    text = (
        f"{layer}.{head} can stand in for it: closed alone they cost {nats(facts.closed)} and "
        f"{nats(facts.number('partner_closed'))}, closed together {nats(both)}."
    )
    accounts = facts.of(facts.missed, (*_ONE_HEAD_AT_A_TIME, "gating"))
    return Explanation("redundant", text, [*accounts, *facts.of(facts.found, ("path",))])


def _taken_over(facts: _Facts) -> Explanation | None:
    """What fitting the gates again with it closed shows: who opens instead, and that they do its work."""
    stand_ins = np.asarray(facts.seen.get("stand_ins", ())).reshape(-1, 2).tolist()
    closing = facts.number("closing")
    if not (stand_ins and closing >= facts.floor and facts.number("refitted") < _GONE * closing):
        return None
    gates = zip(
        stand_ins, *(np.asarray(facts.seen[name]).reshape(-1) for name in ("shut", "opened")), strict=True
    )
    opened = [f"{layer}.{head} (gate {shut:.2f} to {now:.2f})" for (layer, head), shut, now in gates]
    verb = "opens" if len(opened) == 1 else "open"
    text = (
        f"Fitted again with it closed, {_listed(opened)} {verb} instead: closing it under G− costs "
        f"{nats(closing)}, with those gates {nats(facts.number('refitted'))}."
    )
    accounts = facts.of(facts.found, ("gating", "path"))
    return Explanation("taken-over", text, [*accounts, *facts.of(facts.missed, _ONE_HEAD_AT_A_TIME)])


def _in_company(facts: _Facts) -> Explanation | None:
    cost = facts.number("in_minus")
    if "gating" not in facts.found or facts.counts or cost < facts.floor:
        return None
    text = (
        f"It is needed once others are shut: under the gates that gating found, closing it costs "
        f"{nats(cost)}; on the model as it is {nats(facts.closed)}."
    )
    accounts = ["gating", *facts.of(facts.missed, _ONE_HEAD_AT_A_TIME), *facts.of(facts.found, ("path",))]
    return Explanation("in-company", text, accounts)


def _saturated(facts: _Facts) -> Explanation | None:
    settled, there = facts.number("settled"), facts.number("at_settled")
    low, high = _SATURATED
    if not (facts.counts and low < settled < high and there < _GONE * facts.closed):
        return None
    text = (
        f"Part of it is enough: its gate settles at {settled:.2f} on average, which costs "
        f"{facts.left('at_settled')}, where closing it costs {nats(facts.closed)}. Facilitation says how far "
        "it can be shut, not how much it matters."
    )
    return Explanation("saturated-gate", text, ["gating"])


def _flat(facts: _Facts) -> Explanation | None:
    slope, blind = facts.number("slope"), facts.of(facts.missed, ("slope", "importance"))
    if not (blind and facts.counts and abs(slope) < _GONE * facts.closed):
        return None
    text = (
        f"The loss is flat at the model as it is: its slope promises {nats(slope)}, closing it costs "
        f"{nats(facts.closed)}."
    )
    return Explanation("flat-slope", text, blind)


def _cancels(facts: _Facts) -> Explanation | None:
    slope, size = facts.number("slope"), facts.number("slope_size")
    if "importance" not in facts.found or facts.counts or not abs(slope) <= 0.5 * size:
        return None
    text = (
        f"Its slopes cancel: {nats(size)} in size on an example, {nats(slope)} on average; closing it costs "
        f"{nats(facts.closed)}."
    )
    return Explanation("cancels", text, ["importance"])


def _spare(facts: _Facts) -> Explanation | None:
    if "direct" not in facts.found or facts.counts:
        return None
    text = (
        f"It writes the answer, and the answer is as sure without it: closing it costs {nats(facts.closed)}."
    )
    return Explanation("spare", text, ["direct", *facts.of(facts.missed, ("left_out", "gating"))])


def _harms(facts: _Facts) -> Explanation | None:
    if "importance" not in facts.found or not facts.closed <= -facts.floor:
        return None
    text = f"It harms: closing it lowers the loss by {nats(-facts.closed)}, and importance has no sign."
    return Explanation("harms", text, ["importance"])


def _unused(facts: _Facts) -> Explanation | None:
    if "probe" not in facts.found or facts.counts:
        return None
    text = f"What its output holds of the label isn't used: closing it costs {nats(facts.closed)}."
    return Explanation("unused", text, ["probe"])


def nats(value: float) -> str:
    """Three significant figures; the sign that pages use."""
    shown = f"{value:.3g}" if abs(value) >= 0.001 else "0"
    return shown.replace("-", "−") + " nats"


def _titles(names: Sequence[str]) -> str:
    return _listed([BY_NAME[name].title.lower() for name in names])


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
