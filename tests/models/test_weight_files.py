"""Which files of a folder are its weights, and how many parameters they are: as transformers says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from core.conftest import save_tokenizer
from headscope.core.model.info import model_info
from headscope.core.model.load import load_model
from headscope.core.model.weight_files import is_parameter, stored, weight_files
from headscope.errors import Invalid
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings

SHARED = {"vocab_size": 300, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
SIZES = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 16, "max_position_embeddings": 32}
WIDE = SIZES | {"intermediate_size": 24}

CONFIGS: dict[str, Callable[[], transformers.PretrainedConfig]] = {
    "gpt2": lambda: transformers.GPT2Config(n_layer=2, n_head=4, n_embd=16, n_positions=32, **SHARED),
    "gpt_neox": lambda: transformers.GPTNeoXConfig(**WIDE, **SHARED),
    "llama": lambda: transformers.LlamaConfig(**WIDE, num_key_value_heads=2, **SHARED),
    "llama, tied": lambda: transformers.LlamaConfig(**WIDE, tie_word_embeddings=True, **SHARED),
    "gemma3": lambda: transformers.Gemma3TextConfig(**WIDE, num_key_value_heads=1, head_dim=8, **SHARED),
    "xglm": lambda: transformers.XGLMConfig(
        num_layers=2, attention_heads=4, d_model=16, ffn_dim=24, max_position_embeddings=32, **SHARED
    ),
    "opt": lambda: transformers.OPTConfig(**SIZES, ffn_dim=24, word_embed_proj_dim=16, **SHARED),
}  # fmt: skip


def save(kind: str, folder: Path) -> tuple[Path, transformers.PreTrainedModel]:
    torch.manual_seed(0)
    module = transformers.AutoModelForCausalLM.from_config(CONFIGS[kind]())
    module.save_pretrained(folder)
    save_tokenizer(folder)
    return folder, module


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("llama", tmp_path_factory.mktemp("llama"))[0]


@pytest.fixture
def own(llama: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(llama, tmp_path / "own"))


@pytest.mark.parametrize("kind", CONFIGS)
def test_parameters_are_those_that_transformers_counts(kind: str, tmp_path: Path) -> None:
    folder, module = save(kind, tmp_path / "tiny")
    info = model_info(folder, name="tiny")
    assert info.n_params == module.num_parameters()
    embeddings = [m for m in module.modules() if isinstance(m, torch.nn.Embedding)]
    head = module.get_output_embeddings().weight
    held = {w.data_ptr(): w.numel() for w in [*(m.weight for m in embeddings), head] if w.requires_grad}
    assert info.n_params - info.n_params_non_embedding == sum(held.values())


@pytest.mark.parametrize(
    ("kind", "buffers"),
    [
        ("gpt2", {"transformer.h.0.attn.bias": (1, 1, 32, 32), "transformer.h.0.attn.masked_bias": ()}),
        ("gpt_neox", {"gpt_neox.layers.0.attention.bias": (1, 1, 32, 32)}),
        ("gpt_neox", {"gpt_neox.layers.0.attention.rotary_emb.inv_freq": (2,)}),
        ("llama", {"model.layers.0.self_attn.rotary_emb.inv_freq": (2,)}),
        ("llama, tied", {"lm_head.weight": (300, 16)}),
    ],
)  # fmt: skip
def test_masks_frequencies_and_second_copies_of_a_tied_matrix_are_no_parameters(
    kind: str, buffers: dict[str, tuple[int, ...]], tmp_path: Path
) -> None:
    folder, module = save(kind, tmp_path / "tiny")
    path = folder / "model.safetensors"
    save_file(
        load_file(path) | {name: torch.ones(shape) for name, shape in buffers.items()}, path, {"format": "pt"}
    )
    assert model_info(folder, name="tiny").n_params == module.num_parameters()


def test_biases_of_projections_are_parameters(tmp_path: Path) -> None:
    folder, _ = save("gpt2", tmp_path / "tiny")
    biases = {name: tensor for name, tensor in stored(folder).items() if name.endswith(".bias")}
    assert len(biases) == 2 * 6 + 1
    assert all(is_parameter(name, tensor) for name, tensor in biases.items())


def test_a_second_copy_and_other_files_beside_the_weights_are_not_counted(own: Path) -> None:
    before = model_info(own, name="own")
    shutil.copy(own / "model.safetensors", own / "consolidated.safetensors")
    shutil.copy(own / "model.safetensors", own / "model.fp16.safetensors")
    assert weight_files(own) == [own / "model.safetensors"]
    assert model_info(own, name="own") == before
    entry = Catalogue(Settings(data_dir=own.parent / "data")).get(str(own))
    assert entry.bytes_on_disk == (own / "model.safetensors").stat().st_size


def test_where_there_is_an_index_its_files_are_the_weights(own: Path) -> None:
    before = load_model(own, name="own", device="cpu")
    weights = load_file(own / "model.safetensors")
    shutil.move(own / "model.safetensors", own / "consolidated.safetensors")
    where = {name: f"model-{number % 2}.safetensors" for number, name in enumerate(weights)}
    for file in set(where.values()):
        save_file(
            {name: weights[name] for name in weights if where[name] == file}, own / file, {"format": "pt"}
        )
    (own / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))
    assert [file.name for file in weight_files(own)] == ["model-0.safetensors", "model-1.safetensors"]
    again = load_model(own, name="own", device="cpu")
    assert again.info == before.info
    ids = torch.tensor([[0, 5, 7]])
    torch.testing.assert_close(again.logits(ids), before.logits(ids), rtol=0, atol=0)


def test_an_index_that_names_files_elsewhere_is_refused(own: Path) -> None:
    (own / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../model.safetensors"}}')
    with pytest.raises(Invalid, match=r"index\.json is damaged"):
        weight_files(own)


def test_a_name_that_nobody_loads_is_said(own: Path) -> None:
    (own / "model.safetensors").rename(own / "consolidated.safetensors")
    with pytest.raises(Invalid, match=r"consolidated\.safetensors has no name that is loaded") as error:
        model_info(own, name="own")
    assert error.value.code == "no-weights"


def _adapter(folder: Path) -> None:
    settings = {"peft_type": "LORA", "base_model_name_or_path": "org/name", "target_modules": ["q_proj"]}
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    save_file({"base_model.model.q.lora_A.weight": torch.ones(2, 16)}, folder / "adapter_model.safetensors")


def test_an_adapter_beside_weights_is_neither_counted_nor_applied_and_that_is_said(own: Path) -> None:
    before = load_model(own, name="own", device="cpu")
    _adapter(own)
    again = load_model(own, name="own", device="cpu")
    assert again.info == before.info
    ids = torch.tensor([[0, 5, 7]])
    torch.testing.assert_close(again.logits(ids), before.logits(ids), rtol=0, atol=0)
    catalogue = Catalogue(Settings(data_dir=own.parent / "data"))
    assert "is not applied" in catalogue.get(str(own)).note
    assert "merge_and_unload" in catalogue.info(str(own)).note


def test_an_adapter_alone_is_refused_with_what_to_do(own: Path) -> None:
    _adapter(own)
    (own / "model.safetensors").unlink()
    with pytest.raises(Invalid, match=r"adapter without the model.*merge_and_unload") as error:
        model_info(own, name="own")
    assert error.value.code == "adapter-alone"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_one_weight_that_is_no_number_is_named(own: Path, value: float) -> None:
    path, name = own / "model.safetensors", "model.layers.1.mlp.up_proj.weight"
    weights: dict[str, Any] = load_file(path)
    weights[name][3, 2] = value
    save_file(weights, path, {"format": "pt"})
    with pytest.raises(Invalid, match=rf"1 of 384 values of {name} are NaN or infinite") as error:
        load_model(own, name="own", device="cpu")
    assert error.value.code == "bad-weights"


def test_weights_beyond_a_precision_are_named(own: Path) -> None:
    path = own / "model.safetensors"
    weights = load_file(path)
    weights["model.norm.weight"][0] = 1e5
    save_file(weights, path, {"format": "pt"})
    assert np.isfinite(load_model(own, name="own", device="cpu").logits(torch.tensor([[0, 1]])).numpy()).all()
    with pytest.raises(Invalid, match=r"model\.norm\.weight are NaN or infinite in float16"):
        load_model(own, name="own", device="cpu", dtype="float16")
