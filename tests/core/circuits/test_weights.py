"""Weights read head by head: they give the model's own numbers, folded or raw, or are refused."""

from __future__ import annotations

import copy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from core.circuits.conftest import load, save
from headscope.core.circuits.weights import read_weights
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.norms import measure_norm, norm_scale
from headscope.errors import Invalid, Refused

TOKENS = torch.tensor([[3, 14, 15, 9, 26, 5, 35, 8, 9, 7]])


@pytest.fixture(scope="module", params=("attention-only", "gpt2", "llama", "gemma2"))
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BridgedModel:
    return load(save(request.param, tmp_path_factory.mktemp(request.param)), "float64")


def inputs(model: BridgedModel, hook: Any) -> torch.Tensor:
    """What passes a hook point of the bridge while the prompt runs through it."""
    seen: list[torch.Tensor] = []
    handle = hook.register_forward_hook(lambda _, __, out: seen.append(out.detach()))
    with torch.no_grad():
        model.bridge.original_model(input_ids=TOKENS, use_cache=False)
    handle.remove()
    return seen[0][0]


def test_folded_values_and_outputs_are_the_models_own(model: BridgedModel) -> None:
    """Embedding, positions, the norm's scale, folded W_V and b_V give the very z of the first layer."""
    weights = read_weights(model, "folded", torch.float64)
    stream = weights.W_E[TOKENS[0]]
    if weights.W_pos is not None:
        stream = stream + weights.W_pos[: TOKENS.shape[1]]
    scale = norm_scale(model.bridge.blocks[0].ln1, stream)
    layer = weights.layer(0)
    values = scale[:, None] * stream @ layer.W_V + layer.b_V[:, None]
    with torch.no_grad(), model.captured((0,), ("pattern", "z")) as found:
        model.logits(TOKENS)
    z = found["0.pattern"][0] @ values
    torch.testing.assert_close(z.transpose(0, 1), found["0.z"][0], rtol=1e-5, atol=1e-6)


def test_raw_weights_read_what_the_norm_gives(model: BridgedModel) -> None:
    normed = inputs(model, model.bridge.blocks[1].ln1.hook_out)
    layer = read_weights(model, "raw", torch.float64).layer(1)
    values = normed @ layer.W_V + layer.b_V[:, None]
    with torch.no_grad(), model.captured((1,), ("pattern", "z")) as found:
        model.logits(TOKENS)
    z = (found["1.pattern"][0] @ values).transpose(0, 1)
    torch.testing.assert_close(z, found["1.z"][0], rtol=1e-5, atol=1e-6)


def test_the_folded_unembedding_gives_the_logits(model: BridgedModel) -> None:
    weights = read_weights(model, "folded", torch.float64)
    stream = inputs(model, model.bridge.ln_final.hook_in)
    logits = norm_scale(model.bridge.ln_final, stream)[:, None] * stream @ weights.W_U + weights.b_U
    cap = model.bridge.cfg.output_logits_soft_cap or -1
    logits = cap * torch.tanh(logits / cap) if cap > 0 else logits
    torch.testing.assert_close(logits, model.logits(TOKENS)[0], rtol=1e-5, atol=1e-5)


def test_a_pattern_from_folded_queries_and_keys(model: BridgedModel) -> None:
    """With learned positions the scores of layer 0 are exact; the query's bias matters too."""
    weights = read_weights(model, "folded", torch.float64)
    if weights.W_pos is None:
        pytest.skip("rotary positions turn queries and keys")
    stream = weights.W_E[TOKENS[0]] + weights.W_pos[: TOKENS.shape[1]]
    stream = norm_scale(model.bridge.blocks[0].ln1, stream)[:, None] * stream
    layer = weights.layer(0)
    scores = (stream @ layer.W_Q + layer.b_Q[:, None]) @ (stream @ layer.W_K + layer.b_K[:, None]).mT
    scores = scores / model.info.d_head**0.5
    later = torch.ones(len(stream), len(stream)).triu(1).bool()
    with torch.no_grad(), model.captured((0,), ("pattern",)) as found:
        model.logits(TOKENS)
    torch.testing.assert_close(scores.masked_fill(later, -torch.inf).softmax(-1), found["0.pattern"][0])


