"""What explains an effect of a head, or that it has none: each by closing it in other circumstances.

Losses are those of core/attribution/relatives.py, a mean over an example's targets, nats; every rise is
against the model as it is unless said otherwise. For a head h:

1. closed: its gate at 0. At the answers only: z_h = 0 at the positions that predict a target; what is left of
   the effect elsewhere is by earlier tokens.
2. held: h closed while other heads' z stay as they were without that. With all later heads held, what is left
   is what h does not do by way of them; with one of them held, how much of the effect went through that one.
3. curve: its gate at values between 0 and 1.
4. partner: h and another head closed. The pair costs more than its members do where one can stand in for the
   other: interaction = L(both) - L(h) - L(other) + L(neither).

Ways to run an example are rows of one pass, from the head's layer on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
from jaxtyping import Float, Float64

from headscope.core.attribution.relatives import losses_of, losses_under
from headscope.core.model.batches import (
    MicroBatch,
    Scored,
    budget_for,
    check_examples,
    micro_batches,
)
from headscope.core.model.head_model import HeadModel
from headscope.core.model.hooks import changing_input, reading_input

Head = tuple[int, int]


class Substitution:
    """Examples on a model as it is, ready for one head after another to be closed."""

    @torch.no_grad()
    def __init__(
        self, model: HeadModel, examples: Sequence[Scored], checkpoint: Callable[[], None] = lambda: None
    ) -> None:
        check_examples(examples, model.info.n_ctx, "scored")
        self.model, self._checkpoint = model, checkpoint
        rows = [(index, index) for index in range(len(examples))]
        self._batches = [
            _Batch(model, batch)
            for batch in micro_batches(rows, examples, model.info, budget_for(model.device))
        ]
        self.loss = self._mean([batch.base[None] for batch in self._batches])[0]

    def under(self, gates: Float[torch.Tensor, "way layer head"]) -> Float64[torch.Tensor, " way"]:
        """Mean loss under each set of gates."""
        return self._mean([self._in_parts(batch, gates) for batch in self._batches])

    def closed(self, heads: Sequence[Collection[Head]]) -> Float64[torch.Tensor, " way"]:
        """Mean loss with each set of heads closed."""
        return self.under(self._closing(heads))

    def curve(self, head: Head, values: Sequence[float]) -> Float64[torch.Tensor, " value"]:
        """Mean loss with the head's gate at each value."""
        gates = self._closing([()] * len(values))
        gates[:, head[0], head[1]] = torch.tensor(values)
        return self.under(gates)

    @torch.no_grad()
    def closed_at_answers(self, head: Head) -> float:
        """Mean loss with the head's z at 0 only where a target is predicted."""
        found = []
        for batch in self._batches:
            self._checkpoint()
            with batch.silent_at_answers(head):
                found.append(losses_of(self.model, batch.rows)[None])
        return float(self._mean(found)[0])

    @torch.no_grad()
    def closed_holding(self, head: Head, held: Sequence[Collection[Head]]) -> Float64[torch.Tensor, " way"]:
        """Mean loss with the head closed and each of these sets of heads as they are without that."""
        return self._mean([self._holding(batch, head, held) for batch in self._batches])

    def _holding(
        self, batch: _Batch, head: Head, held: Sequence[Collection[Head]]
    ) -> Float64[torch.Tensor, "way row"]:
        gates = self._closing([(head,)] * len(held))
        found = []
        for part in self._ways(batch, len(held), head[0]):
            self._checkpoint()
            with batch.holding([held[way] for way in part]):
                found.append(batch.losses(gates[list(part)], head[0]))
        return torch.cat(found)

    @torch.no_grad()
    def _in_parts(
        self, batch: _Batch, gates: Float[torch.Tensor, "way layer head"]
    ) -> Float64[torch.Tensor, "way row"]:
        changed = (gates != 1).any(-1).any(0).nonzero()
        layer = int(changed[0]) if len(changed) else self.model.info.n_layers - 1
        found = []
        for part in self._ways(batch, len(gates), layer):
            self._checkpoint()
            found.append(batch.losses(gates[list(part)], layer))
        return torch.cat(found)

    def _closing(self, heads: Sequence[Collection[Head]]) -> Float[torch.Tensor, "way layer head"]:
        gates = torch.ones(len(heads), self.model.info.n_layers, self.model.info.n_heads)
        for way, closed in enumerate(heads):
            for layer, head in closed:
                gates[way, layer, head] = 0
        return gates

    def _ways(self, batch: _Batch, ways: int, layer: int) -> Iterator[range]:
        """Ways whose passes from a layer on fit the budget of one pass."""
        info = self.model.info
        n_rows, length = batch.rows.tokens.shape
        targets = -(-len(batch.rows.where) // n_rows)
        whole = budget_for(self.model.device).share(info, length, targets) * n_rows
        at_once = max(1, int(1 / (whole * (info.n_layers - layer) / info.n_layers)))
        for start in range(0, ways, at_once):
            yield range(start, min(start + at_once, ways))

    def _mean(self, found: Sequence[Float64[torch.Tensor, "way row"]]) -> Float64[torch.Tensor, " way"]:
        return torch.cat(list(found), 1).mean(1)


class _Batch:
    """Rows of similar length: their losses, streams and z on the model as it is."""

    def __init__(self, model: HeadModel, rows: MicroBatch) -> None:
        self.model, self.rows = model, rows
        self.z: dict[int, torch.Tensor] = {}
        layers = range(model.info.n_layers)
        with ExitStack() as hooks:
            for layer in layers:
                projection = model.parts.projections[layer]
                hooks.enter_context(reading_input(projection, _keeping(self.z, layer)))
            self.streams = hooks.enter_context(model.streams(tuple(layers)))
            self.base = losses_of(model, rows)

    def losses(
        self, gates: Float[torch.Tensor, "way layer head"], layer: int
    ) -> Float64[torch.Tensor, "way row"]:
        """Under gates that are all 1 before ``layer``."""
        return losses_under(self.model, self.rows, gates, layer, self.streams[layer])

    @contextmanager
    def silent_at_answers(self, head: Head) -> Iterator[None]:
        """Let a head's z be 0 where a target is predicted."""
        row, position = self.rows.where.to(self.model.device).unbind(1)
        own = self._columns(head[1])

        def silence(z: torch.Tensor) -> torch.Tensor:
            changed = z.clone()
            changed[row, position, own] = 0
            return changed

        with changing_input(self.model.parts.projections[head[0]], silence):
            yield

    @contextmanager
    def holding(self, held: Sequence[Collection[Head]]) -> Iterator[None]:
        """In a pass of these rows once for each way, let a way's heads write what they did on their own."""
        by_layer: dict[int, list[tuple[int, int]]] = {}
        for way, heads in enumerate(held):
            for layer, head in heads:
                by_layer.setdefault(layer, []).append((way, head))
        with ExitStack() as hooks:
            for layer, places in by_layer.items():
                change = self._restored(layer, places)
                hooks.enter_context(changing_input(self.model.parts.projections[layer], change))
            yield

    def _restored(
        self, layer: int, places: Sequence[tuple[int, int]]
    ) -> Callable[[torch.Tensor], torch.Tensor]:
        n, own = len(self.rows.tokens), self.z[layer]

        def restore(z: torch.Tensor) -> torch.Tensor:
            changed = z.clone()
            for way, head in places:
                columns = self._columns(head)
                changed[way * n : (way + 1) * n, :, columns] = own[:, :, columns]
            return changed

        return restore

    def _columns(self, head: int) -> slice:
        d = self.model.info.d_head
        return slice(head * d, (head + 1) * d)


def _keeping(into: dict[int, torch.Tensor], layer: int) -> Callable[[torch.Tensor], None]:
    def keep(z: torch.Tensor) -> None:
        into[layer] = z

    return keep
