"""Tiny random Llama 3 models from disk: scaled rotary positions, grouped queries, embeddings tied or not."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers

from core.conftest import D_VOCAB, save_tokenizer
from core.plain_llama import PlainLlama
from headscope.core.gating.fit import initial_logits, loss_and_gradient
from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from micro.model import MicroExample

ROPE = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
    "rope_theta": 16.0,
}
"""Pairs of a head of 8 turn once in 6, 13, 25 and 50 positions: kept, between (two of them), and scaled."""


def save_llama3(folder: Path, *, tied: bool, positions: int = 64) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    save_tokenizer(folder)
    config = transformers.LlamaConfig(
        vocab_size=D_VOCAB, hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, head_dim=8, max_position_embeddings=positions, rope_parameters=dict(ROPE),
        tie_word_embeddings=tied, bos_token_id=0, eos_token_id=0, pad_token_id=0,
    )  # fmt: skip
    torch.manual_seed(1)
    module = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for weights in module.parameters():
            weights.normal_(1 if weights.ndim == 1 else 0, 0.2)
    module.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=[True, False], ids=["tied", "untied"])
def llama3(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_llama3(tmp_path_factory.mktemp("llama3"), tied=request.param)


@pytest.fixture(scope="module")
def model(llama3: Path) -> HeadModel:
    return load_model(llama3, name="llama3", device="cpu")


@pytest.fixture(scope="module")
def tokens() -> torch.Tensor:
    return torch.randint(1, D_VOCAB, (2, 40), generator=torch.Generator().manual_seed(0))


def test_gates_of_one_are_transformers_own_pass_to_the_bit(
    llama3: Path, model: HeadModel, tokens: torch.Tensor
) -> None:
    theirs = transformers.AutoModelForCausalLM.from_pretrained(llama3, dtype=torch.float32).eval()
    with torch.no_grad():
        expected = theirs(tokens).logits
        with model.gated(torch.ones(3, 4)):
            assert torch.equal(model.logits(tokens), expected)


def test_logits_are_those_of_plain_float64(llama3: Path, model: HeadModel, tokens: torch.Tensor) -> None:
    gates = torch.rand(3, 4, generator=torch.Generator().manual_seed(1))
    with torch.no_grad(), model.gated(gates):
        found = model.logits(tokens)
    for row, line in enumerate(tokens.tolist()):
        expected = PlainLlama(llama3)(line, gates.double()).float()
        torch.testing.assert_close(found[row], expected, rtol=1e-3, atol=1e-4)


def test_without_the_scaling_it_would_be_another_model(llama3: Path, tokens: torch.Tensor) -> None:
    plain, ones = PlainLlama(llama3), torch.ones(3, 4, dtype=torch.float64)
    scaled = plain(tokens[0].tolist(), ones)
    plain.config["rope_parameters"]["factor"] = 1.0
    assert (plain(tokens[0].tolist(), ones) - scaled).abs().max() > 1e-2


def test_a_step_is_the_gradient_of_plain_float64(llama3: Path, model: HeadModel) -> None:
    """Two seeds, rows that share beginnings, one or more target tokens: packed against row by row."""
    assert model.packs()
    lines = [(3, 8, 8, 5, 9, 2), (3, 8, 8, 7, 1), (3, 8, 4, 4, 4, 4, 6, 250), tuple(range(1, 41))]
    examples = [MicroExample(line, (len(line) - 2, len(line) - 1)[n % 2 :]) for n, line in enumerate(lines)]
    rows = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (1, 3)]
    logits = initial_logits([0, 1], 3, 4)
    loss, gradient = loss_and_gradient(model, examples, rows, logits)
    plain, leaf = PlainLlama(llama3), logits.double().requires_grad_()
    total = torch.zeros(2, dtype=torch.float64)
    for seed, index in rows:
        tokens, targets = examples[index].tokens, examples[index].targets
        logp = plain(tokens, leaf[seed].sigmoid()).log_softmax(dim=1)
        total[seed] = total[seed] - torch.stack([logp[p - 1, tokens[p]] for p in targets]).mean() / 3
    total.sum().backward()
    torch.testing.assert_close(loss, total.detach(), rtol=1e-5, atol=1e-5)
    assert leaf.grad is not None
    assert (leaf.grad.abs() > 1e-6).all()
    torch.testing.assert_close(gradient.double(), leaf.grad, rtol=1e-3, atol=1e-5)
