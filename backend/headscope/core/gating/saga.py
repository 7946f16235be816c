"""Less noise from the same work: a memory of each example's last slope, as in SAGA.

    slope = mean over the batch( g_i - t_i ) + mean over the remembered( t )

g_i is d NLL_i / d gate of example i now, t_i what it was when i was last in a batch (that mean, where it
never was). What an example's slope always is comes from the whole memory, and a batch adds only what has
changed; so a small batch is as good as a far larger one, where examples come round again. Slopes are those of
gates, not of logits: the factor G (1 - G) between them is known, and taken at the present gates.

Source: Defazio, Bach and Lacoste-Julien, SAGA, NeurIPS 2014 (arXiv 1407.0202).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float


@dataclass(frozen=True)
class SlopeMemory:
    """Each seed's last slope of each example, NLL in nats by gate, and which examples it has met."""

    slopes: Float[torch.Tensor, "seed example layer head"]
    met: Bool[torch.Tensor, "seed example"]

    @classmethod
    def fresh(cls, logits: Float[torch.Tensor, "seed layer head"], n_examples: int) -> SlopeMemory:
        """Nothing met yet."""
        seeds, *heads = logits.shape
        return cls(
            logits.new_zeros(seeds, n_examples, *heads), torch.zeros(seeds, n_examples, dtype=torch.bool)
        )

    def blend(
        self, seed: int, drawn: Sequence[int], slopes: Float[torch.Tensor, "row layer head"]
    ) -> Float[torch.Tensor, "layer head"]:
        """The slope of a seed from those of the examples drawn, which are remembered from now on."""
        drawn, met = list(drawn), self.met[seed]
        known = self.slopes[seed][met]
        mean = known.mean(dim=0) if len(known) else torch.zeros_like(slopes[0])
        before = self.slopes[seed][drawn].where(met[drawn, None, None], mean)
        self.slopes[seed, drawn] = slopes.to(self.slopes)
        met[drawn] = True
        blended: torch.Tensor = (slopes - before).mean(dim=0) + mean
        return blended

    def clone(self) -> SlopeMemory:
        """A copy to go on with; ``blend`` changes the memory in place."""
        return SlopeMemory(self.slopes.clone(), self.met.clone())


def pays(n_examples: int, batch_size: int, updates: int) -> bool:
    """Whether each example comes round at least twice in a phase, so that there is something to remember."""
    return 2 * n_examples <= batch_size * updates
