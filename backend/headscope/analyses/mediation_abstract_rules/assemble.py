"""From pieces to the result: scores by kind of head, their p-values, and the notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headscope.analyses.base import Kept, Pieces, Spec
from headscope.analyses.mediation_abstract_rules.plan import share
from headscope.analyses.mediation_abstract_rules.result import AbstractRulesResult
from headscope.analyses.mediation_abstract_rules.schema import (
    KINDS,
    SWAPPED,
    AbstractRuleParams,
    Kind,
    kinds_of,
    seeds,
)
from headscope.analyses.patch_effects import strongest
from headscope.core.statistics.significance import PValues, sign_flips
from headscope.tasks.rule_pairs import Swapped


@dataclass(frozen=True)
class Tested:
    """One kind's scores, their mean, and its p-values; ``used`` are those of the correction asked for."""

    kind: Kind
    scores: Float[np.ndarray, "pair layer head"]
    mean: Float[np.ndarray, "layer head"]
    p: PValues
    used: Float[np.ndarray, " heads"]


def assemble(spec: Spec[AbstractRuleParams], pieces: Pieces) -> AbstractRulesResult:
    """Every kind's scores with the test of their means."""
    params = spec.params
    shares = {swapped: share(spec, swapped) for swapped in SWAPPED}
    patched = {way: [pieces[key] for key in each.patched] for way, each in shares.items()}
    right = {
        way: np.concatenate([pieces[key]["right"] for key in each.asked]) for way, each in shares.items()
    }
    kept, tried = ({way: int(count(each)) for way, each in right.items()} for count in (np.sum, len))
    tested = [_tested(kind, patched[kind.swapped], params) for kind in KINDS]
    shape = (spec.model.n_layers, spec.model.n_heads)

    def by_kind(read: Callable[[Tested], np.ndarray], dtype: type = np.float32) -> dict[str, np.ndarray]:
        return {each.kind.name: read(each).reshape(shape).astype(dtype) for each in tested}

    return AbstractRulesResult(
        **AbstractRulesResult.header(spec, seeds=seeds(params)),
        scores={each.kind.name: each.scores for each in tested},
        score=by_kind(lambda each: each.mean),
        error=by_kind(lambda each: _standard_error(each.scores)),
        p=by_kind(lambda each: each.p.single),
        p_max=by_kind(lambda each: each.p.max),
        p_holm=by_kind(lambda each: each.p.holm),
        significant=by_kind(lambda each: each.used < params.alpha, np.uint8),
        base_aba={
            way: np.concatenate([each["base_aba"] for each in blocks]) for way, blocks in patched.items()
        },
        tried=tried,
        kept=kept,
        notes=[
            *(note for each in tested for note in _notes(each, params)),
            *(
                _fewer(way, kept[way], tried[way], params.pairs)
                for way in SWAPPED
                if kept[way] < params.pairs
            ),
        ],
    )


def _tested(kind: Kind, blocks: Sequence[Kept], params: AbstractRuleParams) -> Tested:
    scores = np.concatenate([block[kind.name] for block in blocks])
    p = sign_flips(scores.reshape(len(scores), -1), params.draws, params.seed)
    used = {"max": p.max, "holm": p.holm, "none": p.single}[params.correction]
    return Tested(kind, scores, scores.mean(0, dtype=np.float64).astype(np.float32), p, used)


def _standard_error(scores: Float[np.ndarray, "pair layer head"]) -> Float[np.ndarray, "layer head"]:
    return np.asarray(scores.astype(np.float64).std(0, ddof=1) / np.sqrt(len(scores)))


def _notes(tested: Tested, params: AbstractRuleParams) -> Iterator[str]:
    words, p, heads = tested.kind.words, tested.p, tested.used.size
    if not (tested.used < params.alpha).any():
        ((layer, head),) = strongest(tested.mean, 1)
        yield (
            f"No {words} head: the largest score is {tested.mean[layer, head]:+.3f} ({layer}.{head}), the "
            f"smallest p {tested.used.min():.3g} over {len(tested.scores)} pairs, the level {params.alpha:g}."
        )
    if params.correction == "holm" and p.least * heads >= params.alpha:
        yield (
            f"{words.capitalize()}: after Holm no p can fall below {min(1, p.least * heads):.2g} with "
            f"{heads} heads and {round(1 / p.least):,} patterns of signs; draw more, or correct by the "
            "largest score."
        )


def _fewer(swapped: Swapped, kept: int, tried: int, asked: int) -> str:
    words = " and ".join(kind.words for kind in kinds_of(swapped))
    return (
        f"{kept} pairs for {words} heads, where {asked} were asked for: the model is right on both contexts "
        f"in {kept} of {tried}."
    )
