"""Causal head gating as the paper tells it, and nothing more: what Headscope's engine is measured against.

transformers' own model with frozen weights in float32; a pre-hook on each o_proj multiplies heads by one mask
of gates; rows padded on the right under an attention mask; logits of the whole vocabulary at every position;
the loss over target tokens; torch's Adam and its clipping [arXiv 2505.13737, section 3].
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers

from headscope.core.model.batches import Scored


class PlainFit:
    """One mask under fit; ``logits`` are [layer, head]."""

    def __init__(self, folder: Path, logits: torch.Tensor, lr: float = 0.1) -> None:
        self.model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        self.model.eval().requires_grad_(False)
        self.logits = logits.clone().requires_grad_()
        self.adam = torch.optim.Adam([self.logits], lr=lr)
        for layer, block in enumerate(self.model.model.layers):
            block.self_attn.o_proj.register_forward_pre_hook(
                lambda _, args, layer=layer: (self._gate(layer, args[0]),)
            )

    def update(self, rows: Sequence[Scored]) -> float:
        """One update without a push; the loss before it, nats."""
        self.adam.zero_grad()
        loss = self.loss(rows)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([self.logits], 1.0)
        self.adam.step()
        return float(loss.detach())

    def loss(self, rows: Sequence[Scored]) -> torch.Tensor:
        """Mean over rows of the NLL of their target tokens."""
        longest = max(len(row.tokens) for row in rows)
        ids = torch.zeros(len(rows), longest, dtype=torch.long)
        mask, labels = torch.zeros_like(ids), torch.full_like(ids, -100)
        for n, row in enumerate(rows):
            ids[n, : len(row.tokens)] = torch.tensor(list(row.tokens))
            mask[n, : len(row.tokens)] = 1
            labels[n, list(row.targets)] = ids[n, list(row.targets)]
        logits = self.model(input_ids=ids, attention_mask=mask, use_cache=False).logits
        nll = torch.nn.functional.cross_entropy(
            logits[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=-100, reduction="none"
        )
        return (nll.sum(dim=1) / (labels != -100).sum(dim=1)).mean()

    def _gate(self, layer: int, z: torch.Tensor) -> torch.Tensor:
        gates = self.logits[layer].sigmoid()
        return z * gates.repeat_interleave(z.shape[-1] // len(gates))
