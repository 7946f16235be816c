"""What each head is worth to a task, by measures that are cheaper than causal head gating.

L(g) is the loss of an example, the mean NLL of its target tokens in nats, under gates g [layer, head]; with
all gates at 1 it is the model as it is. For head h, positive where the head helps:

1. Leave-one-out: L(1 with g_h = 0) - L(1), one head at a time. Rows of a pass have gates of their own, and
   the pass begins at the head's layer with the stream that the model as it is has there.
2. Attribution patching [Nanda 2023] with z -> 0: the first-order estimate (0 - z) . dL/dz of 1, summed over
   positions, which is -dL/dg_h at g = 1. The mean over examples of its absolute value is head importance
   [Michel et al. 2019].
3. Integrated gradients [Sundararajan et al. 2017; for circuits Hanna et al. 2024]: the integral over a from
   0 to 1 of -dL/dg_h(a, a, ... a), attribution patching along the path on which all heads open together
   (core.attribution.path_integral). Over heads it sums to L(0) - L(1). Where a model is sure of its answers,
   gradients at 1 are close to nothing whatever a head does; the path leaves that plateau.

TransformerLens' tools.analysis.attribution_patch takes pairs of prompts of one length, one pair at a time
with every activation and gradient cached, and refuses a path (``ig_steps`` above 1); its patching functions
run the whole model once per head. The tests hold 1 and 2 to what these give.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch
from jaxtyping import Float, Float64

from headscope.core.gating.replacements import Replacements, at_rows
from headscope.core.gating.targets import target_nll
from headscope.core.model.batches import (
    MicroBatch,
    Scored,
    budget_for,
    check_examples,
    micro_batches,
)
from headscope.core.model.head_model import HeadModel
from headscope.core.model.replacement import Replacement

Checkpoint = Callable[[], None]


def attribution_patching(
    model: HeadModel,
    examples: Sequence[Scored],
    opened: float | int | Float[torch.Tensor, " example"] = 1.0,
    checkpoint: Checkpoint = lambda: None,
    replacements: Replacements | None = None,
) -> tuple[Float64[torch.Tensor, " example"], Float64[torch.Tensor, "example layer head"]]:
    """Each example's loss and its -dL/dg with all gates at ``opened``; nats. At 1 it is the model as it is.

    ``opened`` is one for all examples, or each its own.

    Raises Invalid for examples that can't be scored.
    """
    info = model.info
    each = torch.as_tensor(opened, dtype=model.dtype, device=model.device).expand(len(examples))
    gates = each[:, None, None].repeat(1, info.n_layers, info.n_heads).requires_grad_()
    losses = torch.zeros(len(examples), dtype=torch.float64)
    for batch in _batches(model, examples):
        checkpoint()
        nll = target_nll(model, batch, gates, at_rows(replacements, model, batch, examples))
        checkpoint()
        (nll * batch.weights.to(nll)).sum().backward()
        losses[batch.examples] = by_row(batch, nll.detach())
    gradient = torch.zeros_like(gates) if gates.grad is None else gates.grad
    return losses, -gradient.cpu().double()


@torch.no_grad()
def losses_at(
    model: HeadModel,
    examples: Sequence[Scored],
    opened: Float[torch.Tensor, " example"],
    checkpoint: Checkpoint = lambda: None,
    replacements: Replacements | None = None,
) -> Float64[torch.Tensor, " example"]:
    """Each example's loss with all gates at its own ``opened``; nats."""
    info, losses = model.info, torch.zeros(len(examples), dtype=torch.float64)
    gates = opened.to(model.device, model.dtype)[:, None, None].expand(-1, info.n_layers, info.n_heads)
    for batch in _batches(model, examples):
        checkpoint()
        replacement = at_rows(replacements, model, batch, examples)
        losses[batch.examples] = by_row(batch, target_nll(model, batch, gates, replacement))
    return losses


