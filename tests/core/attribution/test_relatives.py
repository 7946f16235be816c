"""Leave-one-out, attribution patching, integrated gradients, direct shares: plain float64 code, identities,
TransformerLens.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core import reference
from headscope.core.attribution.direct import direct_shares
from headscope.core.attribution.logit import attribute
from headscope.core.attribution.path_integral import integrated_gradients
from headscope.core.attribution.relatives import (
    attribution_patching,
    leave_one_out,
    repeated,
)
from headscope.core.model.batches import budget_for, micro_batches
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.load import load_model
from micro.model import MicroExample, random_examples, random_model
from micro.planted import HARMFUL, NEEDED, REDUNDANT, planted_examples, planted_model

EXAMPLES = [
    MicroExample((0, 7, 8, 9, 7, 8, 9, 11), (5, 7)),
    MicroExample((0, 12, 8, 11, 7, 5), (5,)),
    MicroExample((0, 9, 9, 7, 11, 8), (5,), (12,)),
]


@pytest.fixture(scope="module")
def model(tiny_folder: Path) -> BridgedModel:
    loaded = load_model(tiny_folder, name="tiny", device="cpu", dtype="float64")
    assert isinstance(loaded, BridgedModel)
    return loaded


def loss_by_hand(folder: Path, example: MicroExample, gates: np.ndarray) -> float:
    losses = reference.losses(reference.forward(folder, example.tokens, gates)[0], example.tokens)
    return float(np.mean([losses[position] for position in example.targets]))


def test_leave_one_out_is_another_implementations(model: BridgedModel, tiny_folder: Path) -> None:
    shape = (model.info.n_layers, model.info.n_heads)
    found = leave_one_out(model, EXAMPLES, range(shape[0]))
    assert found.shape == (3, *shape)
    for number, example in enumerate(EXAMPLES[:2]):
        base = loss_by_hand(tiny_folder, example, np.ones(shape))
        for layer, head in ((0, 1), (1, 3), (shape[0] - 1, 0)):
            gates = np.ones(shape)
            gates[layer, head] = 0
            rise = loss_by_hand(tiny_folder, example, gates) - base
            assert float(found[number, layer, head]) == pytest.approx(rise, abs=1e-5)
    alone = leave_one_out(model, EXAMPLES, [1])
    torch.testing.assert_close(alone[:, 0], found[:, 1])


def test_attribution_patching_is_a_difference_of_losses(model: BridgedModel, tiny_folder: Path) -> None:
    shape, step = (model.info.n_layers, model.info.n_heads), 1e-3
    for opened in (1.0, 0.4):
        losses, found = attribution_patching(model, EXAMPLES[:1], opened)
        assert float(losses[0]) == pytest.approx(
            loss_by_hand(tiny_folder, EXAMPLES[0], np.full(shape, opened)), abs=1e-5
        )
        for layer, head in ((0, 2), (shape[0] - 1, 1)):
            sides = []
            for side in (-step, step):
                gates = np.full(shape, opened)
                gates[layer, head] += side
                sides.append(loss_by_hand(tiny_folder, EXAMPLES[0], gates))
            slope = (sides[0] - sides[1]) / (2 * step)
            assert float(found[0, layer, head]) == pytest.approx(slope, rel=1e-3, abs=1e-6)


def test_integrated_gradients_sum_to_what_opening_all_heads_gains(model: BridgedModel) -> None:
    """Also where a norm follows attention, which undoes the common gate until all heads are nearly shut."""
    losses = attribution_patching(model, EXAMPLES, 0.0)[0], attribution_patching(model, EXAMPLES)[0]
    found = integrated_gradients(model, EXAMPLES, losses, 8, most=512, tolerance=1e-3)
    assert found.converged.all()
    torch.testing.assert_close(found.parts.sum((1, 2)), losses[0] - losses[1], rtol=2e-3, atol=2e-3)


def test_an_example_is_refined_for_itself(model: BridgedModel) -> None:
    losses = attribution_patching(model, EXAMPLES, 0.0)[0], attribution_patching(model, EXAMPLES)[0]
    together = integrated_gradients(model, EXAMPLES, losses, 2, tolerance=1e-3)
    for number, example in enumerate(EXAMPLES):
        own = losses[0][number : number + 1], losses[1][number : number + 1]
        alone = integrated_gradients(model, [example], own, 2, tolerance=1e-3)
        torch.testing.assert_close(alone.parts[0], together.parts[number], rtol=1e-4, atol=1e-6)
        assert bool(alone.converged[0]) == bool(together.converged[number])


def test_without_room_to_refine_it_is_gauss_legendre_once(model: BridgedModel) -> None:
    losses = attribution_patching(model, EXAMPLES, 0.0)[0], attribution_patching(model, EXAMPLES)[0]
    found = integrated_gradients(model, EXAMPLES, losses, 1, most=1, tolerance=1e-9)
    _, middle = attribution_patching(model, EXAMPLES, 0.5)
    torch.testing.assert_close(found.parts, middle)
    assert not found.converged.any()


def test_transformer_lens_gives_the_same_gradients_and_rises(model: BridgedModel) -> None:
    """Its hooks on z: gradients there times z, and the head's z put to zero."""
    example = EXAMPLES[0]
    tokens = torch.tensor([example.tokens])
    targets = list(example.targets)

    def loss(logits: torch.Tensor) -> torch.Tensor:
        picked = logits[0, [p - 1 for p in targets]].log_softmax(-1)
        return -picked.gather(1, tokens[0, targets][:, None]).mean()

    names = [f"blocks.{layer}.attn.hook_z" for layer in range(model.info.n_layers)]
    kept: dict[int, torch.Tensor] = {}
    added: dict[int, torch.Tensor] = {}

    def keeping(layer: int) -> Any:
        def keep(z: torch.Tensor, hook: Any) -> torch.Tensor:
            kept[layer], added[layer] = z.detach(), torch.zeros_like(z).requires_grad_()
            return z + added[layer]

        return keep

    hooks = [(name, keeping(layer)) for layer, name in enumerate(names)]
    loss(model.bridge.run_with_hooks(tokens, fwd_hooks=hooks)).backward()
    _, found = attribution_patching(model, [example])
    rise = leave_one_out(model, [example], range(model.info.n_layers))
    with torch.no_grad():
        base = float(loss(model.bridge(tokens)))
    for layer, z in kept.items():
        gradient = added[layer].grad
        assert gradient is not None
        estimate = ((0 - z) * gradient).reshape(1, len(example.tokens), 4, -1).sum((1, 3))
        torch.testing.assert_close(found[:, layer], estimate, rtol=1e-4, atol=1e-6)

    def zero(z: torch.Tensor, hook: Any) -> torch.Tensor:
        z = z.clone()
        z.view(1, len(example.tokens), 4, -1)[:, :, 2] = 0
        return z

    with torch.no_grad():
        after = float(loss(model.bridge.run_with_hooks(tokens, fwd_hooks=[(names[1], zero)])))
    assert float(rise[0, 1, 2]) == pytest.approx(after - base, abs=1e-5)


