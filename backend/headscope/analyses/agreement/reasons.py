"""Why methods disagree on a head: each rule looks at the evidence and says a sentence, or nothing.

Every sentence has the numbers that it rests on, and names the methods whose verdict it accounts for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from headscope.analyses.agreement.evidence import (
    GONE,
    Explanation,
    HeadEvidence,
    figure,
    listed,
    nats,
)
from headscope.analyses.agreement.methods import BY_NAME

_SATURATED = (0.2, 0.8)
_AT_LAST_TOKEN = ("direct", "mediation", "induction", "retrieval")
_ONE_HEAD_AT_A_TIME = ("left_out", "path", "slope", "importance")


def _elsewhere(head: HeadEvidence) -> Explanation | None:
    if not (head.counts and head.gone("at_answers")):
        return None
    text = (
        f"It acts at earlier tokens: closed everywhere it costs {nats(head.closed)}, closed only where the "
        f"answers are predicted {head.left('at_answers')}. Direct logit attribution and causal "
        "mediation at the last token look there alone."
    )
    return Explanation("other-positions", text, head.missing(*_AT_LAST_TOKEN))


def _indirect(head: HeadEvidence) -> Explanation | None:
    if not (head.counts and head.gone("later_held")):
        return None
    ((layer, other),) = head.heads("through")
    text = (
        "It acts by way of later heads: with all of them held as they were, closing it costs "
        f"{head.left('later_held')} of {nats(head.closed)}"
    )
    if head.gone("through_held"):
        text += f"; with {layer}.{other} alone held, {head.left('through_held')}"
    return Explanation("indirect", text + ".", head.missing("direct"))


def _redundant(head: HeadEvidence) -> Explanation | None:
    interaction, both = head.number("interaction"), head.number("both_closed")
    if not (both >= head.least and interaction >= max(head.least, 0.5 * both)):
        return None
    ((layer, other),) = head.heads("partner")
    text = (
        f"{layer}.{other} is a backup for it: closed alone they cost {nats(head.closed)} and "
        f"{nats(head.number('partner_closed'))}, closed together {nats(both)}."
    )
    # Gating finds one of the two in some seeds and the other in the rest: both verdicts follow from it.
    accounts = [*head.missing(*_ONE_HEAD_AT_A_TIME, "gating"), *head.finding("path", "gating")]
    return Explanation("redundant", text, accounts)


def _taken_over(head: HeadEvidence) -> Explanation | None:
    """What fitting the gates again with it closed shows: who opens instead, and that they do its work."""
    closing, backups = head.number("closing"), head.heads("stand_ins")
    if not (backups and closing >= head.least and head.number("refitted") < GONE * closing):
        return None
    relief, shut, opened = (
        np.asarray(head.measured[name]).reshape(-1) for name in ("relief", "shut", "opened")
    )
    who = [
        f"{layer}.{other} (gate {shut[n]:.2f} to {opened[n]:.2f}, by itself {nats(float(relief[n]))} of it)"
        for n, (layer, other) in enumerate(backups)
    ]
    text = (
        f"Closed under G− it costs {nats(closing)}. Fitted again with it closed, "
        f"{head.left('refitted', closing)} is left: {listed(who)} took over."
    )
    accounts = head.finding("gating", "path")
    return Explanation("taken-over", text, [*accounts, *head.missing(*_ONE_HEAD_AT_A_TIME)])


def _in_company(head: HeadEvidence) -> Explanation | None:
    cost = head.number("in_minus")
    if "gating" not in head.found or head.counts or not cost >= head.least:
        return None
    text = (
        f"It is needed once others are shut: under the gates that gating found, closing it costs "
        f"{nats(cost)}; on the ungated model {nats(head.closed)}."
    )
    accounts = ["gating", *head.missing(*_ONE_HEAD_AT_A_TIME), *head.finding("path")]
    return Explanation("in-company", text, accounts)


def _kept_for_little(head: HeadEvidence) -> Explanation | None:
    cost, limit = head.number("in_minus"), head.number("kept_from")
    if "gating" not in head.found or head.counts or not limit <= cost < head.least:
        return None
    text = (
        f"Gating keeps heads open that matter little, here for {nats(limit)} or more: under its gates "
        f"closing this one costs {nats(cost)}."
    )
    return Explanation("kept-for-little", text, ["gating"])


def _nearly(head: HeadEvidence) -> Explanation | None:
    if not 0.5 * head.least <= head.closed < head.least:
        return None
    text = f"It nearly counts: closing it costs {nats(head.closed)}, where {nats(head.least)} would count."
    return Explanation("nearly", text, head.finding("gating", *_ONE_HEAD_AT_A_TIME))


def _saturated(head: HeadEvidence) -> Explanation | None:
    settled = head.number("settled")
    low, high = _SATURATED
    if not (head.counts and low < settled < high and head.gone("at_settled")):
        return None
    text = (
        f"Part of it is enough: its gate settles at {settled:.2f} on average, which costs "
        f"{head.left('at_settled')}, where closing it costs {nats(head.closed)}. Facilitation says how far "
        "it can be shut, not how much it matters."
    )
    return Explanation("saturated-gate", text, ["gating"])


def _flat(head: HeadEvidence) -> Explanation | None:
    slope, blind = head.number("slope"), head.missing("slope", "importance")
    if not (blind and head.counts and abs(slope) < GONE * head.closed):
        return None
    text = (
        f"The loss is flat at the ungated model: its gradient predicts {nats(slope)}, closing it costs "
        f"{nats(head.closed)}."
    )
    return Explanation("flat-slope", text, blind)


def _bends(head: HeadEvidence) -> Explanation | None:
    slope = head.number("slope")
    if head.counts or not slope >= head.least or not head.finding("slope"):
        return None
    text = f"Its gradient misleads: it predicts {nats(slope)}, closing the head costs {nats(head.closed)}."
    return Explanation("bends", text, head.finding("slope", "importance"))


def _cancels(head: HeadEvidence) -> Explanation | None:
    slope, size = head.number("slope"), head.number("slope_size")
    if "importance" not in head.found or head.counts or not abs(slope) <= 0.5 * size:
        return None
    text = (
        f"Its gradients cancel: {nats(size)} in size on an example, {nats(slope)} on average; closing it "
        f"costs {nats(head.closed)}."
    )
    return Explanation("cancels", text, ["importance"])


def _spare(head: HeadEvidence) -> Explanation | None:
    if "direct" not in head.found or head.counts:
        return None
    text = (
        f"It writes the answer, and the answer is as sure without it: closing it costs {nats(head.closed)}."
    )
    return Explanation("spare", text, ["direct", *head.missing("left_out", "gating")])


def _harms(head: HeadEvidence) -> Explanation | None:
    if "importance" not in head.found or not head.closed <= -head.least:
        return None
    text = f"It harms: closing it lowers the loss by {nats(-head.closed)}, and head importance has no sign."
    return Explanation("harms", text, ["importance"])


def _unused(head: HeadEvidence) -> Explanation | None:
    if "probe" not in head.found or head.counts:
        return None
    text = f"What its output holds of the label isn't used: closing it costs {nats(head.closed)}."
    return Explanation("unused", text, ["probe"])


def _same_for_any_labels(head: HeadEvidence) -> Explanation | None:
    """It works where mediation looks, and yet carries nothing of what mediation exchanges."""
    blind = head.missing("mediation", "abstraction", "induction", "retrieval")
    if not (blind and head.counts and head.number("at_answers") >= head.least):
        return None
    text = (
        f"It works at the last token (closed there alone: {nats(head.number('at_answers'))}), but what it "
        f"brings there isn't what causal mediation exchanges between prompts: {_said(head, blind)}."
    )
    return Explanation("not-what-differs", text, blind)


def _said(head: HeadEvidence, names: Sequence[str]) -> str:
    """What these methods measure of the head, with their error where it is known."""
    said = []
    for name in names:
        seen, unit = head.seen[name], BY_NAME[name].unit
        error = "" if seen.error is None else f" ± {figure(float(seen.error[head.place]))}"
        said.append(
            f"{BY_NAME[name].title.lower()} {figure(float(seen.effect[head.place]))}{error} {unit}".rstrip()
        )
    return listed(said)


RULES: Final[Sequence[Callable[[HeadEvidence], Explanation | None]]] = (
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
)
"""In the order in which they are told."""
