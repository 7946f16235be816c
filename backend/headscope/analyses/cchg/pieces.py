"""A piece of contrastive gating computed: a task as the model does it, some updates, a task under gates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from headscope.analyses.base import Arrays, Progress
from headscope.analyses.cchg.plan import Work, seeds_label, title
from headscope.analyses.cchg.schema import CchgParams, Fit, listed
from headscope.analyses.cchg.tasks import asked, gating_run, named
from headscope.analyses.legacy import Context
from headscope.core.gating.roles import finished
from headscope.core.gating.verdict import judge
from headscope.errors import Refused
from headscope.tasks.forms import form_of
from headscope.tasks.task import Examples, Split, Task

if TYPE_CHECKING:
    from headscope.core.gating.contrastive import ContrastState

_STATE = ("logits", "first_moment", "second_moment")


def ungated(work: Work, params: CchgParams, context: Context) -> Arrays:
    """A task's held-out scores without gates, and what it is, as JSON in bytes.

    Raises ``Refused`` (task-too-hard) where a task that is fitted can't be done: gates would fit noise.
    """
    from headscope.core.gating.evaluation import evaluate

    task = _task(work.task, params, context)
    examples = _examples(task, "test", params, context)
    found = evaluate(context.model, examples, judged=task.judged, checkpoint=context.checkpoint)
    accuracy, chance = float(found.accuracy[0]), examples.chance(task.judged)
    verdict = judge(accuracy, chance, len(examples))
    if verdict == "cannot" and work.task < len(params.retain) + len(params.forget):
        raise Refused(
            f"{context.model.info.name} answers {accuracy:.1%} of {len(examples)} held-out examples of "
            f"{task.name}; guessing gets {chance:.1%}: there is nothing to retain or to forget.",
            "Choose another task, give it more in-context examples, or take a larger model.",
            code="task-too-hard",
        )
    about = {
        "name": task.name,
        "title": task.title,
        "content_hash": task.content_hash,
        "form_of": form_of(task),
        "judged": task.judged,
        "n": len(examples),
        "n_left_out": examples.n_left_out,
        "chance": chance,
        "verdict": verdict,
    }
    return {
        "accuracy": found.accuracy.numpy(),
        "log_probability": found.log_probability.numpy(),
        "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
    }


def plain(params: CchgParams, context: Context) -> Arrays:
    """Mean gates [layer, head] of the plain run, pushed open and pushed shut."""
    run = gating_run(context.inputs)
    if run is None:
        return {}
    ran = finished(run.arrays["g_plus"], run.arrays["g_minus"])
    means = {
        push: run.arrays[name][ran].astype(np.float64).mean(axis=0) if ran.any() else run.arrays[name][0]
        for push, name in (("open", "g_plus"), ("shut", "g_minus"))
    }
    return {f"plain_{push}": np.asarray(mean, np.float32) for push, mean in means.items()}


def fitted(work: Work, params: CchgParams, context: Context) -> Arrays:
    """Logits and Adam's moments [seed, layer, head] after it; log-probabilities [seed, update], nats."""
    from headscope.core.gating.contrastive import contrast
    from headscope.core.gating.fit import Phase

    fit = _fit(work)
    retain, forget = (
        [_examples(named(context.inputs)[name], "train", params, context) for name in names]
        for names in fit.sets(params)
    )
    words, label = title(params, fit), seeds_label(params, work.seeds)

    def report(step: int, loss: float) -> None:
        fraction = (step - work.start) / (work.stop - work.start)
        context.report(Progress(words, label, step, params.steps, loss, fraction))

    state = contrast(
        context.model,
        retain,
        forget,
        [params.first_seed + index for index in work.seeds],
        Phase(
            params.steps,
            fit.sign(params.regularisation),
            params.lr_start,
            params.lr_end,
            params.batch_size,
            params.clamp,
            params.clip,
            stream="contrast",
        ),
        _start(work, params, context),
        work.stop,
        checkpoint=context.checkpoint,
        report=report,
    )
    arrays = {name: getattr(state, name).cpu().numpy() for name in _STATE}
    return {**arrays, "retained": state.retained.numpy(), "forgotten": state.forgotten.numpy()}


def scored(work: Work, params: CchgParams, context: Context) -> Arrays:
    """A task's held-out accuracy and log-probability (nats) under each seed's gates: [seed]."""
    import torch

    from headscope.core.gating.evaluation import evaluate

    task = _task(work.task, params, context)
    logits = np.array(context.pieces[work.piece.needs[0]]["logits"])
    found = evaluate(
        context.model,
        _examples(task, "test", params, context),
        torch.sigmoid(torch.from_numpy(logits)),
        judged=task.judged,
        checkpoint=context.checkpoint,
    )
    return {"accuracy": found.accuracy.numpy(), "log_probability": found.log_probability.numpy()}


def _start(work: Work, params: CchgParams, context: Context) -> ContrastState:
    """Drawn gates, or where the piece before ended."""
    import torch

    from headscope.core.gating.contrastive import ContrastState
    from headscope.core.gating.fit import initial_logits

    if not work.piece.needs:
        info = context.model.info
        seeds = [params.first_seed + index for index in work.seeds]
        wide = torch.float64 if context.model.dtype == torch.float64 else torch.float32
        return ContrastState.fresh(initial_logits(seeds, info.n_layers, info.n_heads, wide))
    before = context.pieces[work.piece.needs[0]]
    logits, first, second = (torch.from_numpy(np.array(before[name])) for name in _STATE)
    none = torch.zeros(len(logits), 0, dtype=torch.float64)
    return ContrastState(work.start, logits, first, second, none, none)


def _examples(task: Task, split: Split, params: CchgParams, context: Context) -> Examples:
    model = context.model
    return task.examples(model.tokenizer, split, n_ctx=model.info.n_ctx, **asked(task, split, params))


def _task(index: int, params: CchgParams, context: Context) -> Task:
    return named(context.inputs)[listed(params)[index]]


def _fit(work: Work) -> Fit:
    if work.fit is None:
        raise ValueError(f"piece {work.piece.key} is of no fit")
    return work.fit
