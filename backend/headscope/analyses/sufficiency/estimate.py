"""How long a sufficiency run will take and how much memory, without loading torch.

evaluations = points + bisection + random orders x inner points, each a forward pass of every example
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from headscope.analyses.base import Estimate
from headscope.analyses.costing import LAYER_OVERHEAD, LOAD_SECONDS, PROGRAM_BYTES, cpu_throughput
from headscope.analyses.sufficiency.plan import NOMINAL_TOKENS, plan
from headscope.analyses.sufficiency.schema import SufficiencyParams
from headscope.core.cost import CPU_BUDGET, ELEMENT_BYTES, activation_bytes, forward_flop
from headscope.core.model import ModelInfo
from headscope.core.tokens import Tokenizer
from headscope.tasks.task import Task

_SAMPLED = 64


def estimate(
    params: SufficiencyParams,
    model: ModelInfo,
    task: Task | None,
    gating: Mapping[str, Any],
    *,
    tokenizer: Tokenizer | None = None,
    throughput: float | None = None,
) -> Estimate:
    """Wall seconds and peak bytes; ``gating`` are the parameters of the run that gives the order."""
    model = replace(model, dtype=params.dtype)
    tokens, targets, examples = NOMINAL_TOKENS, 1.0, params.n_test
    if task is not None and tokenizer is not None:
        sample = task.examples(
            tokenizer,
            "test",
            limit=min(_SAMPLED, params.n_test),
            seed=int(gating["split_seed"]),
            shots=gating["shots"],
            n_ctx=model.n_ctx,
        )
        tokens = float(np.mean([len(example.tokens) for example in sample]))
        targets = float(np.mean([len(example.targets) for example in sample]))
        examples = min(params.n_test, task.sizes(seed=int(gating["split_seed"]))[1])
    unit = forward_flop(model, NOMINAL_TOKENS, 1) * params.n_test
    evaluations = sum(work.piece.weight for work in plan(params, model)) / unit
    each = forward_flop(model, tokens, targets)
    flop = evaluations * examples * each
    speed = throughput or cpu_throughput(params.dtype)
    passes = max(evaluations, flop / CPU_BUDGET.flop)
    at_once = max(1.0, min(examples * evaluations, CPU_BUDGET.flop / each))
    return Estimate(
        seconds=LOAD_SECONDS + flop / speed + passes * model.n_layers * LAYER_OVERHEAD,
        peak_bytes=int(
            PROGRAM_BYTES
            + model.n_params * ELEMENT_BYTES[model.dtype]
            + at_once * activation_bytes(model, tokens, targets)
        ),
        basis=f"{evaluations:.0f} evaluations of {examples} examples of {tokens:.0f} tokens, "
        f"{flop / 1e12:.3g} TFLOP at {speed / 1e9:.0f} GFLOP/s",
    )
