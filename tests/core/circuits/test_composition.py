"""Composition against products formed in full, and the published figure's erratum."""

from __future__ import annotations

import math

import pytest
import torch

from headscope.core.circuits.composition import baseline, composition
from headscope.core.circuits.weights import LayerWeights, Processing, read_weights
from headscope.core.model.bridge import BridgedModel


def direct(one: LayerWeights, a: int, two: LayerWeights, b: int) -> list[float]:
    """Q, K and V as the formulas stand, with d_model x d_model matrices."""
    ov_1, ov_2 = one.W_V[a] @ one.W_O[a], two.W_V[b] @ two.W_O[b]
    qk_2 = two.W_Q[b] @ two.W_K[b].T
    return [float((ov_1 @ right).norm() / (ov_1.norm() * right.norm())) for right in (qk_2, qk_2.T, ov_2)]


@pytest.mark.parametrize("processing", ["raw", "folded"])
def test_every_pair_equals_the_direct_form(model: BridgedModel, processing: Processing) -> None:
    weights = read_weights(model, processing)
    scores = composition(weights).scores
    layers = list(weights.layers())
    for later in range(model.info.n_layers):
        for earlier in range(model.info.n_layers):
            block = scores[:, earlier, :, later]
            if earlier >= later:
                assert block.isnan().all(), "a pair in one layer, or backwards, has no composition"
                continue
            for a in range(4):
                for b in range(4):
                    wanted = direct(layers[earlier], a, layers[later], b)
                    assert block[:, a, b].tolist() == pytest.approx(wanted, rel=1e-4)


def test_a_cyclic_reordering_is_another_number(attention_only: BridgedModel) -> None:
    """The erratum of the published figure: ||O1 W_QK2 V1|| is not ||V1 O1 W_QK2||."""
    weights = read_weights(attention_only, dtype=torch.float64)
    one, two = weights.layers()
    score = composition(weights).scores[0, 0, 1, 1, 2].item()
    W_V, W_O, W_QK = one.W_V[1], one.W_O[1], two.W_Q[2] @ two.W_K[2].T
    cyclic = (W_O @ W_QK @ W_V).norm() / ((W_V @ W_O).norm() * W_QK.norm())
    assert score == pytest.approx(direct(one, 1, two, 2)[0], rel=1e-9)
    assert abs(cyclic.item() - score) > 0.02 * score


def test_the_baseline_is_the_mean_of_random_matrices() -> None:
    generator = torch.Generator().manual_seed(5)
    scores = []
    for _ in range(200):
        V1, Q2, K2 = (torch.randn(40, 8, generator=generator) for _ in range(3))
        O1 = torch.randn(8, 40, generator=generator)
        scores.append((V1 @ O1 @ Q2 @ K2.T).norm() / ((V1 @ O1).norm() * (Q2 @ K2.T).norm()))
    assert baseline(40, 8) == pytest.approx(torch.stack(scores).mean().item(), rel=0.02)
    assert baseline(40, 8) == pytest.approx(1 / math.sqrt(40), rel=0.05)


def test_a_dead_head_composes_with_nothing_and_spoils_nothing(attention_only: BridgedModel) -> None:
    weights = read_weights(attention_only)
    layers = list(weights.layers())
    layers[0].W_O[1] = 0
    weights.layers = lambda: iter(layers)  # type: ignore[method-assign]
    scores = composition(weights).scores
    assert scores[:, 0, 1, 1].isnan().all()
    assert scores[:, 0, 0, 1].isfinite().all()


def test_a_head_that_reads_only_what_another_writes_composes_fully(attention_only: BridgedModel) -> None:
    weights = read_weights(attention_only, "raw", torch.float64)
    one, two = weights.layers()
    # the earlier head writes one direction; the later head's keys read just that one
    direction = torch.zeros(24, dtype=torch.float64)
    direction[3] = 1
    one.W_O[0] = torch.outer(one.W_O[0][:, 0], direction)
    two.W_K[1] = torch.outer(direction, two.W_K[1][0])
    weights.layers = lambda: iter([one, two])  # type: ignore[method-assign]
    found = composition(weights)
    assert found.scores[1, 0, 0, 1, 1].item() == pytest.approx(1)
    assert found.above[1, 0, 0, 1, 1].item() == pytest.approx(1 - found.baseline)
