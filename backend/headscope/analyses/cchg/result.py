"""The result of contrastive gating: pieces joined, what was kept and what was lost, and what to mind."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import Arrays
from headscope.analyses.cchg.plan import Work
from headscope.analyses.cchg.schema import CchgParams, Fit, fits
from headscope.analyses.columns import quietly

KEEP, LOSE = 0.9, 0.5
"""A fit sets apart where what is retained keeps the one share of its accuracy, what is forgotten not the
other.
"""


def joined(
    works: Sequence[Work], params: CchgParams, pieces: Mapping[str, Arrays]
) -> dict[str, NDArray[Any]]:
    """Gates ``g_*`` [seed, layer, head], ``retained_*`` and ``forgotten_*`` [seed, update] in nats, held-out
    scores ``accuracy_*`` and ``log_probability_*`` [seed, task] of each fit; the same without gates [task].
    """
    arrays: dict[str, NDArray[Any]] = {}
    for score in ("accuracy", "log_probability"):
        rows = [pieces[work.piece.key][score][0] for work in works if work.kind == "task"]
        arrays[f"{score}_ungated"] = np.array(rows, np.float32)
    for fit in fits(params):
        arrays |= _of_fit(fit, [work for work in works if work.fit == fit], params, pieces)
    return arrays | dict(pieces["plain"] if params.gating is not None else {})


def _of_fit(
    fit: Fit, works: Sequence[Work], params: CchgParams, pieces: Mapping[str, Arrays]
) -> dict[str, NDArray[Any]]:
    updates = [work for work in works if work.kind == "fit"]
    ends = [work for work in updates if work.stop == params.steps]
    logits = np.concatenate([pieces[work.piece.key]["logits"] for work in ends]).astype(np.float64)
    arrays = {f"g_{fit.key}": (1 / (1 + np.exp(-logits))).astype(np.float32)}
    for curve in ("retained", "forgotten"):
        of_groups = [
            np.concatenate([pieces[w.piece.key][curve] for w in updates if w.seeds == end.seeds], axis=1)
            for end in ends
        ]
        arrays[f"{curve}_{fit.key}"] = np.concatenate(of_groups).astype(np.float32)
    for score in ("accuracy", "log_probability"):
        of_groups = [
            np.stack(
                [pieces[w.piece.key][score] for w in works if w.kind == "scored" and w.seeds == end.seeds],
                axis=1,
            )
            for end in ends
        ]
        arrays[f"{score}_{fit.key}"] = np.concatenate(of_groups).astype(np.float32)
    return arrays


def values(
    works: Sequence[Work],
    params: CchgParams,
    seeds: Sequence[int],
    arrays: Mapping[str, NDArray[Any]],
    pieces: Mapping[str, Arrays],
) -> dict[str, Any]:
    """Tasks and fits in words and numbers, and the notes: sentences that the page shows."""
    about = [
        json.loads(pieces[work.piece.key]["about"].tobytes().decode())
        for work in works
        if work.kind == "task"
    ]
    tasks = [{**each, **_place(index, params)} for index, each in enumerate(about)]
    found = [_outcome(fit, params, arrays) for fit in fits(params)]
    failed = {
        fit.key: [
            seeds[i] for i in np.flatnonzero(np.isnan(arrays[f"g_{fit.key}"]).any(axis=(1, 2))).tolist()
        ]
        for fit in fits(params)
    }
    return {
        "tasks": tasks,
        "fits": found,
        "failed_seeds": failed,
        "keep": KEEP,
        "lose": LOSE,
        "gating": params.gating,
        "notes": [*_notes(params, tasks, found), *_failures(failed, len(seeds))],
    }


def shares(fit: Fit, params: CchgParams, arrays: Mapping[str, NDArray[Any]]) -> tuple[Any, Any]:
    """What is left of the fitted tasks' held-out accuracy, of those retained and of those forgotten: [seed].

    Each task's accuracy under the gates over its own without; the mean over tasks.
    """
    n = len(params.retain)
    parts = (slice(0, n), slice(n, n + len(params.forget)))
    with np.errstate(invalid="ignore", divide="ignore"):
        left = arrays[f"accuracy_{fit.key}"].astype(np.float64) / arrays["accuracy_ungated"].astype(
            np.float64
        )
    both = [left[:, part].mean(axis=1) for part in parts]
    return (both[0], both[1]) if fit.way == "named" else (both[1], both[0])


def _outcome(fit: Fit, params: CchgParams, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    retain, forget = fit.sets(params)
    kept, left = shares(fit, params, arrays)
    apart = (kept >= KEEP) & (left < LOSE)
    return {
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


def _place(index: int, params: CchgParams) -> dict[str, Any]:
    """Which set a task listed is of, and whether it was fitted."""
    ends = np.cumsum([len(params.retain), len(params.forget), len(params.held_out_retain)])
    place = int(np.searchsorted(ends, index, side="right"))
    return {"set": "retain" if place in (0, 2) else "forget", "held_out": place >= 2}


def _notes(
    params: CchgParams, tasks: Sequence[Mapping[str, Any]], found: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    if not any(each["seeds_apart"] for each in found):
        yield (
            f"No fit set the tasks apart: in none did what is retained keep {KEEP:.0%} of its accuracy while "
            f"what is forgotten fell below {LOSE:.0%}."
        )
    if params.gating is None:
        yield "No causal head gating run was named, so no plain map stands beside the contrastive ones."
    for task in tasks:
        if task["verdict"] == "cannot":
            yield f"The model can't do the held-out task {task['name']}: its numbers say nothing."
        if task["n_left_out"]:
            yield f"{task['n_left_out']} rows of {task['name']} are longer than the context and left out."
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
