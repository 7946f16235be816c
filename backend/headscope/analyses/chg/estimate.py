"""How long a causal head gating run will take and how much memory, without loading torch.

    seconds = load + FLOP / throughput + passes x layers x overhead
    FLOP    = (seeds + null fits) x 3 phases x updates x batch x 2 F + held-out x (1 + 5 seeds) x F
              + asked x F + closed x F

F is an example's forward pass (``core.model.cost.forward_flop``) over the tokens that it shares with no other
of its batch, with the most in-context examples that may be taken; ``asked`` are rows that choose the examples
(``chg.rows``). A backward to the gates costs another F, as the weights are frozen, and so does the row that
closed heads' output comes from. A pass is one micro-batch forward or backward; its overhead is what a layer
costs beside its arithmetic.

    bytes   = program + weights + what a micro-batch keeps for its backward pass (or its longest example)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from headscope.analyses import shots as in_context
from headscope.analyses.ablation import PASSES
from headscope.analyses.base import Estimate, Spec
from headscope.analyses.chg import closing
from headscope.analyses.chg.earlier import count, null_count
from headscope.analyses.chg.rows import pieces as choosing_rows
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.costing import LAYER_OVERHEAD, LOAD_SECONDS, NOMINAL_TOKENS, cpu_throughput, tflop
from headscope.core.model.cost import CPU_BUDGET, forward_flop, shared
from headscope.core.model.info import ModelInfo
from headscope.core.model.memory import activation_bytes, run_bytes, weight_bytes
from headscope.core.model.tokens import Tokenizer
from headscope.tasks.task import Task

_SAMPLED = 64


def estimate(
    spec: Spec[ChgParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes of the seeds that are fitted. With a tokenizer the task's first examples
    are measured, else taken as average.

    Raises ``Invalid`` where the tokenizer finds that the task gives no usable examples, and what
    ``chg.earlier.taken_over`` does.
    """
    task = spec.task
    model = replace(spec.model, dtype=spec.params.dtype)
    shots = in_context.largest(spec.params, task, model, tokenizer)
    null = max(0, spec.params.null_fits - null_count(spec))
    fitted = {"seeds": spec.params.seeds - count(spec), "null_fits": null}
    params = spec.params.model_copy(update={**fitted, "shots": shots})
    weights = weight_bytes(model)
    rows = _rows(params, model, task, tokenizer)
    n_train, n_test = task.sizes(seed=params.split_seed) if task is not None else (params.batch_size, 256)
    batch = min(params.batch_size, n_train, params.n_train or n_train)
    scored = min(params.n_test or n_test, n_test)
    forward = forward_flop(model, rows.tokens, rows.targets)
    per_update = params.seeds * batch * forward
    more, phases = PASSES[params.ablation], 5 if params.binarise else 3
    held_out = scored * (1 + (7 if params.binarise else 5) * params.seeds * (1 + more)) * forward
    held_out += closing.passes(spec) * forward
    asked = sum(piece.weight for piece in choosing_rows(spec)) * rows.tokens / NOMINAL_TOKENS
    null_update = batch * forward
    updates = phases * per_update + 3 * params.null_fits * null_update
    flop = params.steps * (2 + more) * updates + held_out + asked
    both_ways = phases * math.ceil(per_update / CPU_BUDGET.flop)
    both_ways += 3 * params.null_fits * math.ceil(null_update / CPU_BUDGET.flop)
    passes = params.steps * (2 + more) * both_ways + math.ceil(held_out / CPU_BUDGET.flop)
    speed = throughput or cpu_throughput(params.dtype)
    seconds = LOAD_SECONDS + flop / speed + passes * model.n_layers * LAYER_OVERHEAD
    working, of = _working_bytes(params, model, rows, batch, scored)
    return Estimate(
        seconds=seconds,
        peak_bytes=run_bytes(model, working),
        basis=f"{tflop(flop)} at {speed / 1e9:.0f} GFLOP/s; {rows.basis}; "
        f"{weights / 2**30:.2g} GiB of weights, {working / 2**30:.2g} GiB for {of}",
    )


@dataclass(frozen=True)
class _Rows:
    """Examples as a pass sees them, on average: tokens that it computes, target tokens; and the longest."""

    tokens: float
    targets: float
    longest: tuple[int, int]
    basis: str


def _rows(params: ChgParams, model: ModelInfo, task: Task | None, tokenizer: Tokenizer | None) -> _Rows:
    if task is None or tokenizer is None:
        nominal = f"examples taken as {NOMINAL_TOKENS:.0f} tokens long"
        return _Rows(NOMINAL_TOKENS, 1.0, (int(NOMINAL_TOKENS), 1), nominal)
    sample = task.examples(
        tokenizer,
        "train",
        limit=min(_SAMPLED, params.n_train or _SAMPLED),
        seed=params.split_seed,
        shots=None if params.shots == in_context.AUTO else params.shots,
        n_ctx=model.n_ctx,
        pool=params.pool,
    )
    alike = [example for example in sample if example.pool_set == sample[0].pool_set]
    batch = sorted(tuple(example.tokens[: max(example.targets)]) for example in alike[: params.batch_size])
    length = float(np.mean([len(example.tokens) for example in sample]))
    return _Rows(
        tokens=length if PASSES[params.ablation] else _computed(batch, _rows_a_batch(params, task)),
        targets=float(np.mean([len(example.targets) for example in sample])),
        longest=max((len(example.tokens), len(example.targets)) for example in sample),
        basis=f"examples of {length:.0f} tokens",
    )


def _rows_a_batch(params: ChgParams, task: Task) -> float:
    n_train = task.sizes(seed=params.split_seed)[0]
    rows = min(n_train, params.n_train or n_train) / (params.pool or 1)
    return max(1.0, min(params.batch_size, rows))


def _computed(batch: Sequence[Sequence[int]], rows: float) -> float:
    """Tokens that a row of a batch costs, where what it shares with the row before is computed once.

    ``batch`` may be fewer than the ``rows`` that a batch has: then the others are taken to be like these.
    """
    lines = [(0, line) for line in batch]
    fresh = [
        len(line) - shared(before, (0, line)) for before, line in zip([None, *lines], batch, strict=False)
    ]
    if len(fresh) < min(rows, 2):
        return float(np.mean(fresh))
    return (fresh[0] + float(np.mean(fresh[1:] or [0])) * (rows - 1)) / rows


def _working_bytes(
    params: ChgParams, model: ModelInfo, rows: _Rows, batch: int, scored: int
) -> tuple[float, str]:
    """What lives beside the weights at most, and of how many examples: those of an update's micro-batch.

    An example is never cut, so the longest one may need more than its share. Scores on held-out examples keep
    nothing but logits.
    """
    cost = max(CPU_BUDGET.share(model, rows.tokens, rows.targets), 1e-9)
    at_once = min(float(params.seeds * batch), max(1.0, 1 / cost))
    fitted = at_once * activation_bytes(model, rows.tokens, rows.targets)
    asked = min(scored * max(1, params.seeds), max(1.0, 1 / cost)) * activation_bytes(model, 0, rows.targets)
    alone = activation_bytes(model, *rows.longest)
    if alone > max(fitted, asked):
        return alone, f"the longest example, {rows.longest[0]:,} tokens, alone"
    return max(fitted, asked), f"{at_once:.0f} examples at once"
