"""The tiny models once more, in float64 and by other means: transformers' own eager modules, or plain numpy.

Nothing here is headscope's: a head's z is made anew from its values and a pattern, and put before W_O by a
hook. Scores are loops over the definitions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from safetensors.torch import load_file

Array = NDArray[np.float64]


def forward(
    folder: Path, ids: Sequence[int], gates: Array | None = None, held: Array | None = None
) -> tuple[Array, Array]:
    """(logits [pos, vocab], patterns [layer, head, query, key]); ``held`` are patterns to mix by instead."""
    if json.loads((folder / "config.json").read_text())["model_type"] == "headscope-attention-only":
        return _attention_only(folder, ids, gates, held)
    model: Any = transformers.AutoModelForCausalLM.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float64
    ).eval()
    with torch.no_grad(), ExitStack() as hooks:
        patterns = _patterns(model, ids)
        if gates is not None or held is not None:
            _rebuild_z(model, hooks, gates, held)
            if held is None and gates is not None:
                patterns = _patterns(model, ids)
        logits = model(torch.tensor([list(ids)]), use_cache=False).logits[0]
    return logits.double().numpy(), patterns


def _patterns(model: Any, ids: Sequence[int]) -> Array:
    out = model(torch.tensor([list(ids)]), output_attentions=True, use_cache=False)
    patterns: Array = torch.cat(out.attentions).double().numpy()
    return patterns


def _rebuild_z(model: Any, hooks: ExitStack, gates: Array | None, held: Array | None) -> None:
    """Replace each layer's z: by held patterns times the values, or as it is; then times the gates."""
    n_heads = model.config.num_attention_heads
    layers = model.transformer.h if hasattr(model, "transformer") else model.model.layers
    for layer, block in enumerate(layers):
        attention = block.attn if hasattr(block, "attn") else block.self_attn
        values: dict[str, torch.Tensor] = {}
        reader = attention.c_attn if hasattr(attention, "c_attn") else attention.v_proj

        def keep(module: Any, _: Any, out: torch.Tensor, values: dict[str, torch.Tensor] = values) -> None:
            values["v"] = out[0].chunk(3, -1)[2] if hasattr(module, "nf") else out[0]

        def put(
            _: Any, args: Any, layer: int = layer, values: dict[str, torch.Tensor] = values
        ) -> tuple[torch.Tensor]:
            z = args[0][0].reshape(args[0].shape[1], n_heads, -1).clone()
            groups = values["v"].reshape(len(z), -1, z.shape[-1])
            for head in range(n_heads):
                if held is not None:
                    value = groups[:, head * groups.shape[1] // n_heads]
                    z[:, head] = torch.from_numpy(held[layer, head]) @ value
                if gates is not None:
                    z[:, head] *= gates[layer, head]
            return (z.reshape(1, len(z), -1),)

        writer = attention.c_proj if hasattr(attention, "c_proj") else attention.o_proj
        hooks.callback(reader.register_forward_hook(keep).remove)
        hooks.callback(writer.register_forward_pre_hook(put).remove)


def _attention_only(
    folder: Path, ids: Sequence[int], gates: Array | None, held: Array | None
) -> tuple[Array, Array]:
    config = json.loads((folder / "config.json").read_text())
    weights = load_file(folder / "model.safetensors")
    w = {name: tensor.double().numpy() for name, tensor in weights.items()}
    n_heads, length = config["num_attention_heads"], len(ids)
    stream = w["tok_embed.weight"][list(ids)] + w["pos.weight"][:length]
    patterns = []

    def norm(x: Array, name: str) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        normed: Array = scaled * w[f"{name}.weight"] + w[f"{name}.bias"]
        return normed

    for layer in range(config["num_hidden_layers"]):
        at = f"layers.{layer}"
        read = norm(stream, f"{at}.ln1")
        q, k, v = (
            (read @ w[f"{at}.attn.{x}.weight"].T + w[f"{at}.attn.{x}.bias"]).reshape(length, n_heads, -1)
            for x in "qkv"
        )
        z = np.zeros_like(v)
        own = np.zeros((n_heads, length, length))
        for head in range(n_heads):
            scores = q[:, head] @ k[:, head].T / math.sqrt(q.shape[-1])
            weight = np.tril(np.exp(scores - scores.max(-1, keepdims=True)))
            own[head] = weight / weight.sum(-1, keepdims=True)
            z[:, head] = (own[head] if held is None else held[layer, head]) @ v[:, head]
            z[:, head] *= 1 if gates is None else gates[layer, head]
        patterns.append(own)
        stream = stream + z.reshape(length, -1) @ w[f"{at}.attn.o.weight"].T + w[f"{at}.attn.o.bias"]
    logits: Array = norm(stream, "ln_out") @ w["head.weight"].T
    return logits, np.stack(patterns)


def losses(logits: Array, ids: Sequence[int]) -> Array:
    """Nats of each token, NaN for the first."""
    highest = logits.max(-1, keepdims=True)
    logp = logits - highest - np.log(np.exp(logits - highest).sum(-1, keepdims=True))
    return np.array([math.nan, *(-logp[i, token] for i, token in enumerate(ids[1:]))])


def excess(pattern: Array, ids: Sequence[int]) -> list[list[float]]:
    """Of one head's pattern [query, key] what every query with a target gives above the columns' level, by
    the definitions of induction, duplicate and previous; id 0 never repeats.
    """
    n = len(ids)
    earlier = [[j for j in range(i) if ids[j] == ids[i] != 0] for i in range(n)]
    found = []
    for name in ("induction", "duplicate", "previous"):
        aims = {
            "induction": [[j + 1 for j in earlier[i] if j + 1 < i] for i in range(n)],
            "duplicate": earlier,
            "previous": [[i - 1] if i else [] for i in range(n)],
        }[name]
        level = {}
        for key in range(n):
            own = key + 1 if name == "duplicate" else key
            others = [pattern[q, key] for q in range(max(own, 1), n) if key not in aims[q]]
            if others:
                level[key] = sum(others) / len(others)
        rows = [[pattern[i, k] - level[k] for k in aims[i] if k in level] for i in range(n)]
        found.append([float(sum(row)) for row in rows if row])
    return found


def scores(pattern: Array, ids: Sequence[int], special: frozenset[int] = frozenset()) -> list[float]:
    """The seven scores of one head's pattern [query, key], by their definitions."""
    n = len(ids)
    before = [[p for p in range(i) if ids[p] == ids[i] and ids[i] not in special] for i in range(n)]
    repeats = [i for i in range(n) if before[i]]
    any_follower = [i for i in repeats if before[i][0] + 1 < i]
    queries = [i for i in repeats if before[i][-1] + 1 < i]

    def mean(values: list[float]) -> float:
        return math.fsum(values) / len(values) if values else math.nan

    late = range(1, n)
    return [
        mean([pattern[i, before[i][-1] + 1] for i in queries]),
        mean([math.fsum(pattern[i, p + 1] for p in before[i] if p + 1 < i) for i in any_follower]),
        mean([math.fsum(pattern[i, p] for p in before[i]) for i in repeats]),
        mean([pattern[i, i - 1] for i in late]),
        mean([pattern[i, i] for i in late]),
        mean([pattern[i, 0] for i in late]),
        mean([-math.fsum(a * math.log(a) for a in pattern[i] if a > 0) for i in late]),
    ]
