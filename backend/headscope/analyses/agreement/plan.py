"""How an agreement run is cut.

1. ``compare``: what each method says of every head, statistics of agreement, the list of heads in dispute.
2. ``explain/i``: the head in place i of that list, looked into with the model itself.
3. ``refit/i/n``: gates fitted once more with that head closed, in the nth of the seeds that need it.

Pieces of a head answer nothing where the list is shorter, or fewer seeds need the head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from headscope.analyses.agreement.cost import explained, refit_passes, ways
from headscope.analyses.agreement.pieces import COMPARE, compare, explain, fit_without
from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.base import Piece, Spec
from headscope.analyses.costing import NOMINAL_TOKENS
from headscope.analyses.gating_run import gating_run
from headscope.core.model.cost import forward_flop


@dataclass(frozen=True)
class OfHead:
    """The pieces of the head in one place of the list."""

    explain: Piece
    refits: Sequence[Piece]


@dataclass(frozen=True)
class Cuts:
    """The comparison, and what is asked of each head in dispute, by place."""

    compare: Piece
    heads: Sequence[OfHead]

    @property
    def pieces(self) -> list[Piece]:
        """All, in the order in which they are computed."""
        return [self.compare, *(piece for head in self.heads for piece in (head.explain, *head.refits))]


def cuts(spec: Spec[AgreementParams]) -> Cuts:
    """The run's pieces; raises what ``gating_run`` does."""
    params, forward = spec.params, forward_flop(spec.model, NOMINAL_TOKENS, 1)
    weight = forward * params.n_examples * ways(spec)
    fit = forward * (refit_passes(gating_run(spec, "gating")) + 3 * params.n_examples)
    return Cuts(
        Piece(COMPARE, "Comparing", partial(compare, spec), weight=weight / 100),
        [_of_head(spec, place, weight, fit) for place in range(explained(spec))],
    )


def _of_head(spec: Spec[AgreementParams], place: int, weight: float, fit: float) -> OfHead:
    why = f"Why they disagree, head {place + 1}"
    refits = []
    for number in range(spec.params.refits):
        label = f"Without head {place + 1}, seed {number + 1}"
        work = partial(fit_without, spec, place, number, label)
        refits.append(Piece(f"refit/{place}/{number}", label, work, (COMPARE,), fit))
    evidence = partial(explain, spec, place)
    return OfHead(Piece(f"explain/{place}", why, evidence, (COMPARE,), weight), refits)
