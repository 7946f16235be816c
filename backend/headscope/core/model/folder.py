"""A model folder on disk: config.json, *.safetensors, tokenizer.json. Read without torch.

1. ``check`` holds each weight file's header against its size, so that a cut or corrupt file is named before
   anything is loaded, and refuses folders that hold pickled weights only: a pickle can run code.
2. ``revision`` is a hash of the weights, ``model_info`` the counts of layers, heads and parameters.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from headscope.core.model.groups import key_value_heads
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid, NotFound

ATTENTION_ONLY = "HeadscopeAttentionOnly"
"""The architecture name of the bundled two-layer model; TransformerLens' native model runs it."""

_DTYPE_BITS = {"F64": 64, "I64": 64, "U64": 64, "F32": 32, "I32": 32, "U32": 32, "F16": 16, "BF16": 16}
_DTYPE_BITS |= {"I16": 16, "U16": 16, "F8_E4M3": 8, "F8_E5M2": 8, "I8": 8, "U8": 8, "BOOL": 8}
_MAX_HEADER = 100 * 2**20
_EMBEDDINGS = frozenset(
    (
        "embed_tokens",
        "wte",
        "wpe",
        "tok_embed",
        "pos",
        "lm_head",
        "embed_out",
        "embed_in",
        "head",
        "embed_positions",
    )
)


def read_config(folder: Path) -> dict[str, Any]:
    """config.json of a folder; a multimodal model's text part.

    Raises NotFound where there is no folder or no config.json, Invalid where it isn't a JSON object.
    """
    path = folder / "config.json"
    if not path.is_file():
        what = f"{folder} has no config.json." if folder.is_dir() else f"There is no folder {folder}."
        raise NotFound(
            what,
            "A model folder holds config.json, *.safetensors and tokenizer.json.",
            code="no-model-folder",
        )
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Invalid(
            f"{path} is not JSON: {error}.", "Copy the file again from its source.", code="bad-config"
        ) from error
    if not isinstance(config, dict):
        raise Invalid(
            f"{path} does not hold an object.", "Copy the file again from its source.", code="bad-config"
        )
    text = config.get("text_config")
    return (
        {**config, **text, "architectures": config.get("architectures")} if isinstance(text, dict) else config
    )


def weight_files(folder: Path) -> list[Path]:
    """The folder's safetensors, sorted. Raises Invalid where there are none."""
    files = sorted(folder.glob("*.safetensors"))
    if files:
        return files
    pickled = sorted(f.name for pattern in ("*.bin", "*.pt", "*.pth", "*.ckpt") for f in folder.glob(pattern))
    if pickled:
        raise Invalid(
            f"{folder} holds pickled weights only ({pickled[0]}), which could run code when loaded.",
            "Save them with model.save_pretrained(folder), which writes safetensors.",
            code="pickled-weights",
        )
    raise Invalid(f"{folder} holds no *.safetensors.", "Copy the weights into the folder.", code="no-weights")


def check(folder: Path) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor in the folder, by name; only headers are read.

    Raises Invalid naming the file where a header is damaged or promises other bytes than the file has.
    """
    read_config(folder)
    files = weight_files(folder)
    missing = _indexed(folder) - {f.name for f in files}
    if missing:
        raise Invalid(
            f"{folder} lacks {min(missing)}, which its index names.",
            "Copy the missing file.",
            code="missing-weights",
        )
    return {name: shape for file in files for name, shape in _shapes(file).items()}


def revision(folder: Path) -> str:
    """First 16 hex of SHA-256 over the weight files, or headscope.json's record if their sizes agree."""
    files = weight_files(folder)
    recorded = headscope_json(folder)
    if recorded.get("revision") and recorded.get("weight_bytes") == sum(f.stat().st_size for f in files):
        return str(recorded["revision"])
    return _hash(tuple((f, f.stat().st_size, f.stat().st_mtime_ns) for f in files))


def headscope_json(folder: Path) -> dict[str, Any]:
    """What a fetch recorded: name, title, revision, source, licence, summary; {} without the file."""
    path = folder / "headscope.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError as error:
        raise Invalid(
            f"{path} is not JSON: {error}.", "Remove the file or fetch the model again.", code="bad-config"
        ) from error
    return content if isinstance(content, dict) else {}


