"""A piece of contrastive gating computed: a task as the model does it, some updates, a task under gates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headscope.analyses.base import Context, Kept, Progress, Spec
from headscope.analyses.cchg.result import TaskAbout
from headscope.analyses.cchg.schema import CchgParams, Fit, seeds_label
from headscope.analyses.cchg.tasks import asked, named
from headscope.analyses.chg.result import ChgResult
from headscope.core.gating.verdict import judge
from headscope.errors import Refused
from headscope.tasks.forms import form_of
from headscope.tasks.task import Examples, Split, Task

if TYPE_CHECKING:
    from headscope.core.gating.contrastive import ContrastState

_STATE = ("logits", "first_moment", "second_moment")


@dataclass(frozen=True)
class Updates:
    """Some updates of a fit: of which of the run's ``seeds``, and after which piece they go on."""

    fit: Fit
    seeds: range
    updates: range
    after: str | None


def ungated(spec: Spec[CchgParams], task: Task, context: Context) -> Kept:
    """A task's held-out scores without gates, and what it is.

    Raises ``Refused`` (task-too-hard) where a task that is fitted can't be done: gates would fit noise.
    """
    from headscope.core.gating.evaluation import evaluate

    examples = _examples(spec, task, "test", context)
    found = evaluate(context.model, examples, judged=task.judged, checkpoint=context.checkpoint)
    accuracy, chance = float(found.accuracy[0]), examples.chance(task.judged)
    verdict = judge(accuracy, chance, len(examples))
    if verdict == "cannot" and task.name in (*spec.params.retain, *spec.params.forget):
        raise Refused(
            f"{context.model.info.name} answers {accuracy:.1%} of {len(examples)} held-out examples of "
            f"{task.name}; guessing gets {chance:.1%}: there is nothing to retain or to forget.",
            "Choose another task, give it more in-context examples, or take a larger model.",
            code="task-too-hard",
        )
    about: TaskAbout = {
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
        "about": about,
    }


def plain(spec: Spec[CchgParams], context: Context) -> Kept:
    """Mean gates [layer, head] of the causal head gating run, pushed open and pushed shut."""
    run = spec.needed("gating", ChgResult)
    # Where no seed finished there is nothing to average: NaN, as the first seed has.
    ran = run.ran if run.ran.any() else np.arange(len(run.ran)) == 0
    means = {"open": run.g_plus[ran], "shut": run.g_minus[ran]}
    return {
        f"plain_{push}": gates.mean(axis=0, dtype=np.float64).astype(np.float32)
        for push, gates in means.items()
    }


def update(spec: Spec[CchgParams], work: Updates, context: Context) -> Kept:
    """Logits and Adam's moments [seed, layer, head] after it; log-probabilities [seed, update], nats."""
    from headscope.core.gating.contrastive import contrast
    from headscope.core.gating.fit import Phase

    params, tasks = spec.params, named(spec)
    retain, forget = (
        [_examples(spec, tasks[name], "train", context) for name in names] for names in work.fit.sets(params)
    )
    seeds = [params.first_seed + index for index in work.seeds]
    words, label = work.fit.title(params), seeds_label(params, work.seeds)

    def report(step: int, loss: float) -> None:
        fraction = (step - work.updates.start) / len(work.updates)
        context.report(Progress(words, label, step, params.steps, loss, fraction))

    state = contrast(
        context.model,
        retain,
        forget,
        seeds,
        Phase(
            params.steps,
            work.fit.sign(params.regularisation),
            params.lr_start,
            params.lr_end,
            params.batch_size,
            params.clamp,
            params.clip,
            stream="contrast",
        ),
        _start(work, seeds, context),
        work.updates.stop,
        checkpoint=context.checkpoint,
        report=report,
    )
    arrays = {name: getattr(state, name).cpu().numpy() for name in _STATE}
    return {**arrays, "retained": state.retained.numpy(), "forgotten": state.forgotten.numpy()}


def score(spec: Spec[CchgParams], task: Task, fitted: str, seeds: range, context: Context) -> Kept:
    """A task's held-out accuracy and log-probability (nats), [seed], under the gates of some ``seeds``, as
    indices, of the piece ``fitted``.
    """
    import torch

    from headscope.core.gating.evaluation import evaluate

    found = evaluate(
        context.model,
        _examples(spec, task, "test", context),
        torch.sigmoid(torch.from_numpy(np.array(context.pieces[fitted]["logits"])[seeds.start : seeds.stop])),
        judged=task.judged,
        checkpoint=context.checkpoint,
    )
    return {"accuracy": found.accuracy.numpy(), "log_probability": found.log_probability.numpy()}


def _start(work: Updates, seeds: Sequence[int], context: Context) -> ContrastState:
    """Drawn gates, or where the piece before ended."""
    import torch

    from headscope.core.gating.contrastive import ContrastState
    from headscope.core.gating.fit import initial_logits

    if work.after is None:
        info = context.model.info
        wide = torch.float64 if context.model.dtype == torch.float64 else torch.float32
        return ContrastState.fresh(initial_logits(seeds, info.n_layers, info.n_heads, wide))
    before = context.pieces[work.after]
    logits, first, second = (torch.from_numpy(np.array(before[name])) for name in _STATE)
    none = torch.zeros(len(logits), 0, dtype=torch.float64)
    return ContrastState(work.updates.start, logits, first, second, none, none)


def _examples(spec: Spec[CchgParams], task: Task, split: Split, context: Context) -> Examples:
    model = context.model
    return task.examples(model.tokenizer, split, n_ctx=model.info.n_ctx, **asked(task, split, spec.params))
