"""When a phase of a fit has settled: its heads no longer change sides.

1. Updates are watched in windows. A head's side in a window is open where its mean gate there is 1/2 or more.
2. At a window's end, the share of heads on another side than in the window before is taken, per seed.
3. A seed has settled once that share was small in several comparisons in a row; it is updated no more.

Roles are read off sides, and a seed's sides go on flickering at the margin for as long as it is fitted. So
the question isn't whether another update would change a role, but whether the seeds' shares come out other
than those of other seeds do: docs/design/settling.md has the measured answer.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch
from jaxtyping import Bool, Float, Int

_OPEN_FROM = 0.5


@dataclass(frozen=True)
class Settling:
    """When to stop: at most the share ``changed`` of heads changed side, ``calm`` comparisons in a row of
    windows of ``window`` updates each.
    """

    window: int = 8
    changed: float = 0.02
    calm: int = 2

    def first(self) -> int:
        """The earliest update at which a seed can have settled."""
        return self.window * (self.calm + 1)


@dataclass(frozen=True)
class SideHistory:
    """What is known of each seed's sides; enough to go on watching from.

    ``opened`` is the sum of gates over the window so far, ``before`` the mean gate in the window before (NaN
    in the first), both [seed, layer, head]; ``calm`` counts quiet comparisons in a row, ``updates`` the
    updates done, ``settled`` says who needs no more: [seed].
    """

    opened: Float[torch.Tensor, "seed layer head"]
    before: Float[torch.Tensor, "seed layer head"]
    calm: Int[torch.Tensor, " seed"]
    updates: Int[torch.Tensor, " seed"]
    settled: Bool[torch.Tensor, " seed"]

    @classmethod
    def fresh(cls, logits: Float[torch.Tensor, "seed layer head"]) -> SideHistory:
        """Nothing seen yet."""
        none = torch.zeros(len(logits), dtype=torch.long)
        return cls(torch.zeros_like(logits), torch.full_like(logits, torch.nan), none, none, none.bool())

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Its tensors' names, for who keeps them."""
        return tuple(field.name for field in fields(cls))

    def after(self, gates: Float[torch.Tensor, "seed layer head"], rule: Settling | None) -> SideHistory:
        """The watch after one more update of the seeds that haven't settled; without a rule it only counts.

        Seeds whose gates are NaN have failed: they don't settle.
        """
        updates = self.updates + (~self.settled & gates.isfinite().all(dim=2).all(dim=1)).long()
        if rule is None:
            return replace(self, updates=updates)
        opened = self.opened + gates
        if int(updates.max()) % rule.window:
            return replace(self, opened=opened, updates=updates)
        mean = opened / rule.window
        moved = ((mean >= _OPEN_FROM) != (self.before >= _OPEN_FROM)).double().mean(dim=(1, 2))
        quiet = (moved <= rule.changed) & self.before.isfinite().all(dim=2).all(dim=1)
        calm = torch.where(quiet, self.calm + 1, torch.zeros_like(self.calm))
        settled = self.settled | (calm >= rule.calm)
        return SideHistory(torch.zeros_like(opened), mean, calm, updates, settled)