@torch.no_grad()
def leave_one_out(
    model: HeadModel,
    examples: Sequence[Scored],
    layers: Sequence[int],
    checkpoint: Checkpoint = lambda: None,
    replacements: Replacements | None = None,
) -> Float64[torch.Tensor, "example chosen head"]:
    """How much each example's loss rises with one head's gate at 0, for all heads of chosen layers; nats."""
    heads = model.info.n_heads
    rise = torch.zeros(len(examples), len(layers), heads, dtype=torch.float64)
    for batch in _batches(model, examples):
        checkpoint()
        replacement = at_rows(replacements, model, batch, examples)
        with model.streams(tuple(layers)) as streams:
            base = losses_of(model, batch)
        for column, layer in enumerate(layers):
            for block in _together(model, batch, layer):
                checkpoint()
                gates = torch.ones(len(block), model.info.n_layers, heads)
                gates[torch.arange(len(block)), layer, list(block)] = 0
                after = losses_under(model, batch, gates, layer, streams[layer], replacement)
                rise[batch.examples[:, None], column, list(block)] = (after - base).T
    return rise


@torch.no_grad()
def losses_under(
    model: HeadModel,
    batch: MicroBatch,
    gates: Float[torch.Tensor, "way layer head"],
    layer: int = 0,
    stream: Float[torch.Tensor, "row pos d_model"] | None = None,
    replacement: Replacement | None = None,
) -> Float64[torch.Tensor, "way row"]:
    """Each row's loss under each set of gates, all in one pass, which begins at ``layer`` with its ``stream``
    where one is given: earlier gates must be those that it was made under.
    """
    ways = len(gates)
    wide = repeated(batch, ways)
    per_row = gates.to(model.device, model.dtype).repeat_interleave(len(batch.tokens), 0)
    with model.gated(per_row, None if replacement is None else replacement.repeated(ways)):
        if stream is None:
            found = losses_of(model, wide)
        else:
            with model.resumed(layer, stream.repeat(ways, 1, 1)):
                found = losses_of(model, wide)
    return found.view(ways, -1)


@torch.no_grad()
def losses_of(model: HeadModel, batch: MicroBatch) -> Float64[torch.Tensor, " row"]:
    """Each row's mean NLL over its target tokens, nats, under whatever contexts are open."""
    return by_row(batch, target_nll(model, batch, None))


def by_row(batch: MicroBatch, values: Float[torch.Tensor, " target"]) -> Float64[torch.Tensor, " row"]:
    """The mean of what is known of each row's targets."""
    rows = torch.zeros(len(batch.tokens), dtype=torch.float64)
    return rows.index_add_(0, batch.where[:, 0], values.cpu().double() * batch.weights)


def repeated(batch: MicroBatch, ways: int) -> MicroBatch:
    """The rows ``ways`` times over, one after the other."""
    n = len(batch.tokens)
    shift = torch.arange(ways).repeat_interleave(len(batch.where)) * n
    where = batch.where.repeat(ways, 1)
    return replace(
        batch,
        tokens=batch.tokens.repeat(ways, 1),
        owners=batch.owners.repeat(ways),
        examples=batch.examples.repeat(ways),
        where=torch.stack([where[:, 0] + shift, where[:, 1]], 1),
        answers=batch.answers.repeat(ways),
        weights=batch.weights.repeat(ways),
    )


def _batches(model: HeadModel, examples: Sequence[Scored]) -> list[MicroBatch]:
    check_examples(examples, model.info.n_ctx, "scored")
    rows = [(index, index) for index in range(len(examples))]
    return micro_batches(rows, examples, model.info, budget_for(model.device))


def _together(model: HeadModel, batch: MicroBatch, layer: int) -> Iterator[range]:
    """Heads of a layer whose passes from there on fit the budget of one pass."""
    info = model.info
    n_rows, length = batch.tokens.shape
    row = budget_for(model.device).share(info, length, math.ceil(len(batch.where) / n_rows))
    whole = row * n_rows * (info.n_layers - layer) / info.n_layers
    at_once = max(1, min(info.n_heads, int(1 / whole)))
    for start in range(0, info.n_heads, at_once):
        yield range(start, min(start + at_once, info.n_heads))
