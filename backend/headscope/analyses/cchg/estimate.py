"""How long contrastive gating will take and how much memory, without loading torch.

    FLOP = fits x seeds x (updates x 2 sets x batch x 2 F + held-out x F) + held-out x F

F is an example's forward pass (``core.model.cost.forward_flop``); a backward to the gates costs another F.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from headscope.analyses.base import Estimate, Spec
from headscope.analyses.cchg.schema import CchgParams, fits
from headscope.analyses.cchg.tasks import asked, named
from headscope.analyses.costing import LAYER_OVERHEAD, LOAD_SECONDS, NOMINAL_TOKENS, cpu_throughput, tflop
from headscope.core.model.cost import CPU_BUDGET, forward_flop
from headscope.core.model.info import ModelInfo
from headscope.core.model.memory import activation_bytes, run_bytes
from headscope.core.model.tokens import Tokenizer
from headscope.tasks.task import Task

_SAMPLED = 32


def estimate(
    spec: Spec[CchgParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes. With a tokenizer the first examples of each task are measured.

    Raises what ``tasks.named`` does, and ``Invalid`` where a task gives no usable examples, e.g. none that
    fits the context.
    """
    params, tasks = spec.params, named(spec)
    model = replace(spec.model, dtype=params.dtype)
    cost = {name: _cost(task, params, model, tokenizer) for name, task in tasks.items()}
    of_sets = [float(np.mean([cost[name][0] for name in names])) for names in (params.retain, params.forget)]
    n_test = {name: min(params.n_test, task.sizes(seed=params.split_seed)[1]) for name, task in tasks.items()}
    scoring = sum(n_test[name] * cost[name][0] for name in tasks)
    update = params.seeds * params.batch_size * sum(of_sets)
    runs = len(fits(params))
    flop = runs * (params.steps * 2 * update + params.seeds * scoring) + scoring
    passes = runs * params.steps * 2 * math.ceil(update / CPU_BUDGET.flop) + math.ceil(flop / CPU_BUDGET.flop)
    speed = throughput or cpu_throughput(params.dtype)
    dearest, tokens, targets = max(cost.values())
    rows = max(1.0, min(update / dearest, 1 / CPU_BUDGET.share(model, tokens, targets)))
    return Estimate(
        seconds=LOAD_SECONDS + flop / speed + passes * model.n_layers * LAYER_OVERHEAD,
        peak_bytes=run_bytes(model, rows * activation_bytes(model, tokens, targets)),
        basis=f"{runs} fits, {tflop(flop)} at {speed / 1e9:.0f} GFLOP/s; "
        f"examples of up to {tokens:.0f} tokens",
    )


def _cost(
    task: Task, params: CchgParams, model: ModelInfo, tokenizer: Tokenizer | None
) -> tuple[float, float, float]:
    """FLOP of an example's forward pass, its tokens and its targets."""
    tokens, targets = NOMINAL_TOKENS, 1.0
    if tokenizer is not None:
        train, test = asked(task, "train", params), asked(task, "test", params)
        train["limit"], test["limit"] = min(_SAMPLED, params.n_train or _SAMPLED), 1
        sample = task.examples(tokenizer, "train", n_ctx=model.n_ctx, **train)
        task.examples(tokenizer, "test", n_ctx=model.n_ctx, **test)
        tokens = float(np.mean([len(example.tokens) for example in sample]))
        targets = float(np.mean([len(example.targets) for example in sample]))
    return forward_flop(model, tokens, targets), tokens, targets
