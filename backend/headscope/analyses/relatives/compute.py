"""The relatives as pieces of durable work; core/attribution/relatives.py and direct.py measure.

1. ``slopes/a-b``: losses, attribution patching, integrated gradients, direct shares of examples a to b.
2. ``left-out/c-d/a-b``: the heads of layers c to d left out one at a time on those examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from headscope.analyses import ablation
from headscope.analyses import shots as in_context
from headscope.analyses.base import Context, Estimate, Kept, Piece, Pieces, Spec
from headscope.analyses.columns import quietly
from headscope.analyses.cutting import span
from headscope.analyses.held_out import of_task, scoring, sizes
from headscope.analyses.relatives.cuts import (
    ablation_blocks,
    ablation_flop,
    gradient_blocks,
    gradient_flop,
    gradient_passes,
    share_from,
)
from headscope.analyses.relatives.result import (
    MOST_NODES,
    NAMES,
    TOLERANCE,
    PerHead,
    RelativesResult,
)
from headscope.analyses.relatives.schema import RelativesParams
from headscope.core.gating.ablation import REFERENCE_ROWS
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Refused
from headscope.tasks.task import Example, Examples, Split

if TYPE_CHECKING:
    from headscope.core.gating.replacements import Replacements

PerExample = Float[np.ndarray, "example layer head"]


def seeds(params: RelativesParams) -> Sequence[int]:
    """One: nothing is drawn but the split."""
    return (params.split_seed,)


def estimate(
    spec: Spec[RelativesParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes."""
    params, model = spec.params, spec.model
    shots = in_context.largest(params, spec.task, model, tokenizer)
    drawing = {"split_seed": params.split_seed, "shots": shots}
    rows = sizes(spec.task, tokenizer, drawing, params.n_examples, model)
    gradients = gradient_passes(params) + (2 + params.points) * ablation.PASSES[params.ablation]
    ablations = model.n_heads * sum(share_from(model, layer) for layer in range(model.n_layers))
    return scoring(
        model,
        params.dtype,
        rows,
        layers=model.n_layers * (gradients + ablations),
        readings=gradients + model.n_layers * model.n_heads,
        throughput=throughput,
        basis=f"{model.n_layers * model.n_heads} heads left out, {1 + params.points} gradients",
    )


def plan(spec: Spec[RelativesParams]) -> Sequence[Piece]:
    """All gradients first, then the heads left out."""
    each, layer = gradient_flop(spec), ablation_flop(spec.model)
    kind, chosen = spec.params.ablation, in_context.keys(spec.params)
    ablation.check_pairs(kind, spec.task)
    needs = (*chosen, *ablation.needs(kind))
    return [
        *in_context.pieces(spec.params, spec.task, spec.model),
        *ablation.means(kind, spec.model, partial(_training, spec), chosen),
        *(
            Piece(
                _gradient_key(block),
                "Gradients of the loss",
                partial(_gradients, spec, block),
                needs,
                weight=each * len(block),
            )
            for block in gradient_blocks(spec)
        ),
        *(
            Piece(
                _ablation_key(layers, block),
                f"Leave-one-out, layers {layers.start}–{layers.stop - 1}",
                partial(_ablations, spec, layers, block),
                needs,
                weight=sum(layer[index] for index in layers) * len(block),
            )
            for layers, block in ablation_blocks(spec)
        ),
    ]


def assemble(spec: Spec[RelativesParams], pieces: Pieces) -> RelativesResult:
    """Means over examples and their standard errors."""
    parts = [pieces[_gradient_key(block)] for block in gradient_blocks(spec)]
    found = {
        name: np.concatenate([part[name] for part in parts])
        for name in ("loss", "loss_closed", "slope", "path", "direct")
    }
    found["importance"] = np.abs(found["slope"])
    found["left_out"] = _rises(spec, pieces, len(found["loss"]))
    result = RelativesResult(
        **RelativesResult.header(spec, seeds=seeds(spec.params), task=spec.task),
        **{name: found[name].mean(axis=0).astype(np.float32) for name in NAMES},
        errors={name: _standard_error(found[name]) for name in NAMES},
        n_examples=len(found["loss"]),
        loss=float(found["loss"].mean()),
        loss_closed=float(found["loss_closed"].mean()),
        path_sum=float(found["path"].mean(axis=0).sum()),
        shots=in_context.taken(spec.params, pieces),
        notes=[],
    )
    return replace(result, notes=[*in_context.notes(spec.params, pieces), *_notes(spec, result, parts)])


def _gradient_key(block: range) -> str:
    return f"slopes/{span(block)}"


def _ablation_key(layers: range, block: range) -> str:
    return f"left-out/{span(layers)}/{span(block)}"


