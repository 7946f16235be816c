"""How a contrastive run is cut into pieces, each seconds to a minute on two cores.

1. ``task/k``: the model as it is on each task's held-out examples; a task to fit that it can't do ends the
   run.
2. ``fit/seeds/update``: updates of a group of seeds, which share forward passes; each piece goes on from the
   one before.
3. ``scored/fit/k/seeds``: each group under its gates on each task's held-out examples.

The cuts depend on the request alone (parameters and the model's size).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from headscope.analyses.cchg.schema import CchgParams, Fit, fits, listed
from headscope.analyses.cutting import blocks, fitting
from headscope.analyses.legacy import Piece
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo

NOMINAL_TOKENS = 24.0
"""Tokens taken for an example, whose true length isn't known before it meets a tokenizer."""

_MOST_SEEDS = 16


@dataclass(frozen=True)
class Work:
    """A piece and what it is for: ``task`` indexes the tasks listed, ``seeds`` the run's seeds; updates run
    from ``start`` to before ``stop``.
    """

    piece: Piece
    kind: Literal["task", "plain", "fit", "scored"]
    task: int = 0
    fit: Fit | None = None
    seeds: range = range(0)
    start: int = 0
    stop: int = 0


@lru_cache(maxsize=8)
def plan(params: CchgParams, model: ModelInfo) -> tuple[Work, ...]:
    """All pieces of a run in the order they are computed; kept, as each piece asks for them."""
    forward = forward_flop(model, NOMINAL_TOKENS, 1)
    names = listed(params)
    ask = forward * params.n_test
    works = [
        Work(Piece(f"task/{k}", f"The model as it is on {name}", weight=ask), "task", k)
        for k, name in enumerate(names)
    ]
    if params.gating is not None:
        works.append(Work(Piece("plain", "The plain gates", weight=0.0), "plain"))
    update = 4 * forward * params.batch_size
    group = fitting(params.seeds, update, most=_MOST_SEEDS)
    for fit in fits(params):
        for seeds in blocks(range(params.seeds), group):
            works += _fitting(params, fit, seeds, update * len(seeds))
            works += _scoring(params, fit, seeds, names, ask * len(seeds))
    return tuple(works)


def fit_key(fit: Fit, seeds: range, stop: int) -> str:
    """The key of the piece that takes a group to update ``stop``."""
    return f"{fit.key}/{seeds.start}-{seeds.stop - 1}/{stop}"


def title(params: CchgParams, fit: Fit) -> str:
    """A fit in words: what it retains, and what it takes away."""
    retain, forget = (", ".join(names) for names in fit.sets(params))
    return f"{retain} without {forget}"


def seeds_label(params: CchgParams, seeds: range) -> str:
    """Seeds in words for progress: "seed 4", "seeds 0–2"."""
    first, last = params.first_seed + seeds.start, params.first_seed + seeds.stop - 1
    return f"seed {first}" if first == last else f"seeds {first}–{last}"


def _fitting(params: CchgParams, fit: Fit, seeds: range, flop: float) -> Iterator[Work]:
    updates = fitting(params.steps, flop, most=params.steps)
    for start in range(0, params.steps, updates):
        stop = min(start + updates, params.steps)
        needs = (fit_key(fit, seeds, start),) if start else ()
        label = f"{title(params, fit)}, {seeds_label(params, seeds)}, updates {start + 1}–{stop}"
        piece = Piece(fit_key(fit, seeds, stop), label, needs, weight=flop * (stop - start))
        yield Work(piece, "fit", 0, fit, seeds, start, stop)


def _scoring(params: CchgParams, fit: Fit, seeds: range, names: list[str], flop: float) -> Iterator[Work]:
    last = fit_key(fit, seeds, params.steps)
    for k, name in enumerate(names):
        key = f"scored/{fit.key}/{k}/{seeds.start}-{seeds.stop - 1}"
        label = f"{name} under the gates of {title(params, fit)}, {seeds_label(params, seeds)}"
        yield Work(Piece(key, label, (last,), weight=flop), "scored", k, fit, seeds)