def end_tokens(folder: Path) -> frozenset[int]:
    """Ids that end a text: ``eos_token_id`` of generation_config.json, else of config.json."""
    path = folder / "generation_config.json"
    stated = None
    if path.is_file():
        try:
            stated = json.loads(path.read_text(encoding="utf-8")).get("eos_token_id")
        except (ValueError, AttributeError):
            stated = None  # transformers doesn't need the file either
    if stated is None:
        stated = read_config(folder).get("eos_token_id")
    ids = stated if isinstance(stated, list) else [stated]
    return frozenset(token for token in ids if isinstance(token, int))


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def effective_attention(config: Mapping[str, Any], asked: str) -> str:
    """``asked``, or ``eager`` where fused attention would leave something out: soft caps, sinks."""
    needs_eager = config.get("attn_logit_softcapping") or config.get("model_type") == "gpt_oss"
    return "eager" if needs_eager or architecture(config) == ATTENTION_ONLY else asked


def architecture(config: Mapping[str, Any]) -> str:
    """The first of config.json's architectures. Raises Invalid without one."""
    names = config.get("architectures") or []
    if not names:
        raise Invalid(
            "config.json names no architecture.",
            'Add e.g. "architectures": ["LlamaForCausalLM"].',
            code="bad-config",
        )
    return str(names[0])


def counts(config: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """Layers, heads, widths and parameters by ModelInfo's names. Raises Invalid where one is missing."""
    d_model = _first(config, "hidden_size", "n_embd", "d_model")
    n_heads = _first(config, "num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads")
    n_params = sum(math.prod(shape) for shape in shapes.values())
    embeddings = sum(math.prod(s) for name, s in shapes.items() if _EMBEDDINGS & set(name.split(".")[-2:-1]))
    return {
        "n_layers": _first(config, "num_hidden_layers", "n_layer", "n_layers", "num_layers"),
        "n_heads": n_heads,
        "n_kv_heads": key_value_heads(config, n_heads),
        "d_model": d_model,
        "d_head": int(config.get("head_dim") or d_model // n_heads),
        "d_vocab": _first(config, "vocab_size"),
        "n_ctx": _first(
            config, "max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length"
        ),
        "n_params": n_params,
        "n_params_non_embedding": n_params - embeddings,
    }


def bos_policy(folder: Path) -> tuple[str, bool]:
    """The tokenizer's hash and whether it puts BOS first."""
    tokenizer = Tokenizer.from_folder(folder)
    return tokenizer.hash, tokenizer.adds_bos


def _first(config: Mapping[str, Any], *names: str) -> int:
    for name in names:
        if isinstance(config.get(name), int):
            return int(config[name])
    raise Invalid(
        f"config.json states none of {', '.join(names)}.",
        "Copy the model's own config.json.",
        code="bad-config",
    )


def _indexed(folder: Path) -> set[str]:
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return set()
    try:
        return set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    except (ValueError, KeyError, AttributeError) as error:
        raise Invalid(
            f"{index} is damaged.", "Copy the file again from its source.", code="bad-config"
        ) from error


def _shapes(file: Path) -> dict[str, tuple[int, ...]]:
    try:
        with file.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            if length > min(_MAX_HEADER, file.stat().st_size - 8):
                raise ValueError("its header is longer than the file")
            header = json.loads(stream.read(length))
        header.pop("__metadata__", None)
        for name, tensor in header.items():
            begin, end = tensor["data_offsets"]
            bits = _DTYPE_BITS.get(tensor["dtype"])
            if bits is not None and (end - begin) * 8 != math.prod(tensor["shape"]) * bits:
                raise ValueError(f"tensor {name} has {end - begin} bytes, not those of its shape")
        promised = 8 + length + max((t["data_offsets"][1] for t in header.values()), default=0)
        if promised != file.stat().st_size:
            raise ValueError(f"it has {file.stat().st_size:,} bytes instead of {promised:,}")
        return {name: tuple(tensor["shape"]) for name, tensor in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise Invalid(
            f"{file} is not a whole safetensors file: {error}.",
            "Copy or fetch the file again; it was cut short or damaged.",
            code="corrupt-weights",
        ) from error


@lru_cache(maxsize=64)
def _hash(files: tuple[tuple[Path, int, int], ...]) -> str:
    """Hashed once a process and state of the files (path, size, time)."""
    digest = hashlib.sha256()
    for path, _, _ in files:
        digest.update(bytes.fromhex(sha256(path)))
    return digest.hexdigest()[:16]
