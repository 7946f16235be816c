"""Whether gating and a measure agree, in a sentence: what the page says first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from headscope.analyses.agreement.methods import BY_NAME, RULE_KINDS
from headscope.analyses.agreement.order import POWERFUL, Order

MEDIATED: Final = ("mediation", *RULE_KINDS)
"""Measures with which the paper of causal head gating says that it agrees."""

_CHIEF: Final = (*MEDIATED, "left_out", "path", "slope", "direct", "importance", "probe")


def chief(orders: Mapping[str, Order]) -> str | None:
    """The measure of which the page speaks first: the paper's own, where there is one."""
    return next((name for name in _CHIEF if name in orders), None)


def verdict(name: str, found: Order) -> str:
    """In two or three words, with the measure."""
    title = BY_NAME[name].title.lower()
    if found.outcome == "not alike" and name in MEDIATED:
        return f"not reproduced ({title})"
    return f"{found.outcome} ({title})"


def sentence(name: str, found: Order) -> str:
    """The outcome, the correlation with its interval, and what such a run would have seen."""
    title = BY_NAME[name].title.lower()
    if found.rho != found.rho:
        return f"Whether gating and {title} agree can't be told: one of them puts all heads alike."
    numbers = (
        f"over {found.heads:.0f} heads the rank correlation of facilitation with its effect is "
        f"{_number(found.rho)} (95 %: {_number(found.low)} to {_number(found.high)})"
    )
    return f"{_outcome(name, title, found)}: {numbers}. {_power(found)}"


def sentences(orders: Mapping[str, Order]) -> Sequence[str]:
    """The chief measure's sentence, then those of the paper's other ones."""
    first = chief(orders)
    names = [first, *(name for name in MEDIATED if name in orders and name != first)] if first else []
    return [sentence(name, orders[name]) for name in names]


def _outcome(name: str, title: str, found: Order) -> str:
    if found.outcome == "alike":
        return f"Gating and {title} order the heads alike"
    if found.outcome == "can't tell":
        return f"Whether gating and {title} agree can't be told"
    if name in MEDIATED:
        return f"The paper’s agreement of gating with {title} is not reproduced"
    return f"Gating and {title} don’t order the heads alike"


def _power(found: Order) -> str:
    text = f"Such a run sees a correlation of {_number(found.detectable)} in four cases of five"
    if found.detectable_true == found.detectable_true:
        text += f" ({_number(found.detectable_true)} between effects without their errors)"
    if found.outcome == "can't tell":
        text += f": too few heads for one of {_number(POWERFUL)}"
    return text + "."


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
