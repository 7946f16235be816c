"""How a contrastive run is cut into pieces, each seconds to a minute on two cores.

1. ``task/k``: the ungated model on each task's held-out examples; a task to fit that it can't do ends the
   run.
2. ``fit/seeds/update``: updates of a group of seeds, which share forward passes; each piece goes on from the
   one before.
3. ``scored/fit/k/seeds``: a group, or as many of its seeds as a piece holds, under its gates on a task's
   held-out examples.

The cuts depend on the request alone (parameters and the model's size).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from headscope.analyses.base import Piece, Spec
from headscope.analyses.cchg.pieces import Updates, plain, score, ungated, update
from headscope.analyses.cchg.schema import CchgParams, Fit, fits, seeds_label
from headscope.analyses.cchg.tasks import named
from headscope.analyses.costing import NOMINAL_TOKENS
from headscope.analyses.cutting import blocks, fitting
from headscope.core.model.cost import forward_flop
from headscope.tasks.task import Task

PLAIN = "plain"

_MOST_SEEDS = 16


@dataclass(frozen=True)
class Group:
    """Seeds, as indices of the run's, of one fit: its updates in order, then by task its scores, a block of
    seeds each.
    """

    fit: Fit
    updates: Sequence[Piece]
    scores: Sequence[Sequence[Piece]]


def plan(spec: Spec[CchgParams]) -> Sequence[Piece]:
    """All pieces of a run in the order they are computed. Raises what ``tasks.named`` does."""
    given = [Piece(PLAIN, "The plain gates", partial(plain, spec), weight=0.0)]
    return [
        *as_it_is(spec),
        *(given if spec.params.gating is not None else []),
        *(piece for group in groups(spec) for piece in _pieces(group)),
    ]


def _pieces(group: Group) -> Iterator[Piece]:
    yield from group.updates
    for of_task in group.scores:
        yield from of_task


def as_it_is(spec: Spec[CchgParams]) -> list[Piece]:
    """Each task without gates, in the order of ``tasks.named``."""
    return [
        Piece(f"task/{k}", f"The ungated model on {name}", partial(ungated, spec, task), weight=_ask(spec))
        for k, (name, task) in enumerate(named(spec).items())
    ]


def groups(spec: Spec[CchgParams]) -> list[Group]:
    """The seeds that share forward passes, of one fit after the other."""
    params = spec.params
    size = fitting(params.seeds, _update(spec), most=_MOST_SEEDS)
    return [
        Group(fit, list(_updates(spec, fit, seeds)), list(_scores(spec, fit, seeds)))
        for fit in fits(params)
        for seeds in blocks(range(params.seeds), size)
    ]


def _updates(spec: Spec[CchgParams], fit: Fit, seeds: range) -> Iterator[Piece]:
    params, flop = spec.params, _update(spec) * len(seeds)
    words = f"{fit.title(params)}, {seeds_label(params, seeds)}"
    for block in blocks(range(params.steps), fitting(params.steps, flop, most=params.steps)):
        before = _fit_key(fit, seeds, block.start) if block.start else None
        yield Piece(
            _fit_key(fit, seeds, block.stop),
            f"{words}, updates {block.start + 1}–{block.stop}",
            partial(update, spec, Updates(fit, seeds, block, before)),
            (before,) if before else (),
            weight=flop * len(block),
        )


def _scores(spec: Spec[CchgParams], fit: Fit, seeds: range) -> Iterator[list[Piece]]:
    parts = list(blocks(seeds, fitting(len(seeds), _ask(spec), most=len(seeds))))
    for k, (name, task) in enumerate(named(spec).items()):
        yield [_scoring(spec, fit, (k, name, task), seeds, part) for part in parts]


def _scoring(
    spec: Spec[CchgParams], fit: Fit, asked: tuple[int, str, Task], group: range, block: range
) -> Piece:
    """A block of a group's seeds on one task, by its place and name."""
    params, last, (k, name, task) = spec.params, _fit_key(fit, group, spec.params.steps), asked
    within = range(block.start - group.start, block.stop - group.start)
    return Piece(
        f"scored/{fit.key}/{k}/{block.start}-{block.stop - 1}",
        f"{name} under the gates of {fit.title(params)}, {seeds_label(params, block)}",
        partial(score, spec, task, last, within),
        (last,),
        weight=_ask(spec) * len(block),
    )


def _fit_key(fit: Fit, seeds: range, stop: int) -> str:
    """The key of the piece that takes a group to update ``stop``."""
    return f"{fit.key}/{seeds.start}-{seeds.stop - 1}/{stop}"


def _update(spec: Spec[CchgParams]) -> float:
    """FLOP of a seed's update: both sets, forward and backward."""
    return 4 * forward_flop(spec.model, NOMINAL_TOKENS, 1) * spec.params.batch_size


def _ask(spec: Spec[CchgParams]) -> float:
    """FLOP of a task's held-out examples once."""
    return forward_flop(spec.model, NOMINAL_TOKENS, 1) * spec.params.n_test
