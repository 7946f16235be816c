"""The result of causal head gating: pieces joined, and what to mind when reading them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import Arrays
from headscope.analyses.chg.plan import PHASES, Work
from headscope.analyses.chg.schema import ChgParams
from headscope.core.roles import finished
from headscope.tasks.task import Task


def joined(works: Sequence[Work], params: ChgParams, pieces: Mapping[str, Arrays]) -> dict[str, NDArray[Any]]:
    """Gates and losses [seed, ...], held-out scores [condition, seed] (``core.roles.CONDITIONS``)."""
    arrays: dict[str, NDArray[Any]] = {}
    for phase in PHASES:
        fits = [work for work in works if work.kind == "fit" and work.phase == phase]
        ends = [work for work in fits if work.stop == params.steps]
        logits = np.concatenate([pieces[work.piece.key]["logits"] for work in ends])
        arrays[f"g_{phase}"] = _sigmoid(logits).astype(np.float32)
        arrays[f"loss_{phase}"] = np.concatenate(
            [
                np.concatenate([pieces[w.piece.key]["losses"] for w in fits if w.seeds == end.seeds], axis=1)
                for end in ends
            ]
        ).astype(np.float32)
    for score in ("log_probability", "accuracy"):
        rows = [np.repeat(pieces["ungated"][score], params.seeds)]
        for phase in PHASES:
            scored = [work for work in works if work.kind == "heldout" and work.phase == phase]
            rows.append(np.concatenate([pieces[work.piece.key][score] for work in scored]))
        arrays[f"heldout_{score}"] = np.stack(rows).astype(np.float32)
    return arrays


def identity(task: Task | None) -> dict[str, Any] | None:
    """What a result says of its task."""
    if task is None:
        return None
    return {"name": task.name, "title": task.title, "content_hash": task.content_hash, "judged": task.judged}


def values(
    params: ChgParams, task: Task | None, arrays: Mapping[str, NDArray[Any]], ungated: Arrays
) -> dict[str, Any]:
    """How much was fitted and scored, which seeds failed, and the notes: sentences that the page shows."""
    ran = finished(arrays["g_plus"], arrays["g_minus"])
    failed = [params.first_seed + index for index in np.flatnonzero(~ran).tolist()]
    n_train, n_test = ungated["n_examples"].tolist()
    left_out = int(ungated["n_left_out"].sum())
    notes = []
    paper = ChgParams()
    if params.steps < paper.steps:
        notes.append(
            f"{params.steps} updates a phase, where the paper uses {paper.steps}: marginal roles may differ."
        )
    if params.batch_size < paper.batch_size:
        notes.append(f"{params.batch_size} examples an update, where the paper uses {paper.batch_size}.")
    rates = (params.phase0_lr_start, params.phase0_lr_end)
    if rates != (paper.phase0_lr_start, paper.phase0_lr_end):
        notes.append(
            f"Phase 0 learns at {rates[0]:g} to {rates[1]:g}, where the paper uses "
            f"{paper.phase0_lr_start:g} to {paper.phase0_lr_end:g}."
        )
    if params.seeds < paper.seeds:
        notes.append(
            f"{params.seeds} seeds, where the paper uses {paper.seeds}: with fewer, Always comes easier."
        )
    if n_train < params.batch_size:
        notes.append(f"Only {n_train} training examples, fewer than a batch: each update uses all of them.")
    if left_out:
        notes.append(f"{left_out} rows are longer than the model's context and were left out.")
    if failed:
        notes.append(f"Seeds {', '.join(map(str, failed))} failed: their loss was not finite.")
    return {
        "n_train": n_train,
        "n_test": n_test,
        "n_left_out": left_out,
        "tokens_per_example": float(ungated["tokens_per_example"][0]),
        "targets_per_example": float(ungated["targets_per_example"][0]),
        "judged": task.judged if task is not None else "top",
        "failed_seeds": failed,
        "notes": notes,
    }


def _sigmoid(logits: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(1 / (1 + np.exp(-logits.astype(np.float64))))