def test_direct_shares_are_those_of_one_token_of_one_prompt(model: BridgedModel) -> None:
    """Less the vocabulary's mean: over all tokens they sum to nothing, and two differ as attribution says."""
    before = EXAMPLES[0].tokens[:5]
    every = [MicroExample((*before, token), (5,)) for token in range(model.info.d_vocab)]
    shares = direct_shares(model, [*every, EXAMPLES[0], EXAMPLES[2]])
    torch.testing.assert_close(shares[: len(every)].sum(0), torch.zeros_like(shares[0]), rtol=0, atol=1e-4)
    differ = attribute(model, before, token=8, against=200).heads
    torch.testing.assert_close(shares[8] - shares[200], differ, rtol=1e-4, atol=1e-5)
    later = attribute(model, EXAMPLES[0].tokens[:7], token=11, against=8).heads
    other = direct_shares(model, [MicroExample((*EXAMPLES[0].tokens[:7], 8), (7,))])[0]
    torch.testing.assert_close(shares[-2], (shares[8] + later + other) / 2, rtol=1e-4, atol=1e-5)
    against = attribute(model, EXAMPLES[2].tokens[:5], token=8, against=12).heads
    torch.testing.assert_close(shares[-1], against, rtol=1e-4, atol=1e-5)


def test_planted_heads_come_out_by_leave_one_out() -> None:
    rise = leave_one_out(planted_model(), planted_examples(12), range(2)).mean(0)
    needed, harmful = [float(rise[at]) for at in NEEDED], [float(rise[at]) for at in HARMFUL]
    assert min(needed) > 1
    assert max(harmful) < -1
    assert max(abs(float(rise[at])) for at in REDUNDANT) < 0.05  # either is enough


def test_batched_equals_one_by_one_and_passes_begin_at_the_heads_layer() -> None:
    model, examples = random_model(layers=3), random_examples(5)
    whole = leave_one_out(model, examples, range(3))
    for number, example in enumerate(examples):
        torch.testing.assert_close(leave_one_out(model, [example], range(3))[0], whole[number])
        torch.testing.assert_close(
            attribution_patching(model, [example])[1][0], attribution_patching(model, examples)[1][number]
        )
    (batch, *_) = micro_batches([(0, 0), (1, 1)], examples, model.info, budget_for(model.device))
    wide = repeated(batch, 3)
    assert wide.where[:, 0].max() == 3 * len(batch.tokens) - 1
    assert wide.weights.sum() == pytest.approx(3 * float(batch.weights.sum()))
