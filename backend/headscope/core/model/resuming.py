"""Passes that begin in the middle: at a layer, from a given residual stream, or after a prompt's kept keys.

1. ``Blocks.reading`` keeps the stream that goes into chosen layers; ``Blocks.resumed`` lets earlier layers do
   nothing and gives a later one that stream. Embeddings, masks and positions are made from the tokens as
   ever, so that a pass resumed with the stream it had is the whole pass, to the bit.
2. ``Suffix`` runs a prompt once up to a position and keeps its keys and values. Passes over the rest may then
   have many rows that differ only there: they are as wide as the rest, whatever the prompt's length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final

import torch
from jaxtyping import Float
from torch import nn

from headscope.core.model.batches import budget_for
from headscope.core.model.hooks import changing_input, reading_input
from headscope.errors import Invalid

if TYPE_CHECKING:
    from headscope.core.model.head_model import HeadModel

_PASS_BYTES: Final = 512 * 2**20
"""What the rows of a pass may take together: a layer's widened keys and values, and logits in float32."""


class Blocks:
    """The layers of a model as places where a pass can begin.

    ``forward`` runs the model on tokens [batch, pos]. Raises Invalid for an architecture whose later layers
    need more of the earlier ones than the stream, as those that share keys and values between layers.
    """

    def __init__(self, blocks: Sequence[nn.Module], forward: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self._blocks = blocks
        self._tuples = False
        self.active = 0  # how many contexts let passes begin in the middle
        self._prove(forward)

    @contextmanager
    def reading(self, layers: Sequence[int]) -> Iterator[dict[int, torch.Tensor]]:
        """Collect the stream [batch, pos, d_model] that goes into each of these layers in the next pass."""
        found: dict[int, torch.Tensor] = {}
        with ExitStack() as hooks:
            for layer in layers:

                def keep(stream: torch.Tensor, layer: int = layer) -> None:
                    found[layer] = stream

                hooks.enter_context(reading_input(self._blocks[layer], keep))
            yield found

    @contextmanager
    def resumed(self, layer: int, stream: Float[torch.Tensor, "batch pos d_model"]) -> Iterator[None]:
        """Let passes begin at ``layer`` with this stream as its input; earlier layers do nothing."""
        with ExitStack() as undo:
            for block in self._blocks[:layer]:
                block.forward = self._pass_on
                undo.callback(block.__dict__.pop, "forward")
            undo.enter_context(changing_input(self._blocks[layer], lambda there: _fitting(stream, there)))
            self.active += 1
            try:
                yield
            finally:
                self.active -= 1

    def _pass_on(self, hidden_states: torch.Tensor, *_: Any, **__: Any) -> Any:
        """What a layer that does nothing answers, in its architecture's form."""
        return (hidden_states,) if self._tuples else hidden_states

    @torch.no_grad()
    def _prove(self, forward: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """Resume a short pass at the last layer: it must be the whole one."""
        outputs: list[Any] = []
        last = len(self._blocks) - 1
        device = next(self._blocks[0].parameters()).device
        tokens = torch.arange(4, device=device)[None]
        hook = self._blocks[0].register_forward_hook(lambda _, __, out: outputs.append(out))
        with self.reading((last,)) as streams:
            whole = forward(tokens)
        hook.remove()
        self._tuples = isinstance(outputs[0], tuple)
        with self.resumed(last, streams[last]):
            again = forward(tokens)
        if not torch.equal(whole, again):
            raise Invalid(
                "This architecture's last layer needs more than the residual stream of the one before.",
                "Choose a model whose layers are joined by the residual stream alone.",
                code="unsupported-architecture",
            )


def _fitting(stream: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    """The stream that a pass begins with, if it fits the tokens; they may be one row for all of its rows."""
    if there.shape[1:] != stream.shape[1:] or len(there) not in (1, len(stream)):
        raise Invalid(
            f"A stream of shape {tuple(stream.shape)} doesn't fit a pass of {tuple(there.shape)}.",
            "Give [batch, pos, d_model] for the tokens of the pass.",
            code="bad-stream",
        )
    return stream.to(there)


def kept_cache(cache: Any) -> Any:
    """Hold a prompt's keys and values for any number of passes of many rows.

    ``cache`` is a filled one of the transformers library, whose layers keep every position. A pass sees what
    is held before its own, and leaves nothing behind.
    """
    for layer in cache.layers:
        layer.update = _Held(layer.keys, layer.values)
    return cache


class _Held:
    """What a pass over the rest of a prompt attends to in one layer: what is held, and its own."""

    def __init__(
        self,
        keys: Float[torch.Tensor, "1 group pos d_head"],
        values: Float[torch.Tensor, "1 group pos d_head"],
    ) -> None:
        self.keys, self.values = keys, values

    def __call__(
        self, keys: torch.Tensor, values: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        n = len(keys)
        return (
            torch.cat([self.keys.expand(n, -1, -1, -1), keys], -2),
            torch.cat([self.values.expand(n, -1, -1, -1), values], -2),
        )


class Suffix:
    """A prompt of which everything before position ``start`` is computed once.

    ``start`` becomes 0 where the architecture keeps no keys and values: passes are then as wide as the
    prompt, and the results the same. Gates and other contexts open while it is made act on what is kept.
    Raises Invalid where ``start`` isn't a position of the prompt, and beyond the context.
    """

    def __init__(self, model: HeadModel, ids: Sequence[int], start: int) -> None:
        if not 0 <= start < len(ids):
            raise Invalid(
                f"Position {start} of {len(ids)} tokens.",
                f"Positions run 0-{len(ids) - 1}.",
                code="no-position",
            )
        self.model = model
        self.ids = tuple(ids)
        prefix = torch.tensor([self.ids[:start]], device=model.device)
        with torch.no_grad():
            self.kept = model.kept(prefix) if start else None
        self.start = 0 if self.kept is None else start

    @property
    def width(self) -> int:
        """How many positions its passes have."""
        return len(self.ids) - self.start

    @property
    def most_rows(self) -> int:
        """How many rows one pass takes in bounded time and memory."""
        info, budget = self.model.info, budget_for(self.model.device)
        keys_values = 3 * len(self.ids) * info.n_heads * info.d_head * self.model.dtype.itemsize
        a_row = keys_values + 8 * info.d_vocab
        return max(1, min(_PASS_BYTES // a_row, int(1 / budget.share(info, self.width, 1))))

    @torch.no_grad()
    def last_logits(self, n_rows: int = 1) -> Float[torch.Tensor, "row vocab"]:
        """Logits at the last token, of a pass over the rest that comes out with this many rows.

        One row goes in. Contexts may widen it on the way: at the layer where it is resumed, or where
        ``core.model.patching`` puts in rows of their own.
        """
        tokens = torch.tensor([self.ids[self.start :]], device=self.model.device)
        rows = torch.arange(n_rows, device=self.model.device)
        where = torch.stack([rows, torch.full_like(rows, self.width - 1)], 1)
        return self.model.logits_at(tokens, where, self.kept)

    def resumed_logits(
        self, layer: int, streams: Float[torch.Tensor, "row width d_model"]
    ) -> Float[torch.Tensor, "row vocab"]:
        """Logits at the last token where each row comes into ``layer`` with a stream of its own."""
        return torch.cat([self._resumed(layer, rows) for rows in streams.split(self.most_rows)])

    def _resumed(self, layer: int, rows: torch.Tensor) -> torch.Tensor:
        with self.model.resumed(layer, rows):
            return self.last_logits(len(rows))


class LastToken(Suffix):
    """A prompt of which only the last token is computed anew: many rows that differ there alone."""

    def __init__(self, model: HeadModel, ids: Sequence[int]) -> None:
        super().__init__(model, ids, len(ids) - 1)
        self._rest: dict[int, torch.Tensor] = {}

    def logits(
        self, layer: int, rows: Float[torch.Tensor, "row d_model"]
    ) -> Float[torch.Tensor, "row vocab"]:
        """Logits after the prompt where the last token comes into ``layer`` with each of these streams."""
        streams = rows[:, None]
        if self.width > 1:  # nothing is kept: the positions before come into the layer as they are
            before = self._before(layer).expand(len(rows), -1, -1)
            streams = torch.cat([before, streams], 1)
        return self.resumed_logits(layer, streams)

    def _before(self, layer: int) -> torch.Tensor:
        if layer not in self._rest:
            with self.model.streams((layer,)) as found:
                self.last_logits()
            self._rest[layer] = found[layer][:, :-1]
        return self._rest[layer]
