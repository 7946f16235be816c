"""Whether a planted model still is what it was planted as, found by closing heads and without any fit.

Noise may drown what is planted. On held-out examples, with the harmful heads closed and all others open:

1. closing a needed head, or both of the redundant pair, costs much;
2. opening a harmful head costs much;
3. closing a useless head, or one of the pair, changes little: less than the push of the fit outweighs. A
   head worth v nats pulls at its gate's logit by at most v / 4, the push by lambda / heads; v is little where
   it is at most half of 4 lambda / heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch

from headscope.core.gating.evaluation import evaluate
from headscope.core.model.head_model import HeadModel
from headscope.tasks.task import Example
from headscope.validation.planted import Head, Plan

MUCH: Final = 0.5
"""Nats a target token that a role must be worth."""


@dataclass(frozen=True)
class Premises:
    """Nats a target token: the least that a needed head, a harmful head and the pair are worth, the most that
    a useless head and one of the pair are, and how much counts as ``little``.
    """

    needed: float
    harmful: float
    pair: float
    useless: float
    one_of_pair: float
    little: float

    @property
    def hold(self) -> bool:
        """Whether the model's roles are what they were planted as."""
        # One by one, because NaN gets lost in a minimum.
        worth, worthless = (self.needed, self.harmful, self.pair), (self.useless, self.one_of_pair)
        return all(nats >= MUCH for nats in worth) and all(nats <= self.little for nats in worthless)


def premises(model: HeadModel, plan: Plan, examples: Sequence[Example], regularisation: float) -> Premises:
    """Close and open heads, a set of gates a row; ``regularisation`` is the push of the fit to come."""
    harmful, pair = plan.heads("harmful"), plan.heads("redundant")
    groups: list[tuple[Head, ...]] = [(head,) for role in ("needed", "useless") for head in plan.heads(role)]
    groups += [pair, *((head,) for head in pair)]
    rows = [set(harmful), *(set(harmful) | set(group) for group in groups)]
    rows += [set(harmful) - {head} for head in harmful]
    gates = torch.ones(len(rows), plan.n_layers, plan.n_heads)
    for row, closed in zip(gates, rows, strict=True):
        for layer, head in closed:
            row[layer, head] = 0
    best, *others = evaluate(model, examples, gates).log_probability.tolist()
    cost = [best - other for other in others]
    n_needed, n_useless = len(plan.heads("needed")), len(plan.heads("useless"))
    useless, after = cost[n_needed : n_needed + n_useless], cost[n_needed + n_useless :]
    return Premises(
        needed=min(cost[:n_needed]),
        harmful=min(after[1 + len(pair) :]),
        pair=after[0],
        useless=max(abs(change) for change in useless),
        one_of_pair=max(abs(change) for change in after[1 : 1 + len(pair)]),
        little=2 * regularisation / (plan.n_layers * plan.n_heads),
    )
