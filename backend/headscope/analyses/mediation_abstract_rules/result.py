"""From pieces to the result: scores by kind of head, their p-values, and what is to be said.

For each kind, ``{kind}_scores`` [pair, layer, head] and their mean ``{kind}``, standard error
``{kind}_error``, p-values ``{kind}_p``, ``{kind}_p_max``, ``{kind}_p_holm`` [layer, head], and
``{kind}_significant``, ones and zeros by the correction asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from headscope.analyses.base import Arrays, Result
from headscope.analyses.mediation_abstract_rules.plan import plan
from headscope.analyses.mediation_abstract_rules.schema import KINDS, SWAPPED, AbstractRuleParams, Kind
from headscope.analyses.patch_effects import strongest
from headscope.core.model.info import ModelInfo
from headscope.core.statistics.significance import PValues, sign_flips


def join(
    params: AbstractRuleParams, model: ModelInfo, pieces: Mapping[str, Arrays]
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and values of the result."""
    works = plan(params, model)
    arrays: dict[str, np.ndarray] = {}
    notes: list[str] = []
    for kind in KINDS:
        blocks = [pieces[w.piece.key] for w in works if w.kind == "scores" and w.swapped == kind.swapped]
        scores = np.concatenate([block[kind.name] for block in blocks])
        p = sign_flips(scores.reshape(len(scores), -1), params.draws, params.seed)
        arrays |= _of_kind(kind, scores, p, params)
        notes += _notes(kind, arrays, p, params)
    screened = {
        swapped: np.concatenate(
            [pieces[w.piece.key]["right"] for w in works if w.kind == "screen" and w.swapped == swapped]
        )
        for swapped in SWAPPED
    }
    for swapped, right in screened.items():
        blocks = [pieces[w.piece.key] for w in works if w.kind == "scores" and w.swapped == swapped]
        arrays[f"{swapped}_base_aba"] = np.concatenate([block["base_aba"] for block in blocks])
        kept = int(right.sum())
        if kept < params.pairs:
            notes.append(
                f"{kept} pairs for {' and '.join(kind.words for kind in KINDS if kind.swapped == swapped)} "
                f"heads, where {params.pairs} were asked for: the model is right on both contexts in {kept} "
                f"of {len(right)}."
            )
    values = {
        "tried": {swapped: len(right) for swapped, right in screened.items()},
        "kept": {swapped: int(right.sum()) for swapped, right in screened.items()},
        "notes": notes,
    }
    return arrays, values


def headline(result: Result) -> dict[str, Any]:
    """The few numbers that lists show."""
    found: dict[str, Any] = {}
    for kind in KINDS:
        ((layer, head),) = strongest(result.arrays[kind.name], 1)
        name = kind.words.replace(" ", "_")
        # The strongest, whether or not it counts as one of its kind.
        found[f"strongest_for_{name}"] = f"{layer}.{head}"
        found[f"{name}_heads"] = int(result.arrays[f"{kind.name}_significant"].sum())
    kept, tried = (sum(result.values[name].values()) for name in ("kept", "tried"))
    return found | {"pairs_kept": kept, "share_kept": kept / tried}


def _of_kind(kind: Kind, scores: np.ndarray, p: PValues, params: AbstractRuleParams) -> dict[str, np.ndarray]:
    shape = scores.shape[1:]
    used = {"max": p.max, "holm": p.holm, "none": p.single}[params.correction]
    error = scores.astype(np.float64).std(0, ddof=1) / np.sqrt(len(scores))
    return {
        f"{kind.name}_scores": scores,
        kind.name: scores.astype(np.float64).mean(0).astype(np.float32),
        f"{kind.name}_error": error.astype(np.float32),
        f"{kind.name}_p": p.single.reshape(shape).astype(np.float32),
        f"{kind.name}_p_max": p.max.reshape(shape).astype(np.float32),
        f"{kind.name}_p_holm": p.holm.reshape(shape).astype(np.float32),
        f"{kind.name}_significant": (used < params.alpha).reshape(shape).astype(np.uint8),
    }


def _notes(kind: Kind, arrays: Mapping[str, np.ndarray], p: PValues, params: AbstractRuleParams) -> list[str]:
    notes = []
    n, heads = len(arrays[f"{kind.name}_scores"]), p.single.size
    if not arrays[f"{kind.name}_significant"].any():
        ((layer, head),) = strongest(arrays[kind.name], 1)
        used = {"max": p.max, "holm": p.holm, "none": p.single}[params.correction]
        notes.append(
            f"No {kind.words} head: the largest score is {arrays[kind.name][layer, head]:+.3f} "
            f"({layer}.{head}), the smallest p {used.min():.3g} over {n} pairs, the level {params.alpha:g}."
        )
    if params.correction == "holm" and p.least * heads >= params.alpha:
        notes.append(
            f"{kind.words.capitalize()}: after Holm no p can fall below {min(1, p.least * heads):.2g} with "
            f"{heads} heads and {round(1 / p.least):,} patterns of signs; draw more, or correct by the "
            "largest score."
        )
    return notes
