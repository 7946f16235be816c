"""Rows of tokens packed into one, so that nothing is computed twice or for nothing.

1. A row ends where its last logits are read: the tokens after that are answers and never input.
2. Attention is causal, so what stands at a position is a function of the tokens up to it and of the gates.
   Rows under the same gates that begin alike share their beginning: their positions are a tree, and each of
   its nodes is computed once.
3. The nodes run through the model as one row, with their own positions. Norms, projections and MLPs, which
   look at one position each, need no more. Attention is given rows again: ``rows`` says which nodes make each
   of them, ``places`` where each node finds its own outcome (``core.model.target_pass``).

So there is no padding but inside attention, which is a few per cent of the work of short rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from jaxtyping import Int

from headscope.core.model.cost import shared


@dataclass(frozen=True)
class Packing:
    """Nodes, each a position of one or more rows that begin alike under the gates of one owner.

    ``rows`` holds the node of each row's position, node 0 beyond its end; ``places`` an index into ``rows``
    laid flat at which a node stands; ``targets`` the nodes whose logits are read.
    """

    tokens: Int[torch.Tensor, " node"]
    positions: Int[torch.Tensor, " node"]
    owners: Int[torch.Tensor, " node"]
    rows: Int[torch.Tensor, "row pos"]
    places: Int[torch.Tensor, " node"]
    targets: Int[torch.Tensor, " target"]

    def to(self, device: torch.device) -> Packing:
        """The same on a device."""
        return Packing(**{field.name: getattr(self, field.name).to(device) for field in fields(self)})

    @property
    def even(self) -> bool:
        """Whether the nodes are the rows already: all of one length, nothing shared."""
        return self.rows.numel() == len(self.tokens)


def pack(
    rows: Sequence[tuple[int, Sequence[int]]],
    where: Sequence[tuple[int, int]],
    kinds: Sequence[int] | None = None,
) -> Packing:
    """Pack rows of (owner, input tokens) whose logits are read at (row, position) pairs.

    A row shares what it can with the row before it: all there is to share, where rows are sorted. Rows of
    different ``kinds`` share nothing.
    """
    longest = max(len(tokens) for _, tokens in rows)
    nodes: list[list[int]] = []
    tokens: list[int] = []
    positions: list[int] = []
    owners: list[int] = []
    places: list[int] = []
    before: tuple[tuple[int, int], Sequence[int]] | None = None
    for row, (owner, line) in enumerate(rows):
        alike = (owner, 0 if kinds is None else kinds[row])
        kept = shared(before, (alike, line))
        fresh = range(kept, len(line))
        begun = nodes[-1][:kept] if kept else []
        nodes.append([*begun, *range(len(tokens), len(tokens) + len(fresh)), *[0] * (longest - len(line))])
        tokens += line[kept:]
        positions += fresh
        owners += [owner] * len(fresh)
        places += [row * longest + position for position in fresh]
        before = (alike, line)
    laid, read = torch.tensor(nodes), torch.tensor(where)
    return Packing(
        torch.tensor(tokens),
        torch.tensor(positions),
        torch.tensor(owners),
        laid,
        torch.tensor(places),
        laid[read[:, 0], read[:, 1]],
    )
