"""The pieces of contrastive gating joined: what was kept and what was lost, and the caveats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from headscope.analyses.base import Piece, Pieces, Spec
from headscope.analyses.cchg.elsewhere import claims, in_other_forms
from headscope.analyses.cchg.plan import PLAIN, Group, as_it_is, groups
from headscope.analyses.cchg.result import CchgResult, Outcome, Scores, TaskAbout, TaskScored
from headscope.analyses.cchg.schema import PUSHES, CchgParams, Fit, fits, seeds
from headscope.analyses.columns import quietly
from headscope.core.statistics.enough import too_few
from headscope.tasks.wordings import OTHER_FORMS

KEEP, LOSE = 0.9, 0.5
"""A fit sets apart where what is retained keeps the one share of its accuracy, what is forgotten not the
other.
"""


def assemble(spec: Spec[CchgParams], pieces: Pieces) -> CchgResult:
    """All fits' gates, curves and held-out scores, and how far each sets the tasks apart."""
    params, of_run = spec.params, list(seeds(spec.params))
    tasks = [pieces[piece.key] for piece in as_it_is(spec)]
    by_fit = {fit.key: [group for group in groups(spec) if group.fit == fit] for fit in fits(params)}
    ungated, log_probability = (
        np.array([task[score][0] for task in tasks], np.float32) for score in ("accuracy", "log_probability")
    )
    g = {key: _gates(of_fit, pieces) for key, of_fit in by_fit.items()}
    accuracy = {key: _scores("accuracy", of_fit, pieces) for key, of_fit in by_fit.items()}
    scored = [_placed(task["about"], k, params) for k, task in enumerate(tasks)]
    outcomes = [_outcome(fit, params, scored, accuracy[fit.key], ungated) for fit in fits(params)]
    failed = {
        key: [of_run[i] for i in np.flatnonzero(np.isnan(gates).any(axis=(1, 2))).tolist()]
        for key, gates in g.items()
    }
    plain = {} if params.gating is None else {push: pieces[PLAIN][f"plain_{push}"] for push in PUSHES}
    return CchgResult(
        **CchgResult.header(spec, seeds=of_run),
        accuracy_ungated=ungated,
        log_probability_ungated=log_probability,
        g=g,
        retained={key: _curve("retained", of_fit, pieces) for key, of_fit in by_fit.items()},
        forgotten={key: _curve("forgotten", of_fit, pieces) for key, of_fit in by_fit.items()},
        accuracy=accuracy,
        log_probability={key: _scores("log_probability", of_fit, pieces) for key, of_fit in by_fit.items()},
        plain=plain,
        tasks=scored,
        fits=outcomes,
        failed_seeds=failed,
        keep=KEEP,
        lose=LOSE,
        gating=params.gating,
        notes=[*_notes(params, scored, outcomes), *_failures(failed, len(of_run))],
    )


def _gates(of_fit: Sequence[Group], pieces: Pieces) -> Float[np.ndarray, "seed layer head"]:
    logits = np.concatenate([pieces[group.updates[-1].key]["logits"] for group in of_fit])
    return np.asarray(1 / (1 + np.exp(-logits.astype(np.float64))), np.float32)


def _curve(name: str, of_fit: Sequence[Group], pieces: Pieces) -> Float[np.ndarray, "seed update"]:
    of_groups = [
        np.concatenate([pieces[piece.key][name] for piece in group.updates], axis=1) for group in of_fit
    ]
    return np.concatenate(of_groups).astype(np.float32)


def _scores(name: str, of_fit: Sequence[Group], pieces: Pieces) -> Scores:
    def of_task(scores: Sequence[Piece]) -> np.ndarray:
        return np.concatenate([pieces[piece.key][name] for piece in scores])

    of_groups = [np.stack([of_task(scores) for scores in group.scores], axis=1) for group in of_fit]
    return np.concatenate(of_groups).astype(np.float32)


