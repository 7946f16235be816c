"""Weights in fewer bits: what can be read without a further package, and what is refused with the remedy.

8-bit floats with scales beside them (FP8) are weights times scales: ``dequantised`` reads them. Everything
else is packed in its package's own way. Read without torch until a model is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from headscope.core.model.weight_files import SCALES, Stored, weight_files
from headscope.errors import Invalid

if TYPE_CHECKING:
    import torch

FP8: Final = ("F8_E4M3", "F8_E5M2")

_PACKAGES: Final = {
    "bitsandbytes": "bitsandbytes",
    "gptq": "gptqmodel",
    "awq": "gptqmodel",
    "compressed-tensors": "compressed-tensors",
    "mxfp4": "kernels",
    "hqq": "hqq",
    "quanto": "optimum-quanto",
    "torchao": "torchao",
    "aqlm": "aqlm",
}


def quantisation(config: Mapping[str, Any]) -> str:
    """How the weights are stored in fewer bits, in config.json's words; empty where they aren't."""
    stated = config.get("quantization_config")
    if not isinstance(stated, Mapping):
        return ""
    bits = next((f" {n}-bit" for n in (4, 8) if stated.get(f"load_in_{n}bit")), "")
    return f"{stated.get('quant_method', 'an unnamed method')}{bits}"


def is_fp8(tensors: Mapping[str, Stored]) -> bool:
    """Whether every weight in fewer bits is an 8-bit float with its scale beside it."""
    eights = [name for name, tensor in tensors.items() if tensor.dtype in FP8]
    packed = any(tensor.dtype in ("I8", "U8", "I32", "U32") for tensor in tensors.values())
    return bool(eights) and not packed and all(_scale(name, tensors) for name in eights)


def refuse_quantised(config: Mapping[str, Any], tensors: Mapping[str, Stored]) -> None:
    """Raise Invalid (quantised-weights) for weights in fewer bits that can't be read here."""
    how = quantisation(config)
    if not how or is_fp8(tensors):
        return
    package = _PACKAGES.get(how.split()[0])
    install = f"where {package} is installed, " if package else ""
    raise Invalid(
        f"The weights are quantised ({how}) and can't be read as they are.",
        f"Use the model's unquantised weights; or, {install}load it with transformers, call "
        "model.dequantize() and model.save_pretrained(folder), and add that folder.",
        code="quantised-weights",
    )


def dequantised(folder: Path, config: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """All weights of an FP8 folder as ordinary floats: each times its scale, of the whole tensor, of a row
    or of a block of rows and columns.
    """
    rows, columns = (config.get("quantization_config") or {}).get("weight_block_size") or (128, 128)
    read = read_weights(folder)
    scales = {name: _scale(name, read) for name in read if name.endswith(".weight")}
    unscaled = {name for name in read if name.endswith((*SCALES, ".input_scale", ".output_scale"))}
    return {
        name: tensor if not (scale := scales.get(name)) else _scaled(tensor, read[scale], (rows, columns))
        for name, tensor in read.items()
        if name not in unscaled
    }


def read_weights(folder: Path) -> dict[str, torch.Tensor]:
    """All tensors of a folder as they are stored, by name."""
    import safetensors.torch

    read: dict[str, torch.Tensor] = {}
    for file in weight_files(folder):
        read |= safetensors.torch.load_file(file)
    return read


def _scale(name: str, tensors: Mapping[str, Any]) -> str | None:
    """The name of a weight's scale, where there is one."""
    stem = name.removesuffix(".weight")
    return next((stem + ending for ending in SCALES if stem + ending in tensors), None)


def _scaled(weight: torch.Tensor, scale: torch.Tensor, block: tuple[int, int]) -> torch.Tensor:
    scale = scale.float()
    if scale.ndim == 1 and len(scale) == len(weight):
        scale = scale[:, None]
    elif scale.ndim == 2 and scale.shape != (len(weight), 1):
        for dim, size in enumerate(block):  # the last block may be cut off
            scale = scale.repeat_interleave(size, dim).narrow(dim, 0, weight.shape[dim])
    return weight.float() * scale
