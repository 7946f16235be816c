"""Gates on tasks as pieces of durable work: a task each, without and with the gates, on held-out rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from headscope.analyses import ablation
from headscope.analyses import shots as in_context
from headscope.analyses.base import Context, Estimate, Kept, Piece, Pieces, Progress, Spec
from headscope.analyses.costing import LAYER_OVERHEAD, LOAD_SECONDS, NOMINAL_TOKENS, cpu_throughput, tflop
from headscope.analyses.evaluation.result import EvaluationResult, Scored
from headscope.analyses.evaluation.schema import EvaluationParams
from headscope.core.gating.ablation import REFERENCE_ROWS, Ablation, told
from headscope.core.gating.gate_vector import GateVector
from headscope.core.gating.verdict import judge
from headscope.core.model.cost import CPU_BUDGET, forward_flop
from headscope.core.model.info import ModelInfo
from headscope.core.model.memory import activation_bytes, run_bytes
from headscope.core.model.tokens import Tokenizer
from headscope.core.statistics.enough import too_few
from headscope.errors import Invalid
from headscope.tasks.task import Examples, Split, Task

_SAMPLED = 32


def estimate(
    spec: Spec[EvaluationParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes; ``Invalid`` (same-task), and where no example fits."""
    params, tasks = spec.params, _tasks(spec)
    model = replace(spec.model, dtype=params.dtype)
    sizes = [_size(each, params, model, tokenizer) for each in tasks]
    flop = sum(2 * n * forward_flop(model, tokens, targets) for n, tokens, targets in sizes)
    speed = throughput or cpu_throughput(params.dtype)
    passes = max(2.0 * len(tasks), flop / CPU_BUDGET.flop)
    most = max(tokens for _, tokens, _ in sizes)
    targets = max(targets for _, _, targets in sizes)
    rows = max(1.0, min(max(n for n, *_ in sizes), 1 / CPU_BUDGET.share(model, most, targets)))
    return Estimate(
        seconds=LOAD_SECONDS + flop / speed + passes * model.n_layers * LAYER_OVERHEAD,
        peak_bytes=run_bytes(model, rows * activation_bytes(model, most, targets)),
        basis=f"{len(tasks)} tasks, {tflop(flop)} at {speed / 1e9:.0f} GFLOP/s",
    )


def plan(spec: Spec[EvaluationParams]) -> Sequence[Piece]:
    """A piece a task; ``Invalid`` (same-task) where one is named twice."""
    weight = forward_flop(spec.model, NOMINAL_TOKENS, 1) * spec.params.n_test * 2
    return [
        Piece(f"task/{k}", task.name, partial(_score, spec, task), weight=weight)
        for k, task in enumerate(_tasks(spec))
    ]


def assemble(spec: Spec[EvaluationParams], pieces: Pieces) -> EvaluationResult:
    """The tasks' scores beside each other."""
    found = [pieces[f"task/{k}"] for k in range(len(spec.params.tasks))]
    tasks: list[Scored] = [each["about"] for each in found]
    accuracy, log_probability = (
        np.stack([each[name] for each in found]).astype(np.float32)
        for name in ("accuracy", "log_probability")
    )
    return EvaluationResult(
        **EvaluationResult.header(spec),
        accuracy=accuracy,
        log_probability=log_probability,
        gates=found[0]["table"],
        tasks=tasks,
        notes=[*_notes(tasks), *_on_ablation(spec, pieces)],
        # Beside the array of that name, as results of this version have it.
        other_values={"gates": tasks[0]["gates"]},
    )


def _tasks(spec: Spec[EvaluationParams]) -> tuple[Task, ...]:
    tasks: tuple[Task, ...] = spec.needed("tasks", tuple)
    names = [task.name for task in tasks]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Invalid(f"The task {twice!r} is named twice.", "Name each task once.", code="same-task")
    return tasks


