"""Fits that end when their heads no longer change sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch

from headscope.core.gating.fit import FitState, Phase, advance, initial_logits
from headscope.core.gating.settling import Settling, SideHistory
from micro.model import random_examples, random_model

SEEDS = (0, 3, 7)
RULE = Settling(window=4, changed=0.2, calm=2)
PHASE = Phase(80, 0.1, 0.5, 0.1, batch_size=6, stream="push", settling=RULE)


def _start(seeds: Sequence[int] = SEEDS) -> FitState:
    return FitState.fresh(initial_logits(seeds, 2, 3, torch.float64))


def _watched(path: Sequence[Sequence[float]], rule: Settling) -> list[int]:
    """How many updates each head-by-head path of gates [update][head] is given, one seed, one layer."""
    watch = SideHistory.fresh(torch.zeros(1, 1, len(path[0])))
    for gates in path:
        if watch.settled.all():
            break
        watch = watch.after(torch.tensor([[gates]]), rule)
    return watch.updates.tolist()


def test_a_seed_settles_after_so_many_calm_windows_in_a_row() -> None:
    rule = Settling(window=2, changed=0.25, calm=2)
    still = [[0.9, 0.9, 0.1, 0.1]] * 20
    assert rule.first() == 6
    assert _watched(still, rule) == [6]
    # Two of four heads cross over in the third window: the count begins again there.
    crossing = [[0.9, 0.9, 0.1, 0.1]] * 4 + [[0.1, 0.1, 0.1, 0.1]] * 16
    assert _watched(crossing, rule) == [10]
    # One of four is a quarter, which is still calm.
    one = [[0.9, 0.9, 0.1, 0.1]] * 4 + [[0.1, 0.9, 0.1, 0.1]] * 16
    assert _watched(one, rule) == [6]


def test_a_side_is_that_of_the_mean_gate_in_a_window() -> None:
    rule = Settling(window=2, changed=0.0, calm=1)
    flickering = [[0.9], [0.2]] * 10
    assert _watched(flickering, rule) == [4]
    assert _watched(flickering, Settling(window=1, changed=0.0, calm=1)) == [20]


def test_a_failed_seed_never_settles_and_counts_no_updates() -> None:
    watch = SideHistory.fresh(torch.zeros(2, 1, 1))
    for _ in range(20):
        watch = watch.after(torch.tensor([[[0.9]], [[torch.nan]]]), Settling(window=2, changed=0.0, calm=1))
    assert watch.settled.tolist() == [True, False]
    assert watch.updates.tolist() == [4, 0]


def test_a_settled_seed_is_left_where_it_was_and_the_others_go_on() -> None:
    model, examples = random_model(), random_examples(30)
    fitted = advance(model, examples, SEEDS, PHASE, _start())
    ends = fitted.watch.updates.tolist()
    assert len(set(ends)) > 1
    assert RULE.first() <= min(ends) <= max(ends) < PHASE.steps
    endless = replace(PHASE, settling=None)
    for index, (seed, end) in enumerate(zip(SEEDS, ends, strict=True)):
        alone = advance(model, examples, [seed], endless, _start([seed]), end)
        torch.testing.assert_close(fitted.gates[index], alone.gates[0], rtol=1e-9, atol=1e-10)
        torch.testing.assert_close(fitted.losses[index, :end], alone.losses[0], rtol=1e-9, atol=1e-10)
        assert fitted.losses[index, end:].isnan().all()


@pytest.mark.parametrize("cut", [3, 8, 13, 50])
def test_settling_in_pieces_equals_settling_at_once(cut: int) -> None:
    model, examples = random_model(), random_examples(30)
    whole = advance(model, examples, SEEDS, PHASE, _start())
    part = advance(model, examples, SEEDS, PHASE, _start(), cut)
    rest = advance(model, examples, SEEDS, PHASE, part)
    assert torch.equal(whole.logits, rest.logits)
    assert torch.equal(whole.watch.updates, rest.watch.updates)
    torch.testing.assert_close(
        whole.losses, torch.cat([part.losses, rest.losses], dim=1), rtol=0, atol=0, equal_nan=True
    )


def test_nothing_is_computed_once_all_have_settled() -> None:
    model, examples = random_model(), random_examples(30)
    fitted = advance(model, examples, SEEDS, PHASE, _start())
    model.seen.clear()
    again = advance(model, examples, SEEDS, replace(PHASE, steps=100), fitted)
    assert not model.seen
    assert torch.equal(again.logits, fitted.logits)
    assert again.step == 100


def test_without_a_rule_every_update_is_done() -> None:
    model, examples = random_model(), random_examples(30)
    fitted = advance(model, examples, SEEDS, replace(PHASE, settling=None, steps=20), _start())
    assert fitted.watch.updates.tolist() == [20, 20, 20]
    assert fitted.losses.isfinite().all()
