"""A language model seen as a set of heads: what analyses may ask of it. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer

if TYPE_CHECKING:
    import torch
    from jaxtyping import Float, Int

    from headscope.core.model.capabilities import Proof
    from headscope.core.model.packing import Packing
    from headscope.core.model.parts import Parts
    from headscope.core.model.readout import Tail
    from headscope.core.model.replacement import Replacement


@runtime_checkable
class HeadModel(Protocol):
    """What analyses may ask of a model. Axes: batch, pos, layer, head, d_head, vocab.

    Weights are frozen and attention is causal: shorter rows are padded on the right with any token, and what
    stands at their own positions is as if they were alone. One forward pass at a time: contexts put hooks on
    the model that is shared.
    """

    @property
    def info(self) -> ModelInfo:
        """What identifies it."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """Its own tokenizer."""
        ...

    @property
    def proof(self) -> Proof | None:
        """What was proved of it when it was loaded for work; None where nobody did."""
        ...

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """The weights' type."""
        ...

    @property
    def attention(self) -> str:
        """What runs: ``sdpa`` or ``eager``; soft caps need eager whatever was asked for."""
        ...

    def logits(self, tokens: Int[torch.Tensor, "batch pos"]) -> Float[torch.Tensor, "batch pos vocab"]:
        """Logits of the next token at every position. Raises Invalid beyond the context."""
        ...

    def logits_at(
        self, tokens: Int[torch.Tensor, "batch pos"], where: Int[torch.Tensor, "n 2"], kept: Any = None
    ) -> Float[torch.Tensor, "n vocab"]:
        """Logits at (row, position) pairs only: the unembedding sees nothing else.

        With ``kept`` the tokens are what follows the prompt whose keys and values those are.
        """
        ...

    def packs(self) -> bool:
        """Whether rows of several lengths run packed (``core.model.packing``), so that none need be like
        another.

        Found out by a short pass when first asked for, with no context open.
        """
        ...

    def target_logits(
        self,
        packing: Packing,
        gates: Float[torch.Tensor, "set layer head"] | None,
        replacement: Replacement | None = None,
    ) -> Float[torch.Tensor, "target vocab"]:
        """Logits at the packing's targets, each row under the gates of its owner (as they are, where None).

        The same as ``logits_at`` of the rows under ``gated``, by less work: see ``core.model.target_pass``. A
        replacement's index is of the rows as they are unpacked; rows that share a beginning must agree there.
        """
        ...

    def kept(self, tokens: Int[torch.Tensor, "1 pos"]) -> Any:
        """A prompt's keys and values, for ``logits_at``; None where the architecture keeps none."""
        ...

    def streams(self, layers: Sequence[int]) -> AbstractContextManager[dict[int, torch.Tensor]]:
        """Collect the residual stream [batch, pos, d_model] that goes into each of these layers.

        The dict is filled by the next pass. Raises Invalid for layers that aren't there.
        """
        ...

    def resumed(
        self, layer: int, stream: Float[torch.Tensor, "batch pos d_model"]
    ) -> AbstractContextManager[None]:
        """Let passes begin at ``layer`` with this stream as its input; earlier layers do nothing.

        Give the passes the tokens that the stream came from: positions and masks are made from them. Resumed
        with the stream that ``streams`` kept, a pass is the whole one, to the bit. Raises Invalid for a layer
        that isn't there, and in the pass where the stream's shape doesn't fit.
        """
        ...

    def gated(
        self, gates: Float[torch.Tensor, "*batch layer head"], replacement: Replacement | None = None
    ) -> AbstractContextManager[None]:
        """Multiply each head's z by its gate before W_O, at every position. Gates may need gradients.

        With a leading batch axis each row of the batch has gates of its own: seeds as a batch axis. Gate 1 is
        bit-exact with the model as it is. Contexts nest: gates multiply. With a ``replacement`` r a head
        gives g z + (1 - g) r instead of g z. Raises Invalid for another shape.
        """
        ...

    def captured(
        self, layers: tuple[int, ...], names: tuple[str, ...]
    ) -> AbstractContextManager[dict[str, torch.Tensor]]:
        """Collect ``{layer}.z`` [batch, pos, head, d_head] and ``{layer}.pattern`` [batch, head, query, key].

        ``names`` are among z, pattern; z is before any gate. Rows of a pattern sum to 1, or to less where a
        learned sink takes the rest (gpt-oss). While patterns are
        captured the pass is eager. The dict is filled by the next call of ``logits`` or ``logits_at``.
        """
        ...

    def reading(
        self,
        visit: Callable[[int, torch.Tensor, torch.Tensor | None], None],
        layers: Sequence[int] | None = None,
        values: bool = False,
    ) -> AbstractContextManager[None]:
        """Call ``visit(layer, pattern, norms)`` for each layer of the passes within, and keep nothing.

        ``pattern`` is [batch, head, query, key], its rows as in ``captured``; ``norms`` [batch, head, key]
        are those of the value vectors, None unless asked for by ``values``. Heads are query heads. Passes are
        eager, and a pattern is the pass's own: copy it before changing it. Raises Invalid for layers that
        aren't there.
        """
        ...

    def frozen(self, patterns: Mapping[int, torch.Tensor]) -> AbstractContextManager[None]:
        """Hold the attention of some layers at patterns [batch or 1, head, query, key]; values stay free.

        Pattern-preserving ablation [Olsson et al. 2022]: what remains of an effect is not by other heads
        looking elsewhere. Raises Invalid for layers that aren't there, and in the pass where a shape doesn't
        fit.
        """
        ...

    def sharing(self, rows: Sequence[int]) -> AbstractContextManager[None]:
        """Let row b of a batch attend by the patterns of row ``rows[b]``, layer by layer, its values its own.

        Holds a gated row at the patterns of an ungated one in a single pass, without keeping any.
        """
        ...

    def losses(self, tokens: Int[torch.Tensor, "batch pos"]) -> Float[torch.Tensor, "batch pos"]:
        """Nats of each token as predicted at the position before, NaN for the first; float32.

        Logits exist for a block of positions at a time. Raises Invalid beyond the context.
        """
        ...

    @property
    def parts(self) -> Parts:
        """The architecture's own modules, for what reads or writes the stream; weights are frozen."""
        ...

    @property
    def tail(self) -> Tail:
        """What stands between the unembedding's output and the logits: nothing, a soft cap, a factor."""
        ...

    @property
    def ends(self) -> frozenset[int]:
        """Ids of the tokens with which a model ends its text, as its configuration says; may be empty."""
        ...

    def continued(
        self, ids: Sequence[int], n: int, pick: Callable[[Float[torch.Tensor, " vocab"]], int]
    ) -> Iterator[int]:
        """Up to ``n`` further tokens, each picked from the logits after all before it.

        Keys and values are kept where the architecture can. Stops where the context is full. Open contexts
        act on every step. Raises Invalid beyond the context.
        """
        ...
