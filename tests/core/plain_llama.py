"""Llama 3 in plain float64 torch, one row at a time, from its weights by name: nothing of transformers'.

Rotary frequencies are scaled as Llama 3.1 does: waves longer than the original context by ``factor``, those
shorter than a quarter of it not at all, the ones between by a straight line between the two.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor


class PlainLlama:
    """Logits [pos, vocab] of a row under gates [layer, head] that multiply z before W_O."""

    def __init__(self, folder: Path) -> None:
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = {k: v.double() for k, v in load_file(folder / "model.safetensors").items()}

    def __call__(self, tokens: Sequence[int], gates: Tensor) -> Tensor:
        c, w, length = self.config, self.weights, len(tokens)
        heads, groups, width = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
        stream = w["model.embed_tokens.weight"][list(tokens)]
        for layer in range(c["num_hidden_layers"]):
            at = f"model.layers.{layer}"
            read = self._norm(stream, f"{at}.input_layernorm")
            q, k, v = (
                (read @ w[f"{at}.self_attn.{x}_proj.weight"].T).view(length, n, width)
                for x, n in (("q", heads), ("k", groups), ("v", groups))
            )
            q, k = self._turned(q), self._turned(k)
            mixed = []
            for head in range(heads):
                group = head * groups // heads
                scores = q[:, head] @ k[:, group].T / math.sqrt(width)
                future = torch.ones(length, length).triu(1).bool()
                pattern = scores.masked_fill(future, -math.inf).softmax(dim=1)
                mixed.append(gates[layer, head] * (pattern @ v[:, group]))
            stream = stream + torch.cat(mixed, dim=1) @ w[f"{at}.self_attn.o_proj.weight"].T
            read = self._norm(stream, f"{at}.post_attention_layernorm")
            gate, up = (read @ w[f"{at}.mlp.{x}_proj.weight"].T for x in ("gate", "up"))
            stream = stream + (gate * gate.sigmoid() * up) @ w[f"{at}.mlp.down_proj.weight"].T
        out = "model.embed_tokens.weight" if c["tie_word_embeddings"] else "lm_head.weight"
        logits: Tensor = self._norm(stream, "model.norm") @ w[out].T
        return logits

    def _norm(self, x: Tensor, name: str) -> Tensor:
        scale = (x.square().mean(dim=1, keepdim=True) + self.config["rms_norm_eps"]).rsqrt()
        normed: Tensor = x * scale * self.weights[f"{name}.weight"]
        return normed

    def _turned(self, x: Tensor) -> Tensor:
        """Rotate the pairs (i, i + d/2) of each position's vectors by its angle."""
        half = x.shape[2] // 2
        angle = torch.arange(len(x), dtype=torch.float64)[:, None] * self.frequencies(half)
        cos, sin = angle.cos()[:, None], angle.sin()[:, None]
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=2)

    def frequencies(self, n: int) -> Tensor:
        """Radians a position of each of ``n`` pairs."""
        rope = self.config["rope_parameters"]
        low = rope["original_max_position_embeddings"] / rope["low_freq_factor"]
        high = rope["original_max_position_embeddings"] / rope["high_freq_factor"]
        scaled = []
        for pair in range(n):
            frequency = rope["rope_theta"] ** (-pair / n)
            wave = 2 * math.pi / frequency
            kept = min(1.0, max(0.0, (low / wave - 1) / (low / high - 1)))
            scaled.append(frequency * (kept + (1 - kept) / rope["factor"]))
        return torch.tensor(scaled, dtype=torch.float64)
