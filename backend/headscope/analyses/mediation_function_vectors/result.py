"""From pieces to the result: effects by task and over tasks, what stands out, and what is to be said.

``rise`` [task, prompt, layer, head] is NaN where a task has fewer prompts; ``effect`` and ``error`` [task,
layer, head] are its mean over prompts and that mean's standard error; ``over_tasks`` [layer, head] the mean
of ``effect``; ``significant`` and ``over_tasks_significant`` are ones and zeros. ``p_clean``, ``p_shuffled``
and their ``right_`` [task] are means over prompts, without a patch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from headscope.analyses.base import Arrays, Result
from headscope.analyses.columns import quietly
from headscope.analyses.mediating import strongest
from headscope.analyses.mediation_function_vectors.plan import plan
from headscope.analyses.mediation_function_vectors.schema import FunctionVectorParams
from headscope.core.model.info import ModelInfo
from headscope.core.statistics.significance import limit, outstanding
from headscope.tasks.task import Task

_FEW_RIGHT = 0.1


def join(
    params: FunctionVectorParams, model: ModelInfo, task: Task, pieces: Mapping[str, Arrays]
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and values of the result."""
    found = _by_task(params, model, task, pieces)
    most = max(len(each["rise"]) for each in found.values())
    rise = np.full((len(found), most, model.n_layers, model.n_heads), np.nan, np.float32)
    for number, each in enumerate(found.values()):
        rise[number, : len(each["rise"])] = each["rise"]
    effect = np.nanmean(rise.astype(np.float64), axis=1)
    counts = np.array([len(each["rise"]) for each in found.values()])
    spread = quietly(np.nanstd, rise.astype(np.float64), axis=1, ddof=1)
    arrays = {
        "rise": rise,
        "effect": effect.astype(np.float32),
        "error": (spread / np.sqrt(counts)[:, None, None]).astype(np.float32),
        "significant": _standing_out(effect, params.sds),
        "over_tasks": effect.mean(0).astype(np.float32),
        "over_tasks_significant": _standing_out(effect.mean(0), params.sds),
        "n_prompts": counts.astype(np.uint32),
        "n_clean": np.array([len(each["p_clean"]) for each in found.values()], np.uint32),
        **{
            name: np.array([each[name].mean() for each in found.values()], np.float32)
            for name in ("p_clean", "right_clean", "p_shuffled", "right_shuffled")
        },
    }
    limits = limit(effect.reshape(len(found), -1), params.sds)
    over = float(limit(effect.mean(0).reshape(-1), params.sds))
    values = {
        "tasks": list(found),
        "titles": [task.title if name == task.name else name for name in found],
        "limits": [float(each) for each in limits],
        "over_tasks_limit": over,
        "notes": _notes(params, arrays, list(found), limits, found),
    }
    return arrays, values


def headline(result: Result) -> dict[str, Any]:
    """The few numbers that lists show."""
    arrays = result.arrays
    ((layer, head),) = strongest(arrays["over_tasks"], 1)
    return {
        "heads_that_stand_out": int(arrays["over_tasks_significant"].sum()),
        "of_heads": arrays["over_tasks"].size,
        "strongest_head": f"{layer}.{head}",
        "its_effect": float(arrays["over_tasks"][layer, head]),
        "probability_clean": float(arrays["p_clean"].mean()),
        "probability_shuffled": float(arrays["p_shuffled"].mean()),
    }


def _by_task(
    params: FunctionVectorParams, model: ModelInfo, task: Task, pieces: Mapping[str, Arrays]
) -> dict[str, dict[str, np.ndarray]]:
    """Each task's blocks joined, the run's own first; a repetition of it is left out."""
    names = [task.name, *dict.fromkeys(params.tasks)]
    found: dict[str, dict[str, np.ndarray]] = {}
    for number, name in enumerate(names):
        if number and name == task.name:
            continue
        works = [work for work in plan(params, model) if work.task == number]
        clean, shuffled = (
            [pieces[work.piece.key] for work in works if work.kind == kind] for kind in ("clean", "effects")
        )
        found[name] = {
            "rise": np.concatenate([block["rise"] for block in shuffled]),
            "passed": shuffled[0]["passed"],
            **{
                f"{short}_{kind}": np.concatenate([block[long] for block in blocks])
                for kind, blocks in (("clean", clean), ("shuffled", shuffled))
                for short, long in (("p", "probability"), ("right", "right"))
            },
        }
    return found


def _standing_out(effect: np.ndarray, sds: float) -> np.ndarray:
    flat = effect.reshape(*effect.shape[:-2], -1)
    sure = outstanding(flat, sds) & (flat > 0)
    return sure.reshape(effect.shape).astype(np.uint8)


def _notes(
    params: FunctionVectorParams,
    arrays: Mapping[str, np.ndarray],
    names: list[str],
    limits: np.ndarray,
    found: Mapping[str, Mapping[str, np.ndarray]],
) -> list[str]:
    notes = []
    for number, name in enumerate(names):
        effect = arrays["effect"][number]
        if not arrays["significant"][number].any():
            ((layer, head),) = strongest(effect, 1)
            notes.append(
                f"{name}: no head stands out. The largest effect is {effect[layer, head]:+.4f} "
                f"({layer}.{head}); it would have to exceed {limits[number]:.4f}, the mean over heads and "
                f"{params.sds:g} standard deviations."
            )
        clean, shuffled = float(arrays["p_clean"][number]), float(arrays["p_shuffled"][number])
        if shuffled >= clean:
            notes.append(
                f"{name}: shuffled labels cost nothing. The answer has a probability of {shuffled:.3f} with "
                f"them and of {clean:.3f} with the right ones: there is nothing that a head could bring back."
            )
        right = float(arrays["right_clean"][number])
        if right < _FEW_RIGHT:
            notes.append(
                f"{name}: the model answers {100 * right:.0f} % of the clean prompts right: it hardly does "
                "the task."
            )
        notes += _fewer(name, int(arrays["n_prompts"][number]), params.prompts, found[name]["passed"])
    return notes


def _fewer(name: str, n: int, asked: int, passed: np.ndarray) -> list[str]:
    """What is to be said where a task gives fewer prompts than were asked for."""
    if n >= asked:
        return []
    too_long, unshuffled = (int(count) for count in passed)
    why = [f"{too_long} too long for the context"] if too_long else []
    why += [f"{unshuffled} whose labels can't be shuffled"] if unshuffled else []
    left = f" ({' and '.join(why)} were left out)" if why else ""
    return [f"{name}: {n} shuffled prompts, where {asked} were asked for{left}."]
