"""A transformers model in memory as a model folder named by its content: its runs have a true revision.

1. Where it was loaded from a folder that is here and still equals it, tensor by tensor, that folder it is.
2. Otherwise its content is hashed: weights, configuration, tokenizer. The same content, the same folder.
3. What isn't there yet is written as safetensors into the data directory's models, whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headscope.core.model.folder import headscope_json
from headscope.core.model.tokens import Tokenizer
from headscope.core.model.weight_files import weight_files
from headscope.errors import HeadscopeError, Invalid, Refused
from headscope.models.catalogue import Catalogue
from headscope.models.placing import finish, in_place, record

if TYPE_CHECKING:
    from torch import nn

# What says where a model came from or who wrote it, not what it computes.
_NOT_CONTENT = ("_name_or_path", "transformers_version", "architectures")


def keep(catalogue: Catalogue, model: nn.Module, tokenizer: Any, name: str | None = None) -> str:
    """The name by which the catalogue has these weights with this tokenizer, written there if need be.

    ``name`` is chosen by the content where unset. Raises ``Invalid`` (unsupported-architecture) for a model
    whose heads aren't known, (bad-tokenizer) for a tokenizer without tokenizer.json, ``Refused``
    (model-exists) for a name that other weights have, ``Unavailable`` (disk-full).
    """
    from headscope.core.gating.plain_model import heads_of

    info = heads_of(model)
    origin = str(getattr(model.config, "_name_or_path", "") or "")
    size = sum(tensor.numel() * tensor.element_size() for tensor in model.state_dict().values())
    with in_place(catalogue.place("any"), size) as work:
        folder = work / "model"
        folder.mkdir()
        tokens = _save_tokenizer(tokenizer, folder)
        if name is None and (source := _unchanged(catalogue, origin, model, tokens)):
            return source
        content = _content(model, tokens)
        name = name or f"{_stem(origin, info.architecture)}-{content[:8]}"
        place = catalogue.place(name)
        if not _is_there(catalogue, name, content):
            _save(model, folder)
            record(folder, {**_described(name, info.architecture), "content": content})
            finish(folder, place)
    return name


def _save(model: nn.Module, folder: Path) -> None:
    """As safetensors, without a progress bar of its own."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        model.save_pretrained(folder)  # type: ignore[operator]
    finally:
        if shown:
            logging.enable_progress_bar()


def _save_tokenizer(tokenizer: Any, folder: Path) -> Tokenizer:
    """Write it, and read it as Headscope will."""
    try:
        if hasattr(tokenizer, "save_pretrained"):
            tokenizer.save_pretrained(folder)
        else:
            tokenizer.save(str(folder / "tokenizer.json"))
        return Tokenizer.from_folder(folder)
    except (HeadscopeError, AttributeError, TypeError, ValueError) as error:
        raise Invalid(
            f"The tokenizer can't be kept: {error}",
            "Give a fast tokenizer, as AutoTokenizer.from_pretrained makes it.",
            code="bad-tokenizer",
        ) from error


def _unchanged(catalogue: Catalogue, origin: str, model: nn.Module, tokens: Tokenizer) -> str | None:
    """The name of the folder that the model was loaded from, where folder and model are still the same."""
    if not origin:
        return None
    try:
        folder = catalogue.folder(origin)
        if Tokenizer.from_folder(folder).hash == tokens.hash and _same_weights(folder, model):
            return str(folder) if Path(origin).expanduser().is_dir() else origin
    except (HeadscopeError, OSError):
        return None
    return None


def _same_weights(folder: Path, model: nn.Module) -> bool:
    """Whether each tensor of the folder is the model's, to the bit, in either one's precision."""
    import torch
    from safetensors import safe_open

    held = {name: tensor.detach().cpu() for name, tensor in model.state_dict().items()}
    seen: set[int] = set()
    for file in weight_files(folder):
        with safe_open(file, framework="pt") as stored:
            for name in stored.keys():  # noqa: SIM118  no mapping
                tensor, own = stored.get_tensor(name), held.get(name)
                if own is None or own.shape != tensor.shape:
                    return False
                same = torch.equal(tensor.to(own.dtype), own) and torch.equal(own.to(tensor.dtype), tensor)
                if not same:
                    return False
                seen.add(own.data_ptr())
    # Tied weights stand once in a folder and twice in a model.
    return all(tensor.data_ptr() in seen for tensor in held.values())


def _content(model: nn.Module, tokens: Tokenizer) -> str:
    """SHA-256 of the weights by name, the configuration and the tokenizer, in hex."""
    import torch

    config = {k: v for k, v in model.config.to_dict().items() if k not in _NOT_CONTENT}  # type: ignore[operator,union-attr]
    digest = hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode())
    digest.update(tokens.hash.encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(flat.view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _is_there(catalogue: Catalogue, name: str, content: str) -> bool:
    """Whether these very weights have the name already; ``Refused`` (model-exists) where others have it."""
    entry = next((entry for entry in catalogue.all() if entry.name == name), None)
    if entry is None:
        return False
    if entry.folder and headscope_json(entry.folder).get("content") == content:
        return True
    raise Refused(
        f"There is another model {name} already.",
        "Choose another name, or leave it out.",
        code="model-exists",
    )


def _stem(origin: str, architecture: str) -> str:
    words = Path(origin).name or architecture.removesuffix("ForCausalLM").removesuffix("LMHeadModel")
    return re.sub(r"[^a-z0-9._]+", "-", words.lower()).strip("-._")[:48] or "model"


def _described(name: str, architecture: str) -> dict[str, str]:
    return {
        "name": name,
        "title": name,
        "kind": "folder",
        "source": "kept from Python",
        "licence": "as its source says",
        "summary": f"{architecture}, kept from a notebook or script.",
    }
