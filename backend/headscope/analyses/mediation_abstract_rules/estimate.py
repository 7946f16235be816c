"""How long a run will take and how much memory, without loading torch.

    seconds = load + FLOP / throughput + passes x layers x overhead
    FLOP    = 2 x candidates x F(context), for both ways to swap
              + pairs x (F(context) + heads x half a pass of what comes after the first patched position)

Candidates are asked until enough are kept: the estimate takes all of them.
"""

from __future__ import annotations

from dataclasses import replace

from headscope.analyses.base import Estimate, Spec
from headscope.analyses.costing import cpu_throughput, tflop
from headscope.analyses.mediation_abstract_rules.plan import context_tokens, scores_flop
from headscope.analyses.mediation_abstract_rules.schema import SWAPPED, AbstractRuleParams
from headscope.analyses.patch_effects import patched_bytes, patched_seconds
from headscope.core.model.cost import forward_flop
from headscope.core.model.tokens import Tokenizer
from headscope.tasks.rule_pairs import rule_pairs


def estimate(
    spec: Spec[AbstractRuleParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes. Raises ``Invalid`` where the tokenizer gives no pairs of use."""
    params, model = spec.params, replace(spec.model, dtype=spec.params.dtype)
    tokens = context_tokens(params)
    if tokenizer is not None:
        pairs = rule_pairs(tokenizer, "rule", shots=params.shots, seed=params.seed, n_ctx=model.n_ctx)
        tokens = len(next(pairs).base)
    asked = len(SWAPPED) * params.candidates * 2 * forward_flop(model, tokens, 1)
    flop = asked + params.pairs * sum(scores_flop(params, model, swapped) for swapped in SWAPPED)
    speed = throughput or cpu_throughput(params.dtype)
    passes = len(SWAPPED) * params.candidates + 3 * params.pairs
    return Estimate(
        seconds=patched_seconds(model, flop, passes, tokens, speed),
        peak_bytes=patched_bytes(model),
        basis=f"Two ways to swap, each at most {params.candidates:,} candidates and "
        f"{params.pairs:,} pairs of {tokens} tokens, {tflop(flop)} at {speed / 1e9:.0f} GFLOP/s",
    )
