"""Which heads can stand in for one another, asked of the model itself: both closed against each closed.

    loss(h) = log-probability with the base mask - log-probability with h closed as well
    interaction(h, k) = loss(h and k) - loss(h) - loss(k)

in nats a target token. It is 0 where two heads do separate work, negative where one works through the other
(whichever is closed, the same is lost), and positive where either is enough: then nothing is lost until both
are closed. A fit can't tell such a pair from heads that don't matter: which of the two stays open is decided
by its start, and where one is the better by a little, by nothing at all.

The base mask closes the heads that harm the task, so that what they hide is seen.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from headscope.core.gating.evaluation import Contrasted, evaluate
from headscope.core.model.head_model import HeadModel
from headscope.errors import Invalid

Head = tuple[int, int]


@dataclass(frozen=True)
class PairLosses:
    """Nats a target token lost by closing each of ``heads`` and each two of them (NaN on the diagonal)."""

    heads: tuple[Head, ...]
    alone: Float[np.ndarray, " head"]
    together: Float[np.ndarray, "head head"]

    @property
    def interaction(self) -> Float[np.ndarray, "head head"]:
        """Lost by closing both beyond what each loses alone: positive where one can stand in for the other.

        Symmetric, NaN on the diagonal.
        """
        return np.asarray(self.together - self.alone[:, None] - self.alone[None, :])

    @property
    def redundancy(self) -> Float[np.ndarray, " head"]:
        """Each head's largest interaction with any other; NaN where it is the only head."""
        if len(self.heads) < 2:
            return np.full(len(self.heads), np.nan)
        return np.asarray(np.nanmax(self.interaction, axis=1))

    def pairs(self, least: float) -> list[tuple[Head, Head, float]]:
        """The pairs with an interaction of at least ``least`` nats, highest first."""
        found = [
            (self.heads[i], self.heads[j], float(self.interaction[i, j]))
            for i, j in itertools.combinations(range(len(self.heads)), 2)
        ]
        return sorted((pair for pair in found if pair[2] >= least), key=lambda pair: -pair[2])


def pair_losses(
    model: HeadModel,
    examples: Sequence[Contrasted],
    base: Float[torch.Tensor, "layer head"],
    heads: Sequence[Head],
    checkpoint: Callable[[], None] = lambda: None,
) -> PairLosses:
    """Close each of n heads, and each two of them, under the base mask: 1 + n + n (n - 1) / 2 sets of gates.

    Raises ``Invalid`` for a head that isn't there, and for examples that can't be scored.
    """
    n_layers, n_heads = base.shape
    for layer, head in heads:
        if not (0 <= layer < n_layers and 0 <= head < n_heads):
            raise Invalid(
                f"There is no head {layer}.{head}.",
                f"Layers run 0-{n_layers - 1}, heads 0-{n_heads - 1}.",
                code="no-such-head",
            )
    twos = list(itertools.combinations(range(len(heads)), 2))
    closed = [(), *((i,) for i in range(len(heads))), *twos]
    gates = base.float().repeat(len(closed), 1, 1)
    for row, indices in enumerate(closed):
        for i in indices:
            gates[(row, *heads[i])] = 0
    scored = evaluate(model, examples, gates, checkpoint=checkpoint).log_probability
    lost = (scored[0] - scored[1:]).numpy()
    n = len(heads)
    together = np.full((n, n), np.nan)
    for (i, j), loss in zip(twos, lost[n:], strict=True):
        together[i, j] = together[j, i] = loss
    return PairLosses(tuple(heads), lost[:n], together)
