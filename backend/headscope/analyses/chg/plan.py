"""How a causal head gating run is cut into pieces, each seconds to a minute on two cores.

1. Seeds go in groups: as many at once as let a single update stay below a piece's length. A group's updates
   share forward passes, whatever the device.
2. A group's phase is cut into runs of updates; a piece hands logits and Adam's moments to the next.
3. The ungated model, and each group under each of its three sets of gates, are scored on held-out examples;
   G+ and G- once more with gates rounded to open or shut.
   Where asked for, a phase each makes masks of G+ and G-, and they are scored too.
4. Fits on permuted targets come after them, one by one, since each has targets of its own.
5. Which rows are used may be for pieces of its own to say, before all others (``chg.rows``).
6. Where asked for, each head is closed by itself (``chg.closing``).
7. Where seeds are added to an earlier run, its fits are one small piece, and only the others are made.

The cuts depend on the request alone (parameters and the model's size), so that a run goes on with the same
pieces on another machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import NDArray

from headscope.analyses import ablation
from headscope.analyses.base import Piece, Pieces, Spec
from headscope.analyses.chg import closing
from headscope.analyses.chg.inside import training
from headscope.analyses.chg.phases import (
    BEFORE,
    BINARY,
    PHASE_TITLES,
    PHASES,
    PhaseName,
    null_label,
    phases,
    seeds_label,
)
from headscope.analyses.chg.pieces import Updates, fit, score, take_over, ungated
from headscope.analyses.chg.rows import needed
from headscope.analyses.chg.rows import pieces as choosing_rows
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.costing import NOMINAL_TOKENS
from headscope.analyses.cutting import blocks, fitting
from headscope.core.model.cost import forward_flop

UNGATED, EARLIER = "ungated", "earlier"

_MOST_SEEDS = 16


@dataclass(frozen=True)
class Group:
    """Seeds, as indices of the run's, that are fitted side by side: their pieces by phase, in order."""

    seeds: range
    fits: Mapping[PhaseName, Sequence[Piece]]
    scores: Mapping[PhaseName, Sequence[Piece]]

    def pieces(self) -> Iterator[Piece]:
        """All fits, then all scores."""
        for of_phase in (self.fits, self.scores):
            for pieces in of_phase.values():
                yield from pieces


def plan(spec: Spec[ChgParams], earlier: int, earlier_null: int = 0) -> list[Piece]:
    """All pieces of a run in the order they are computed; ``earlier`` seeds come from another run, and so do
    ``earlier_null`` fits on permuted targets.
    """
    params = spec.params
    ablation.check_pairs(params.ablation, spec.task)
    rows = choosing_rows(spec)
    as_it_is = partial(ungated, spec)
    first = [*rows, Piece(UNGATED, "The ungated model", as_it_is, needed(spec), weight=_ask_flop(spec))]
    if earlier:
        label = f"Seeds reused, {seeds_label(params, range(earlier))}"
        first.insert(0, Piece(EARLIER, label, partial(take_over, spec), weight=0.0))
    first += ablation.means(params.ablation, spec.model, partial(training, spec), needed(spec))
    made = [*groups(spec, earlier), *null_groups(spec, earlier_null)]
    fits = (piece for group in made for piece in group.pieces())
    return [*first, *fits, *closing.pieces(spec, _forward_flop(spec))]


def closed_alone(spec: Spec[ChgParams], pieces: Pieces) -> dict[str, NDArray[Any]]:
    """What closing each head by itself costs, where it was measured."""
    return closing.joined(spec, _forward_flop(spec), pieces)


def groups(spec: Spec[ChgParams], earlier: int) -> list[Group]:
    """The groups of seeds that are fitted."""
    params, forward = spec.params, _forward_flop(spec)
    if params.seeds == earlier:
        return []  # only fits on permuted targets are added
    size = fitting(params.seeds - earlier, 2 * forward * params.batch_size, most=_MOST_SEEDS)
    if params.clip_over == "all":
        size = params.seeds  # a gradient is clipped with all others
    return [_group(spec, seeds, size) for seeds in blocks(range(earlier, params.seeds), size)]


