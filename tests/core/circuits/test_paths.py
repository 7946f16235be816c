"""Path terms sum to the logits, and each is what a plain computation of that path gives."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from core.circuits.conftest import load, save
from headscope.core.circuits.eigen import eigenvalues
from headscope.core.circuits.frozen import SOURCES, Frozen, freeze
from headscope.core.circuits.importance import importance
from headscope.core.circuits.paths import (
    NONE,
    Terms,
    expand,
    stream_by_order,
    virtual_pattern,
    virtual_spectrum_matrix,
)
from headscope.core.circuits.weights import Weights, read_weights
from headscope.core.model.bridge import BridgedModel
from headscope.errors import Invalid

IDS = [3, 14, 15, 9, 26, 5, 35, 8, 9, 7]
ALL = torch.arange(50)


@pytest.fixture(scope="module")
def weights(attention_only: BridgedModel) -> Weights:
    return read_weights(attention_only, dtype=torch.float64)


@pytest.fixture(scope="module")
def frozen(weights: Weights) -> Frozen:
    return freeze(weights, IDS)


def capped(model: BridgedModel, logits: torch.Tensor) -> torch.Tensor:
    cap = model.bridge.cfg.output_logits_soft_cap or -1
    return cap * torch.tanh(logits / cap) if cap > 0 else logits


def test_terms_sum_to_every_logit(attention_only: BridgedModel, weights: Weights, frozen: Frozen) -> None:
    logits = attention_only.logits(torch.tensor([IDS]))[0]
    for at in (0, 4, 9):
        found = expand(weights, frozen, at, ALL)
        torch.testing.assert_close(found.total, logits[at], atol=1e-9, rtol=1e-9)
        assert len(found.values) == (1 + 8 + 16) * len(SOURCES)
        assert not found.longer.any()
        assert not found.mlp.any()


def test_single_precision_sums_to_the_logits_too(attention_only: BridgedModel) -> None:
    weights = read_weights(attention_only)
    found = expand(weights, freeze(weights, IDS), 7, ALL)
    logits = attention_only.logits(torch.tensor([IDS]))[0, 7]
    torch.testing.assert_close(found.total.double(), logits, atol=1e-4, rtol=0)


@pytest.mark.parametrize("kind", ["gpt2", "llama", "gemma2"])
def test_without_mlps_every_kind_of_model_is_a_sum_of_paths(kind: str, tmp_path: Path) -> None:
    """Norms before and behind, grouped queries, rotary positions: the same model with its MLPs silenced."""
    model = load(save(kind, tmp_path, without_mlp=True), "float64")
    weights = read_weights(model, dtype=torch.float64)
    found = expand(weights, freeze(weights, IDS), 9, ALL)
    logits = model.logits(torch.tensor([IDS]))[0, 9]
    torch.testing.assert_close(capped(model, found.total), logits, atol=1e-5, rtol=1e-5)
    if kind != "gpt2":  # its MLP's bias is a constant, which nothing reads as an attention path
        assert float(found.mlp.abs().max()) < 1e-5 * float(found.total.abs().max())
    assert float(found.longer.abs().max()) > 0, "three layers have paths of three heads"


def test_what_goes_through_mlps_is_named(model: BridgedModel) -> None:
    weights = read_weights(model)
    found = expand(weights, freeze(weights, IDS), 9, ALL)
    logits = model.logits(torch.tensor([IDS]))[0, 9]
    torch.testing.assert_close(capped(model, found.total), logits, atol=2e-3, rtol=2e-3)
    assert bool(found.mlp.any()) == (not model.bridge.cfg.attn_only)


def value(found: Terms, first: int, second: int, source: str) -> torch.Tensor:
    place = (found.first == first) & (found.second == second) & (found.source == SOURCES.index(source))
    assert place.sum() == 1
    return found.values[place][0]


def test_single_terms_are_what_their_path_computes(weights: Weights, frozen: Frozen) -> None:
    at = 6
    found = expand(weights, frozen, at, ALL)
    one, two = weights.layers()
    token = weights.W_E[torch.tensor(IDS)]
    read = frozen.final_scale[at] * weights.W_U

    def head(stream: torch.Tensor, layer: int, number: int) -> torch.Tensor:
        part = (one, two)[layer]
        mixed = frozen.patterns[layer, number] @ (frozen.scale[layer][:, None] * stream)
        return mixed @ part.W_V[number] @ part.W_O[number]

    torch.testing.assert_close(value(found, NONE, NONE, "token"), token[at] @ read)
    torch.testing.assert_close(value(found, 2, NONE, "token"), head(token, 0, 2)[at] @ read)
    torch.testing.assert_close(value(found, 4 + 3, NONE, "token"), head(token, 1, 3)[at] @ read)
    both = head(head(token, 0, 1), 1, 3)
    torch.testing.assert_close(value(found, 1, 4 + 3, "token"), both[at] @ read)
    bias = (one.b_V[1] @ one.W_O[1]).expand(len(IDS), -1)
    torch.testing.assert_close(value(found, 1, 4 + 3, "bias"), head(bias, 1, 3)[at] @ read)


def test_the_virtual_heads_pattern_and_matrix_give_its_term(weights: Weights, frozen: Frozen) -> None:
    """With all norm scales 1 in between, A2 A1 and W_OV1 W_OV2 are the whole of it."""
    ones = torch.ones_like(frozen.scale)
    plain = Frozen(**{**vars(frozen), "scale": ones})
    one, two = weights.layers()
    matrix = one.W_V[1] @ one.W_O[1] @ two.W_V[3] @ two.W_O[3]
    mixed = virtual_pattern(plain, (0, 1), (1, 3)) @ weights.W_E[torch.tensor(IDS)]
    wanted = plain.final_scale[8] * (mixed @ matrix)[8] @ weights.W_U
    found = expand(weights, plain, 8, ALL)
    torch.testing.assert_close(value(found, 1, 4 + 3, "token"), wanted)
    spectrum = eigenvalues(virtual_spectrum_matrix(weights, (0, 1), (1, 3)))
    whole = torch.linalg.eigvals(weights.W_E @ matrix @ weights.W_U)
    torch.testing.assert_close(spectrum[0].abs(), whole.abs().max())
    torch.testing.assert_close(spectrum.sum(), whole.sum())


def test_a_difference_of_two_tokens(weights: Weights, frozen: Frozen) -> None:
    both = expand(weights, frozen, 5, torch.tensor([7, 9]))
    difference = expand(weights, frozen, 5, torch.tensor([7]), against=9)
    torch.testing.assert_close(difference.values[:, 0], both.values[:, 0] - both.values[:, 1])


def test_orders_sum_to_the_stream(weights: Weights, frozen: Frozen) -> None:
    torch.testing.assert_close(stream_by_order(weights, frozen).sum(0), frozen.final)


def test_importance_is_a_loss_with_terms_left_out(
    attention_only: BridgedModel, weights: Weights, frozen: Frozen
) -> None:
    found = importance(weights, frozen)
    logits = attention_only.logits(torch.tensor([IDS]))[0]
    model_loss = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(IDS[1:]))
    assert float(found.orders[-1]) == pytest.approx(float(model_loss))

    def loss(kept: torch.Tensor) -> float:
        rows = [expand(weights, frozen, at, ALL).values[kept].sum(0) for at in range(len(IDS) - 1)]
        return float(torch.nn.functional.cross_entropy(torch.stack(rows), torch.tensor(IDS[1:])))

    terms = expand(weights, frozen, 0, ALL)
    order = (terms.first >= 0).long() + (terms.second >= 0).long()
    for number in range(3):
        assert float(found.orders[number]) == pytest.approx(loss(order <= number))
    single = (terms.first == 2) & (terms.second == NONE)
    without = loss((order <= 1) & ~single)
    assert float(found.heads[0, 2]) == pytest.approx(without - float(found.orders[1]))
    pair = (terms.first == 1) & (terms.second == 4 + 3)
    without = loss(~pair)
    assert float(found.virtual[0, 1, 1, 3]) == pytest.approx(without - float(found.orders[2]))
    assert found.virtual[0, :, 0].isnan().all()


def test_only_scored_tokens_count(attention_only: BridgedModel, weights: Weights, frozen: Frozen) -> None:
    found = importance(weights, frozen, scored=[2, 4])
    losses = -attention_only.logits(torch.tensor([IDS]))[0].log_softmax(-1)
    wanted = (losses[1, IDS[2]] + losses[3, IDS[4]]) / 2
    assert float(found.orders[-1]) == pytest.approx(float(wanted))


def test_with_mlps_the_last_orders_loss_is_the_models(grouped: BridgedModel) -> None:
    weights = read_weights(grouped, dtype=torch.float64)
    found = importance(weights, freeze(weights, IDS))
    logits = grouped.logits(torch.tensor([IDS]))[0]
    wanted = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(IDS[1:]))
    assert float(found.orders[-1]) == pytest.approx(float(wanted), rel=1e-5)
    assert len(found.orders) == grouped.info.n_layers + 1


def test_raw_weights_and_long_prompts_are_refused(attention_only: BridgedModel, weights: Weights) -> None:
    with pytest.raises(Invalid, match="folded"):
        freeze(read_weights(attention_only, "raw"), IDS)
    for ids in ([], [1] * 33):
        with pytest.raises(Invalid, match="context of 32"):
            freeze(weights, ids)
