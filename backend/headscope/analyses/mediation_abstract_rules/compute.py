"""Mediation of abstract rules [Yang et al. 2025, arXiv 2502.20332, algorithm 1], a block of pairs at a time.

1. Pairs of contexts are drawn (``tasks.rule_pairs``) and asked; those are kept in which the right token is on
   top in both. Where too few are, the run is refused with the numbers.
2. z of the base context, of one head at a time, is put into the other context; the score is
   [logit(y*) - logit(y)] patched minus unpatched (``core.attribution.mediation.scores``):

       symbol abstraction   rule swapped    at the third item of each example
       symbolic induction   rule swapped    at the last token
       retrieval            items swapped   at the last token

3. A head counts where its mean score over pairs is larger than random signs of the pairs' scores make it
   (``core.statistics.significance``), corrected for the number of heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from headscope.analyses.base import Context, Kept, Progress
from headscope.analyses.mediation_abstract_rules.schema import AbstractRuleParams, kinds_of
from headscope.errors import Refused
from headscope.tasks.rule_pairs import RulePair, Swapped, rule_pairs


def asked_block(
    params: AbstractRuleParams, swapped: Swapped, block: range, earlier: Sequence[str], context: Context
) -> Kept:
    """Whether the model is right on both contexts, for candidates until enough are kept.

    ``earlier`` are the keys of the blocks before. ``Refused`` (too-few-right) after the last one.
    """
    from headscope.core.attribution.mediation import answered

    before = [bool(right) for key in earlier for right in context.pieces[key]["right"]]
    right: list[bool] = []
    for pair in _pairs(params, swapped, context, block.stop)[block.start :]:
        if sum(before) + sum(right) == params.pairs:
            break
        context.checkpoint()
        right.append(answered(context.model, pair))
        fraction = len(right) / len(block)
        context.report(Progress("pairs asked", "", len(right), len(block), None, fraction))
    if block.stop == params.candidates:
        _check_enough(params, context.model.info.name, before + right)
    return {"right": np.array(right, np.uint8)}


def patched_block(
    params: AbstractRuleParams, swapped: Swapped, block: range, asked: Sequence[str], context: Context
) -> Kept:
    """Every head's score in the kept pairs of the block, by kind; ``asked`` are the candidates' keys."""
    from headscope.core.attribution.mediation import scores

    info, kinds = context.model.info, kinds_of(swapped)
    right = np.concatenate([context.pieces[key]["right"] for key in asked]).tolist()
    candidates = _pairs(params, swapped, context, len(right))
    pairs = [pair for pair, good in zip(candidates, right, strict=True) if good][block.start : block.stop]
    found = {kind.name: np.zeros((len(pairs), info.n_layers, info.n_heads), np.float32) for kind in kinds}
    for number, pair in enumerate(pairs):
        for kind in kinds:
            positions = pair.third if kind.place == "third" else (len(pair.other) - 1,)
            score = scores(context.model, pair, positions, context.checkpoint)
            found[kind.name][number] = score.float().numpy()
        done = number + 1
        context.report(Progress("heads patched", "", done, len(pairs), None, done / len(pairs)))
    return {**found, "base_aba": np.array([pair.rule == "ABA" for pair in pairs], np.uint8)}


def _pairs(params: AbstractRuleParams, swapped: Swapped, context: Context, most: int) -> list[RulePair]:
    model = context.model
    drawn = rule_pairs(model.tokenizer, swapped, shots=params.shots, seed=params.seed, n_ctx=model.info.n_ctx)
    return list(islice(drawn, most))


def _check_enough(params: AbstractRuleParams, model: str, right: Sequence[bool]) -> None:
    kept, tried, least = sum(right), len(right), min(params.least, params.pairs)
    if kept < least:
        raise Refused(
            f"{model} is right on both contexts in {kept} of {tried} pairs "
            f"({100 * kept / tried:.1f} %) with {params.shots} in-context examples; {least} are needed.",
            "Use more in-context examples, try more pairs, ask for fewer, or choose a larger model.",
            code="too-few-right",
        )