def null_groups(spec: Spec[ChgParams], earlier: int) -> list[Group]:
    """The fits on permuted targets that are made, each a group that nothing is scored under."""
    flop = 2 * _forward_flop(spec) * spec.params.batch_size
    updates = fitting(spec.params.steps, flop, most=spec.params.steps)
    return [
        Group(
            seeds=range(at, at + 1),
            fits={
                phase: list(_fits(spec, phase, range(at, at + 1), updates, flop, null=True))
                for phase in PHASES
            },
            scores=dict.fromkeys(PHASES, ()),
        )
        for at in range(earlier, spec.params.null_fits)
    ]


def _group(spec: Spec[ChgParams], seeds: range, size: int) -> Group:
    params, ask = spec.params, _ask_flop(spec)
    flop = 2 * _forward_flop(spec) * params.batch_size * len(seeds)
    updates = fitting(params.steps, flop, most=params.steps)
    scored = fitting(size, 2 * ask, most=size)
    return Group(
        seeds=seeds,
        fits={phase: list(_fits(spec, phase, seeds, updates, flop)) for phase in phases(params)},
        scores={
            phase: [_scoring(spec, phase, seeds, block, ask) for block in blocks(seeds, scored)]
            for phase in phases(params)
        },
    )


def _fits(
    spec: Spec[ChgParams], phase: PhaseName, seeds: range, updates: int, flop: float, *, null: bool = False
) -> Iterator[Piece]:
    """A phase of a group in pieces of so many ``updates``, each update costing ``flop``."""
    params = spec.params
    for block in blocks(range(params.steps), updates):
        before: str | None = _fit_key(phase, seeds, block.start, null)
        if not block.start:
            before = _fit_key(BEFORE[phase], seeds, params.steps, null) if phase in BEFORE else None
        whose = null_label(params, seeds.start) if null else seeds_label(params, seeds)
        label = f"{PHASE_TITLES[phase]}, {whose}, updates {block.start + 1}–{block.stop}"
        yield Piece(
            _fit_key(phase, seeds, block.stop, null),
            label,
            partial(fit, spec, Updates(phase, seeds, block, before, null)),
            (*([before] if before else []), *needed(spec), *ablation.needs(params.ablation)),
            weight=flop * len(block),
        )


def _scoring(spec: Spec[ChgParams], phase: PhaseName, group: range, block: range, flop: float) -> Piece:
    """A block of a group's seeds on the held-out examples, each set of gates costing ``flop``."""
    gates = "G0" if phase == "zero" else PHASE_TITLES[phase]
    last = _fit_key(phase, group, spec.params.steps)
    within = range(block.start - group.start, block.stop - group.start)
    return Piece(
        f"heldout/{phase}/{block.start}-{block.stop - 1}",
        f"Held-out examples under {gates}, {seeds_label(spec.params, block)}",
        partial(score, spec, last, within, rounded=phase in ("plus", "minus"), masks=phase in BINARY),
        (last, *needed(spec), *ablation.needs(spec.params.ablation)),
        weight=(2 if phase in ("plus", "minus") else 1) * flop * len(block),
    )


def _fit_key(phase: PhaseName, seeds: range, stop: int, null: bool = False) -> str:
    """The key of the piece that takes a group's phase to update ``stop``."""
    return f"{'null-' if null else ''}{phase}/{seeds.start}-{seeds.stop - 1}/{stop}"


def _forward_flop(spec: Spec[ChgParams]) -> float:
    return forward_flop(spec.model, NOMINAL_TOKENS, 1)


def _ask_flop(spec: Spec[ChgParams]) -> float:
    """Of all held-out examples once."""
    return _forward_flop(spec) * (spec.params.n_test or 1000)
