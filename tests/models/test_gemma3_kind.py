"""What Gemma 3 has and Llama hasn't, on random weights, against plain transformers in float64: windows on
some layers, a rotation of their own there, norms on queries and keys, one key/value head, a scaled and tied
embedding.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from headscope.core.attribution.logit import attribute
from headscope.core.circuits.eigen import qk_turned
from headscope.core.circuits.rotary import rotations
from headscope.core.circuits.weights import read_weights
from headscope.core.gating.baking import bake
from headscope.core.gating.gate_vector import gate_vector
from headscope.core.gating.plain_model import gated_model
from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from headscope.core.model.packing import pack
from models.tiny_gemma3 import LAYERS, WINDOW, save_gemma3

IDS = [0, *torch.randint(1, 300, (20,), generator=torch.Generator().manual_seed(1)).tolist()]
"""Longer than two windows."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_gemma3(tmp_path_factory.mktemp("gemma3"))


@pytest.fixture(scope="module")
def model(folder: Path) -> HeadModel:
    return load_model(folder, name="gemma3", device="cpu", dtype="float64")


@pytest.fixture(scope="module")
def plain(folder: Path) -> transformers.PreTrainedModel:
    module: transformers.PreTrainedModel = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float64, attn_implementation="eager"
    )
    return module.eval()


@torch.no_grad()
def test_logits_and_patterns_are_the_plain_models(
    model: HeadModel, plain: transformers.PreTrainedModel
) -> None:
    tokens = torch.tensor([IDS])
    wanted = plain(tokens, output_attentions=True)
    assert torch.allclose(model.logits(tokens), wanted.logits, atol=1e-4)
    read: dict[int, torch.Tensor] = {}
    with model.reading(lambda layer, pattern, _: read.__setitem__(layer, pattern)):
        model.logits(tokens)
    with model.captured(tuple(range(len(LAYERS))), ("pattern",)) as captured:
        model.logits(tokens)
    for layer, kind in enumerate(LAYERS):
        theirs = wanted.attentions[layer]
        assert torch.allclose(read[layer], theirs, atol=1e-4)
        assert torch.allclose(captured[f"{layer}.pattern"], theirs, atol=1e-4)
        beyond = theirs[0, :, -1, : len(IDS) - WINDOW]
        assert bool((beyond == 0).all()) == (kind == "sliding_attention")


@torch.no_grad()
def test_losses_and_targets_past_the_window(model: HeadModel, plain: transformers.PreTrainedModel) -> None:
    tokens = torch.tensor([IDS])
    log_probabilities = plain(tokens).logits[0].log_softmax(-1)
    wanted = -log_probabilities[:-1].gather(1, tokens[0, 1:, None])[:, 0]
    assert torch.allclose(model.losses(tokens)[0, 1:].double(), wanted, atol=1e-5)
    packing = pack([(0, tuple(IDS)), (0, tuple(IDS[:12]))], [(0, len(IDS) - 1), (1, 11)])
    found = model.target_logits(packing, None).log_softmax(-1)
    assert torch.allclose(found[0], log_probabilities[-1], atol=1e-4)
    assert torch.allclose(found[1], log_probabilities[11], atol=1e-4)


@torch.no_grad()
def test_a_continuation_keeps_its_windows(model: HeadModel, plain: transformers.PreTrainedModel) -> None:
    ours = list(model.continued(IDS, 12, lambda logits: int(logits.argmax())))
    theirs = list(IDS)
    for _ in range(12):
        theirs.append(int(plain(torch.tensor([theirs])).logits[0, -1].argmax()))
    assert ours == theirs[len(IDS) :]


@torch.no_grad()
def test_a_gate_is_on_its_own_head_alone(model: HeadModel, plain: transformers.PreTrainedModel) -> None:
    """Closing head 2 of layer 1 is zeroing its twelve columns of the output projection."""
    gates = torch.ones(len(LAYERS), 4, dtype=torch.float64)
    gates[1, 2] = 0
    tokens = torch.tensor([IDS])
    with model.gated(gates):
        found = model.logits(tokens)
    projection = plain.model.layers[1].self_attn.o_proj.weight
    kept = projection.clone()
    projection[:, 24:36] = 0
    wanted = plain(tokens).logits
    projection.copy_(kept)
    assert torch.allclose(found, wanted, atol=1e-4)
    assert not torch.allclose(found, plain(tokens).logits, atol=1e-3)


@torch.no_grad()
def test_gates_on_the_plain_model_and_baked_ones_are_the_same(
    folder: Path, model: HeadModel, plain: transformers.PreTrainedModel, tmp_path: Path
) -> None:
    vector = gate_vector("some", model.info, np.random.default_rng(2).uniform(size=(4, 4)).astype(np.float32))
    gates = torch.from_numpy(vector.gates).double()
    tokens = torch.tensor([IDS])
    with model.gated(gates):
        wanted = model.logits(tokens)
    with gated_model(plain, vector):
        assert torch.allclose(plain(tokens).logits, wanted, atol=1e-4)
    bake(model, folder, vector, tmp_path / "baked")
    baked = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "baked", dtype=torch.float64)
    assert torch.allclose(baked(tokens).logits, wanted, atol=1e-4)


def test_attribution_sums_to_the_logit(model: HeadModel) -> None:
    found = attribute(model, IDS)
    assert found.total == pytest.approx(found.logit, abs=1e-6)


def test_the_embedding_is_scaled_and_tied(model: HeadModel, plain: transformers.PreTrainedModel) -> None:
    weights = read_weights(model, "raw", torch.float64)
    table = plain.get_input_embeddings().weight
    assert torch.allclose(weights.W_E, table * 32**0.5, atol=1e-6)
    assert torch.equal(weights.W_U, table.T)
    assert weights.score_scale(0) == pytest.approx(4)  # of query_pre_attn_scalar, not of the head's width


@torch.no_grad()
def test_layers_with_windows_turn_by_a_rotation_of_their_own(
    model: HeadModel, plain: transformers.PreTrainedModel
) -> None:
    weights = read_weights(model, dtype=torch.float64)
    turned = rotations(weights, 3)
    assert turned is not None
    for layer, base in ((0, 10.0), (1, 1000.0)):
        angles = 3 * base ** -(torch.arange(0, 12, 2, dtype=torch.float64) / 12)
        cosines = torch.diagonal(turned[layer])
        assert torch.allclose(cosines, angles.cos().repeat(2), atol=1e-5)
    values = qk_turned(weights, turned)
    fast = qk_turned(weights, turned[:1].expand(4, -1, -1))
    assert torch.allclose(values[0], fast[0])
    assert not torch.allclose(values[1], fast[1])


def test_what_numbers_from_the_weights_leave_out_is_said(model: HeadModel) -> None:
    said = " ".join(read_weights(model).limits)
    assert "norm of their own" in said
    assert "Layers 0, 2 see the last 8 tokens only" in said
    assert "A norm follows attention" in said
