"""Which files of a folder hold the weights that are loaded, and what their headers say. Read without torch.

1. Files: ``model.safetensors``, or what ``model.safetensors.index.json`` names. Beside them may lie a second
   copy (Mistral's ``consolidated.safetensors``) or an adapter, which are neither loaded nor counted.
2. Headers: each is held against its file's size, so that a cut or corrupt file is named before anything is
   loaded. Folders that hold pickled weights only are refused: a pickle can run code.
3. Parameters: the tensors that are trained. Buffers, which some checkpoints store too, and the scales of
   8-bit weights are none.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headscope.errors import Invalid

SINGLE: Final = "model.safetensors"
INDEX: Final = "model.safetensors.index.json"
ADAPTER: Final = "adapter_config.json"

SCALES: Final = (".weight_scale_inv", ".weight_scale")
"""Endings of the names of 8-bit weights' scales; the weight's own ends in .weight."""

_DTYPE_BITS = {"F64": 64, "I64": 64, "U64": 64, "F32": 32, "I32": 32, "U32": 32, "F16": 16, "BF16": 16}
_DTYPE_BITS |= {"I16": 16, "U16": 16, "F8_E4M3": 8, "F8_E5M2": 8, "I8": 8, "U8": 8, "BOOL": 8}
_MAX_HEADER = 100 * 2**20
_BUFFER = re.compile(
    r"(?:^|\.)(?:masked_bias|inv_freq|position_ids|attn_mask|causal_mask|cos_cached|sin_cached|weights"
    r"|(?<!moe_statics\.)e_score_correction_bias|act_fn\.beta|act_fn\.eps"
    r"|[kv]_scale|input_scale|output_scale|weight_scale|weight_scale_inv)$"
)
_INPUT_EMBEDDINGS = frozenset(
    ("embed_tokens", "wte", "tok_embed", "embed_in", "word_embeddings", "tokens_embed")
)
_EMBEDDINGS = _INPUT_EMBEDDINGS | frozenset(
    ("wpe", "pos", "embed_positions", "positions_embed", "lm_head", "embed_out", "head")
)


@dataclass(frozen=True)
class Stored:
    """A tensor as a header describes it; ``begin`` and ``end`` are bytes of its file."""

    shape: tuple[int, ...]
    dtype: str
    file: Path
    begin: int
    end: int


def weight_files(folder: Path) -> list[Path]:
    """The files that are loaded, sorted.

    Raises Invalid where there are none (no-weights, pickled-weights, adapter-alone) or one that the index
    names is missing (missing-weights).
    """
    named = _indexed(folder)
    single = folder / SINGLE
    if single.is_file() and SINGLE not in named:  # as transformers does where both are there
        return [single]
    if not named:
        raise _nothing_to_load(folder)
    missing = sorted(name for name in named if not (folder / name).is_file())
    if missing:
        raise Invalid(
            f"{folder} lacks {missing[0]}, which its index names.",
            "Copy the missing file.",
            code="missing-weights",
        )
    return [folder / name for name in sorted(named)]


def has_adapter(folder: Path) -> bool:
    """Whether an adapter (LoRA and the like) lies in the folder."""
    return (folder / ADAPTER).is_file()


def stored(folder: Path) -> dict[str, Stored]:
    """Every tensor that is loaded, by its name; only headers are read. Raises Invalid naming a bad file."""
    return {name: tensor for file in weight_files(folder) for name, tensor in _header(file).items()}


def is_parameter(name: str, tensor: Stored) -> bool:
    """Whether it is trained: no mask, frequency, index or scale."""
    mask = name.endswith(".bias") and len(tensor.shape) == 4
    return not mask and not _BUFFER.search(name)


def n_parameters(tensors: Mapping[str, Stored], *, tied: bool) -> tuple[int, int]:
    """Parameters, and those that are no embedding. ``tied``: the unembedding is the embedding, counted
    once.
    """
    trained = {name: tensor for name, tensor in tensors.items() if is_parameter(name, tensor)}
    if tied and any(_INPUT_EMBEDDINGS & set(name.split(".")[-2:-1]) for name in trained):
        trained.pop("lm_head.weight", None)
    embeddings = sum(math.prod(t.shape) for n, t in trained.items() if _EMBEDDINGS & set(n.split(".")[-2:-1]))
    everything = sum(math.prod(tensor.shape) for tensor in trained.values())
    return everything, everything - embeddings


def embedding_rows(tensors: Mapping[str, Stored]) -> int | None:
    """Tokens that the embedding has rows for; None where it isn't found by its name."""
    found = [t.shape[0] for n, t in tensors.items() if _INPUT_EMBEDDINGS & set(n.split(".")[-2:-1])]
    return found[0] if len(found) == 1 else None


