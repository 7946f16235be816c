"""What each head writes straight at the answers: direct logit attribution at every target of many examples.

    share of head h = s(x) (C z_h W_O,h * w) . (u - u')

with the final norm's scale s, centring C and weight w as in core/model/norms.py, u the target's row of the
unembedding and u' the wrong answer's where an example names one of a single token for its single target, else
the mean row of the vocabulary: what a head adds to all logits alike changes no probability. Averaged over an
example's targets. core/attribution/logit.py is the same for one token of one prompt, with all the other
parts; it is asked on the first example, and refuses what isn't a sum.

TransformerLens' tools.analysis.direct_logit_attribution wants weights folded into one another, and keeps
every activation of every position; the tests hold core/attribution/logit.py to its parts, and this to that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, cast

import torch
from jaxtyping import Float, Float64
from torch import nn

from headscope.core.attribution.logit import attribute
from headscope.core.gating.evaluation import Contrasted
from headscope.core.model.batches import (
    MicroBatch,
    budget_for,
    check_examples,
    micro_batches,
)
from headscope.core.model.head_model import HeadModel
from headscope.core.model.hooks import reading_input
from headscope.core.model.norms import Fold, measure_norm, norm_scale


@torch.no_grad()
def direct_shares(
    model: HeadModel, examples: Sequence[Contrasted], checkpoint: Callable[[], None] = lambda: None
) -> Float64[torch.Tensor, "example layer head"]:
    """Each head's share of the targets' logits, mean over an example's targets; logits.

    Raises Invalid for examples that can't be scored, Refused where an architecture's parts don't sum to its
    logits.
    """
    info = model.info
    check_examples(examples, info.n_ctx, "scored")
    first = examples[0]
    position = min(first.targets)
    attribute(model, first.tokens[:position], token=first.tokens[position])
    reader = _Reader(model)
    shares = torch.zeros(len(examples), info.n_layers, info.n_heads, dtype=torch.float64)
    rows = [(index, index) for index in range(len(examples))]
    for batch in micro_batches(rows, examples, info, budget_for(model.device)):
        checkpoint()
        against = torch.tensor([_wrong(examples[i]) for i in batch.examples[batch.where[:, 0]].tolist()])
        of_target = reader.shares(batch, against) * batch.weights[:, None, None]
        shares.index_add_(0, batch.examples[batch.where[:, 0]], of_target)
    return shares


def _wrong(example: Contrasted) -> int:
    """The token to compare with, -1 for the vocabulary's mean."""
    wrong = example.counterfactual
    return wrong[0] if wrong is not None and len(wrong) == 1 == len(example.targets) else -1


class _Reader:
    """The linear way from what heads write to logits, of one model."""

    def __init__(self, model: HeadModel) -> None:
        self.model = model
        self.rows = cast("torch.Tensor", model.parts.unembedding.weight)  # [vocab, d_model]
        self.norm: Any = model.parts.final_norm  # attribute has refused None
        self.fold = _double(measure_norm(self.norm, model.info.d_model))
        self.factor = (model.tail.value if model.tail.kind == "factor" else 1.0) * model.parts.factor
        self.mean = self.rows.mean(0, dtype=torch.float64)
        self.out = [_matrix(projection, model) for projection in model.parts.projections]

    def shares(self, batch: MicroBatch, against: torch.Tensor) -> Float64[torch.Tensor, "target layer head"]:
        """Of each target's logit, less the compared one's."""
        z, attention, last = self._seen(batch)
        wide = self.rows[batch.answers.to(self.model.device)].double()
        wrong = self.rows[against.clamp(min=0).to(self.model.device)].double()
        wide = wide - torch.where((against < 0).to(self.model.device)[:, None], self.mean, wrong)
        read = self.fold.reader(wide.T).T * norm_scale(self.norm, last)[:, None] * self.factor
        found = []
        for layer, heads in enumerate(z):
            norm, into = self.model.parts.attention_norms[layer], read
            if norm is not None:
                fold = _double(measure_norm(norm, self.model.info.d_model))
                into = fold.reader(read.T).T * norm_scale(norm, attention[layer])[:, None]
            found.append(((into @ self.out[layer].T).view_as(heads) * heads).sum(-1))
        return torch.stack(found, 1).cpu()

    def _seen(self, batch: MicroBatch) -> tuple[list[torch.Tensor], dict[int, torch.Tensor], torch.Tensor]:
        """z [target, head, d_head] a layer, what norms after attention read, and what the last norm reads."""
        parts, heads = self.model.parts, self.model.info.n_heads
        where = batch.where.to(self.model.device)
        found: dict[str, torch.Tensor] = {}
        with ExitStack() as hooks:

            def keep(module: nn.Module | None, name: str) -> None:
                def pick(stream: torch.Tensor) -> None:
                    found[name] = stream[where[:, 0], where[:, 1]].double()

                if module is not None:
                    hooks.enter_context(reading_input(module, pick))

            for layer, (projection, norm) in enumerate(
                zip(parts.projections, parts.attention_norms, strict=True)
            ):
                keep(projection, f"z{layer}")
                keep(norm, f"norm{layer}")
            keep(self.norm, "last")
            self.model.logits_at(batch.tokens.to(self.model.device), where)
        layers = range(self.model.info.n_layers)
        z = [found[f"z{layer}"].unflatten(-1, (heads, -1)) for layer in layers]
        return z, {i: found[f"norm{i}"] for i in layers if f"norm{i}" in found}, found["last"]


def _matrix(projection: nn.Module, model: HeadModel) -> Float64[torch.Tensor, "width d_model"]:
    """W_O of all heads, by the module, however it keeps weights."""
    width = model.info.n_heads * model.info.d_head
    ones = torch.eye(width, dtype=model.dtype, device=model.device)
    bias: Float[torch.Tensor, "1 d_model"] = projection.forward(torch.zeros_like(ones[:1])[None])[0]
    out: torch.Tensor = projection.forward(ones[None])[0].double() - bias.double()
    return out


def _double(fold: Fold) -> Fold:
    return Fold(fold.scale.double(), fold.shift.double(), fold.centred)
