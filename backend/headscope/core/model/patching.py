"""Other values for heads' z at chosen positions: many patches as rows of one pass.

1. A pass goes in with one row, the prompt as it is.
2. Before a layer whose heads are patched, a copy of that row joins the batch for each of them. What came
   before is so computed once for all of them, and what comes after once for each.
3. Just before W_O a copy gets its head's z at the patched positions. Gates open at the time come before:
   a patched head has the given z whatever its gate.
4. Out come the unpatched row and a row for each patch.

Only the positions from the first patched one on are computed (``core.model.resuming.Suffix``): a patch at the
last token is a pass of one token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int

from headscope.core.model.head_model import HeadModel
from headscope.core.model.hooks import changing_input, reading_input
from headscope.core.model.resuming import Suffix
from headscope.errors import Invalid

Head = tuple[int, int]
Read = Callable[[Float[torch.Tensor, "row vocab"]], torch.Tensor]


@dataclass(frozen=True)
class Patches:
    """A z [pos, d_head] for each head (layer, head), all at the same positions of a prompt."""

    heads: Sequence[Head]
    positions: Sequence[int]
    z: Float[torch.Tensor, "patch pos d_head"]


def every_head(model: HeadModel) -> list[Head]:
    """All heads, layer by layer."""
    info = model.info
    return [(layer, head) for layer in range(info.n_layers) for head in range(info.n_heads)]


@torch.no_grad()
def read_z(
    model: HeadModel, tokens: Int[torch.Tensor, "row pos"], where: Int[torch.Tensor, "n 2"]
) -> tuple[Float[torch.Tensor, "n layer head d_head"], Float[torch.Tensor, "n vocab"]]:
    """Every head's z at (row, position) pairs, and the logits there; on the CPU."""
    info, found = model.info, list[torch.Tensor]()
    rows, positions = where.to(model.device).unbind(1)
    with ExitStack() as hooks:
        for projection in model.parts.projections:
            hooks.enter_context(reading_input(projection, lambda z: found.append(z[rows, positions])))
        logits = model.logits_at(tokens, where)
    z = torch.stack(found, 1).view(len(where), info.n_layers, info.n_heads, info.d_head)
    return z.cpu(), logits.cpu()


@torch.no_grad()
def patched(
    suffix: Suffix, patches: Patches, read: Read, checkpoint: Callable[[], None] = lambda: None
) -> tuple[torch.Tensor, torch.Tensor]:
    """``read`` of the last token's logits: without a patch [...], and under each patch [patch, ...].

    ``read`` gets [row, vocab] and keeps the rows; what it gives is on the CPU. Raises Invalid (bad-patch)
    where a position lies before the suffix or a head isn't the model's.
    """
    _check(suffix, patches)
    order = sorted(range(len(patches.heads)), key=lambda index: patches.heads[index])
    most = max(1, suffix.most_rows - 1)
    before: torch.Tensor | None = None
    found: list[torch.Tensor] = []
    for start in range(0, len(order), most):
        checkpoint()
        part = order[start : start + most]
        with _widening(suffix, patches, part):
            rows = read(suffix.last_logits(1 + len(part))).cpu()
        before = rows[0] if before is None else before
        found.append(rows[1:])
    if before is None:
        before = read(suffix.last_logits()).cpu()[0]
        return before, before[None][:0]
    return before, torch.cat(found)[torch.argsort(torch.tensor(order))]


@contextmanager
def _widening(suffix: Suffix, patches: Patches, part: Sequence[int]) -> Iterator[None]:
    """Let these patches, in the order of their layers, join the pass where their layers are."""
    model = suffix.model
    by_layer: dict[int, list[int]] = {}
    for index in part:
        by_layer.setdefault(patches.heads[index][0], []).append(index)
    positions = torch.tensor([p - suffix.start for p in patches.positions], device=model.device)
    with ExitStack() as hooks:
        for layer, indices in by_layer.items():
            heads = torch.tensor([patches.heads[index][1] for index in indices], device=model.device)
            z = patches.z[indices].to(model.device, model.dtype)
            put = _Put(heads, positions, z)
            hooks.enter_context(changing_input(model.parts.blocks[layer], put.join))
            hooks.enter_context(changing_input(model.parts.projections[layer], put.replace))
        yield


class _Put:
    """The patches of one layer: rows of their own, then each row's z."""

    def __init__(self, heads: torch.Tensor, positions: torch.Tensor, z: torch.Tensor) -> None:
        self.heads, self.positions, self.z = heads, positions, z

    def join(self, stream: Float[torch.Tensor, "row pos d_model"]) -> torch.Tensor:
        """A copy of the unpatched row for each patch."""
        return torch.cat([stream, stream[:1].expand(len(self.heads), -1, -1)])

    def replace(self, z: Float[torch.Tensor, "row pos heads_d_head"]) -> torch.Tensor:
        """The last rows are this layer's."""
        changed = z.clone()
        heads = changed.view(*z.shape[:2], -1, self.z.shape[-1])
        rows = torch.arange(len(z) - len(self.heads), len(z), device=z.device)
        heads[rows[:, None], self.positions[None], self.heads[:, None]] = self.z
        return changed


def _check(suffix: Suffix, patches: Patches) -> None:
    info, n = suffix.model.info, len(suffix.ids)
    wrong = [p for p in patches.positions if not suffix.start <= p < n]
    if wrong:
        raise Invalid(
            f"Position {wrong[0]} can't be patched in a pass over positions {suffix.start}-{n - 1}.",
            "Start the suffix at the first patched position.",
            code="bad-patch",
        )
    strange = [
        head for head in patches.heads if not (0 <= head[0] < info.n_layers and 0 <= head[1] < info.n_heads)
    ]
    if strange:
        raise Invalid(
            f"{info.name} has no head {strange[0][0]}.{strange[0][1]}.",
            f"Layers run 0-{info.n_layers - 1}, heads 0-{info.n_heads - 1}.",
            code="bad-patch",
        )
