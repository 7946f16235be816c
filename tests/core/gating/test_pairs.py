"""Closing two heads against each: either is enough, one through the other, or apart."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from headscope.core.gating.pairs import PairLosses, pair_losses
from headscope.errors import Invalid
from headscope.validation.model import as_model
from headscope.validation.planted import build
from headscope.validation.suite import Case
from headscope.validation.task import planted_examples

CASE = Case("small", "mlp", 0.0, 3)


def losses() -> PairLosses:
    plan = CASE.plan
    base = torch.ones(plan.n_layers, plan.n_heads)
    for layer, head in plan.heads("harmful"):
        base[layer, head] = 0
    model = as_model(build(plan), plan, "planted")
    examples = planted_examples(16, 0, plan.vocab, 4)
    every = [(layer, head) for layer in range(plan.n_layers) for head in range(plan.n_heads)]
    return pair_losses(model, examples, base, every)


def test_only_the_pair_stands_out() -> None:
    found, plan = losses(), CASE.plan
    (one, other, nats), *others = found.pairs(0.1)
    assert {one, other} == set(plan.heads("redundant"))
    assert nats > 1
    assert not others
    redundancy = dict(zip(found.heads, found.redundancy, strict=True))
    assert min(redundancy[head] for head in plan.heads("redundant")) == pytest.approx(nats)
    assert max(v for head, v in redundancy.items() if head not in plan.heads("redundant")) < 0.1


def test_a_head_that_works_through_another_has_a_negative_interaction() -> None:
    found, plan = losses(), CASE.plan
    first, second = (found.heads.index(head) for head in plan.heads("needed"))
    assert found.interaction[first, second] < -1
    np.testing.assert_allclose(found.interaction, found.interaction.T)
    assert np.isnan(np.diagonal(found.interaction)).all()


def test_a_pair_with_noise_of_its_own_is_found_though_one_is_better() -> None:
    """What fits can't: they keep the better one in every seed."""
    plan = CASE.plan
    weights = build(plan, 0.1, 3)
    (layer, head), _ = plan.heads("redundant")
    weights.W_O[layer, head] += 0.02 * torch.randn(
        weights.W_O[layer, head].shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64
    )
    base = torch.ones(plan.n_layers, plan.n_heads)
    for harmful in plan.heads("harmful"):
        base[harmful] = 0
    examples = planted_examples(16, 0, plan.vocab, 4)
    found = pair_losses(as_model(weights, plan, "planted"), examples, base, plan.heads("redundant"))
    assert found.alone[0] != found.alone[1]
    assert found.interaction[0, 1] > 1


def test_one_head_has_no_partner_and_a_head_that_is_not_there_is_refused() -> None:
    plan = CASE.plan
    model, base = as_model(build(plan), plan, "planted"), torch.ones(plan.n_layers, plan.n_heads)
    examples = planted_examples(2, 0, plan.vocab, 4)
    assert np.isnan(pair_losses(model, examples, base, [(0, 0)]).redundancy).all()
    with pytest.raises(Invalid, match=r"no head 2\.0"):
        pair_losses(model, examples, base, [(2, 0)])
