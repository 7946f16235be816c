"""Slopes blended with remembered ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from headscope.core.gating.fit import FitState, Phase, advance, initial_logits, loss_and_gradient
from headscope.core.gating.saga import SlopeMemory, pays
from micro.model import random_examples, random_model

PHASE = Phase(12, 0.1, 0.5, 0.1, batch_size=4, stream="push", remembers=True)
SEEDS = (0, 3)


def _start() -> FitState:
    return FitState.fresh(initial_logits(SEEDS, 2, 3, torch.float64))


def _memory(n_examples: int) -> SlopeMemory:
    return SlopeMemory.fresh(torch.zeros(1, 1, 2, dtype=torch.float64), n_examples)


def test_the_first_batch_counts_as_it_is() -> None:
    slopes = torch.tensor([[[1.0, 2.0]], [[3.0, 6.0]]], dtype=torch.float64)
    assert _memory(5).blend(0, [4, 1], slopes).tolist() == [[2.0, 4.0]]


def test_a_batch_adds_what_changed_to_the_mean_of_all_that_is_remembered() -> None:
    memory = _memory(4)
    memory.blend(0, [0, 1], torch.tensor([[[1.0, 0.0]], [[3.0, 0.0]]], dtype=torch.float64))
    # 1 was 3 and is 4 now: 1 more than the mean of 1 and 3 that is remembered.
    assert memory.blend(0, [1], torch.tensor([[[4.0, 0.0]]], dtype=torch.float64)).tolist() == [[3.0, 0.0]]
    # 2 was never met: what is new of it is its distance to the mean of 1 and 4.
    assert memory.blend(0, [2], torch.tensor([[[10.0, 0.0]]], dtype=torch.float64)).tolist() == [[10.0, 0.0]]
    assert memory.met[0].tolist() == [True, True, True, False]


def test_at_gates_that_stand_still_a_batch_of_one_has_the_slope_of_all_examples() -> None:
    model, examples = random_model(), random_examples(9)
    logits = initial_logits([5], 2, 3, torch.float64)
    memory = SlopeMemory.fresh(logits, len(examples))
    _, whole = loss_and_gradient(model, examples, [(0, i) for i in range(9)], logits)
    loss_and_gradient(model, examples, [(0, i) for i in range(9)], logits, memory=memory)
    _, one = loss_and_gradient(model, examples, [(0, 4)], logits, memory=memory)
    torch.testing.assert_close(one, whole, rtol=1e-9, atol=1e-12)


def test_the_blend_is_that_of_slopes_taken_one_by_one() -> None:
    model, examples = random_model(), random_examples(9)
    logits = initial_logits(SEEDS, 2, 3, torch.float64)
    rows = [(0, 1), (0, 7), (1, 7), (1, 2)]
    moved = logits + 0.3
    memory = SlopeMemory.fresh(logits, len(examples))
    loss_and_gradient(model, examples, rows, logits, memory=memory)
    _, blended = loss_and_gradient(model, examples, [(0, 7), (1, 2)], moved, memory=memory)
    for seed, (again, other) in enumerate([(7, 1), (2, 7)]):

        def slope(i: int, at: torch.Tensor, seed: int = seed) -> torch.Tensor:
            opened = at.sigmoid()
            _, gradient = loss_and_gradient(model, examples, [(seed, i)], at)
            return (gradient / (opened * (1 - opened)))[seed]

        mean = (slope(again, logits) + slope(other, logits)) / 2
        opened = moved.sigmoid()[seed]
        expected = (slope(again, moved) - slope(again, logits) + mean) * opened * (1 - opened)
        torch.testing.assert_close(blended[seed], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cut", [1, 7])
def test_a_phase_that_remembers_goes_on_where_it_was(cut: int) -> None:
    model, examples = random_model(), random_examples(12)
    whole = advance(model, examples, SEEDS, PHASE, _start())
    part = advance(model, examples, SEEDS, PHASE, _start(), cut)
    again = advance(model, examples, SEEDS, PHASE, part)
    assert torch.equal(whole.logits, again.logits)
    assert not torch.equal(
        whole.logits, advance(model, examples, SEEDS, replace(PHASE, remembers=False), _start()).logits
    )


def test_seeds_that_remember_share_nothing() -> None:
    model, examples = random_model(), random_examples(12)
    together = advance(model, examples, SEEDS, PHASE, _start())
    for index, seed in enumerate(SEEDS):
        start = FitState.fresh(initial_logits([seed], 2, 3, torch.float64))
        alone = advance(model, examples, [seed], PHASE, start)
        torch.testing.assert_close(together.gates[index], alone.gates[0], rtol=1e-9, atol=1e-10)


def test_nothing_is_remembered_where_examples_hardly_come_round() -> None:
    assert pays(24, 4, 12)
    assert not pays(25, 4, 12)
    model, examples = random_model(), random_examples(25)
    fitted = advance(model, examples, SEEDS, PHASE, _start())
    assert fitted.memory is None
    plain = advance(model, examples, SEEDS, replace(PHASE, remembers=False), _start())
    assert torch.equal(fitted.logits, plain.logits)