def _nothing_to_load(folder: Path) -> Invalid:
    if has_adapter(folder):
        return Invalid(
            f"{folder} holds an adapter without the model that it changes.",
            "Load both with peft, then save the sum: model.merge_and_unload().save_pretrained(folder), and "
            "the tokenizer beside it.",
            code="adapter-alone",
        )
    pickled = sorted(f.name for pattern in ("*.bin", "*.pt", "*.pth", "*.ckpt") for f in folder.glob(pattern))
    if pickled:
        return Invalid(
            f"{folder} holds pickled weights only ({pickled[0]}), which could run code when loaded.",
            "Save them with model.save_pretrained(folder), which writes safetensors.",
            code="pickled-weights",
        )
    others = sorted(f.name for f in folder.glob("*.safetensors"))
    if others:
        return Invalid(
            f"{folder} holds neither {SINGLE} nor {INDEX}; {others[0]} has no name that is loaded.",
            f"Rename it to {SINGLE} if its tensors are named as transformers names them, or save the model "
            "with model.save_pretrained(folder).",
            code="no-weights",
        )
    return Invalid(
        f"{folder} holds no *.safetensors.", "Copy the weights into the folder.", code="no-weights"
    )


def _indexed(folder: Path) -> set[str]:
    index = folder / INDEX
    if not index.is_file():
        return set()
    try:
        named = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        if all(isinstance(name, str) and Path(name).name == name for name in named):
            return named
        raise ValueError("it names files elsewhere")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Invalid(
            f"{index} is damaged.", "Copy the file again from its source.", code="bad-config"
        ) from error


def _header(file: Path) -> dict[str, Stored]:
    try:
        size = file.stat().st_size
        with file.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            if length > min(_MAX_HEADER, size - 8):
                raise ValueError("its header is longer than the file")
            header = json.loads(stream.read(length))
        header.pop("__metadata__", None)
        for name, tensor in header.items():
            _check_bytes(name, tensor)
        promised = 8 + length + max((t["data_offsets"][1] for t in header.values()), default=0)
        if promised != size:
            raise ValueError(f"it has {size:,} bytes instead of {promised:,}")
        return {name: _stored(file, 8 + length, tensor) for name, tensor in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise Invalid(
            f"{file} is not a whole safetensors file: {error}.",
            "Copy or fetch the file again; it was cut short or damaged.",
            code="corrupt-weights",
        ) from error


def _check_bytes(name: str, tensor: Mapping[str, Any]) -> None:
    begin, end = tensor["data_offsets"]
    bits = _DTYPE_BITS.get(tensor["dtype"])
    if bits is not None and (end - begin) * 8 != math.prod(tensor["shape"]) * bits:
        raise ValueError(f"tensor {name} has {end - begin} bytes, not those of its shape")


def _stored(file: Path, data: int, tensor: Mapping[str, Any]) -> Stored:
    begin, end = tensor["data_offsets"]
    return Stored(tuple(tensor["shape"]), str(tensor["dtype"]), file, data + begin, data + end)
