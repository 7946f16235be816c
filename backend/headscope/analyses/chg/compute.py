"""Causal head gating as pieces of durable work: fits, held-out scores, and the result that they join to."""

from __future__ import annotations

from collections.abc import Sequence

from headscope.analyses.base import Piece, Pieces, Spec
from headscope.analyses.chg import plan as cut
from headscope.analyses.chg.earlier import count, null_count
from headscope.analyses.chg.joining import joined, whole
from headscope.analyses.chg.plan import EARLIER, UNGATED
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.chg.schema import ChgParams


def seeds(params: ChgParams) -> Sequence[int]:
    """The seeds of a run, in the order of its arrays' first axis."""
    return range(params.first_seed, params.first_seed + params.seeds)


def plan(spec: Spec[ChgParams]) -> Sequence[Piece]:
    """The pieces in order, cut by ``chg.plan``. Raises what ``chg.earlier.taken_over`` does."""
    return cut.plan(spec, count(spec), null_count(spec))


def assemble(spec: Spec[ChgParams], pieces: Pieces) -> ChgResult:
    """All seeds' gates, losses and held-out scores."""
    return joined(spec, cut.groups(spec, _earlier(spec, pieces)), pieces, _null(spec, pieces))


def partial(spec: Spec[ChgParams], pieces: Pieces) -> ChgResult | None:
    """The seeds of which nothing is missing, as a result of their own; None where there are none."""
    if UNGATED not in pieces or (spec.params.adds_to is not None and EARLIER not in pieces):
        return None
    complete = whole(cut.groups(spec, _earlier(spec, pieces)), pieces)
    null = whole(_null(spec, pieces), pieces)
    return joined(spec, complete, pieces, null) if complete or EARLIER in pieces else None


def _null(spec: Spec[ChgParams], pieces: Pieces) -> list[cut.Group]:
    taken = pieces[EARLIER].get("null_plus", ()) if spec.params.adds_to is not None else ()
    return cut.null_groups(spec, len(taken))


def _earlier(spec: Spec[ChgParams], pieces: Pieces) -> int:
    return len(pieces[EARLIER]["g_plus"]) if spec.params.adds_to is not None else 0
