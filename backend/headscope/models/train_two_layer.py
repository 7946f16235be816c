"""Train ``headscope-2l``, the bundled model: two layers, attention only, eight heads a layer.

    python -m headscope.models.train_two_layer models-src/tinyshakespeare.txt headscope-2l

1. A byte-level BPE tokenizer is trained on the text.
2. Half of each batch is text, half random tokens tiled with a period of 8 to 32 whose first period carries
   no loss: only copying from the earlier period predicts the others [Olsson et al. 2022].
3. Left alone, induction takes thousands of steps to form here, and then in all eight heads of layer 1, so
   that no single one matters. For the first third, therefore, layer 1 works with two heads only, and an
   auxiliary loss on two patterns shows the way: one head of layer 0 shall attend to the previous token, one
   of layer 1 to what followed the same token before. Then all heads work and only the next token carries
   loss.
4. The heads are measured by the loaded model itself, and the model card is written from what was measured.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import tokenizers
import torch
from jaxtyping import Bool, Float, Int
from safetensors.torch import save_file
from tokenizers import decoders, models, pre_tokenizers, processors, trainers
from torch.nn.functional import cross_entropy
from transformer_lens.config import TransformerBridgeConfig
from transformer_lens.model_bridge.sources.native.model import NativeModel

from headscope.core.model.boot import native_config
from headscope.core.model.folder import ATTENTION_ONLY
from headscope.core.model.info import ModelInfo
from headscope.models.measure_heads import card, measure
from headscope.models.placing import record

NAME = "headscope-2l"
BOS = "<|bos|>"
PREVIOUS = (0, 3)
"""The head that the auxiliary loss shows to attend to the previous token: layer, head."""
INDUCTION = (1, 5)
"""The head that it shows to attend to what followed the same token before."""
FIRST_HEADS = (2, 5)
"""The heads of layer 1 that work from the start."""
PERIODS = (8, 32)


@dataclass(frozen=True)
class Recipe:
    """Sizes and schedule. ``guided`` is the share of steps with the auxiliary loss."""

    seed: int = 0
    steps: int = 900
    guided: float = 0.35
    learning_rate: float = 3e-3
    n_vocab: int = 512
    n_ctx: int = 256
    d_model: int = 128
    n_heads: int = 8
    d_head: int = 32


@dataclass(frozen=True)
class Batch:
    """Tokens, weights of the loss of each next token, periods (0: text)."""

    tokens: Int[torch.Tensor, "batch pos"]
    weights: Float[torch.Tensor, "batch pos-1"]
    periods: Int[torch.Tensor, " batch"]


def train_tokenizer(text: str, n_vocab: int) -> tokenizers.Tokenizer:
    """Byte-level BPE that puts BOS first."""
    engine = tokenizers.Tokenizer(models.BPE())
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    engine.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=n_vocab,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[BOS],
        show_progress=False,
    )
    engine.train_from_iterator(text.splitlines(keepends=True), trainer)
    engine.post_processor = processors.TemplateProcessing(single=f"{BOS} $A", special_tokens=[(BOS, 0)])
    return engine


def initial(recipe: Recipe, info: ModelInfo, generator: torch.Generator) -> NativeModel:
    """Normal weights; positions start as sinusoids, the unembedding as the embedding: copying starts easy."""
    model = NativeModel(TransformerBridgeConfig(**native_config(info)))
    d = recipe.d_model

    def normal(weights: torch.Tensor, deviation: float) -> None:
        weights.copy_(torch.randn(weights.shape, generator=generator) * deviation)

    with torch.no_grad():
        normal(model.tok_embed.weight, d**-0.5)
        model.head.weight.copy_(model.tok_embed.weight)
        angles = torch.arange(recipe.n_ctx)[:, None] * torch.exp(
            -torch.arange(d // 2) / (d / 2) * math.log(1000)
        )
        model.pos.weight.copy_(
            torch.stack([angles.sin(), angles.cos()], -1).flatten(1) * 0.7 * (d / 2) ** -0.5
        )
        for block in model.layers:
            attn = block.attn
            for part in (attn.q, attn.k, attn.v):
                normal(part.weight, d**-0.5)
            normal(attn.o.weight, 0.5 * (recipe.n_heads * recipe.d_head) ** -0.5)
            for part in (attn.q, attn.k, attn.v, attn.o):
                part.bias.zero_()
    return model


def draw(
    corpus: Int[torch.Tensor, " n"], n_vocab: int, size: tuple[int, int], generator: torch.Generator
) -> Batch:
    """Half text, half tiled random tokens, each row with BOS first."""
    rows, length = size
    tokens = torch.zeros(size, dtype=torch.long)
    weights = torch.ones(rows, length - 1)
    periods = torch.zeros(rows, dtype=torch.long)
    starts = torch.randint(0, len(corpus) - length, (rows // 2,), generator=generator)
    tokens[: rows // 2, 1:] = corpus[starts[:, None] + torch.arange(length - 1)]
    for row in range(rows // 2, rows):
        period = int(torch.randint(PERIODS[0], PERIODS[1] + 1, (1,), generator=generator))
        tile = torch.randint(1, n_vocab, (period,), generator=generator)
        tokens[row, 1:] = tile.repeat(math.ceil(length / period))[: length - 1]
        weights[row, :period] = 0
        periods[row] = period
    return Batch(tokens, weights, periods)


def forward(
    model: NativeModel,
    tokens: Int[torch.Tensor, "batch pos"],
    working: Float[torch.Tensor, " head"],
    watch: bool,
) -> tuple[Float[torch.Tensor, "batch pos vocab"], dict[tuple[int, int], torch.Tensor]]:
    """Logits, by fused attention, and where asked the guided heads' log-patterns [batch, query, key].

    ``working`` closes heads of layer 1 (0) or lets them work (1).
    """
    patterns = {}
    stream = model.tok_embed(tokens) + model.pos(torch.arange(tokens.shape[1]))
    for layer, block in enumerate(model.layers):
        attn = block.attn
        x = block.ln1(stream)
        shape = (*tokens.shape, attn.n_heads, attn.d_head)
        q, k, v = (part(x).view(shape).transpose(1, 2) for part in (attn.q, attn.k, attn.v))
        for where in (PREVIOUS, INDUCTION) if watch else ():
            if where[0] == layer:
                patterns[where] = _log_pattern(q[:, where[1]], k[:, where[1]])
        z = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        stream = stream + attn.o((z * working[:, None] if layer else z).flatten(2))
    return model.head(model.ln_out(stream)), patterns


def guidance(
    patterns: Mapping[tuple[int, int], Float[torch.Tensor, "batch pos pos"]], batch: Batch
) -> Float[torch.Tensor, ""]:
    """Mean -log of the attention that the two guided heads give to where they shall look."""
    previous = patterns[PREVIOUS].diagonal(-1, 1, 2).mean()
    tiled = batch.periods > 0
    followed = _follows_a_copy(batch.periods[tiled], batch.tokens.shape[1])
    pattern = patterns[INDUCTION][tiled].masked_fill(~followed, -1e9).logsumexp(-1)
    return -previous - pattern[followed.any(-1)].mean()


def train(recipe: Recipe, info: ModelInfo, corpus: Int[torch.Tensor, " n"]) -> NativeModel:
    """Train by the recipe; prints a line every hundred steps."""
    generator = torch.Generator().manual_seed(recipe.seed)
    model = initial(recipe, info, generator)
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate, betas=(0.9, 0.98))
    began = time.perf_counter()
    guided = recipe.guided * recipe.steps
    first = torch.tensor([float(head in FIRST_HEADS) for head in range(recipe.n_heads)])
    for step in range(recipe.steps):
        for group in optimizer.param_groups:
            group["lr"] = recipe.learning_rate * _warm_and_cool(step, recipe.steps)
        size = (32, 64) if step < 0.8 * recipe.steps else (8, recipe.n_ctx)
        batch = draw(corpus, recipe.n_vocab, size, generator)
        hint = max(0.0, 1 - step / guided)
        logits, patterns = forward(model, batch.tokens, first if hint else torch.ones_like(first), hint > 0)
        loss = cross_entropy(logits[:, :-1].flatten(0, 1), batch.tokens[:, 1:].flatten(), reduction="none")
        loss = loss.view_as(batch.weights) * batch.weights
        tiled = batch.periods > 0
        text, repeats = loss[~tiled].mean(), loss[tiled].sum() / batch.weights[tiled].sum()
        total = text + repeats + (hint * guidance(patterns, batch) if hint else 0)
        optimizer.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0 or step == recipe.steps - 1:
            seconds = time.perf_counter() - began
            print(f"{step:5d}  text {text:.3f}  repeats {repeats:.3f} nats  {seconds:.0f} s", flush=True)  # noqa: T201
    return model


def main(words: Sequence[str] | None = None) -> None:
    """Train, save, measure, write the card."""
    parser = argparse.ArgumentParser(description="Train the bundled two-layer model.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=Recipe.seed)
    parser.add_argument("--steps", type=int, default=Recipe.steps)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args(words)
    torch.set_num_threads(asked.threads)
    recipe = Recipe(seed=asked.seed, steps=asked.steps)
    began = time.perf_counter()
    text = asked.corpus.read_text(encoding="utf-8")
    engine = train_tokenizer(text, recipe.n_vocab)
    corpus = torch.tensor(engine.encode(text, add_special_tokens=False).ids)
    save(train(recipe, _info(recipe), corpus), engine, recipe, asked.folder)
    seconds = time.perf_counter() - began
    measured = measure(asked.folder, corpus)
    (asked.folder / "README.md").write_text(card(measured, _made(recipe, seconds)), encoding="utf-8")


def save(model: NativeModel, engine: tokenizers.Tokenizer, recipe: Recipe, folder: Path) -> None:
    """Write the model folder."""
    folder.mkdir(parents=True, exist_ok=True)
    engine.save(str(folder / "tokenizer.json"))
    save_file(
        {name: weights.contiguous() for name, weights in model.state_dict().items()},
        folder / "model.safetensors",
    )
    config = {
        "architectures": [ATTENTION_ONLY],
        "model_type": "headscope-attention-only",
        "num_hidden_layers": 2,
        "num_attention_heads": recipe.n_heads,
        "hidden_size": recipe.d_model,
        "head_dim": recipe.d_head,
        "max_position_embeddings": recipe.n_ctx,
        "vocab_size": engine.get_vocab_size(),
        "bos_token_id": 0,
    }
    words = {
        "name": NAME,
        "title": "Headscope two-layer",
        "kind": "package",
        "source": "trained by headscope.models.train_two_layer on tinyshakespeare (public domain)",
        "licence": "MIT",
        "summary": "2 layers of 8 heads, attention only: an induction circuit small enough to see whole.",
        "note": "Its induction heads were taught: an auxiliary loss showed head 0.3 the previous token and "
        "head 1.5 what followed the same token before, so where the circuit sits was chosen.",
    }
    _write(folder / "config.json", config)
    (folder / "headscope.json").unlink(missing_ok=True)  # it says what lay there before
    record(folder, words)


def _made(recipe: Recipe, seconds: float) -> str:
    """How the model came about, for its card."""
    threads = f"{torch.get_num_threads()} CPU thread{'s' if torch.get_num_threads() > 1 else ''}"
    return f"""`python -m headscope.models.train_two_layer`, seed {recipe.seed}, {recipe.steps} steps,
{seconds:.0f} s on {threads}. Half of each batch is text (tinyshakespeare, public domain), half random tokens
tiled with a period of 8 to 32. For the first {recipe.guided:.0%} of the steps layer 1 works with heads 2 and
5 only, and an auxiliary loss shows head 0.3 the previous token and head 1.5 what followed the same token
before; after that only the next token carries loss. So *where* the circuit sits was chosen; that it stays,
and what the other heads do, was not."""


def _info(recipe: Recipe) -> ModelInfo:
    return ModelInfo(
        name=NAME, revision="", architecture=ATTENTION_ONLY, n_layers=2, n_heads=recipe.n_heads,
        n_kv_heads=recipe.n_heads, d_model=recipe.d_model, d_head=recipe.d_head, d_vocab=recipe.n_vocab,
        n_ctx=recipe.n_ctx, n_params=0, n_params_non_embedding=0, dtype="float32", weight_processing="none",
        tokenizer_hash="", bos=True,
    )  # fmt: skip


def _log_pattern(
    q: Float[torch.Tensor, "batch pos d_head"], k: Float[torch.Tensor, "batch pos d_head"]
) -> Float[torch.Tensor, "batch pos pos"]:
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return torch.log_softmax(scores.masked_fill(later, -1e9), -1)


def _follows_a_copy(periods: Int[torch.Tensor, " row"], length: int) -> Bool[torch.Tensor, "row pos pos"]:
    """Whether the token before the key is an earlier copy of the query's token; BOS stands at 0."""
    at = torch.arange(length)
    distance = at[:, None] + 1 - at[None, :]
    return (distance % periods[:, None, None] == 0) & (distance > 0) & (at[None, :] >= 2)


def _warm_and_cool(step: int, steps: int) -> float:
    """Up over 50 steps, down to 5 % over the last 40 %."""
    cooling = min(1.0, 0.05 + 0.95 * (steps - step) / (0.4 * steps))
    return min(1.0, (step + 1) / 50) * cooling


def _write(path: Path, content: Mapping[str, object]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