def _shares(
    fit: Fit, params: CchgParams, accuracy: Scores, ungated: Float[np.ndarray, " task"]
) -> tuple[Float[np.ndarray, " seed"], Float[np.ndarray, " seed"]]:
    """What is left of the fitted tasks' held-out accuracy, of those retained and of those forgotten.

    Each task's accuracy under the gates over its own without; the mean over tasks.
    """
    n = len(params.retain)
    with np.errstate(invalid="ignore", divide="ignore"):
        left = accuracy.astype(np.float64) / ungated.astype(np.float64)
    named, others = left[:, :n].mean(axis=1), left[:, n : n + len(params.forget)].mean(axis=1)
    return (named, others) if fit.way == "named" else (others, named)


def _outcome(
    fit: Fit,
    params: CchgParams,
    tasks: Sequence[TaskScored],
    accuracy: Scores,
    ungated: Float[np.ndarray, " task"],
) -> Outcome:
    retain, forget = fit.sets(params)
    kept, left = _shares(fit, params, accuracy, ungated)
    apart = (kept >= KEEP) & (left < LOSE)
    outcome: Outcome = {
        "key": fit.key,
        "way": fit.way,
        "push": fit.push,
        "regularisation": fit.sign(params.regularisation),
        "retain": list(retain),
        "forget": list(forget),
        "kept": _number(quietly(np.nanmean, kept)),
        "left": _number(quietly(np.nanmean, left)),
        "seeds_apart": int(apart.sum()),
        "of_seeds": int(np.isfinite(kept).sum()),
    }
    elsewhere = in_other_forms(retain, forget, tasks, accuracy, ungated)
    return {**outcome, "elsewhere": elsewhere} if elsewhere else outcome


def _placed(about: TaskAbout, index: int, params: CchgParams) -> TaskScored:
    """A task with the set that it is of, whether it was fitted, and whether in these surface forms."""
    sets = (params.retain, params.forget, params.held_out_retain, params.held_out_forget)
    names, other = [name for names in sets for name in names], about["name"].endswith(OTHER_FORMS)
    index = names.index(about["name"].removesuffix(OTHER_FORMS)) if other else index
    place = int(np.searchsorted(np.cumsum([len(each) for each in sets]), index, side="right"))
    return {
        **about,
        "set": "retain" if place in (0, 2) else "forget",
        "held_out": place >= 2,
        "other_forms": other,
    }


def _notes(params: CchgParams, tasks: Sequence[TaskScored], found: Sequence[Outcome]) -> Iterator[str]:
    yield from claims(found)
    if not any(each["seeds_apart"] for each in found):
        yield (
            f"No fit set the tasks apart: in none did what is retained keep {KEEP:.0%} of its accuracy while "
            f"what is forgotten fell below {LOSE:.0%}."
        )
    if params.gating is None:
        yield "No causal head gating run was named, so no plain map stands beside the contrastive ones."
    for task in tasks:
        if task["verdict"] == "too-few":
            yield too_few(task["n"], f"whether the model can do {task['name']}")
        if task["verdict"] == "cannot":
            yield f"The model can't do the held-out task {task['name']}: its numbers say nothing."
        if task["n_left_out"]:
            yield f"{task['n_left_out']} rows of {task['name']} are longer than the context and were skipped."
    paper = CchgParams()
    if params.steps < paper.steps or params.batch_size < paper.batch_size:
        yield (
            f"{params.steps} updates of {params.batch_size} examples, where the paper uses {paper.steps} of "
            f"{paper.batch_size}."
        )
    if params.seeds < paper.seeds:
        many = "1 seed" if params.seeds == 1 else f"{params.seeds} seeds"
        yield f"{many}: a single fit is noisy, compare over several."


def _failures(failed: Mapping[str, Sequence[int]], seeds: int) -> Iterator[str]:
    for key, which in failed.items():
        if which:
            named = ", ".join(map(str, which))
            yield f"{len(which)} of {seeds} seeds of {key} failed ({named}): their loss was not finite."


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
