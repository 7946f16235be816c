"""Gates on a plain Hugging Face model: no class of Headscope's is needed on it.

1. TransformerLens' adapter of the architecture says where each layer applies W_O.
2. A pass of two tokens proves that every layer's W_O is reached with all heads' z: a hook that silently does
   nothing is the commonest fault in this field.
3. While the context is open, a pre-hook on each W_O multiplies z by the gates, or interpolates between z and
   what stands for it where the gate is closed. Generation with a cache included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from torch import nn

from headscope.core.gating.ablation import Ablation
from headscope.core.gating.gate_vector import GateVector
from headscope.core.gating.text_replacements import measured_text
from headscope.core.model.boot import adapter_for
from headscope.core.model.hooks import capturing_z, gated
from headscope.core.model.info import ModelInfo
from headscope.core.model.parts import locate
from headscope.core.model.revision import revision
from headscope.core.model.weight_files import weight_files
from headscope.errors import HeadscopeError, Invalid


@contextmanager
def gated_model(
    model: nn.Module,
    gates: GateVector | Any,
    ablation: Ablation = "zero",
    reference: Sequence[Sequence[int]] = (),
    seed: int = 0,
) -> Iterator[None]:
    """Multiply each head's z by its gate [layer, head] in the passes within; see ``headscope.gated``.

    ``reference`` texts are token ids. Raises what ``headscope.gated`` does.
    """
    info, projections = _located(model)
    table = _table(gates, info, model)
    _prove(model, projections, info)
    inside = measured_text(lambda rows: _measured(model, projections, info, rows), ablation, reference, seed)
    with ExitStack() as contexts:
        seen = contexts.enter_context(_counting(model)) if inside is not None else [0]
        contexts.enter_context(gated(projections, info.n_heads, table, inside, lambda: seen[0]))
        yield


def heads_of(model: nn.Module) -> ModelInfo:
    """A plain model's sizes; ``Invalid`` (unsupported-architecture) where its heads aren't known here."""
    return _located(model)[0]


def _located(model: nn.Module) -> tuple[ModelInfo, list[nn.Module]]:
    """The model's sizes and the modules that apply W_O; ``Invalid`` (unsupported-architecture)."""
    config = getattr(model, "config", None)
    names = getattr(config, "architectures", None) or [type(model).__name__]
    weights = next(model.parameters())
    try:
        adapter = adapter_for(config, names[0], names[0], weights.dtype)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise Invalid(
            f"{type(model).__name__} is no model whose heads are known here: {error}.",
            "Give a decoder-only model as AutoModelForCausalLM.from_pretrained makes it.",
            code="unsupported-architecture",
        ) from error
    cfg = adapter.cfg
    info = ModelInfo(
        name=str(getattr(config, "_name_or_path", "") or names[0]),
        revision="",
        architecture=names[0],
        n_layers=cfg.n_layers,
        n_heads=cfg.n_heads,
        n_kv_heads=getattr(cfg, "n_key_value_heads", None) or cfg.n_heads,
        d_model=cfg.d_model,
        d_head=cfg.d_head,
        d_vocab=cfg.d_vocab,
        n_ctx=cfg.n_ctx,
        n_params=0,
        n_params_non_embedding=0,
        dtype=str(weights.dtype).removeprefix("torch."),
        weight_processing="none",
        tokenizer_hash="",
        bos=False,
    )
    return info, locate(model, adapter, info).projections


