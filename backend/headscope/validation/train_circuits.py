"""Train the two models of ``trained``; a minute on a CPU, and only when one of them changes:

    python -m headscope.validation.train_circuits

Attention only, one head a layer, no norm and no bias. With several heads a layer the work is spread: trained
with four, the best set without a head lost less than half a nat for all heads but one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import torch

from headscope.core.model.bridge import BridgedModel
from headscope.tasks.task import Example
from headscope.validation.compiled import FOLDER
from headscope.validation.model import model_of
from headscope.validation.planted import Weights
from headscope.validation.trained import LISTED, START, TASKS, VOCAB

LAYERS: Final = {"again": 2, "largest": 1}
HEADS, WIDTH, D_HEAD, CONTEXT = 1, 48, 24, 2 * LISTED + 2
UPDATES, BATCH, EXAMPLES = 3000, 128, 20_000


def main(folder: Path = FOLDER) -> None:
    """Write both, in half precision."""
    for name in TASKS:
        weights = train(name)
        known = {part: matrix for part, matrix in vars(weights).items() if matrix is not None}
        arrays = {part: matrix.numpy().astype(np.float16) for part, matrix in known.items()}
        np.savez_compressed(folder / f"trained-{name}.npz", **arrays)


def train(name: str, seed: int = 0) -> Weights:
    """Adam on the targets' loss, 0.003 falling to 0; biases stay 0, since ``Weights`` has none."""
    start = _drawn(LAYERS[name], seed)
    made = model_of(start, name, START, revision="new")
    assert isinstance(made, BridgedModel)  # noqa: S101 - what model_of makes
    module, (_, draw) = made.module.train(), TASKS[name]
    free = [p.requires_grad_() for key, p in module.named_parameters() if not key.endswith("bias")]
    optimiser = torch.optim.Adam(free, lr=3e-3)
    falling = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.01, UPDATES)
    every, where = _stacked(draw(EXAMPLES, 1_000_000))
    for update in range(UPDATES):
        tokens = every[torch.arange(update * BATCH, (update + 1) * BATCH) % EXAMPLES]
        predicted = module(input_ids=tokens)[:, where - 1]
        loss = torch.nn.functional.cross_entropy(predicted.flatten(0, 1), tokens[:, where].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        falling.step()
    return _read(module.state_dict())


def _drawn(layers: int, seed: int) -> Weights:
    source = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        drawn = torch.randn(shape, generator=source, dtype=torch.float64)
        return drawn / math.sqrt(shape[-2])

    return Weights(
        W_E=normal(VOCAB, WIDTH),
        W_pos=normal(CONTEXT, WIDTH),
        W_Q=normal(layers, HEADS, WIDTH, D_HEAD),
        W_K=normal(layers, HEADS, WIDTH, D_HEAD),
        W_V=normal(layers, HEADS, WIDTH, D_HEAD),
        W_O=normal(layers, HEADS, D_HEAD, WIDTH),
        W_U=normal(WIDTH, VOCAB),
    )


def _stacked(examples: Sequence[Example]) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens [row, pos] and the target positions, which all rows share."""
    return torch.tensor([example.tokens for example in examples]), torch.tensor(examples[0].targets)


def _read(state: dict[str, torch.Tensor]) -> Weights:
    """Weights by the architecture's names, as row vectors."""
    layers = sum(key.endswith("attn.q.weight") for key in state)

    def heads(part: str) -> torch.Tensor:
        each = [state[f"layers.{layer}.attn.{part}.weight"] for layer in range(layers)]
        return torch.stack([matrix.view(HEADS, D_HEAD, WIDTH).transpose(1, 2) for matrix in each])

    out = [state[f"layers.{layer}.attn.o.weight"].T.reshape(HEADS, D_HEAD, WIDTH) for layer in range(layers)]
    return Weights(
        state["tok_embed.weight"], state["pos.weight"], heads("q"), heads("k"), heads("v"), torch.stack(out),
        state["head.weight"].T,
    )  # fmt: skip


if __name__ == "__main__":
    main()