def _score(spec: Spec[EvaluationParams], task: Task, context: Context) -> Kept:
    """Accuracy and log-probability (nats) of a task: [without, with]; and what it is."""
    import torch

    from headscope.core.gating.evaluation import evaluate

    gates, model, params = spec.needed("gates", GateVector), context.model, spec.params
    kind, shots = _ablation(spec), _shots(task, params, context)
    drawn = _drawn(task, params, "test", params.n_test, shots, context)
    examples = ablation.usable(kind, drawn)
    context.report(Progress(task.name, "", 0, 1))
    training = partial(_drawn, task, params, "train", REFERENCE_ROWS, shots)
    inside = ablation.replacements_of(kind, training, context)
    both = [
        evaluate(
            model, examples, each, judged=task.judged, replacements=inside, checkpoint=context.checkpoint
        )
        for each in (None, torch.from_numpy(gates.gates.copy())[None])
    ]
    left = {"n_unpaired": np.array([len(drawn) - len(examples)])} if len(examples) < len(drawn) else {}
    accuracy = np.array([float(score.accuracy[0]) for score in both])
    log_probability = np.array([float(score.log_probability[0]) for score in both])
    return {
        "accuracy": accuracy,
        "log_probability": log_probability,
        "table": gates.gates,
        "about": _about(task, examples, gates, float(accuracy[0]), task.shots if shots is None else shots),
        **left,
    }


def _drawn(
    task: Task, params: EvaluationParams, split: Split, limit: int, shots: int | None, context: Context
) -> Examples:
    model = context.model
    return task.examples(
        model.tokenizer, split, limit=limit, seed=params.split_seed, shots=shots, n_ctx=model.info.n_ctx
    )


def _ablation(spec: Spec[EvaluationParams]) -> Ablation:
    """The one asked for, or the gates' own."""
    return spec.params.ablation or spec.needed("gates", GateVector).ablation


def _on_ablation(spec: Spec[EvaluationParams], pieces: Pieces) -> Iterator[str]:
    kind, own = _ablation(spec), spec.needed("gates", GateVector).ablation
    yield from ablation.notes(kind, sum(int(np.sum(each.get("n_unpaired", 0))) for each in pieces.values()))
    if kind != own:
        yield f"The gates were fitted with {told(own)}, heads are closed here by {told(kind)}."


def _about(task: Task, examples: Examples, gates: GateVector, ungated: float, shots: int) -> Scored:
    chance = examples.chance(task.judged)
    return {
        "name": task.name,
        "title": task.title,
        "content_hash": task.content_hash,
        "judged": task.judged,
        "n": len(examples),
        "n_left_out": examples.n_left_out,
        "shots": shots,
        "chance": chance,
        "verdict": judge(ungated, chance, len(examples)),
        "gates": {"id": gates.id, "name": gates.name, "origin": gates.origin},
    }


def _shots(task: Task, params: EvaluationParams, context: Context) -> int | None:
    """How many in-context examples a task has here; None: its own number."""
    if params.shots == in_context.AUTO:
        return in_context.here_and_now(params, task, context)
    return params.shots if task.shots else None


def _size(
    task: Task, params: EvaluationParams, model: ModelInfo, tokenizer: Tokenizer | None
) -> tuple[int, float, float]:
    """How many examples, their tokens and their targets on average."""
    n = min(params.n_test, task.sizes(seed=params.split_seed)[1])
    if tokenizer is None:
        return n, NOMINAL_TOKENS, 1.0
    limit = min(_SAMPLED, params.n_test)
    auto = params.shots == in_context.AUTO
    if auto:
        n += len(in_context.TRIED) * in_context.ROWS
    shots = in_context.largest(params, task, model, tokenizer) if auto or task.shots else None
    sample = task.examples(
        tokenizer, "test", limit=limit, seed=params.split_seed, shots=shots, n_ctx=model.n_ctx
    )
    lengths = [(len(example.tokens), len(example.targets)) for example in sample]
    tokens, targets = np.mean(lengths, axis=0)
    return n, float(tokens), float(targets)


def _notes(tasks: Sequence[Scored]) -> Iterator[str]:
    for task in tasks:
        if task["verdict"] == "cannot":
            yield (
                f"The model can't do {task['name']} without the gates either: no better than guessing "
                f"({task['chance']:.1%})."
            )
        if task["verdict"] == "too-few":
            yield too_few(task["n"], f"whether the model can do {task['name']}")
        if task["n_left_out"]:
            yield f"{task['n_left_out']} rows of {task['name']} are longer than the context."
