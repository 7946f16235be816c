"""Closed heads on texts: means, and other texts, the same in a plain transformers model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

import headscope
from core.plain_ablation import mixed_values
from headscope.core.gating.ablation import Ablation
from headscope.core.gating.baking import bake
from headscope.core.gating.gate_file import read_gates, write_gates
from headscope.core.gating.gate_vector import gate_vector
from headscope.core.gating.text_replacements import of_text
from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from headscope.errors import Invalid
from micro.model import random_model

TEXTS = [[0, 5, 17, 250, 9], [0, 8, 44], [0, 7, 7, 7, 31, 2, 12]]
TOKENS = torch.tensor([[0, 5, 17, 250, 9, 9, 31, 2], [0, 8, 44, 3, 120, 7, 6, 5]])


@pytest.fixture(scope="module")
def llama(llama_folder: Path) -> HeadModel:
    return load_model(llama_folder, name="tiny", dtype="float32", device="cpu", attention="sdpa")


@pytest.fixture(scope="module")
def plain(llama_folder: Path) -> transformers.PreTrainedModel:
    return transformers.AutoModelForCausalLM.from_pretrained(llama_folder).eval()


def some_gates(model: HeadModel) -> np.ndarray:
    info = model.info
    return np.random.default_rng(0).uniform(size=(info.n_layers, info.n_heads)).astype(np.float32)


def test_a_mean_is_over_all_positions_first_tokens_apart() -> None:
    model = random_model()
    texts = [[1, 2, 3, 4], [5, 6], [7]]
    found = of_text(model, "mean", texts)
    assert found is not None
    assert found.index is None
    z = [mixed_values(model, text) for text in texts[:2]]
    first = torch.stack([of[:, :, 0] for of in z]).mean(dim=0)
    later = torch.cat([of[:, :, 1:] for of in z], dim=2).mean(dim=2)
    torch.testing.assert_close(found.table, torch.stack([first, later]).float())


def test_resampling_takes_one_text_drawn_by_the_seed() -> None:
    model = random_model()
    texts = [[1, 2, 3, 4], [5, 6], [7, 8, 9]]
    found = [of_text(model, "resample", texts, seed) for seed in range(20)]
    lengths = {len(each.table) for each in found if each is not None}
    assert lengths == {4, 2, 3}
    again = of_text(model, "resample", texts, 3)
    assert again is not None
    assert found[3] is not None
    assert torch.equal(again.table, found[3].table)


def test_zero_needs_nothing_and_the_rest_is_refused_in_words() -> None:
    model = random_model()
    assert of_text(model, "zero", []) is None
    refused: tuple[tuple[Ablation, list[list[int]], str], ...] = (
        ("mean", [], "no-reference"),
        ("resample", [[1]], "no-reference"),
        ("counterfactual", [[1, 2]], "no-pairs"),
    )
    for kind, texts, code in refused:
        with pytest.raises(Invalid) as caught:
            of_text(model, kind, texts)
        assert caught.value.code == code


@pytest.mark.parametrize("ablation", ["mean", "resample"])
def test_a_plain_model_gives_what_the_head_model_gives_in_generation_too(
    ablation: Ablation, llama: HeadModel, plain: transformers.PreTrainedModel
) -> None:
    gates = some_gates(llama)
    inside = of_text(llama, ablation, TEXTS, seed=4)
    with torch.no_grad():
        with llama.gated(torch.from_numpy(gates), inside):
            expected = llama.logits(TOKENS)
        with llama.gated(torch.from_numpy(gates)):
            assert (expected - llama.logits(TOKENS)).abs().max() > 1e-2
        before = plain(TOKENS).logits
        with headscope.gated(plain, gates, ablation=ablation, reference=TEXTS, seed=4):
            found = plain(TOKENS).logits
            written = plain.generate(
                TOKENS[:1],
                attention_mask=torch.ones_like(TOKENS[:1]),
                max_new_tokens=4,
                do_sample=False,
                eos_token_id=None,
            )
            logits = plain(written).logits
        assert torch.equal(plain(TOKENS).logits, before)
    assert (found - expected).abs().max() < 1e-5
    assert written[0, -4:].tolist() == logits[0, -5:-1].argmax(dim=1).tolist()


def test_gates_keep_what_they_were_fitted_with(llama: HeadModel, plain: transformers.PreTrainedModel) -> None:
    by_zero = gate_vector("some", llama.info, some_gates(llama))
    by_mean = gate_vector("some", llama.info, some_gates(llama), ablation="mean")
    assert by_zero.id != by_mean.id
    assert by_zero.id == gate_vector("other", llama.info, some_gates(llama)).id
    for kind in ("json", "safetensors"):
        assert read_gates(f"gates.{kind}", write_gates(by_mean, kind)).ablation == "mean"
    with pytest.raises(Invalid) as caught, headscope.gated(plain, by_mean):
        pass
    assert caught.value.code == "no-reference"
    with torch.no_grad():
        with headscope.gated(plain, by_mean, reference=TEXTS):
            own = plain(TOKENS).logits
        with headscope.gated(plain, by_zero, ablation="mean", reference=TEXTS):
            assert torch.equal(own, plain(TOKENS).logits)
    with pytest.raises(Invalid, match="no tokenizer"), headscope.gated(plain, by_mean, reference=["a b"]):
        pass


def test_an_unknown_ablation_is_refused(llama: HeadModel) -> None:
    with pytest.raises(Invalid) as caught:
        gate_vector("some", llama.info, some_gates(llama), ablation="median")
    assert caught.value.code == "bad-ablation"


def test_weights_can_do_no_mean(llama: HeadModel, llama_folder: Path, tmp_path: Path) -> None:
    by_mean = gate_vector("some", llama.info, some_gates(llama), ablation="mean")
    with pytest.raises(Invalid) as caught:
        bake(llama, llama_folder, by_mean, tmp_path / "baked")
    assert caught.value.code == "not-bakeable"
    assert not (tmp_path / "baked").exists()