def test_both_gram_matrices_are_of_the_whole_tables(model: BridgedModel) -> None:
    for processing in ("raw", "folded"):
        weights = read_weights(model, processing, torch.float64)
        torch.testing.assert_close(weights.gram_ue, weights.W_U @ weights.W_E)
        torch.testing.assert_close(weights.gram_ee, weights.W_E.T @ weights.W_E)


def test_what_norms_nothing_is_a_norm_of_no_effect() -> None:
    """The planted models have none: whatever stands in its place gives back what it gets."""
    stream = torch.randn(5, 24, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 30
    nothing = torch.nn.Identity()
    found = norm_scale(nothing, stream)[:, None] * measure_norm(nothing, 24).rows(stream)
    torch.testing.assert_close(found, stream, rtol=1e-8, atol=1e-8)


def test_a_measured_norm_is_what_the_norm_does(model: BridgedModel) -> None:
    norm = model.bridge.blocks[1].ln1
    stream = torch.randn(5, 24, dtype=torch.float64)
    fold = measure_norm(norm, 24)
    found = norm_scale(norm, stream)[:, None] * fold.rows(stream) + fold.shift
    torch.testing.assert_close(found, norm.original_component(stream), rtol=1e-5, atol=1e-6)


def test_limits_say_what_is_left_out(model: BridgedModel) -> None:
    said = " ".join(read_weights(model).limits)
    cfg = model.bridge.cfg
    assert ("position-free" in said) == (cfg.positional_embedding_type == "rotary")
    assert ("capped" in said) == (model.info.architecture == "Gemma2ForCausalLM")
    assert ("A norm follows attention" in said) == (model.info.architecture == "Gemma2ForCausalLM")
    assert ("MLPs" in said) == (not cfg.attn_only)


def test_half_precision_is_upcast_and_never_computed_in(tmp_path: Path) -> None:
    model = load(save("attention-only", tmp_path, dtype=torch.bfloat16), "bfloat16")
    weights = read_weights(model)
    assert weights.layer(0).W_Q.dtype == weights.gram_ue.dtype == torch.float32
    with pytest.raises(Invalid, match="float32 or float64"):
        read_weights(model, dtype=torch.bfloat16)


def with_bridge(model: BridgedModel, **parts: Any) -> BridgedModel:
    """The model as it would be if its bridge had only these parts."""
    other = copy.copy(model)
    other.__dict__["bridge"] = SimpleNamespace(**parts)
    return other


def test_what_has_no_weights_to_read_is_refused(grouped_copy: BridgedModel) -> None:
    with pytest.raises(Refused, match="no token embedding") as refused:
        read_weights(with_bridge(grouped_copy, blocks=[]))
    assert "still apply" in refused.value.remedy
    with pytest.raises(Refused, match="encoder"):
        read_weights(with_bridge(grouped_copy, embed=0, unembed=0, blocks=[], encoder_blocks=[]))


def test_layers_without_attention_are_named_by_the_models_own_numbers(grouped_copy: BridgedModel) -> None:
    blocks = [SimpleNamespace(submodules={"attn": None}), SimpleNamespace(submodules={"mixer": None})]
    with pytest.raises(Refused, match="Layers 1, 3"):
        read_weights(with_bridge(grouped_copy, embed=0, unembed=0, blocks=[*blocks, *blocks]))


@pytest.fixture
def grouped_copy(tmp_path: Path) -> BridgedModel:
    return load(save("llama", tmp_path))


def test_unknown_layers_are_refused(grouped_copy: BridgedModel) -> None:
    with pytest.raises(Invalid, match="Layer 3 of 3"):
        read_weights(grouped_copy).layer(3)


def test_heads_of_a_group_share_keys_and_values(grouped_copy: BridgedModel) -> None:
    layer = read_weights(grouped_copy).layer(2)
    assert torch.equal(layer.W_K[0], layer.W_K[1])
    assert not torch.equal(layer.W_K[1], layer.W_K[2])
    assert not torch.equal(layer.W_Q[0], layer.W_Q[1])
