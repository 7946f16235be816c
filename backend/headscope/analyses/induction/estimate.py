"""How long an induction run will take and how much memory, without loading torch.

seconds = load + FLOP / throughput + passes x layers x overhead
passes of a draw = 1 for its scores + 1 + 2 x heads gated off
memory = weights + one pass with all its logits + the patterns that are held
"""

from __future__ import annotations

from dataclasses import replace

from headscope.analyses.base import Estimate, Spec
from headscope.analyses.costing import LAYER_OVERHEAD, LOAD_SECONDS, cpu_throughput, pass_flop, tflop
from headscope.analyses.induction.cuts import ablated
from headscope.analyses.induction.schema import InductionParams, positions
from headscope.core.model.cost import CPU_BUDGET
from headscope.core.model.memory import ELEMENT_BYTES, pass_bytes, run_bytes
from headscope.core.model.tokens import Tokenizer
from headscope.core.patterns.random_repeats import repeated_tokens


def estimate(
    spec: Spec[InductionParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes. ``Invalid`` where the context (too-long) or vocabulary is too small."""
    params, model = spec.params, replace(spec.model, dtype=spec.params.dtype)
    tokens = positions(params, model)
    if tokenizer is not None:
        repeated_tokens(tokenizer, params.length, draws=1, seed=params.first_seed)
    heads = ablated(params, model)
    passes = params.seeds * (1 + (1 + 2 * heads if heads else 0))
    at_once = max(1, min(params.seeds, int(1 / CPU_BUDGET.share(model, tokens, tokens))))
    flop = passes * pass_flop(model, tokens)
    speed = throughput or cpu_throughput(params.dtype)
    seconds = LOAD_SECONDS + flop / speed + passes / at_once * model.n_layers * LAYER_OVERHEAD
    held = model.n_layers * model.n_heads * tokens**2 * ELEMENT_BYTES[model.dtype] if heads else 0
    return Estimate(
        seconds=seconds,
        peak_bytes=run_bytes(model, at_once * (pass_bytes(model, tokens) + held)),
        basis=f"{passes:,} passes of {tokens:,} tokens, {tflop(flop)} at {speed / 1e9:.0f} GFLOP/s",
    )
