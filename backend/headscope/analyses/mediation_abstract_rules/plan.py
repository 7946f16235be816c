"""How a run is cut: for each way to swap, pairs are tried until enough are kept, then patched.

``screen/s/a-b`` asks both contexts of candidates a to b - 1; a block is empty once earlier ones kept enough.
``scores/s/a-b`` patches every head in the pairs kept, number a to b - 1: for swapped rules at the examples'
third items and at the last token, for swapped items at the last token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from headscope.analyses.base import Piece, Spec
from headscope.analyses.cutting import blocks, fitting
from headscope.analyses.mediation_abstract_rules.compute import asked_block, patched_block
from headscope.analyses.mediation_abstract_rules.schema import SWAPPED, AbstractRuleParams, kinds_of
from headscope.analyses.patch_effects import patched_flop
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo
from headscope.tasks.rule_pairs import Swapped

_WORDS = {"rule": "rules swapped", "items": "items swapped"}


@dataclass(frozen=True)
class Share:
    """One way to swap: ranges of its candidates and of the pairs kept, by the keys of their pieces."""

    swapped: Swapped
    asked: Mapping[str, range]
    patched: Mapping[str, range]


def context_tokens(params: AbstractRuleParams) -> int:
    """Six tokens an example, four the question, where ^ and a line's end are one token each."""
    return 6 * params.shots + 4


def scores_flop(params: AbstractRuleParams, model: ModelInfo, swapped: Swapped) -> float:
    """A pair's patches: z of the base context read once, then each kind's own pass."""
    tokens = context_tokens(params)
    widths = [tokens - 4 if kind.place == "third" else 1 for kind in kinds_of(swapped)]
    return forward_flop(model, tokens, 1) + sum(patched_flop(model, tokens, width) for width in widths)


def share(spec: Spec[AbstractRuleParams], swapped: Swapped) -> Share:
    """One way's part of the run."""
    params, flop = spec.params, scores_flop(spec.params, spec.model, swapped)
    return Share(
        swapped,
        asked=_blocks(f"screen/{swapped}", params.candidates, _asked_flop(spec)),
        patched=_blocks(f"scores/{swapped}", params.pairs, flop),
    )


def plan(spec: Spec[AbstractRuleParams]) -> Sequence[Piece]:
    """All pieces in the order they are computed."""
    return [piece for swapped in SWAPPED for piece in _pieces(spec, share(spec, swapped))]


def _pieces(spec: Spec[AbstractRuleParams], share: Share) -> Iterator[Piece]:
    params, swapped = spec.params, share.swapped
    asked: tuple[str, ...] = ()
    for key, block in share.asked.items():
        compute = partial(asked_block, params, swapped, block, asked)
        label = f"Pairs with {_WORDS[swapped]} asked"
        yield Piece(key, label, compute, asked, _asked_flop(spec) * len(block))
        asked = (*asked, key)
    flop = scores_flop(params, spec.model, swapped)
    for key, block in share.patched.items():
        compute = partial(patched_block, params, swapped, block, asked)
        yield Piece(key, f"Heads patched, {_WORDS[swapped]}", compute, asked, flop * len(block))


def _blocks(prefix: str, count: int, flop: float) -> dict[str, range]:
    cut = blocks(range(count), fitting(count, flop, count))
    return {f"{prefix}/{block.start}-{block.stop - 1}": block for block in cut}


def _asked_flop(spec: Spec[AbstractRuleParams]) -> float:
    return 2 * forward_flop(spec.model, context_tokens(spec.params), 1)
