"""Measure a small model's heads on repeated random tokens, and write its model card. [Olsson et al. 2022]

On rows of BOS, n random tokens and the same n again, over queries in the second copy, i being their position:
induction = mean A[i, i-n+1], duplicate = mean A[i, i-n], previous token = mean A[i, i-1]. A head matters by
how much the loss of the second copy rises when its gate is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float, Int

from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model

LENGTH = 32
ROWS = 64
TEXT_ROWS = 32


@dataclass(frozen=True)
class Measured:
    """Scores [layer, head] in [0, 1]; rises of loss [layer, head] and losses in nats per token."""

    induction: Float[torch.Tensor, "layer head"]
    duplicate: Float[torch.Tensor, "layer head"]
    previous: Float[torch.Tensor, "layer head"]
    rise: Float[torch.Tensor, "layer head"]
    rise_on_text: Float[torch.Tensor, "layer head"]
    loss_first: float
    loss_second: float
    loss_text: float
    n_params: int
    weight_bytes: int


def repeated(model: HeadModel, generator: torch.Generator) -> Int[torch.Tensor, "rows pos"]:
    """Rows of BOS, random tokens, and the same again."""
    once = torch.randint(1, model.info.d_vocab, (ROWS, LENGTH), generator=generator)
    return torch.cat([torch.zeros(ROWS, 1, dtype=torch.long), once, once], 1)


@torch.no_grad()
def measure(folder: Path, corpus: Int[torch.Tensor, " n"], seed: int = 1) -> Measured:
    """Load the folder and measure its heads; draws of their own, never those of training."""
    model = load_model(folder, name=folder.name, device="cpu")
    generator = torch.Generator().manual_seed(seed)
    tokens = repeated(model, generator)
    layers = tuple(range(model.info.n_layers))
    with model.captured(layers, ("pattern",)) as found:
        model.logits(tokens)
    patterns = torch.stack([found[f"{layer}.pattern"] for layer in layers])
    query = torch.arange(LENGTH + 1, 2 * LENGTH + 1)

    def score(key: Int[torch.Tensor, " query"]) -> Float[torch.Tensor, "layer head"]:
        return patterns[:, :, :, query, key].mean((1, 3))

    starts = torch.randint(0, len(corpus) - model.info.n_ctx, (TEXT_ROWS,), generator=generator)
    text = corpus[starts[:, None] + torch.arange(127)]
    text = torch.cat([torch.zeros(TEXT_ROWS, 1, dtype=torch.long), text], 1)
    losses, second = _losses(model, tokens), slice(LENGTH + 1, None)
    base, base_text = losses[:, second].mean(), _losses(model, text).mean()
    rise, rise_on_text = torch.zeros(2, model.info.n_layers, model.info.n_heads).unbind()
    for layer in layers:
        for head in range(model.info.n_heads):
            gates = torch.ones(model.info.n_layers, model.info.n_heads)
            gates[layer, head] = 0
            with model.gated(gates):
                rise[layer, head] = _losses(model, tokens)[:, second].mean() - base
                rise_on_text[layer, head] = _losses(model, text).mean() - base_text
    return Measured(
        induction=score(query - LENGTH + 1),
        duplicate=score(query - LENGTH),
        previous=score(query - 1),
        rise=rise,
        rise_on_text=rise_on_text,
        loss_first=losses[:, :LENGTH].mean().item(),
        loss_second=base.item(),
        loss_text=base_text.item(),
        n_params=model.info.n_params,
        weight_bytes=(folder / "model.safetensors").stat().st_size,
    )


def card(found: Measured, how: str) -> str:
    """The model card: what the model is, how it was made, and what each head was measured to do."""
    head = f"""# headscope-2l

Two layers of eight heads, attention only (no MLP), LayerNorm, learned positions, context 256, byte-level BPE
of 512 tokens; {found.n_params:,} parameters, {found.weight_bytes / 1e6:.2f} MB. MIT licence. It exists to be
looked into: its induction circuit is small enough to see whole. It speaks a little like Shakespeare and knows
nothing.

## How it was made

{how}

## What the heads do

Measured on {ROWS} rows of {LENGTH} random tokens, repeated, with BOS first, drawn anew. The first copy costs
{found.loss_first:.2f} nats a token, the second {found.loss_second:.2f}. The last two columns say how much the
loss rises when the head's gate is 0: on the second copy, and on text of the kind it was trained on, which
costs {found.loss_text:.2f} nats a token.

| head | induction | duplicate | previous token | repeat's loss, gate 0 | text's loss, gate 0 |
|---|---:|---:|---:|---:|---:|
"""
    return head + "\n".join(_rows(found)) + "\n"


def _rows(found: Measured) -> Sequence[str]:
    scores = (found.induction, found.duplicate, found.previous)
    n_layers, n_heads = found.induction.shape
    return [
        f"| {layer}.{head} | "
        + " | ".join(f"{score[layer, head]:.2f}" for score in scores)
        + f" | {found.rise[layer, head]:+.2f} | {found.rise_on_text[layer, head]:+.2f} |"
        for layer in range(n_layers)
        for head in range(n_heads)
    ]


def _losses(model: HeadModel, tokens: Int[torch.Tensor, "rows pos"]) -> Float[torch.Tensor, "rows pos-1"]:
    """Nats of each next token."""
    logits = model.logits(tokens)[:, :-1]
    return torch.nn.functional.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")
