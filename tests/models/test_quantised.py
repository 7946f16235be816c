"""Weights in fewer bits: 8-bit floats are read, everything else is refused before anything is loaded."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.conftest import save_model
from headscope.core.model.info import model_info
from headscope.core.model.load import load_model
from headscope.errors import Invalid
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings

IDS = torch.tensor([[0, 5, 7, 11]])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model("llama", tmp_path_factory.mktemp("llama"))


def scale_of(weight: torch.Tensor, form: str) -> tuple[torch.Tensor, torch.Tensor]:
    """A scale as files hold it, and spread over the weight. The largest value of 8 bits is 448."""
    if form == "tensor":
        scale = weight.abs().max() / 448
        return scale, scale.expand_as(weight)
    if form == "row":
        scale = weight.abs().amax(1, keepdim=True) / 448
        return scale, scale.expand_as(weight)
    rows, columns = -(-weight.shape[0] // 20), -(-weight.shape[1] // 20)
    scale = torch.stack(
        [
            torch.stack([block.abs().max() / 448 for block in band.split(20, dim=1)])
            for band in weight.split(20, dim=0)
        ]
    )
    assert scale.shape == (rows, columns)
    wide = scale.repeat_interleave(20, 0).repeat_interleave(20, 1)
    return scale, wide[: weight.shape[0], : weight.shape[1]]


def in_eight_bits(made: Path, to: Path, form: str) -> tuple[Path, Path]:
    """A folder with its projections in 8 bits, and one with the same numbers in full."""
    small, full = Path(shutil.copytree(made, to / "small")), Path(shutil.copytree(made, to / "full"))
    weights = load_file(made / "model.safetensors")
    eights: dict[str, torch.Tensor] = {}
    for name, weight in list(weights.items()):
        if not name.endswith("proj.weight"):
            eights[name] = weight
            continue
        scale, spread = scale_of(weight, form)
        eights[name] = (weight / spread).to(torch.float8_e4m3fn)
        eights[name + ("_scale_inv" if form == "block" else "_scale")] = scale.contiguous()
        eights[name.removesuffix("weight") + "input_scale"] = torch.ones(())
        weights[name] = eights[name].float() * spread
    save_file(eights, small / "model.safetensors", {"format": "pt"})
    save_file(weights, full / "model.safetensors", {"format": "pt"})
    quantise(
        small,
        {"quant_method": "fp8", "weight_block_size": [20, 20]}
        if form == "block"
        else {"quant_method": "compressed-tensors", "format": "float-quantized"},
    )
    return small, full


def quantise(folder: Path, settings: dict[str, Any]) -> None:
    config = json.loads((folder / "config.json").read_text()) | {"quantization_config": settings}
    (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize("form", ["tensor", "row", "block"])
def test_weights_in_8_bit_floats_are_read_times_their_scales(form: str, made: Path, tmp_path: Path) -> None:
    small, full = in_eight_bits(made, tmp_path, form)
    read, plain = (load_model(folder, name="own", device="cpu") for folder in (small, full))
    torch.testing.assert_close(read.logits(IDS), plain.logits(IDS), rtol=1e-6, atol=1e-6)
    assert read.info.n_params == plain.info.n_params
    original = load_model(made, name="own", device="cpu").logits(IDS)
    assert not torch.equal(read.logits(IDS), original)
    assert len({model.revision for model in (read.info, plain.info, model_info(made, name="own"))}) == 3


@pytest.mark.parametrize(
    ("settings", "says", "remedy"),
    [
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "bitsandbytes 4-bit", "bitsandbytes"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "bitsandbytes 8-bit", "bitsandbytes"),
        ({"quant_method": "gptq", "bits": 4}, "gptq", "gptqmodel"),
        ({"quant_method": "awq", "bits": 4}, "awq", "gptqmodel"),
        (
            {"quant_method": "compressed-tensors", "format": "pack-quantized"},
            "compressed-tensors",
            "compressed",
        ),
        ({"quant_method": "mxfp4"}, "mxfp4", "dequantize"),
        ({}, "an unnamed method", "dequantize"),
    ],
)
def test_packed_weights_are_refused_before_a_run_with_what_to_do(
    made: Path, tmp_path: Path, settings: dict[str, Any], says: str, remedy: str
) -> None:
    folder = Path(shutil.copytree(made, tmp_path / "own"))
    quantise(folder, settings)
    weights = load_file(folder / "model.safetensors")
    name = "model.layers.0.mlp.up_proj.weight"
    weights[name] = torch.zeros(weights[name].numel() // 2, 1, dtype=torch.uint8)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(Invalid) as error:
        model_info(folder, name="own")
    assert (error.value.code, says in error.value.message) == ("quantised-weights", True)
    assert remedy in error.value.remedy
    entry = Catalogue(Settings(data_dir=tmp_path / "data")).get(str(folder))
    assert not entry.ready
    assert says in str(entry.remedy)
