"""Rows of a gating run, drawn as it drew them: those held out, measured, and what scoring them costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headscope.analyses.base import Estimate, Result
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.chg.rows import NOMINAL_TOKENS as NOMINAL_TOKENS
from headscope.analyses.chg.rows import Mask, only
from headscope.analyses.costing import LAYER_OVERHEAD, LOAD_SECONDS, cpu_throughput, tflop
from headscope.analyses.shots import resolved
from headscope.core.gating.ablation import REFERENCE_ROWS
from headscope.core.model.cost import CPU_BUDGET, forward_flop
from headscope.core.model.head_model import HeadModel
from headscope.core.model.info import ModelInfo
from headscope.core.model.memory import activation_bytes, run_bytes
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.task import Examples, Split, Task

_SAMPLED = 64


def held_out(task: Task | None, run: Result, n_test: int, model: HeadModel) -> Examples:
    """At most ``n_test`` rows of the gating run's own split, with its in-context examples.

    Raises ``Invalid`` (task-missing) without a task.
    """
    masked = _solved(run, "test")
    limit = n_test if masked is None else run.params.get("n_test")
    drawn = _drawn(of_task(task), drawing(run), limit, model.tokenizer, model.info)
    return drawn if masked is None else _only(drawn, masked, n_test)


def drawing(run: Result) -> dict[str, Any]:
    """How a gating run drew its rows: its parameters, with the in-context examples that it took."""
    return resolved(run.params, run.shots if isinstance(run, ChgResult) else None)


def fitted_rows(task: Task | None, run: Result, model: HeadModel) -> Examples:
    """The rows that a gating run was fitted on. Raises ``Invalid`` (task-missing) without a task."""
    limit, masked = run.params.get("n_train"), _solved(run, "train")
    drawn = _drawn(of_task(task), drawing(run), limit, model.tokenizer, model.info, split="train")
    return drawn if masked is None else _only(drawn, masked)


def other_rows(task: Task | None, run: Result, model: HeadModel) -> Examples:
    """Training rows of a gating run that closed heads' output may come from: the first ones."""
    return _drawn(of_task(task), drawing(run), REFERENCE_ROWS, model.tokenizer, model.info, split="train")


def of_task(task: Task | None) -> Task:
    """The run's task; ``Invalid`` (task-missing) without one."""
    if task is None:
        raise Invalid(
            "Held-out examples need a task.",
            "Name one: `headscope tasks list` shows them.",
            code="task-missing",
        )
    return task


@dataclass(frozen=True)
class Sizes:
    """How many held-out rows there are, and their tokens and target tokens on average."""

    examples: int
    tokens: float = NOMINAL_TOKENS
    targets: float = 1.0


def sizes(
    task: Task | None, tokenizer: Tokenizer | None, gating: Mapping[str, Any], n_test: int, model: ModelInfo
) -> Sizes:
    """Measured on some rows; nominal without a tokenizer. ``gating`` are the gating run's parameters."""
    if task is None or tokenizer is None:
        return Sizes(n_test)
    sample = _drawn(task, gating, min(_SAMPLED, n_test), tokenizer, model)
    return Sizes(
        examples=min(n_test, task.sizes(seed=int(gating["split_seed"]))[1]),
        tokens=float(np.mean([len(example.tokens) for example in sample])),
        targets=float(np.mean([len(example.targets) for example in sample])),
    )


def scoring(
    model: ModelInfo,
    dtype: str,
    rows: Sizes,
    *,
    layers: float,
    readings: float,
    throughput: float | None,
    basis: str,
) -> Estimate:
    """What forward passes cost: each example passes ``layers`` layers in all and is read ``readings`` times.

    ``basis`` opens the sentence that says how the estimate was reached.
    """
    model = replace(model, dtype=dtype)
    body = forward_flop(model, rows.tokens, 0) / model.n_layers
    flop = rows.examples * (layers * body + readings * forward_flop(model, 0, rows.targets))
    speed = throughput or cpu_throughput(dtype)
    at_once = max(1.0, min(rows.examples * readings, 1 / CPU_BUDGET.share(model, rows.tokens, rows.targets)))
    steps = max(layers, rows.examples * layers / at_once)
    return Estimate(
        seconds=LOAD_SECONDS + flop / speed + steps * LAYER_OVERHEAD,
        peak_bytes=run_bytes(model, at_once * activation_bytes(model, rows.tokens, rows.targets), dtype),
        basis=f"{basis} of {rows.examples} examples of {rows.tokens:.0f} tokens, {tflop(flop)} at "
        f"{speed / 1e9:.0f} GFLOP/s",
    )


def _solved(run: Result, split: Split) -> Mask | None:
    return run.solved[split] if isinstance(run, ChgResult) else None


def _only(drawn: Examples, mask: Mask, most: int | None = None) -> Examples:
    """At most so many of the rows that the model gets right as it is."""
    kept = only(drawn, mask)
    return replace(kept, items=kept.items[:most])


def _drawn(
    task: Task,
    gating: Mapping[str, Any],
    limit: int | None,
    tokenizer: Any,
    model: ModelInfo,
    split: Split = "test",
) -> Examples:
    return task.examples(
        tokenizer,
        split,
        limit=limit,
        seed=int(gating["split_seed"]),
        shots=gating["shots"],
        n_ctx=model.n_ctx,
        pool=gating["pool_sets"] if gating.get("demonstrations") == "pool" else None,
    )
