"""A model folder on disk: config.json, tokenizer.json, generation_config.json, and what a fetch recorded.
Read without torch. Its weights: ``weight_files``; its counts: ``sizes``; its identity: ``revision``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headscope.core.model.quantised import refuse_quantised
from headscope.core.model.tokens import Tokenizer
from headscope.core.model.weight_files import Stored, stored
from headscope.errors import Invalid, NotFound

ATTENTION_ONLY = "HeadscopeAttentionOnly"
"""The architecture name of the bundled two-layer model; TransformerLens' native model runs it."""


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


def check(folder: Path) -> dict[str, Stored]:
    """Every tensor that is loaded, by its name, with its shape; only headers are read.

    Raises Invalid naming the file where a header is damaged or promises other bytes than the file has, and
    for weights in a form that can't be read.
    """
    config = read_config(folder)
    tensors = stored(folder)
    refuse_quantised(config, tensors)
    return tensors


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


def bos_policy(folder: Path, rows: int | None = None) -> tuple[str, bool]:
    """The tokenizer's hash and whether it puts BOS first. ``rows``: tokens that the embedding has."""
    tokenizer = Tokenizer.from_folder(folder, rows)
    return tokenizer.hash, tokenizer.adds_bos
