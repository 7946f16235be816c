"""The pieces of causal head gating joined, and the caveats of what came out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.analyses import ablation
from headscope.analyses import shots as in_context
from headscope.analyses.base import Arrays, Kept, Pieces, Spec
from headscope.analyses.chg import rounding
from headscope.analyses.chg.earlier import joined_to
from headscope.analyses.chg.phases import BINARY, PHASES, PhaseName
from headscope.analyses.chg.plan import EARLIER, UNGATED, Group, closed_alone
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.chg.rows import shots, solved
from headscope.analyses.chg.schema import ChgParams
from headscope.core.gating.roles import finished

NULL: Mapping[str, PhaseName] = {"null_plus": "plus", "null_minus": "minus"}
"""Arrays of the fits on permuted targets, and the phases whose gates they are."""


def joined(
    spec: Spec[ChgParams], complete: Sequence[Group], pieces: Pieces, null: Sequence[Group] = ()
) -> ChgResult:
    """The result of these groups of seeds, those taken over first, and of these fits on permuted targets."""
    params = spec.params
    arrays = {**_fitted(complete, pieces), **_scored(complete, pieces)} if complete else {}
    if EARLIER in pieces:
        earlier = {name: array for name, array in pieces[EARLIER].items() if name not in NULL}
        arrays = joined_to(earlier, arrays) if arrays else earlier
    arrays |= closed_alone(spec, pieces)
    seeds = range(params.first_seed, params.first_seed + len(arrays["g_plus"]))
    arrays |= {f"solved_{split}": mask for split, mask in solved(spec, pieces).items()}
    header = ChgResult.header(spec, seeds=seeds, task=spec.task)
    values = _values(spec, seeds, arrays, pieces)
    return ChgResult.of_parts(header, arrays | _permuted(null, pieces), values)


def whole(groups: Sequence[Group], pieces: Pieces) -> list[Group]:
    """Those of which no piece is missing."""
    return [group for group in groups if all(piece.key in pieces for piece in group.pieces())]


def _fitted(groups: Sequence[Group], pieces: Pieces) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    updates = []
    for phase in PHASES:
        ends = [pieces[group.fits[phase][-1].key] for group in groups]
        logits = np.concatenate([end["logits"] for end in ends])
        arrays[f"g_{phase}"] = _sigmoid(logits).astype(np.float32)
        losses = [
            np.concatenate([pieces[piece.key]["losses"] for piece in group.fits[phase]], axis=1)
            for group in groups
        ]
        arrays[f"loss_{phase}"] = np.concatenate(losses).astype(np.float32)
        updates.append(np.concatenate([end["updates"] for end in ends]))
    for phase in BINARY:
        if phase in groups[0].fits:
            logits = np.concatenate([pieces[group.fits[phase][-1].key]["logits"] for group in groups])
            open_or_shut = np.where(np.isnan(logits), np.nan, logits >= 0)
            arrays[f"g_{phase.replace('-', '_')}"] = open_or_shut.astype(np.float32)
    arrays["updates"] = np.stack(updates, axis=1).astype(np.uint16)
    return arrays


def _permuted(groups: Sequence[Group], pieces: Pieces) -> dict[str, NDArray[Any]]:
    """Gates of the fits on permuted targets, those taken over first; nothing where there are none."""
    arrays = {}
    for name, phase in NULL.items():
        taken = [pieces[EARLIER][name]] if name in pieces.get(EARLIER, {}) else []
        made = [_sigmoid(pieces[group.fits[phase][-1].key]["logits"]) for group in groups]
        if taken or made:
            arrays[name] = np.concatenate([*taken, *made]).astype(np.float32)
    return arrays


def _scored(groups: Sequence[Group], pieces: Pieces) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for score in ("log_probability", "accuracy"):
        rows = [_under(groups, pieces, phase, score) for phase in PHASES]
        as_it_is = np.repeat(pieces[UNGATED][score], len(rows[0]))
        arrays[f"heldout_{score}"] = np.stack([as_it_is, *rows]).astype(np.float32)
        rounded = [_under(groups, pieces, phase, f"rounded_{score}") for phase in PHASES[1:]]
        arrays[f"rounded_{score}"] = np.stack(rounded).astype(np.float32)
        if BINARY[0] in groups[0].scores:
            masks = [_under(groups, pieces, phase, score) for phase in BINARY]
            arrays[f"binary_{score}"] = np.stack(masks).astype(np.float32)
    return arrays


def _under(groups: Sequence[Group], pieces: Pieces, phase: PhaseName, score: str) -> NDArray[Any]:
    return np.concatenate([pieces[piece.key][score] for group in groups for piece in group.scores[phase]])


def _values(spec: Spec[ChgParams], seeds: Sequence[int], arrays: Arrays, pieces: Pieces) -> dict[str, Any]:
    """How much was fitted and scored, which seeds failed, and the notes: sentences that the page shows."""
    params, task = spec.params, spec.task
    ran = finished(arrays["g_plus"], arrays["g_minus"])
    failed = [seeds[index] for index in np.flatnonzero(~ran).tolist()]
    ungated, taken = pieces[UNGATED], shots(spec, pieces)
    n_train, n_test = ungated["n_examples"].tolist()
    left_out = int(ungated["n_left_out"].sum())
    notes = [
        *_chosen(spec, arrays, pieces, taken, ungated.get("chance")),
        *_stopped(params, seeds),
        *_settled(params, arrays["updates"]),
        *_pooled(params, ungated),
        *_as_authors(params, ungated),
        *_beyond_paper(params, len(seeds)),
        *_no_circuit(arrays, n_test),
        *ablation.notes(params.ablation, int(np.sum(ungated.get("n_unpaired", 0)))),
    ]
    if n_train < params.batch_size:
        notes.append(f"Only {n_train} training examples, fewer than a batch: each update uses all of them.")
    if left_out:
        notes.append(f"{left_out} rows are longer than the model's context and were left out.")
    if failed:
        notes.append(_failed(failed, len(seeds)))
    return {
        "n_train": n_train,
        "n_test": n_test,
        "n_left_out": left_out,
        "tokens_per_example": float(ungated["tokens_per_example"][0]),
        "targets_per_example": float(ungated["targets_per_example"][0]),
        "judged": task.judged if task is not None else "top",
        "shots": task.shots if taken is None and task is not None else taken,
        "chance": ungated.get("chance"),
        "failed_seeds": failed,
        "partial": None if len(seeds) == params.seeds else {"seeds": len(seeds), "of": params.seeds},
        "added_to": _added_to(params, seeds, pieces),
        "notes": notes,
    }


def _chosen(
    spec: Spec[ChgParams], arrays: Arrays, pieces: Pieces, taken: int | None, chance: float | None
) -> Iterator[str]:
    """Which rows were used, where that wasn't for the request to say."""
    if spec.params.shots == in_context.AUTO and taken is not None:
        yield f"{in_context.words(taken).capitalize()}: {in_context.reason(pieces)}"
    masks = solved(spec, pieces)
    if masks:
        train, test = (f"{int(mask.sum())} of {len(mask)}" for mask in masks.values())
        guessed = "" if chance is None else f" Guessing the most frequent answer gets {100 * chance:.1f} %."
        yield (
            f"Fitted and scored on the rows that the ungated model gets right: {train} to fit on, {test} "
            f"held out.{guessed}"
        )


