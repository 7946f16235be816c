"""Gates that a finished run gives, to try on a prompt: whole, or cut to what its heads are for.

1. Of one seed, or of the mean over the seeds that finished: G+ and G− as they are.
2. With a threshold: the heads that are needed open and all others shut; the harmful ones shut and all others
   open.
3. Over seeds: the heads that are needed in every seed.
4. To compare with: as many heads as are needed, drawn at random by the run's id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from jaxtyping import Bool, Float

from headscope.analyses.chg.result import ChgResult, Gates
from headscope.analyses.offered_gates import AskedGates, GatePreset
from headscope.core.gating.roles import scores
from headscope.core.model.info import heads_in_words
from headscope.errors import NotFound, Refused
from headscope.tasks.draw import distinct

OPEN_FROM: Final = 0.5
"""A gate counts as open from here on."""


def offered(result: ChgResult, asked: AskedGates) -> list[GatePreset]:
    """The gates of a seed, or of the mean over seeds, and what is cut from them; the run's id decides the
    random draw.

    Raises ``Refused`` (no-gates) where no fit finished, ``NotFound`` (unknown-seed).
    """
    seed, threshold = asked.seed, asked.threshold
    plus, minus = _fits(result)
    one_plus, one_minus, of = _one(result, plus, minus, seed)
    score = {name: of_seed[0] for name, of_seed in scores(one_plus[None], one_minus[None]).items()}
    needed, harmful = score["facilitation"] >= threshold, score["interference"] >= threshold
    always = np.asarray((scores(plus, minus)["facilitation"] >= threshold).all(axis=0))
    n = int(needed.sum())
    words = result.vocabulary
    lifts, hurts = (words.clauses[role] for role in ("needed", "harmful"))
    found = [
        GatePreset("plus", "G+", f"The gates pushed open{of}: {words.heads('harmful')} stay shut.", one_plus),
        GatePreset(
            "minus", "G−", f"The gates pushed shut{of}: {words.heads('needed')} stay open.", one_minus
        ),
        _mask(
            "facilitating",
            f"Only {words.heads('needed')}",
            f"The {heads_in_words(n)} {lifts}{of}; all others off.",
            needed,
        ),
        _mask(
            "without-harmful",
            f"Without {words.heads('harmful')}",
            f"The {heads_in_words(int(harmful.sum()))} {hurts}{of} off; all others on.",
            ~harmful,
        ),
        _mask(
            "always",
            f"Always {words.labels['needed']}",
            f"The {heads_in_words(int(always.sum()))} {lifts} in each of {len(plus)} seeds; all others off.",
            always,
        ),
    ]
    drawn = _drawn(f"random preset {asked.run} {seed}", needed.shape, n)
    alike = "are needed" if words.kind == "roles" else words.clauses["needed"].removeprefix("that ")
    reading = f"{heads_in_words(n)} drawn at random, as many as {alike}{of}: what any so few would do."
    return [*found, *asked.later, _mask("random", "Random, as many", reading[0].upper() + reading[1:], drawn)]


def _fits(result: ChgResult) -> tuple[Gates, Gates]:
    """G+ and G− of the seeds that finished."""
    ran = result.ran
    if not ran.any():
        raise Refused("No fit of this run finished.", "Choose another run.", code="no-gates")
    return result.g_plus[ran], result.g_minus[ran]


def _one(
    result: ChgResult, plus: Gates, minus: Gates, seed: int | None
) -> tuple[Float[np.ndarray, "layer head"], Float[np.ndarray, "layer head"], str]:
    """G+ and G− of a seed or the mean, and how the words go on."""
    if seed is None:
        means = [gates.mean(axis=0, dtype=np.float64).astype(np.float32) for gates in (plus, minus)]
        return means[0], means[1], f" on average over {len(plus)} seeds" if len(plus) > 1 else ""
    seeds = [s for s, ended in zip(result.seeds, result.ran.tolist(), strict=True) if ended]
    if seed not in seeds:
        raise NotFound(
            f"The run has no fit of seed {seed} that finished.",
            f"Its seeds are {', '.join(map(str, seeds))}.",
            code="unknown-seed",
        )
    index = seeds.index(seed)
    return plus[index], minus[index], f" in seed {seed}"


def _mask(name: str, title: str, reading: str, on: Bool[np.ndarray, "layer head"]) -> GatePreset:
    return GatePreset(name, title, reading, on.astype(np.float32))


def _drawn(key: str, shape: Sequence[int], n: int) -> Bool[np.ndarray, "layer head"]:
    flat = np.zeros(int(np.prod(shape)), bool)
    flat[distinct(key, len(flat), n)] = True
    return flat.reshape(shape)
