"""Gates on tasks as pieces of durable work: a task each, without and with the gates, on held-out rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from headscope.analyses.base import (
    Arrays,
    Estimate,
    Input,
    Progress,
    Result,
)
from headscope.analyses.costing import LAYER_OVERHEAD, LOAD_SECONDS, PROGRAM_BYTES, cpu_throughput, tflop
from headscope.analyses.evaluation.schema import PRESETS, EvaluationParams, given
from headscope.analyses.legacy import Context, Piece, Reference
from headscope.core.gating.verdict import judge
from headscope.core.model.cost import (
    CPU_BUDGET,
    ELEMENT_BYTES,
    activation_bytes,
    forward_flop,
)
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.tasks.task import Examples, Task

_NOMINAL_TOKENS = 24.0
_SAMPLED = 32


class Evaluation:
    """What gates do to any tasks."""

    name: ClassVar[str] = "evaluation"
    title: ClassVar[str] = "Gates on tasks"
    summary: ClassVar[str] = "How well the model does tasks without and with some gates, on held-out rows."
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = False
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {"gates": "gates", "tasks": "tasks"}
    params: type[EvaluationParams] = EvaluationParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: EvaluationParams) -> Sequence[int]:
        """None: nothing is drawn."""
        return ()

    def estimate(
        self,
        params: EvaluationParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
        inputs: Mapping[str, Input] | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes; raises what ``schema.given`` does, and where no example fits."""
        _, tasks = given(inputs)
        model = replace(model, dtype=params.dtype)
        sizes = [_size(each, params, model, tokenizer) for each in tasks]
        flop = sum(2 * n * forward_flop(model, tokens, targets) for n, tokens, targets in sizes)
        speed = throughput or cpu_throughput(params.dtype)
        passes = max(2.0 * len(tasks), flop / CPU_BUDGET.flop)
        most = max(tokens for _, tokens, _ in sizes)
        targets = max(targets for _, _, targets in sizes)
        rows = max(1.0, CPU_BUDGET.flop / forward_flop(model, most, targets))
        return Estimate(
            seconds=LOAD_SECONDS + flop / speed + passes * model.n_layers * LAYER_OVERHEAD,
            peak_bytes=int(
                PROGRAM_BYTES
                + model.n_params * ELEMENT_BYTES[model.dtype]
                + rows * activation_bytes(model, most, targets)
            ),
            basis=f"{len(tasks)} tasks, {tflop(flop)} at {speed / 1e9:.0f} GFLOP/s",
        )

    def plan(
        self, params: EvaluationParams, model: ModelInfo, inputs: Mapping[str, Input] | None = None
    ) -> Sequence[Piece]:
        """A piece a task; raises what ``schema.given`` does."""
        given(inputs)
        weight = forward_flop(model, _NOMINAL_TOKENS, 1) * params.n_test * 2
        return [Piece(f"task/{k}", name, weight=weight) for k, name in enumerate(params.tasks)]

    def compute(self, piece: Piece, params: EvaluationParams, context: Context) -> Arrays:
        """Accuracy and log-probability (nats) of a task: [without, with]; what it is, as JSON in bytes."""
        import torch

        from headscope.core.gating.evaluation import evaluate

        gates, tasks = given(context.inputs)
        task = tasks[int(piece.key.split("/")[1])]
        examples = _examples(task, params, context)
        context.report(Progress(task.name, "", 0, 1))
        both = [
            evaluate(context.model, examples, each, judged=task.judged, checkpoint=context.checkpoint)
            for each in (None, torch.from_numpy(gates.gates.copy())[None])
        ]
        chance = examples.chance(task.judged)
        about = {
            "name": task.name,
            "title": task.title,
            "content_hash": task.content_hash,
            "judged": task.judged,
            "n": len(examples),
            "n_left_out": examples.n_left_out,
            "chance": chance,
            "verdict": judge(float(both[0].accuracy[0]), chance, len(examples)),
            "gates": {"id": gates.id, "name": gates.name, "origin": gates.origin},
        }
        return {
            "accuracy": np.array([float(score.accuracy[0]) for score in both]),
            "log_probability": np.array([float(score.log_probability[0]) for score in both]),
            "table": gates.gates,
            "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
        }

    def assemble(
        self, params: EvaluationParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """``accuracy`` and ``log_probability`` [task, (without, with)], and the gates [layer, head]."""
        found = [pieces[f"task/{k}"] for k in range(len(params.tasks))]
        about = [json.loads(each["about"].tobytes().decode()) for each in found]
        gates = about[0]["gates"]
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=model,
            task=None,
            seeds=(),
            other_arrays={
                **{
                    name: np.stack([each[name] for each in found]).astype(np.float32)
                    for name in ("accuracy", "log_probability")
                },
                "gates": found[0]["table"],
            },
            other_values={"tasks": about, "gates": gates, "notes": _notes(about)},
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """Accuracy before and after, the mean over tasks where there are several."""
        accuracy = result.arrays["accuracy"]
        before, after = (float(value) for value in accuracy.mean(axis=0))
        mean = "mean_" if len(accuracy) > 1 else ""
        closed = int((result.arrays["gates"] < 0.5).sum())
        return {f"{mean}accuracy_ungated": before, f"{mean}accuracy_gated": after, "heads_shut": closed}


def _examples(task: Task, params: EvaluationParams, context: Context) -> Examples:
    return task.examples(
        context.model.tokenizer,
        "test",
        limit=params.n_test,
        seed=params.split_seed,
        shots=params.shots if task.shots else None,
        n_ctx=context.model.info.n_ctx,
    )


def _size(
    task: Task, params: EvaluationParams, model: ModelInfo, tokenizer: Tokenizer | None
) -> tuple[int, float, float]:
    """How many examples, their tokens and their targets on average."""
    n = min(params.n_test, task.sizes(seed=params.split_seed)[1])
    if tokenizer is None:
        return n, _NOMINAL_TOKENS, 1.0
    sample = task.examples(
        tokenizer,
        "test",
        limit=min(_SAMPLED, params.n_test),
        seed=params.split_seed,
        shots=params.shots if task.shots else None,
        n_ctx=model.n_ctx,
    )
    lengths = [(len(example.tokens), len(example.targets)) for example in sample]
    tokens, targets = np.mean(lengths, axis=0)
    return n, float(tokens), float(targets)


def _notes(about: Sequence[Mapping[str, Any]]) -> list[str]:
    notes = []
    for task in about:
        if task["verdict"] == "cannot":
            notes.append(
                f"The model can't do {task['name']} without the gates either: no better than guessing "
                f"({task['chance']:.1%})."
            )
        if task["n_left_out"]:
            notes.append(f"{task['n_left_out']} rows of {task['name']} are longer than the context.")
    return notes
