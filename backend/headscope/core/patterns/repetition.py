"""Where a prompt repeats, as index tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float32, Int


@dataclass(frozen=True, eq=False)
class Repetition:
    """Where a prompt repeats, as index tensors on a device; made once for all layers.

    ``repeats`` are queries with an earlier copy, ``queries`` those whose latest copy's follower is earlier
    too, ``latest`` the latter's latest copies; ``earlier`` and ``following`` [query, key] mark all earlier
    copies and all tokens after one.
    """

    repeats: Int[torch.Tensor, " repeat"]
    queries: Int[torch.Tensor, " query"]
    latest: Int[torch.Tensor, " query"]
    earlier: Float32[torch.Tensor, "pos pos"]
    following: Float32[torch.Tensor, "pos pos"]

    @classmethod
    def of(cls, copies: Sequence[Sequence[int]], device: torch.device) -> Repetition:
        """Reads the latest copy of each token only: the earlier ones are the latest's own."""
        kinds = list(range(len(copies)))
        for position, before in enumerate(copies):
            if before:
                kinds[position] = kinds[before[-1]]
        kind = torch.tensor(kinds, dtype=torch.long, device=device)
        earlier = (kind[:, None] == kind[None, :]).tril(-1)
        following = torch.zeros_like(earlier)
        following[:, 1:] = earlier[:, :-1]
        following = following.tril(-1)
        repeats = [position for position, before in enumerate(copies) if before]
        queries = [position for position in repeats if copies[position][-1] + 1 < position]

        def index(positions: list[int]) -> torch.Tensor:
            return torch.tensor(positions, dtype=torch.long, device=device)

        latest = index([copies[position][-1] for position in queries])
        return cls(index(repeats), index(queries), latest, earlier.float(), following.float())
