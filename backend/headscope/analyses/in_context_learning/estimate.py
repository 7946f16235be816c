"""How long a run will take and how much memory, without loading torch.

seconds = load + FLOP / throughput + passes x layers x overhead
passes = documents x (1 + heads closed)
"""

from __future__ import annotations

from dataclasses import replace

from headscope.analyses.base import Estimate, Spec
from headscope.analyses.costing import LAYER_OVERHEAD, LOAD_SECONDS, cpu_throughput, pass_flop, tflop
from headscope.analyses.in_context_learning.cuts import most_documents, texts_of
from headscope.analyses.in_context_learning.schema import (
    TOKENS,
    InContextLearningParams,
    check_context,
    closed_heads,
)
from headscope.analyses.in_context_learning.texts import beginnings
from headscope.core.model.cost import CPU_BUDGET
from headscope.core.model.memory import pass_bytes, run_bytes
from headscope.core.model.tokens import Tokenizer


def estimate(
    spec: Spec[InContextLearningParams],
    *,
    tokenizer: Tokenizer | None = None,
    throughput: float | None = None,
) -> Estimate:
    """Wall seconds and peak bytes.

    ``Invalid``: context-too-short, unknown-head; with a tokenizer, too-few-documents.
    """
    params, model = spec.params, replace(spec.model, dtype=spec.params.dtype)
    check_context(model)
    documents, heads = most_documents(spec), len(closed_heads(spec))
    if tokenizer is not None:
        documents = len(beginnings(tokenizer, texts_of(spec), params.documents).tokens)
    passes = documents * (1 + heads)
    flop = passes * pass_flop(model, TOKENS)
    speed = throughput or cpu_throughput(params.dtype)
    at_once = max(1, min(documents, int(1 / CPU_BUDGET.share(model, TOKENS, TOKENS))))
    return Estimate(
        seconds=LOAD_SECONDS + flop / speed + passes / at_once * model.n_layers * LAYER_OVERHEAD,
        peak_bytes=run_bytes(model, at_once * pass_bytes(model, TOKENS)),
        basis=f"{passes:,} passes of {TOKENS} tokens, {tflop(flop)} at {speed / 1e9:.0f} GFLOP/s",
    )
