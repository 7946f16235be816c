"""Gates on plain Hugging Face models and in weights: the same logits as the gated model, or a refusal."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import headscope
from headscope.core.gating.baking import bake
from headscope.core.gating.gate_vector import GateVector, gate_vector
from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from headscope.errors import Invalid, Refused

TOKENS = torch.tensor([[0, 5, 17, 250, 9, 9, 31, 2], [0, 8, 44, 3, 120, 7, 6, 5]])


def loaded(folder: Path) -> HeadModel:
    return load_model(folder, name="tiny", dtype="float32", device="cpu", attention="sdpa")


def gates_for(model: HeadModel, seed: int = 0) -> GateVector:
    info = model.info
    table = np.random.default_rng(seed).uniform(size=(info.n_layers, info.n_heads)).astype(np.float32)
    table[0, 1], table[1, 2] = 0, 1
    return gate_vector("some", info, table)


def under(model: HeadModel, vector: GateVector) -> torch.Tensor:
    with torch.no_grad(), model.gated(torch.from_numpy(vector.gates)):
        return model.logits(TOKENS)


def test_baked_weights_give_the_gated_logits_in_headscope_and_in_transformers(
    tiny_folder: Path, tmp_path: Path
) -> None:
    model = loaded(tiny_folder)
    vector = gates_for(model)
    expected = under(model, vector)
    assert (expected - model.logits(TOKENS)).abs().max() > 1e-2
    bake(loaded(tiny_folder), tiny_folder, vector, tmp_path / "baked")
    again = loaded(tmp_path / "baked")
    assert (again.logits(TOKENS) - expected).abs().max() < 1e-5
    assert again.info.revision != model.info.revision
    assert again.tokenizer.encode("the cat") == model.tokenizer.encode("the cat")
    assert (tmp_path / "baked" / "model.safetensors").stat().st_mode & 0o044 == 0o044
    if model.info.architecture != "HeadscopeAttentionOnly":
        plain = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "baked").eval()
        assert (plain(TOKENS).logits - expected).abs().max() < 1e-5


def test_a_plain_model_under_gates_gives_the_gated_logits(tiny_folder: Path) -> None:
    model = loaded(tiny_folder)
    if model.info.architecture == "HeadscopeAttentionOnly":
        pytest.skip("not an architecture of transformers")
    vector = gates_for(model)
    plain = transformers.AutoModelForCausalLM.from_pretrained(tiny_folder).eval()
    with torch.no_grad():
        before = plain(TOKENS).logits
        with headscope.gated(plain, vector):
            gated = plain(TOKENS).logits
            seen = torch.ones_like(TOKENS[:1])
            written = plain.generate(
                TOKENS[:1], attention_mask=seen, max_new_tokens=3, do_sample=False, eos_token_id=None
            )
            logits = plain(written).logits
        assert torch.equal(plain(TOKENS).logits, before)
    assert (gated - under(model, vector)).abs().max() < 1e-5
    # Token by token with a cache as well as all at once.
    assert written[0, -1] == logits[0, -2].argmax()


@pytest.fixture(scope="module")
def plain_llama(llama_folder: Path) -> transformers.PreTrainedModel:
    return transformers.AutoModelForCausalLM.from_pretrained(llama_folder).eval()


def test_gates_of_another_shape_or_weights_are_refused(
    plain_llama: transformers.PreTrainedModel, llama_folder: Path
) -> None:
    vector = gates_for(loaded(llama_folder))
    other = GateVector("0" * 20, "far", "other", "f" * 16, vector.gates)
    cases = [
        (np.ones((2, 4)), "bad-gates"), (vector.gates * 2, "bad-gates"), (other, "other-model"),
    ]  # fmt: skip
    for gates, code in cases:
        with pytest.raises(Invalid) as error, headscope.gated(plain_llama, gates):
            pass
        assert error.value.code == code
    with headscope.gated(plain_llama, vector.gates.tolist()):
        pass


def test_weights_that_were_replaced_after_the_model_was_loaded_are_noticed(
    llama_folder: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(llama_folder, tmp_path / "own"))
    before = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    with headscope.gated(before, gates_for(loaded(folder))):
        pass
    weights = load_file(folder / "model.safetensors")
    doubled = {name: 2 * tensor for name, tensor in weights.items()}
    save_file(doubled, folder / "model.safetensors", {"format": "pt"})
    now = gates_for(loaded(folder))
    with pytest.raises(Invalid, match="in memory is another") as error, headscope.gated(before, now):
        pass
    assert error.value.code == "other-model"


def test_a_hook_that_isnt_reached_is_said(
    plain_llama: transformers.PreTrainedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = plain_llama.model.layers[1].self_attn
    monkeypatch.setattr(layer, "forward", lambda hidden_states, **_: (hidden_states, None))
    with pytest.raises(Invalid, match="Layer 1"), headscope.gated(plain_llama, np.ones((3, 4))):
        pass


def test_a_module_without_known_heads_is_refused() -> None:
    with (
        pytest.raises(Invalid, match="Linear is no model"),
        headscope.gated(torch.nn.Linear(2, 2), np.ones((1, 1))),
    ):
        pass


def test_a_folder_is_replaced_only_by_force_and_only_if_it_is_a_models(
    llama_folder: Path, tmp_path: Path
) -> None:
    vector = gates_for(loaded(llama_folder))
    there = tmp_path / "there"
    shutil.copytree(llama_folder, there)
    before = (there / "model.safetensors").read_bytes()
    with pytest.raises(Refused, match="exists already"):
        bake(loaded(llama_folder), llama_folder, vector, there)
    assert (there / "model.safetensors").read_bytes() == before
    bake(loaded(llama_folder), llama_folder, vector, there, force=True)
    assert (there / "model.safetensors").read_bytes() != before
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "thesis.txt").write_text("mine")
    for folder, words in (
        (papers, "no model's folder"),
        (llama_folder, "own folder"),
        (llama_folder / "in", "own"),
    ):
        with pytest.raises(Refused, match=words):
            bake(loaded(llama_folder), llama_folder, vector, folder, force=True)
    assert (papers / "thesis.txt").read_text() == "mine"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_gates_of_other_weights_are_not_baked(llama_folder: Path, tmp_path: Path) -> None:
    vector = gates_for(loaded(llama_folder))
    other = GateVector(vector.id, "far", "other", "f" * 16, vector.gates)
    with pytest.raises(Invalid, match="belong to other"):
        bake(loaded(llama_folder), llama_folder, other, tmp_path / "baked")
    assert not (tmp_path / "baked").exists()
