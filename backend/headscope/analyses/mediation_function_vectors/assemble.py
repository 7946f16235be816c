"""From pieces to the result: effects by task and over tasks, what stands out, and the notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt8

from headscope.analyses.base import Arrays, Kept, Pieces, Spec
from headscope.analyses.columns import quietly
from headscope.analyses.mediation_function_vectors.plan import Share, shares
from headscope.analyses.mediation_function_vectors.result import FunctionVectorsResult
from headscope.analyses.mediation_function_vectors.schema import FunctionVectorParams, seeds
from headscope.analyses.patch_effects import strongest
from headscope.core.statistics.significance import limit, outstanding
from headscope.tasks.task import Task

_FEW_RIGHT = 0.1


@dataclass(frozen=True)
class Found:
    """One task's blocks joined. Arrays are by prompt; ``passed`` counts those too long and unshuffled."""

    name: str
    title: str
    rise: Float[np.ndarray, "prompt layer head"]
    clean: Arrays
    shuffled: Arrays
    passed: tuple[int, int]

    def mean(self, name: str) -> Float[np.ndarray, "2"]:
        """Of an array, over clean and over shuffled prompts."""
        return np.array([self.clean[name].mean(), self.shuffled[name].mean()], np.float32)


def assemble(spec: Spec[FunctionVectorParams], pieces: Pieces) -> FunctionVectorsResult:
    """Every task's blocks joined; the run's own task counts once, and first."""
    every = shares(spec)
    own, sds = every[0].task, spec.params.sds
    found = [_joined(share, own, pieces) for share in every if not share.repeated]
    rise = _padded([each.rise for each in found]).astype(np.float64)
    counts = np.array([len(each.rise) for each in found])
    effect = np.nanmean(rise, axis=1)
    spread = quietly(np.nanstd, rise, axis=1, ddof=1)
    significant = _standing_out(effect, sds)
    limits = [float(each) for each in limit(effect.reshape(len(found), -1), sds)]
    over_tasks = effect.mean(0)
    p_clean, p_shuffled = np.array([each.mean("probability") for each in found]).T
    right_clean, right_shuffled = np.array([each.mean("right") for each in found]).T
    rows = zip(found, effect.astype(np.float32), significant, limits, strict=True)
    return FunctionVectorsResult(
        **FunctionVectorsResult.header(spec, seeds=seeds(spec.params)) | {"task": _identity(own)},
        rise=rise.astype(np.float32),
        effect=effect.astype(np.float32),
        error=(spread / np.sqrt(counts)[:, None, None]).astype(np.float32),
        significant=significant,
        over_tasks=over_tasks.astype(np.float32),
        over_tasks_significant=_standing_out(over_tasks, sds),
        n_prompts=counts.astype(np.uint32),
        n_clean=np.array([len(each.clean["probability"]) for each in found], np.uint32),
        p_clean=p_clean,
        right_clean=right_clean,
        p_shuffled=p_shuffled,
        right_shuffled=right_shuffled,
        tasks=[each.name for each in found],
        titles=[each.title for each in found],
        limits=limits,
        over_tasks_limit=float(limit(over_tasks.reshape(-1), sds)),
        notes=[note for row in rows for note in _notes(spec.params, *row)],
    )


def _joined(share: Share, own: Task, pieces: Pieces) -> Found:
    clean = [pieces[key] for key in share.clean]
    shuffled = [pieces[key] for key in share.shuffled]
    too_long, unshuffled = shuffled[0]["passed"].tolist()
    return Found(
        share.task.name,
        # Tasks beside the run's own go by their names, in results as they have always been stored.
        share.task.title if share.task is own else share.task.name,
        np.concatenate([block["rise"] for block in shuffled]),
        _together(clean),
        _together(shuffled),
        (too_long, unshuffled),
    )


def _together(blocks: Sequence[Kept]) -> dict[str, np.ndarray]:
    names = ("probability", "right")
    return {name: np.concatenate([block[name] for block in blocks]) for name in names}


def _padded(rises: Sequence[Float[np.ndarray, "..."]]) -> Float[np.ndarray, "task prompt layer head"]:
    whole = np.full((len(rises), max(map(len, rises)), *rises[0].shape[1:]), np.nan, np.float32)
    for row, rise in zip(whole, rises, strict=True):
        row[: len(rise)] = rise
    return whole


def _standing_out(
    effect: Float[np.ndarray, "*tasks layer head"], sds: float
) -> UInt8[np.ndarray, "*tasks layer head"]:
    flat = effect.reshape(*effect.shape[:-2], -1)
    sure = outstanding(flat, sds) & (flat > 0)
    return sure.reshape(effect.shape).astype(np.uint8)


def _identity(task: Task) -> dict[str, str]:
    """As results of this version say it: how answers are judged plays no part."""
    return {"name": task.name, "title": task.title, "content_hash": task.content_hash}


def _notes(
    params: FunctionVectorParams,
    found: Found,
    effect: Float[np.ndarray, "layer head"],
    significant: UInt8[np.ndarray, "layer head"],
    most: float,
) -> Iterator[str]:
    if not significant.any():
        ((layer, head),) = strongest(effect, 1)
        yield (
            f"{found.name}: no head stands out. The largest effect is {effect[layer, head]:+.4f} "
            f"({layer}.{head}); it would have to exceed {most:.4f}, the mean over heads and "
            f"{params.sds:g} standard deviations."
        )
    clean, shuffled = found.mean("probability")
    if shuffled >= clean:
        yield (
            f"{found.name}: shuffled labels cost nothing. The answer has a probability of {shuffled:.3f} "
            f"with them and of {clean:.3f} with the right ones: there is nothing that a head could bring "
            "back."
        )
    right, _ = found.mean("right")
    if right < _FEW_RIGHT:
        yield (
            f"{found.name}: the model answers {100 * right:.0f} % of the clean prompts right: it hardly does "
            "the task."
        )
    if len(found.rise) < params.prompts:
        yield _fewer(found, params.prompts)


def _fewer(found: Found, asked: int) -> str:
    """Of a task that gives fewer prompts than were asked for."""
    too_long, unshuffled = found.passed
    why = [f"{too_long} too long for the context"] if too_long else []
    why += [f"{unshuffled} whose labels can't be shuffled"] if unshuffled else []
    skipped = f" ({' and '.join(why)} were skipped)" if why else ""
    return f"{found.name}: {len(found.rise)} shuffled prompts, where {asked} were asked for{skipped}."
