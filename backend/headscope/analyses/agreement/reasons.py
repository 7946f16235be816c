"""Why methods disagree on a head: each rule looks at the facts and says a sentence, or nothing.

Every sentence has the numbers that it rests on, and names the methods whose verdict it accounts for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from headscope.analyses.agreement.facts import GONE, Explanation, Facts, figure, listed, nats, titles
from headscope.analyses.agreement.methods import BY_NAME

_SATURATED = (0.2, 0.8)
_AT_LAST_TOKEN = ("direct", "mediation", "induction", "retrieval")
_ONE_HEAD_AT_A_TIME = ("left_out", "path", "slope", "importance")


def _elsewhere(facts: Facts) -> Explanation | None:
    if not (facts.counts and facts.gone("at_answers")):
        return None
    text = (
        f"It acts at earlier tokens: closed everywhere it costs {nats(facts.closed)}, closed only where the "
        f"answers are predicted {facts.left('at_answers')}. Direct attribution and mediation at the last "
        "token look there alone."
    )
    return Explanation("other-positions", text, facts.missing(*_AT_LAST_TOKEN))


def _indirect(facts: Facts) -> Explanation | None:
    if not (facts.counts and facts.gone("later_held")):
        return None
    ((layer, head),) = facts.heads("through")
    text = (
        "It acts by way of later heads: with all of them held as they were, closing it costs "
        f"{facts.left('later_held')} of {nats(facts.closed)}"
    )
    if facts.gone("through_held"):
        text += f"; with {layer}.{head} alone held, {facts.left('through_held')}"
    return Explanation("indirect", text + ".", facts.missing("direct"))


def _redundant(facts: Facts) -> Explanation | None:
    interaction, both = facts.number("interaction"), facts.number("both_closed")
    if not (both >= facts.least and interaction >= max(facts.least, 0.5 * both)):
        return None
    ((layer, head),) = facts.heads("partner")
    text = (
        f"{layer}.{head} can stand in for it: closed alone they cost {nats(facts.closed)} and "
        f"{nats(facts.number('partner_closed'))}, closed together {nats(both)}."
    )
    # Gating finds one of the two in some seeds and the other in the rest: both verdicts follow from it.
    accounts = [*facts.missing(*_ONE_HEAD_AT_A_TIME, "gating"), *facts.finding("path", "gating")]
    return Explanation("redundant", text, accounts)


def _taken_over(facts: Facts) -> Explanation | None:
    """What fitting the gates again with it closed shows: who opens instead, and that they do its work."""
    closing, stand_ins = facts.number("closing"), facts.heads("stand_ins")
    if not (stand_ins and closing >= facts.least and facts.number("refitted") < GONE * closing):
        return None
    relief, shut, opened = (
        np.asarray(facts.evidence[name]).reshape(-1) for name in ("relief", "shut", "opened")
    )
    who = [
        f"{layer}.{head} (gate {shut[n]:.2f} to {opened[n]:.2f}, by itself {nats(float(relief[n]))} of it)"
        for n, (layer, head) in enumerate(stand_ins)
    ]
    text = (
        f"Closed under G− it costs {nats(closing)}. Fitted again with it closed, "
        f"{facts.left('refitted', closing)} is left: {listed(who)} took over."
    )
    accounts = facts.finding("gating", "path")
    return Explanation("taken-over", text, [*accounts, *facts.missing(*_ONE_HEAD_AT_A_TIME)])


def _in_company(facts: Facts) -> Explanation | None:
    cost = facts.number("in_minus")
    if "gating" not in facts.found or facts.counts or not cost >= facts.least:
        return None
    text = (
        f"It is needed once others are shut: under the gates that gating found, closing it costs "
        f"{nats(cost)}; on the model as it is {nats(facts.closed)}."
    )
    accounts = ["gating", *facts.missing(*_ONE_HEAD_AT_A_TIME), *facts.finding("path")]
    return Explanation("in-company", text, accounts)


def _kept_for_little(facts: Facts) -> Explanation | None:
    cost, limit = facts.number("in_minus"), facts.number("kept_from")
    if "gating" not in facts.found or facts.counts or not limit <= cost < facts.least:
        return None
    text = (
        f"Gating keeps heads open that matter little, here for {nats(limit)} or more: under its gates "
        f"closing this one costs {nats(cost)}."
    )
    return Explanation("kept-for-little", text, ["gating"])


def _nearly(facts: Facts) -> Explanation | None:
    if not 0.5 * facts.least <= facts.closed < facts.least:
        return None
    text = f"It nearly counts: closing it costs {nats(facts.closed)}, where {nats(facts.least)} would count."
    return Explanation("nearly", text, facts.finding("gating", *_ONE_HEAD_AT_A_TIME))


def _saturated(facts: Facts) -> Explanation | None:
    settled = facts.number("settled")
    low, high = _SATURATED
    if not (facts.counts and low < settled < high and facts.gone("at_settled")):
        return None
    text = (
        f"Part of it is enough: its gate settles at {settled:.2f} on average, which costs "
        f"{facts.left('at_settled')}, where closing it costs {nats(facts.closed)}. Facilitation says how far "
        "it can be shut, not how much it matters."
    )
    return Explanation("saturated-gate", text, ["gating"])


def _flat(facts: Facts) -> Explanation | None:
    slope, blind = facts.number("slope"), facts.missing("slope", "importance")
    if not (blind and facts.counts and abs(slope) < GONE * facts.closed):
        return None
    text = (
        f"The loss is flat at the model as it is: its slope promises {nats(slope)}, closing it costs "
        f"{nats(facts.closed)}."
    )
    return Explanation("flat-slope", text, blind)


def _bends(facts: Facts) -> Explanation | None:
    slope = facts.number("slope")
    if facts.counts or not slope >= facts.least or not facts.finding("slope"):
        return None
    text = f"Its slope doesn't hold: it promises {nats(slope)}, closing the head costs {nats(facts.closed)}."
    return Explanation("bends", text, facts.finding("slope", "importance"))


def _cancels(facts: Facts) -> Explanation | None:
    slope, size = facts.number("slope"), facts.number("slope_size")
    if "importance" not in facts.found or facts.counts or not abs(slope) <= 0.5 * size:
        return None
    text = (
        f"Its slopes cancel: {nats(size)} in size on an example, {nats(slope)} on average; closing it costs "
        f"{nats(facts.closed)}."
    )
    return Explanation("cancels", text, ["importance"])


def _spare(facts: Facts) -> Explanation | None:
    if "direct" not in facts.found or facts.counts:
        return None
    text = (
        f"It writes the answer, and the answer is as sure without it: closing it costs {nats(facts.closed)}."
    )
    return Explanation("spare", text, ["direct", *facts.missing("left_out", "gating")])


def _harms(facts: Facts) -> Explanation | None:
    if "importance" not in facts.found or not facts.closed <= -facts.least:
        return None
    text = f"It harms: closing it lowers the loss by {nats(-facts.closed)}, and importance has no sign."
    return Explanation("harms", text, ["importance"])


def _unused(facts: Facts) -> Explanation | None:
    if "probe" not in facts.found or facts.counts:
        return None
    text = f"What its output holds of the label isn't used: closing it costs {nats(facts.closed)}."
    return Explanation("unused", text, ["probe"])


def _same_for_any_labels(facts: Facts) -> Explanation | None:
    """It works where mediation looks, and yet carries nothing of what mediation exchanges."""
    blind = facts.missing("mediation", "abstraction", "induction", "retrieval")
    if not (blind and facts.counts and facts.number("at_answers") >= facts.least):
        return None
    text = (
        f"It works at the last token (closed there alone: {nats(facts.number('at_answers'))}), but what it "
        f"brings there isn't what mediation exchanges between prompts: {_said(facts, blind)}."
    )
    return Explanation("not-what-differs", text, blind)


def _unsure(facts: Facts) -> Explanation | None:
    """Its effect is large enough and its error too."""
    large = [
        name
        for name in facts.missed
        if facts.seen[name].error is not None and facts.seen[name].effect[facts.head] >= facts.least
    ]
    if not large:
        return None
    verb = f"measure{'s' if len(large) == 1 else ''} it as large enough, but not surely"
    text = f"{titles(large).capitalize()} {verb}: {_said(facts, large)}. More examples would tell."
    return Explanation("too-few-examples", text, large)


def _said(facts: Facts, names: Sequence[str]) -> str:
    """What these methods measure of the head, with their error where it is known."""
    said = []
    for name in names:
        seen, unit = facts.seen[name], BY_NAME[name].unit
        error = "" if seen.error is None else f" ± {figure(float(seen.error[facts.head]))}"
        said.append(
            f"{BY_NAME[name].title.lower()} {figure(float(seen.effect[facts.head]))}{error} {unit}".rstrip()
        )
    return listed(said)


RULES: Final[Sequence[Callable[[Facts], Explanation | None]]] = (
    _elsewhere,
    _indirect,
    _redundant,
    _taken_over,
    _in_company,
    _kept_for_little,
    _nearly,
    _saturated,
    _flat,
    _bends,
    _cancels,
    _spare,
    _harms,
    _unused,
    _same_for_any_labels,
    _unsure,
)
"""In the order in which they are told."""
