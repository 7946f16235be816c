"""Planted truth under mean ablation: what varies with the row is found, what is constant is not missed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from headscope.core.gating.evaluation import evaluate
from headscope.core.gating.fit import FitState, Phase, advance, initial_logits
from headscope.core.gating.replacements import Means, mean_table
from headscope.core.gating.roles import shares
from micro.planted import HARMFUL, NEEDED, REDUNDANT, USELESS, planted_examples, planted_model

SEEDS = range(4)
STEPS = 150


@pytest.fixture(scope="module")
def fits() -> dict[str, torch.Tensor]:
    model, examples = planted_model(), planted_examples(64)
    means = Means(mean_table(model, examples))
    start = initial_logits(SEEDS, 2, 4, torch.float64)

    def fitted(push: float, first: float, last: float, logits: torch.Tensor) -> FitState:
        phase = Phase(STEPS, push, first, last, batch_size=8, stream="push" if push else "zero")
        return advance(model, examples, SEEDS, phase, FitState.fresh(logits), replacements=means)

    opened = fitted(0.0, 0.1, 0.01, start)
    return {
        "plus": fitted(0.1, 0.5, 0.1, opened.logits).gates,
        "minus": fitted(-0.1, 0.5, 0.1, opened.logits).gates,
    }


def _per_head(fits: dict[str, torch.Tensor], score: str) -> np.ndarray:
    return shares(fits["plus"].numpy(), fits["minus"].numpy())[score].per_head


def test_heads_whose_mean_says_nothing_of_the_row_keep_their_role(fits: dict[str, torch.Tensor]) -> None:
    assert [_per_head(fits, "facilitation")[head] for head in NEEDED] == [1.0, 1.0]
    assert [_per_head(fits, "interference")[head] for head in HARMFUL] == [1.0]
    assert [_per_head(fits, "irrelevance")[head] for head in USELESS] == [1.0] * 3


def test_a_head_that_always_writes_the_same_is_not_missed(fits: dict[str, torch.Tensor]) -> None:
    """Either of the redundant pair suppresses one token whatever the row: its mean does as well."""
    assert [_per_head(fits, "facilitation")[head] for head in REDUNDANT] == [0.0, 0.0]
    model, held_out = planted_model(), planted_examples(32, seed=1)
    means = Means(mean_table(model, planted_examples(64)))
    closed = torch.ones(1, 2, 4, dtype=torch.float64)
    for head in REDUNDANT:
        closed[0][head] = 0
    as_it_is = evaluate(model, held_out).log_probability.item()
    assert evaluate(model, held_out, closed, replacements=means).log_probability.item() == pytest.approx(
        as_it_is, abs=0.05
    )
    assert evaluate(model, held_out, closed).log_probability.item() < as_it_is - 0.2
