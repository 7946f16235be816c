"""How long a run will take and how much memory, without loading torch.

seconds = load + FLOP / throughput + passes x layers x overhead
FLOP    = clean prompts x F(prompt)
          + shuffled prompts x (F(prompt) + heads x (F(one token) / 2 + unembedding))
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from headscope.analyses.base import Estimate, Spec
from headscope.analyses.costing import cpu_throughput, tflop
from headscope.analyses.mediation_function_vectors.plan import nominal_tokens, other_tasks
from headscope.analyses.mediation_function_vectors.schema import FunctionVectorParams
from headscope.analyses.patch_effects import patched_bytes, patched_flop, patched_seconds
from headscope.core.model.cost import forward_flop
from headscope.core.model.tokens import Tokenizer
from headscope.tasks.shuffled import label_prompts
from headscope.tasks.task import Task

_SAMPLED = 8


def estimate(
    spec: Spec[FunctionVectorParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes. Raises ``Invalid`` where a task gives no prompts of use."""
    params, model = spec.params, replace(spec.model, dtype=spec.params.dtype)
    own = [spec.task] if spec.task else []
    different = {task.name: task for task in (*own, *other_tasks(spec))}
    lengths = [_tokens(spec, task, tokenizer) for task in different.values()]
    tokens = float(np.mean(lengths)) if lengths else nominal_tokens(params)
    count = max(1, len(different))
    clean, shuffled = params.clean * count, params.prompts * count
    flop = clean * forward_flop(model, tokens, 1) + shuffled * patched_flop(model, tokens, 1)
    speed = throughput or cpu_throughput(params.dtype)
    return Estimate(
        seconds=patched_seconds(model, flop, clean + shuffled, 1, speed),
        peak_bytes=patched_bytes(model),
        basis=f"{clean:,} clean and {shuffled:,} shuffled prompts of {tokens:.0f} tokens, "
        f"{tflop(flop)} at {speed / 1e9:.0f} GFLOP/s",
    )


def _tokens(spec: Spec[FunctionVectorParams], task: Task, tokenizer: Tokenizer | None) -> float:
    params = spec.params
    if tokenizer is None:
        return nominal_tokens(params)
    some = label_prompts(
        task,
        tokenizer,
        clean=min(params.clean, _SAMPLED),
        shuffled=min(params.prompts, _SAMPLED),
        shots=params.shots,
        seed=params.seed,
        n_ctx=spec.model.n_ctx,
    )
    return float(np.mean([len(example.tokens) for example in (*some.clean, *some.shuffled)]))
