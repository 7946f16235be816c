"""What is read right is proved; what is broken on purpose loses its capability and no other."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from core.conftest import D_VOCAB, save_tokenizer
from headscope.core.circuits.weights import LayerWeights, Weights
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.capabilities import CAPABILITIES, Proof
from headscope.core.model.load import load_model
from headscope.core.proof import CLAIMS, prove
from headscope.errors import Refused

SIZES = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32, "intermediate_size": 48}
SHARED = {"vocab_size": D_VOCAB, "bos_token_id": 0, "eos_token_id": 0, "max_position_embeddings": 64}


def loaded(folder: Path, dtype: str = "float32") -> BridgedModel:
    model = load_model(folder, name="tiny", dtype=dtype, device="cpu")
    assert isinstance(model, BridgedModel)
    return model


def saved(config: transformers.PretrainedConfig, folder: Path) -> Path:
    save_tokenizer(folder)
    torch.manual_seed(0)
    module = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for weights in module.parameters():
            weights.normal_(0, 0.3)
    module.save_pretrained(folder)
    return folder


def as_class(model: BridgedModel, kind: type[BridgedModel]) -> BridgedModel:
    """The same model, read by another adapter."""
    broken = copy.copy(model)
    broken.__class__ = kind
    return broken


@pytest.fixture(scope="module")
def llama(llama_folder: Path) -> BridgedModel:
    return loaded(llama_folder)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_tiny_models_are_proved_whole(tiny_folder: Path, dtype: str) -> None:
    proof = prove(loaded(tiny_folder, dtype))
    assert [check.reason for check in proof.checks if check.verdict != "holds"] == []
    assert {check.capability for check in proof.checks} == set(CAPABILITIES)
    assert len(proof.checks) == len(CLAIMS)
    assert (proof.dtype, proof.revision != "") == (dtype, True)


def test_a_proof_is_plain_json(llama: BridgedModel) -> None:
    proof = prove(llama)
    assert Proof.from_json(json.loads(json.dumps(proof.to_json()))) == proof


def test_a_proof_leaves_no_trace(llama: BridgedModel) -> None:
    before = llama.logits(torch.tensor([[5, 6, 7]]))
    prove(llama)
    assert torch.equal(llama.logits(torch.tensor([[5, 6, 7]])), before)
    assert "bridge" not in llama.__dict__, "its split weights would stay in memory"


class Biased(BridgedModel):
    """Shows patterns with a bias that the pass doesn't have."""

    @contextmanager
    def reading(self, visit: Callable[..., None], *args: Any, **kwargs: Any) -> Iterator[None]:
        def biased(layer: int, pattern: torch.Tensor, norms: torch.Tensor | None) -> None:
            distance = torch.arange(pattern.shape[-1])
            visit(layer, (pattern.log() + 0.1 * distance).softmax(-1), norms)

        with super().reading(biased, *args, **kwargs):
            yield


class Swapped(BridgedModel):
    """Gates act on the next head."""

    @contextmanager
    def gated(self, gates: torch.Tensor, *args: Any) -> Iterator[None]:
        with super().gated(gates.roll(1, -1), *args):
            yield


class Deaf(BridgedModel):
    """Gates do nothing."""

    @contextmanager
    def gated(self, *_: Any) -> Iterator[None]:
        yield


class Drifting(BridgedModel):
    """Predicts a little beside what the plain model does."""

    def logits(self, tokens: torch.Tensor) -> torch.Tensor:
        return super().logits(tokens) * 1.01


@pytest.mark.parametrize(
    ("kind", "lost"),
    [
        (Biased, {"patterns"}),
        (Swapped, {"gating"}),
        (Deaf, {"gating"}),
        (Drifting, set(CAPABILITIES)),
    ],
)
def test_what_is_read_wrong_loses_its_capability_alone(
    llama: BridgedModel, kind: type[BridgedModel], lost: set[str]
) -> None:
    proof = prove(as_class(llama, kind))
    assert {capability for capability in CAPABILITIES if not proof.has(capability)} == lost
    assert not proof.whole


@pytest.mark.parametrize("matrix", ["W_Q", "W_K", "W_V", "W_O"])
def test_a_matrix_of_another_head_loses_circuits(
    llama: BridgedModel, monkeypatch: pytest.MonkeyPatch, matrix: str
) -> None:
    read = Weights.layer

    def rolled(weights: Weights, layer: int) -> LayerWeights:
        found = read(weights, layer)
        turned = getattr(found, matrix).roll(2, 0)  # past the heads of a group
        return replace(found, **{matrix: turned})

    monkeypatch.setattr(Weights, "layer", rolled)
    proof = prove(llama)
    assert [capability for capability in CAPABILITIES if not proof.has(capability)] == ["circuits"]
    assert any(matrix in check.name for check in proof.checks if check.verdict == "fails")


def test_what_is_lost_is_refused_by_name_and_figure(llama: BridgedModel) -> None:
    proof = prove(as_class(llama, Biased))
    proof.require(["gating", "attribution"])
    with pytest.raises(Refused, match=r"tiny can't give attention patterns: .* differs by 0\.\d+") as refused:
        proof.require(["gating", "patterns"])
    assert refused.value.code == "not-proved"
    assert "gates on heads" in refused.value.remedy


class Ahead(BridgedModel):
    """Predicts from what comes later too."""

    def logits(self, tokens: torch.Tensor) -> torch.Tensor:
        logits = super().logits(tokens)
        return logits + 0.01 * logits.mean(1, keepdim=True)


def test_a_model_that_looks_ahead_can_do_nothing(llama: BridgedModel) -> None:
    proof = prove(as_class(llama, Ahead))
    assert [check.verdict for check in proof.checks if check.name == "causal"] == ["fails"]
    assert not any(proof.has(capability) for capability in CAPABILITIES)
    with pytest.raises(Refused, match="Choose another model"):
        proof.require([])


def test_clipped_values_are_a_stated_limit(tmp_path: Path) -> None:
    config = transformers.OlmoConfig(clip_qkv=0.3, **SIZES, **SHARED)
    proof = prove(loaded(saved(config, tmp_path)))
    assert proof.has("circuits")
    assert "±0.3 are cut" in " ".join(proof.limits("circuits"))


def test_weights_that_are_no_numbers_fail(llama_folder: Path) -> None:
    model = loaded(llama_folder)
    with torch.no_grad():
        next(model.module.parameters())[:] = torch.nan
    assert not prove(model).has("logits")


def test_the_documentation_lists_every_check() -> None:
    page = (Path(__file__).parents[3] / "docs" / "design" / "models.md").read_text()
    assert [claim.title for claim in CLAIMS if f"| {claim.title}" not in page] == []