def _stopped(params: ChgParams, seeds: Sequence[int]) -> Iterator[str]:
    if len(seeds) < params.seeds:
        yield f"Stopped before it finished: {len(seeds)} of {params.seeds} seeds. Restart it to fit the rest."


def _settled(params: ChgParams, updates: NDArray[Any]) -> Iterator[str]:
    """How many updates it took until the seeds had settled."""
    if params.settle:
        yield (
            f"A seed's phase ended when its heads hardly changed sides any more: after {updates.min()} to "
            f"{updates.max()} updates, {updates.mean():.0f} on average."
        )


def _as_authors(params: ChgParams, ungated: Kept) -> Iterator[str]:
    """What of the authors' code this machine couldn't do as it does."""
    if params.autocast and not bool(ungated["autocast"][0]):
        yield "No autocast: this device isn't one that is good at bfloat16, so passes were in full precision."


def _pooled(params: ChgParams, ungated: Kept) -> Iterator[str]:
    """Where in-context examples come from, if not each row's own."""
    if params.pool is None:
        return
    sizes = ungated["pool_sizes"]
    if not sizes.size:
        yield "There are no in-context examples that a pool could give: batches are drawn from all rows."
        return
    few, most = sizes.min(), sizes.max()
    rows = f"{few}" if few == most else f"{few} to {most}"
    yield (
        f"In-context examples from a pool: {len(sizes)} sets of {rows} training rows each, and a batch is of "
        "one set. Held-out rows have examples of their own."
    )
    if params.remember:
        yield "No gradients are remembered with a pool: each row would need a pass of its own."
    if few < params.batch_size:
        yield f"A set of {few} rows is smaller than a batch: updates use all of it."


def _beyond_paper(params: ChgParams, seeds: int) -> Iterator[str]:
    """What the run does less than, or otherwise than, the paper."""
    paper = ChgParams()
    if params.steps < paper.steps:
        most = "At most " if params.settle else ""
        few = f"{most}{params.steps} updates a phase, where the paper uses {paper.steps}"
        yield f"{few}: marginal roles may differ."
    if params.batch_size < paper.batch_size:
        yield f"{params.batch_size} examples an update, where the paper uses {paper.batch_size}."
    rates = (params.phase0_lr_start, params.phase0_lr_end)
    if rates != (paper.phase0_lr_start, paper.phase0_lr_end):
        yield (
            f"Phase 0 learns at {rates[0]:g} to {rates[1]:g}, where the paper uses "
            f"{paper.phase0_lr_start:g} to {paper.phase0_lr_end:g}."
        )
    if seeds < paper.seeds:
        many = "1 seed" if seeds == 1 else f"{seeds} seeds"
        yield f"{many}, where the paper uses {paper.seeds}: with fewer, Always comes easier and Any rarer."
    if seeds == 1:
        yield "One seed has no spread: there are no bands, and Always and Any are the same."


def _no_circuit(arrays: Arrays, rows: int) -> Iterator[str]:
    """That rounded gates don't do what the gates do, where they don't, or that too few rows tell."""
    found = rounding.rounded(arrays["heldout_accuracy"], arrays.get("rounded_accuracy"))
    said = rounding.sentence(found, rows)
    if said is not None:
        yield said


def _failed(failed: Sequence[int], seeds: int) -> str:
    word, their = ("Seed", "its") if len(failed) == 1 else ("Seeds", "their")
    named = ", ".join(map(str, failed))
    rest = "It counts" if len(failed) == 1 else "They count"
    left = seeds - len(failed)
    return (
        f"{word} {named} failed: {their} loss was not finite. {rest} in no share; {left} of {seeds} are left."
    )


def _added_to(params: ChgParams, seeds: Sequence[int], pieces: Pieces) -> dict[str, Any] | None:
    """The run whose seeds were taken over, and which they are."""
    if params.adds_to is None:
        return None
    return {"run": params.adds_to, "seeds": list(seeds[: len(pieces[EARLIER]["g_plus"])])}


def _sigmoid(logits: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(1 / (1 + np.exp(-logits.astype(np.float64))))
