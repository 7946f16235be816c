"""Function vectors [Todd et al. 2024, arXiv 2310.15213], a block of prompts at a time.

1. Clean: n-shot prompts of a task. Each head's z at the last token is averaged over them.
2. Shuffled: other questions of the task, the labels of whose in-context examples have changed places
   (``tasks.shuffled``). Each head in turn gets its clean mean at the last token
   (``core.attribution.mediation.effects``).
3. effect = rise of p(first target token), averaged over prompts: the average indirect effect of the head.
4. Over several tasks it is averaged once more. A head stands out where its effect is positive and more than
   ``sds`` standard deviations above the mean over heads, for each task and over all.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from headscope.analyses.base import Context, Kept, Progress
from headscope.analyses.mediation_function_vectors.schema import FunctionVectorParams
from headscope.tasks.shuffled import LabelPrompts, label_prompts
from headscope.tasks.task import Task


def clean_block(params: FunctionVectorParams, task: Task, block: range, context: Context) -> Kept:
    """The sum of z over the block's prompts, and how the model answers them."""
    from headscope.core.attribution.mediation import mean_z

    examples = _prompts(params, task, context).clean[block.start : block.stop]
    found = mean_z(context.model, examples, context.checkpoint)
    context.report(Progress("clean prompts", "", len(examples), len(examples), None, 1.0))
    return {
        "z_sum": (found.z * len(examples)).numpy(),
        "probability": found.probability.numpy(),
        "right": found.right.numpy(),
    }


def patched_block(
    params: FunctionVectorParams, task: Task, clean: Iterable[str], block: range, context: Context
) -> Kept:
    """Every head's rise in each prompt of the block; ``clean`` are the keys of the task's clean pieces."""
    import torch

    from headscope.core.attribution.mediation import effects

    info, means = context.model.info, [context.pieces[key] for key in clean]
    n_clean = sum(len(each["probability"]) for each in means)
    z = torch.from_numpy(sum(each["z_sum"] for each in means) / n_clean).to(context.model.dtype)
    prompts = _prompts(params, task, context)
    examples = prompts.shuffled[block.start : block.stop]
    found = []
    for number, example in enumerate(examples, 1):
        found.append(effects(context.model, example, z, context.checkpoint))
        fraction = number / len(examples)
        context.report(Progress("heads patched", "", number, len(examples), None, fraction))
    empty = np.zeros((0, info.n_layers, info.n_heads), np.float32)
    return {
        "rise": np.stack([each.rise.numpy() for each in found]).astype(np.float32) if found else empty,
        "probability": np.array([each.probability for each in found]),
        "right": np.array([float(each.right) for each in found]),
        "passed": np.array([prompts.too_long, prompts.unshuffled]),
    }


def repeated_block(context: Context) -> Kept:
    """Of the run's own task named again: its blocks are computed once."""
    return {"repeated": np.ones(1)}


def _prompts(params: FunctionVectorParams, task: Task, context: Context) -> LabelPrompts:
    return label_prompts(
        task,
        context.model.tokenizer,
        clean=params.clean,
        shuffled=params.prompts,
        shots=params.shots,
        seed=params.seed,
        n_ctx=context.model.info.n_ctx,
    )
