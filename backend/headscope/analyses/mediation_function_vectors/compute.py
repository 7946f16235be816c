"""Function vectors as pieces of durable work [Todd et al. 2024, arXiv 2310.15213].

1. Clean: n-shot prompts of a task. Each head's z at the last token is averaged over them.
2. Shuffled: other questions of the task, the labels of whose in-context examples have changed places
   (``tasks.shuffled``). Each head in turn gets its clean mean at the last token
   (``core.attribution.mediation.effects``).
3. effect = rise of p(first target token), averaged over prompts: the average indirect effect of the head.
4. Over several tasks it is averaged once more. A head stands out where its effect is positive and more than
   ``sds`` standard deviations above the mean over heads, for each task and over all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from headscope.analyses.base import (
    Arrays,
    Estimate,
    Input,
    Progress,
    Result,
)
from headscope.analyses.legacy import Context, Piece, Reference
from headscope.analyses.mediation_function_vectors.estimate import estimate
from headscope.analyses.mediation_function_vectors.plan import Work, other_tasks, plan
from headscope.analyses.mediation_function_vectors.result import headline, join
from headscope.analyses.mediation_function_vectors.schema import PRESETS, FunctionVectorParams
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.shuffled import LabelPrompts, label_prompts
from headscope.tasks.task import Task


class FunctionVectors:
    """Heads that carry what a task is, from prompts that show it into prompts that don't."""

    name: ClassVar[str] = "mediation-function-vectors"
    title: ClassVar[str] = "Function vectors"
    summary: ClassVar[str] = "Heads that bring a task's answer back where the examples' labels are shuffled."
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = True
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {"tasks": "tasks"}
    params: type[FunctionVectorParams] = FunctionVectorParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: FunctionVectorParams) -> Sequence[int]:
        """The one seed of all that is drawn."""
        return (params.seed,)

    def estimate(
        self,
        params: FunctionVectorParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
        inputs: Mapping[str, Input] | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes; with a tokenizer raises what ``label_prompts`` does."""
        tasks = [*([] if task is None else [task]), *other_tasks(inputs)]
        return estimate(params, model, tasks, tokenizer=tokenizer, throughput=throughput)

    def plan(
        self, params: FunctionVectorParams, model: ModelInfo, inputs: Mapping[str, Input] | None = None
    ) -> Sequence[Piece]:
        """The pieces in order; see ``analyses.mediation_function_vectors.plan``."""
        return [work.piece for work in plan(params, model)]

    def compute(self, piece: Piece, params: FunctionVectorParams, context: Context) -> Arrays:
        """A block of clean prompts summed, or of shuffled ones with every head patched."""
        work = next(work for work in plan(params, context.model.info) if work.piece.key == piece.key)
        task = _task(work.task, context)
        if task is None:
            return {"repeated": np.ones(1)}
        prompts = _prompts(task, params, context)
        return (_clean if work.kind == "clean" else _effects)(work, prompts, context)

    def assemble(
        self,
        params: FunctionVectorParams,
        model: ModelInfo,
        task: Task | None,
        pieces: Mapping[str, Arrays],
    ) -> Result:
        """See ``analyses.mediation_function_vectors.result``."""
        if task is None:
            raise _without_task()
        arrays, values = join(params, model, task, pieces)
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=model,
            task={"name": task.name, "title": task.title, "content_hash": task.content_hash},
            seeds=tuple(self.seeds(params)),
            other_arrays=arrays,
            other_values=values,
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """How many heads stand out, the strongest, and the answers' probability without help."""
        return headline(result)


def _task(number: int, context: Context) -> Task | None:
    """The run's own task, or another; None where that is the run's own once more."""
    if context.task is None:
        raise _without_task()
    if number == 0:
        return context.task
    other = other_tasks(context.inputs)[number - 1]
    return None if other.name == context.task.name else other


def _prompts(task: Task, params: FunctionVectorParams, context: Context) -> LabelPrompts:
    return label_prompts(
        task,
        context.model.tokenizer,
        clean=params.clean,
        shuffled=params.prompts,
        shots=params.shots,
        seed=params.seed,
        n_ctx=context.model.info.n_ctx,
    )


def _clean(work: Work, prompts: LabelPrompts, context: Context) -> dict[str, np.ndarray]:
    """The sum of z over the block's prompts, and how the model answers them."""
    from headscope.core.attribution.mediation import mean_z

    examples = prompts.clean[work.block.start : work.block.stop]
    found = mean_z(context.model, examples, context.checkpoint)
    context.report(Progress("clean prompts", "", len(examples), len(examples), None, 1.0))
    return {
        "z_sum": (found.z * len(examples)).numpy(),
        "probability": found.probability.numpy(),
        "right": found.right.numpy(),
    }


def _effects(work: Work, prompts: LabelPrompts, context: Context) -> dict[str, np.ndarray]:
    """Every head's rise in each prompt of the block."""
    import torch

    from headscope.core.attribution.mediation import effects

    info, clean = context.model.info, [context.pieces[key] for key in work.piece.needs]
    n_clean = sum(len(block["probability"]) for block in clean)
    z = torch.from_numpy(sum(block["z_sum"] for block in clean) / n_clean).to(context.model.dtype)
    examples = prompts.shuffled[work.block.start : work.block.stop]
    found = []
    for number, example in enumerate(examples):
        found.append(effects(context.model, example, z, context.checkpoint))
        done = number + 1
        context.report(Progress("heads patched", "", done, len(examples), None, done / len(examples)))
    empty = np.zeros((0, info.n_layers, info.n_heads), np.float32)
    return {
        "rise": np.stack([each.rise.numpy() for each in found]).astype(np.float32) if found else empty,
        "probability": np.array([each.probability for each in found]),
        "right": np.array([float(each.right) for each in found]),
        "passed": np.array([prompts.too_long, prompts.unshuffled]),
    }


def _without_task() -> Invalid:
    return Invalid(
        "Function vectors are of a task.",
        "Name one: `headscope tasks list` shows them.",
        code="task-missing",
    )