def _table(gates: GateVector | Any, info: ModelInfo, model: nn.Module) -> torch.Tensor:
    """The gates, if they are this model's: by shape, and by the weights' hash where it has a folder."""
    given = gates.gates if isinstance(gates, GateVector) else gates
    table = torch.as_tensor(np.asarray(given) if not isinstance(given, torch.Tensor) else given)
    if tuple(table.shape) != (info.n_layers, info.n_heads):
        whose = f" of {gates.model}" if isinstance(gates, GateVector) else ""
        raise Invalid(
            f"Gates{whose} of shape {tuple(table.shape)} don't fit {info.name}: {info.n_layers} layers of "
            f"{info.n_heads} heads.",
            "Use gates of this model.",
            code="bad-gates",
        )
    if not bool(((table >= 0) & (table <= 1)).all()):
        raise Invalid("Gates lie between 0 and 1.", "Give 0 for off, 1 for on.", code="bad-gates")
    here = _revision(info.name)
    known = isinstance(gates, GateVector) and gates.revision
    if here and known and gates.revision == here and (changed := _changed_since(Path(info.name), model)):
        raise Invalid(
            f"{changed} in memory is another than that in {info.name}, whose weights the gates belong to.",
            "Load the model again; or give the gates as a table, where these weights are meant.",
            code="other-model",
        )
    if here and known and gates.revision != here:
        raise Invalid(
            f"The gates {gates.name or gates.id!r} belong to {gates.model}, weights {gates.revision}; those "
            f"in {info.name} are {here}.",
            "Use gates that were made for these weights.",
            code="other-model",
        )
    return table.detach().to(next(model.parameters()).device)


def _measured(
    model: nn.Module, projections: list[nn.Module], info: ModelInfo, rows: Sequence[Sequence[int]]
) -> tuple[torch.Tensor, list[int]]:
    """z at every position of these rows [entry, layer, head, d_head], and where each begins."""
    device, layers = next(model.parameters()).device, range(info.n_layers)
    found: list[torch.Tensor] = []
    for row in rows:
        z: dict[str, torch.Tensor] = {}
        with torch.no_grad(), capturing_z(projections, info.n_heads, layers, z):
            model(input_ids=torch.tensor([list(row)], device=device), use_cache=False)
        found.append(torch.stack([z[f"{layer}.z"][0] for layer in layers], dim=1))
    return torch.cat(found), torch.tensor([0, *map(len, found[:-1])]).cumsum(0).tolist()


@contextmanager
def _counting(model: nn.Module) -> Iterator[list[int]]:
    """How many positions came before those of a pass, by the keys and values that it is given."""
    seen = [0]

    def count(_: nn.Module, __: Any, kwargs: dict[str, Any]) -> None:
        kept = kwargs.get("past_key_values", kwargs.get("cache"))
        seen[0] = 0 if kept is None else int(kept.get_seq_length())

    hook = model.register_forward_pre_hook(count, with_kwargs=True)
    try:
        yield seen
    finally:
        hook.remove()


def _revision(path: str) -> str:
    """The weights' hash of a model that came from a folder; empty where it is known by a hub's name."""
    folder = Path(path)
    try:
        return revision(folder) if folder.is_dir() else ""
    except (HeadscopeError, OSError):
        return ""


def _changed_since(folder: Path, model: nn.Module) -> str:
    """A tensor of the folder that isn't the model's: the files were replaced after it was loaded, or it was
    trained on. Empty where none is found; the first row of each is looked at.
    """
    held = model.state_dict()
    for file in weight_files(folder):
        with safe_open(file, framework="pt") as stored:
            for name in stored.keys():  # noqa: SIM118  no mapping
                own, there = held.get(name), stored.get_slice(name)
                in_8_bits = str(there.get_dtype()).startswith("F8")  # these are times a scale
                if own is None or not own.ndim or in_8_bits or there.get_shape() != list(own.shape):
                    continue
                if not torch.equal(there[:1].to(own.dtype), own[:1].detach().cpu()):
                    return str(name)
    return ""


def _prove(model: nn.Module, projections: list[nn.Module], info: ModelInfo) -> None:
    found: dict[str, torch.Tensor] = {}
    device = next(model.parameters()).device
    with torch.no_grad(), capturing_z(projections, info.n_heads, range(info.n_layers), found):
        model(input_ids=torch.zeros(1, 2, dtype=torch.long, device=device), use_cache=False)
    for layer in range(info.n_layers):
        z = found.get(f"{layer}.z")
        if z is None or z.shape[-1] != info.d_head:
            raise Invalid(
                f"Layer {layer} of {info.architecture} doesn't pass all heads to one projection.",
                "Choose a model with ordinary attention in every layer.",
                code="unsupported-architecture",
            )
