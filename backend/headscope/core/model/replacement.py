"""What stands for a head's mixed value where its gate is closed: z' = g z + (1 - g) r.

r is looked up, position by position, in a table of mixed values that were measured elsewhere: means, or those
of other rows. Without one r is zero, and z' = g z.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int

from headscope.core.model.packing import Packing
from headscope.errors import Invalid


@dataclass(frozen=True)
class Replacement:
    """r of a pass. ``index`` names the table's entry for each position of each row.

    Without an index entry 0 stands at a row's first token and the others in turn after it, over and over: a
    rule that holds for text of any length, also while it is being written.
    """

    table: Float[torch.Tensor, "entry layer head d_head"]
    index: Int[torch.Tensor, "row pos"] | None = None

    def check(self, n_layers: int, n_heads: int) -> None:
        """Raise ``Invalid`` (bad-replacement) where the table isn't of a model with these heads."""
        if self.table.ndim != 4 or tuple(self.table.shape[1:3]) != (n_layers, n_heads) or not len(self.table):
            raise Invalid(
                f"A replacement of shape {tuple(self.table.shape)} doesn't fit {n_layers} layers x {n_heads} "
                "heads.",
                "Give [entry, layer, head, d_head], at least one entry.",
                code="bad-replacement",
            )

    def entries(self, seen: int, rows: int, n: int) -> Int[torch.Tensor, "row pos"]:
        """The entry at each of ``n`` positions after ``seen`` ones; one row of them where all rows agree."""
        if self.index is None:
            return self._in_turn(torch.arange(seen, seen + n))[None]
        if len(self.index) not in (1, rows) or self.index.shape[1] < seen + n:
            raise Invalid(
                f"A replacement for {tuple(self.index.shape)} positions doesn't fit a pass of {rows} rows up "
                f"to position {seen + n}.",
                "Give an entry for each position of each row.",
                code="bad-replacement",
            )
        return self.index[:, seen : seen + n]

    def packed(self, packing: Packing) -> Replacement:
        """The same for packed rows: one row of nodes. Rows that share a node must agree on its entry."""
        if self.index is None:
            return replace(self, index=self._in_turn(packing.positions)[None])
        places = packing.places.to(self.index.device)
        return replace(self, index=self.index[:, : packing.rows.shape[1]].flatten()[places][None])

    def repeated(self, ways: int) -> Replacement:
        """For the rows ``ways`` times over, one after the other."""
        return self if self.index is None else replace(self, index=self.index.repeat(ways, 1))

    def _in_turn(self, positions: Int[torch.Tensor, " n"]) -> Int[torch.Tensor, " n"]:
        others = len(self.table) - 1
        if not others:
            return torch.zeros_like(positions)
        return torch.where(positions > 0, 1 + (positions - 1) % others, 0)
