"""Mediation of abstract rules as pieces of durable work [Yang et al. 2025, arXiv 2502.20332, algorithm 1].

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

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from headscope.analyses.base import (
    Arrays,
    Estimate,
    Input,
    Progress,
    Result,
)
from headscope.analyses.legacy import Context, Piece, Reference
from headscope.analyses.mediation_abstract_rules.estimate import estimate
from headscope.analyses.mediation_abstract_rules.plan import Work, plan
from headscope.analyses.mediation_abstract_rules.result import headline, join
from headscope.analyses.mediation_abstract_rules.schema import KINDS, PRESETS, AbstractRuleParams
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Refused
from headscope.tasks.rule_pairs import RulePair, rule_pairs
from headscope.tasks.task import Task


class AbstractRules:
    """Which heads abstract symbols from tokens, continue the rule over symbols, retrieve the token."""

    name: ClassVar[str] = "mediation-abstract-rules"
    title: ClassVar[str] = "Abstract rules"
    summary: ClassVar[str] = "Heads that turn tokens into symbols, carry on a rule, and find the answer."
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = False
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {}
    params: type[AbstractRuleParams] = AbstractRuleParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: AbstractRuleParams) -> Sequence[int]:
        """The one seed of all that is drawn."""
        return (params.seed,)

    def estimate(
        self,
        params: AbstractRuleParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
        inputs: Mapping[str, Input] | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes; with a tokenizer raises what ``rule_pairs`` does."""
        return estimate(params, model, tokenizer=tokenizer, throughput=throughput)

    def plan(
        self, params: AbstractRuleParams, model: ModelInfo, inputs: Mapping[str, Input] | None = None
    ) -> Sequence[Piece]:
        """The pieces in order; see ``analyses.mediation_abstract_rules.plan``."""
        return [work.piece for work in plan(params, model)]

    def compute(self, piece: Piece, params: AbstractRuleParams, context: Context) -> Arrays:
        """A block of candidates asked, or of kept pairs with every head patched."""
        work = next(work for work in plan(params, context.model.info) if work.piece.key == piece.key)
        return (_screen if work.kind == "screen" else _scores)(work, params, context)

    def assemble(
        self,
        params: AbstractRuleParams,
        model: ModelInfo,
        task: Task | None,
        pieces: Mapping[str, Arrays],
    ) -> Result:
        """See ``analyses.mediation_abstract_rules.result``."""
        arrays, values = join(params, model, pieces)
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=model,
            task=None,
            seeds=tuple(self.seeds(params)),
            other_arrays=arrays,
            other_values=values,
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """The strongest head of each kind, how many count, and the share of pairs kept."""
        return headline(result)


def _pairs(work: Work, params: AbstractRuleParams, context: Context, most: int) -> list[RulePair]:
    model = context.model
    drawn = rule_pairs(
        model.tokenizer, work.swapped, shots=params.shots, seed=params.seed, n_ctx=model.info.n_ctx
    )
    return list(islice(drawn, most))


def _screen(work: Work, params: AbstractRuleParams, context: Context) -> dict[str, np.ndarray]:
    """Whether the model is right on both contexts, for candidates until enough are kept."""
    from headscope.core.attribution.mediation import answered

    kept = sum(int(context.pieces[key]["right"].sum()) for key in work.piece.needs)
    tried = sum(len(context.pieces[key]["right"]) for key in work.piece.needs)
    right: list[bool] = []
    for pair in _pairs(work, params, context, work.block.stop)[work.block.start :]:
        if kept + sum(right) == params.pairs:
            break
        context.checkpoint()
        right.append(answered(context.model, pair))
        fraction = len(right) / len(work.block)
        context.report(Progress("pairs asked", "", len(right), len(work.block), None, fraction))
    kept, tried = kept + sum(right), tried + len(right)
    least = min(params.least, params.pairs)
    if work.last and kept < least:
        raise Refused(
            f"{context.model.info.name} is right on both contexts in {kept} of {tried} pairs "
            f"({100 * kept / tried:.1f} %) with {params.shots} in-context examples; {least} are needed.",
            "Use more in-context examples, try more pairs, ask for fewer, or choose a larger model.",
            code="too-few-right",
        )
    return {"right": np.array(right, np.uint8)}


def _scores(work: Work, params: AbstractRuleParams, context: Context) -> dict[str, np.ndarray]:
    """Every head's score in the kept pairs of the block, by kind."""
    from headscope.core.attribution.mediation import scores

    info = context.model.info
    right = np.concatenate([context.pieces[key]["right"] for key in work.piece.needs]) > 0
    candidates = _pairs(work, params, context, len(right))
    kept = [pair for pair, good in zip(candidates, right.tolist(), strict=True) if good]
    block = kept[work.block.start : work.block.stop]
    kinds = [kind for kind in KINDS if kind.swapped == work.swapped]
    found = {kind.name: np.zeros((len(block), info.n_layers, info.n_heads), np.float32) for kind in kinds}
    for number, pair in enumerate(block):
        for kind in kinds:
            positions = pair.third if kind.place == "third" else (len(pair.other) - 1,)
            score = scores(context.model, pair, positions, context.checkpoint)
            found[kind.name][number] = score.float().numpy()
        fraction = (number + 1) / len(block)
        context.report(Progress("heads patched", "", number + 1, len(block), None, fraction))
    return {**found, "base_aba": np.array([pair.rule == "ABA" for pair in block], np.uint8)}
