"""Planted truth: the roles that a hand-made model's heads have must come out of the fit, over seeds."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from headscope.core.gating.evaluation import evaluate
from headscope.core.gating.fit import FitState, Phase, advance, initial_logits
from headscope.core.gating.roles import shares
from micro.planted import HARMFUL, NEEDED, REDUNDANT, USELESS, planted_examples, planted_model

SEEDS = range(8)
STEPS = 150


@pytest.fixture(scope="module")
def fits() -> dict[str, torch.Tensor]:
    model, examples = planted_model(), planted_examples(64)
    start = initial_logits(SEEDS, 2, 4, torch.float64)
    zero = Phase(STEPS, 0.0, 0.1, 0.01, batch_size=8)
    plus = Phase(STEPS, 0.1, 0.5, 0.1, batch_size=8, stream="push")
    minus = Phase(STEPS, -0.1, 0.5, 0.1, batch_size=8, stream="push")
    opened = advance(model, examples, SEEDS, zero, FitState.fresh(start))
    return {
        "zero": opened.gates,
        "plus": advance(model, examples, SEEDS, plus, FitState.fresh(opened.logits)).gates,
        "minus": advance(model, examples, SEEDS, minus, FitState.fresh(opened.logits)).gates,
    }


def _per_head(fits: dict[str, torch.Tensor], score: str) -> np.ndarray:
    return shares(fits["plus"].numpy(), fits["minus"].numpy())[score].per_head


def test_the_induction_pair_is_always_needed(fits: dict[str, torch.Tensor]) -> None:
    assert [_per_head(fits, "facilitation")[head] for head in NEEDED] == [1.0, 1.0]


def test_the_head_that_writes_against_the_answer_is_always_harmful(fits: dict[str, torch.Tensor]) -> None:
    interference = _per_head(fits, "interference")
    assert [interference[head] for head in HARMFUL] == [1.0]
    assert all(interference[head] == 0 for head in (*NEEDED, *USELESS))


def test_heads_that_do_nothing_go_wherever_they_are_pushed(fits: dict[str, torch.Tensor]) -> None:
    assert [_per_head(fits, "irrelevance")[head] for head in USELESS] == [1.0] * 3
    assert [_per_head(fits, "facilitation")[head] for head in USELESS] == [0.0] * 3


def test_either_of_a_redundant_pair_is_needed_in_some_seeds_and_none_in_all(
    fits: dict[str, torch.Tensor],
) -> None:
    needed = [_per_head(fits, "facilitation")[head] for head in REDUNDANT]
    assert all(0 < share < 1 for share in needed)
    assert sum(needed) == pytest.approx(1.0)


def test_muting_the_harmful_head_is_what_lifts_held_out_log_probability(
    fits: dict[str, torch.Tensor],
) -> None:
    model, held_out = planted_model(), planted_examples(32, seed=1)
    ungated = evaluate(model, held_out)
    muted = torch.ones(1, 2, 4, dtype=torch.float64)
    muted[0, 0, 3] = 0
    assert evaluate(model, held_out, muted).accuracy.item() == 1.0
    assert ungated.accuracy.item() < 0.5
    assert bool((evaluate(model, held_out, fits["plus"]).log_probability > ungated.log_probability).all())