def _gradients(spec: Spec[RelativesParams], block: range, context: Context) -> Kept:
    drawn, usable = _drawn(spec, context, "test"), _examples(spec, context)
    examples = usable[block.start : block.stop]
    inside = _replacements(spec, context)
    found = _measured(examples, spec.params, inside, context) if examples else _nothing(context)
    left = {"n_unpaired": np.array([len(drawn) - len(usable)])} if len(usable) < len(drawn) else {}
    return {**found, **left, "n_left_out": np.array([drawn.n_left_out])}


def _measured(
    examples: Sequence[Example], params: RelativesParams, inside: Replacements | None, context: Context
) -> Kept:
    from headscope.core.attribution.path_integral import integrated_gradients
    from headscope.core.attribution.relatives import attribution_patching

    model, checkpoint = context.model, context.checkpoint
    loss, attribution = attribution_patching(model, examples, 1.0, checkpoint, inside)
    closed, _ = attribution_patching(model, examples, 0.0, checkpoint, inside)
    most = MOST_NODES if params.refine else params.points
    path = integrated_gradients(
        model, examples, (closed, loss), params.points, checkpoint, inside, most=most, tolerance=TOLERANCE
    )
    return {
        "loss": loss.numpy(),
        "loss_closed": closed.numpy(),
        "slope": attribution.numpy(),
        "path": path.parts.numpy(),
        "converged": path.converged.numpy(),
        "direct": _direct(examples, context),
    }


def _direct(examples: Sequence[Example], context: Context) -> PerExample:
    """NaN where an architecture's parts don't sum to its logits."""
    from headscope.core.attribution.direct import direct_shares

    info, proof = context.model.info, context.model.proof
    try:
        if proof is not None:
            proof.require(["attribution"])
        return direct_shares(context.model, examples, context.checkpoint).numpy()
    except Refused:
        return np.full((len(examples), info.n_layers, info.n_heads), np.nan)


def _nothing(context: Context) -> Kept:
    """Of a block behind the last example that there is."""
    none = np.zeros((0, context.model.info.n_layers, context.model.info.n_heads))
    no_loss = np.zeros(0)
    return {
        "loss": no_loss, "loss_closed": no_loss, "slope": none, "path": none, "direct": none,
        "converged": np.zeros(0, bool),
    }  # fmt: skip


def _ablations(spec: Spec[RelativesParams], layers: range, block: range, context: Context) -> Kept:
    from headscope.core.attribution.relatives import leave_one_out

    examples = _examples(spec, context)[block.start : block.stop]
    if not examples:
        return {"rise": np.zeros((0, len(layers), context.model.info.n_heads))}
    inside = _replacements(spec, context)
    return {"rise": leave_one_out(context.model, examples, layers, context.checkpoint, inside).numpy()}


def _rises(spec: Spec[RelativesParams], pieces: Pieces, n_examples: int) -> PerExample:
    rises = np.full((n_examples, spec.model.n_layers, spec.model.n_heads), np.nan)
    for layers, block in ablation_blocks(spec):
        part = pieces[_ablation_key(layers, block)]["rise"]
        rises[block.start : block.start + len(part), layers.start : layers.stop] = part
    return rises


def _replacements(spec: Spec[RelativesParams], context: Context) -> Replacements | None:
    return ablation.replacements(spec.params.ablation, partial(_training, spec), context)


def _training(spec: Spec[RelativesParams], context: Context) -> Examples:
    """Other rows of the task."""
    return _drawn(spec, context, "train")


def _examples(spec: Spec[RelativesParams], context: Context) -> Examples:
    return ablation.usable(spec.params.ablation, _drawn(spec, context, "test"))


def _drawn(spec: Spec[RelativesParams], context: Context, split: Split) -> Examples:
    return of_task(spec.task).examples(
        context.model.tokenizer,
        split,
        limit=spec.params.n_examples if split == "test" else REFERENCE_ROWS,
        seed=spec.params.split_seed,
        shots=in_context.taken(spec.params, context.pieces),
        n_ctx=context.model.info.n_ctx,
    )


def _standard_error(values: PerExample) -> PerHead:
    error: PerHead = quietly(np.std, values, axis=0, ddof=1) / np.sqrt(len(values))
    return error.astype(np.float32)


def _notes(spec: Spec[RelativesParams], result: RelativesResult, parts: Sequence[Kept]) -> Iterator[str]:
    """What the page says of how it was measured. ``parts`` are the pieces of all gradients."""
    if result.n_examples < 32:
        yield f"{result.n_examples} held-out examples: small effects are known roughly."
    if not result.path_converged:
        yield result.why_unconverged
    unfinished = sum(int((~part["converged"]).sum()) for part in parts) if spec.params.refine else 0
    if unfinished:
        yield f"The integral of {unfinished} of {result.n_examples} examples took all {MOST_NODES} gradients."
    if np.isnan(result.direct).all():
        yield "No direct logit attribution: this architecture's parts don't sum to its logits."
    if left_out := int(parts[0]["n_left_out"][0]):
        yield f"{left_out} rows are longer than the model's context and were left out."
    yield from ablation.notes(spec.params.ablation, int(np.sum(parts[0].get("n_unpaired", 0))))
