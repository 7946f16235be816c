"""How long a causal head gating run will take and how much memory, without loading torch.

    seconds = load + FLOP / throughput + passes x layers x overhead
    FLOP    = seeds x 3 phases x updates x batch x 2 F + held-out x (1 + 5 seeds) x F

F is an example's forward pass (``core.cost.forward_flop``); a backward to the gates costs another F, as the
weights are frozen. A pass is one micro-batch forward or backward; its overhead is what a layer costs beside
its arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from headscope.analyses.base import Estimate
from headscope.analyses.chg.plan import NOMINAL_TOKENS
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.costing import LAYER_OVERHEAD, LOAD_SECONDS, PROGRAM_BYTES, cpu_throughput
from headscope.core.cost import CPU_BUDGET, ELEMENT_BYTES, activation_bytes, forward_flop
from headscope.core.model import ModelInfo
from headscope.core.tokens import Tokenizer
from headscope.tasks.task import Task

_SAMPLED = 64


def estimate(
    params: ChgParams,
    model: ModelInfo,
    task: Task | None,
    *,
    tokenizer: Tokenizer | None = None,
    throughput: float | None = None,
) -> Estimate:
    """Wall seconds and peak bytes. With a tokenizer the task's first examples are measured, else taken as
    average.

    Raises ``Invalid`` where the tokenizer finds that the task gives no usable examples.
    """
    model = replace(model, dtype=params.dtype)
    weights = model.n_params * ELEMENT_BYTES[model.dtype]
    tokens, targets, basis = _lengths(params, model, task, tokenizer)
    n_train, n_test = task.sizes(seed=params.split_seed) if task is not None else (params.batch_size, 256)
    batch = min(params.batch_size, n_train, params.n_train or n_train)
    scored = min(params.n_test or n_test, n_test)
    forward = forward_flop(model, tokens, targets)
    per_update = params.seeds * batch * forward
    held_out = scored * (1 + 5 * params.seeds) * forward
    flop = 3 * params.steps * 2 * per_update + held_out
    both_ways = 2 * math.ceil(per_update / CPU_BUDGET.flop)
    passes = 3 * params.steps * both_ways + math.ceil(held_out / CPU_BUDGET.flop)
    speed = throughput or cpu_throughput(params.dtype)
    seconds = LOAD_SECONDS + flop / speed + passes * model.n_layers * LAYER_OVERHEAD
    rows = max(1.0, min(per_update, CPU_BUDGET.flop) / forward)
    return Estimate(
        seconds=seconds,
        peak_bytes=int(PROGRAM_BYTES + weights + rows * activation_bytes(model, tokens, targets)),
        basis=f"{flop / 1e12:.3g} TFLOP at {speed / 1e9:.0f} GFLOP/s; {basis}",
    )


def _lengths(
    params: ChgParams, model: ModelInfo, task: Task | None, tokenizer: Tokenizer | None
) -> tuple[float, float, str]:
    if task is None or tokenizer is None:
        return NOMINAL_TOKENS, 1.0, f"examples taken as {NOMINAL_TOKENS:.0f} tokens long"
    sample = task.examples(
        tokenizer,
        "train",
        limit=min(_SAMPLED, params.n_train or _SAMPLED),
        seed=params.split_seed,
        shots=params.shots,
        n_ctx=model.n_ctx,
    )
    tokens = float(np.mean([len(example.tokens) for example in sample]))
    targets = float(np.mean([len(example.targets) for example in sample]))
    return tokens, targets, f"examples of {tokens:.0f} tokens"
