"""How sequential ablation is cut.

1. ``orders``: which seeds, their orders of heads by each score, and the random orders. No passes.
2. ``ends``: with every head taken no order and no base mask is left; both forms are computed once for all.
3. ``seed/s/a-b/i-n``: under the base mask of one seed its orders number a to b, those by score first, then
   its random ones; on every n-th held-out example from the i-th on, where one piece would take too long.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Int

from headscope.analyses import ablation, cutting
from headscope.analyses.base import Piece, Spec
from headscope.analyses.costing import NOMINAL_TOKENS
from headscope.analyses.cutting import blocks, fitting
from headscope.analyses.sequential_ablation.pieces import Part, ends, ordered, taken, training
from headscope.analyses.sequential_ablation.schema import SequentialAblationParams
from headscope.analyses.sequential_ablation.setting import Setting
from headscope.core.gating.removal import layers_passed
from headscope.core.model.cost import forward_flop


@dataclass(frozen=True)
class Cuts:
    """A run's pieces: ``ends`` where every head is taken at last, and those of each part."""

    orders: Piece
    means: Sequence[Piece]
    ends: Piece | None
    parts: Sequence[tuple[Part, Piece]]

    @property
    def pieces(self) -> list[Piece]:
        """All, in the order in which they are computed."""
        first = [self.orders, *self.means] if self.ends is None else [self.orders, *self.means, self.ends]
        return [*first, *(piece for _, piece in self.parts)]


def cuts(spec: Spec[SequentialAblationParams], given: Setting) -> Cuts:
    """The run's pieces."""
    kind = spec.params.ablation
    ablation.check_pairs(kind, spec.task)
    whole = forward_flop(spec.model, NOMINAL_TOKENS, 1) * spec.params.n_test
    words = "All heads closed and opened"
    both = Piece("ends", words, partial(ends, spec), ablation.needs(kind), weight=2 * whole)
    return Cuts(
        Piece("orders", "Ordering the heads", partial(ordered, given), weight=whole / 100),
        ablation.means(kind, spec.model, partial(training, spec)),
        both if given.complete else None,
        [part for seed in range(len(given.seeds)) for part in _of_seed(spec, given, seed)],
    )


def _of_seed(spec: Spec[SequentialAblationParams], given: Setting, seed: int) -> Iterator[tuple[Part, Piece]]:
    orders, name = given.orders[seed], given.seeds[seed]
    costs = [_flop(spec, given, orders[[index]]) for index in range(len(orders))]
    for some in blocks(range(len(orders)), fitting(len(orders), max(costs), len(orders))):
        flop = _flop(spec, given, orders[some.start : some.stop])
        shares = max(1, min(spec.params.n_test, math.ceil(flop / cutting.PIECE_FLOP)))
        for share in range(shares):
            key = f"seed/{name}/{some.start}-{some.stop - 1}/{share}-{shares}"
            of = f", examples part {share + 1} of {shares}" if shares > 1 else ""
            label = f"Heads removed, seed {name}{of}"
            part = Part(seed, some, slice(share, None, shares), label)
            needs = ("orders", *ablation.needs(spec.params.ablation))
            yield part, Piece(key, label, partial(taken, spec, given, part), needs, flop / shares)


def _flop(
    spec: Spec[SequentialAblationParams], given: Setting, orders: Int[np.ndarray, "order rank"]
) -> float:
    model = spec.model
    passed = layers_passed(orders, given.inner, model.n_layers, model.n_heads)
    read = 2 * (1 + len(orders) * (len(given.inner) - 1))
    body = forward_flop(model, NOMINAL_TOKENS, 0) * passed / model.n_layers
    return spec.params.n_test * (body + read * forward_flop(model, 0, 1))
