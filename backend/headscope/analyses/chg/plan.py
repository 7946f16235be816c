"""How a causal head gating run is cut into pieces, each seconds to a minute on two cores.

1. Seeds go in groups: as many at once as let a single update stay below a piece's length. A group's updates
   share forward passes, whatever the device.
2. A group's phase is cut into runs of updates; a piece hands logits and Adam's moments to the next.
3. The model as it is, and each group under each of its three sets of gates, are scored on held-out examples;
   G+ and G- once more with gates rounded to open or shut.
4. Where seeds are added to an earlier run, its seeds are one small piece, and only the others are fitted.

The cuts depend on the request alone (parameters and the model's size), so that a run goes on with the same
pieces on another machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.cutting import blocks, fitting
from headscope.analyses.legacy import Piece
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo

PhaseName = Literal["zero", "plus", "minus"]

PHASES: tuple[PhaseName, ...] = ("zero", "plus", "minus")
PHASE_TITLES = {"zero": "phase 0", "plus": "G+", "minus": "G−"}

NOMINAL_TOKENS = 24.0
"""Tokens taken for an example, whose true length isn't known before it meets a tokenizer."""

_MOST_SEEDS = 16


@dataclass(frozen=True)
class Work:
    """A piece and what it is for: ``seeds`` index the run's seeds, updates run from ``start`` to before
    ``stop``.
    """

    piece: Piece
    kind: Literal["fit", "heldout", "ungated", "earlier"]
    phase: PhaseName = "zero"
    seeds: range = range(0)
    start: int = 0
    stop: int = 0


@lru_cache(maxsize=8)
def plan(params: ChgParams, model: ModelInfo, earlier: int = 0) -> tuple[Work, ...]:
    """All pieces of a run in the order they are computed; kept, as each piece asks for them.

    ``earlier`` seeds are taken over from another run.
    """
    forward = forward_flop(model, NOMINAL_TOKENS, 1)
    group = fitting(params.seeds - earlier, 2 * forward * params.batch_size, most=_MOST_SEEDS)
    ask = forward * (params.n_test or 1000)
    works = [Work(Piece("ungated", "The model as it is", weight=ask), "ungated")]
    if earlier:
        title = f"Seeds taken over, {seeds_label(params, range(earlier))}"
        works.insert(0, Work(Piece("earlier", title, weight=0.0), "earlier", seeds=range(earlier)))
    scored = fitting(group, 2 * ask, most=group)
    for first in range(earlier, params.seeds, group):
        seeds = range(first, min(first + group, params.seeds))
        update = 2 * forward * params.batch_size * len(seeds)
        updates = fitting(params.steps, update, most=params.steps)
        for phase in PHASES:
            works += _fits(params, phase, seeds, updates, update)
        for phase in PHASES:
            last = fit_key(phase, seeds, params.steps)
            works += [_scoring(params, phase, block, last, ask) for block in blocks(seeds, scored)]
    return tuple(works)


def fit_key(phase: PhaseName, seeds: range, stop: int) -> str:
    """The key of the piece that takes a group's phase to update ``stop``."""
    return f"{phase}/{seeds.start}-{seeds.stop - 1}/{stop}"


def seeds_label(params: ChgParams, seeds: range) -> str:
    """Seeds in words for progress: "seed 4", "seeds 0–2"."""
    first, last = params.first_seed + seeds.start, params.first_seed + seeds.stop - 1
    return f"seed {first}" if first == last else f"seeds {first}–{last}"


def _fits(params: ChgParams, phase: PhaseName, seeds: range, updates: int, flop: float) -> Iterator[Work]:
    """A phase of a group in pieces of so many ``updates``, each update costing ``flop``."""
    for start in range(0, params.steps, updates):
        stop = min(start + updates, params.steps)
        needs: tuple[str, ...] = (fit_key(phase, seeds, start),)
        if not start:
            needs = () if phase == "zero" else (fit_key("zero", seeds, params.steps),)
        label = f"{PHASE_TITLES[phase]}, {seeds_label(params, seeds)}, updates {start + 1}–{stop}"
        piece = Piece(fit_key(phase, seeds, stop), label, needs, weight=flop * (stop - start))
        yield Work(piece, "fit", phase, seeds, start, stop)


def _scoring(params: ChgParams, phase: PhaseName, block: range, last: str, flop: float) -> Work:
    """A block of seeds on the held-out examples, each set of gates costing ``flop``."""
    gates = "G0" if phase == "zero" else PHASE_TITLES[phase]
    label = f"Held-out examples under {gates}, {seeds_label(params, block)}"
    key = f"heldout/{phase}/{block.start}-{block.stop - 1}"
    times = 1 if phase == "zero" else 2
    return Work(Piece(key, label, (last,), weight=times * flop * len(block)), "heldout", phase, block)
