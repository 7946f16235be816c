"""What is checked: a model, the plain one, and the rows that both are given. Each pass is made once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Int

from headscope.core.model.bridge import BridgedModel
from headscope.core.model.capabilities import Capability
from headscope.core.proof.plain import PlainModel, Seen
from headscope.core.proof.weights_pass import WeightsPass
from headscope.errors import Invalid

LONG, SHORT = 7, 4
"""Tokens of the two rows, where the context has room for them."""


class Limited(Exception):
    """A difference that has a reason which is told beside the numbers; the words are the reason."""

    def __init__(self, reason: str, difference: float | None = None) -> None:
        super().__init__(reason)
        self.difference = difference


@dataclass(frozen=True)
class Claim:
    """Something that has to hold, and how far it doesn't: a share of the largest number it stands beside."""

    name: str
    title: str
    capability: Capability
    differs: Callable[[Subject], float]


@dataclass(frozen=True, eq=False)
class Subject:
    """A model beside the plain one. ``rows`` are two, of unequal length, of different tokens."""

    model: BridgedModel
    rows: tuple[tuple[int, ...], tuple[int, ...]]
    tolerance: float

    @classmethod
    def of(cls, model: BridgedModel, tolerance: float) -> Subject:
        """A model, and rows drawn from the words that its tokenizer knows."""
        known = min(model.info.d_vocab, model.tokenizer.n_vocab)
        # The first ids and those that end a text are special in many vocabularies: padding, say.
        drawn = torch.randperm(known, generator=torch.Generator().manual_seed(0)).tolist()
        ids = [token for token in drawn if token not in model.ends and token > 3] or drawn
        long, short = (min(length, model.info.n_ctx) for length in (LONG, SHORT))
        ids = (ids * (long + short))[: long + short]
        return cls(model, (tuple(ids[:long]), tuple(ids[long:])), tolerance)

    @cached_property
    def plain(self) -> PlainModel:
        """The plain model with the attention that the model was loaded with."""
        return PlainModel(self.model, self.model.attention)

    @cached_property
    def tokens(self) -> Int[torch.Tensor, "1 pos"]:
        """The long row."""
        return torch.tensor([self.rows[0]], device=self.model.device)

    @cached_property
    def logits(self) -> Float[torch.Tensor, "1 pos vocab"]:
        """The model's own logits on the long row."""
        return self.model.logits(self.tokens)

    @cached_property
    def seen(self) -> Seen:
        """The plain model's pass over the long row."""
        return self.plain.run(self.tokens)

    @cached_property
    def eager(self) -> Seen:
        """The same with eager attention, which shows patterns."""
        if self.model.attention == "eager":
            return self.seen
        return PlainModel(self.model, "eager").run(self.tokens)

    @cached_property
    def eager_differs(self) -> float:
        """How far eager attention is from the one that runs: in some architectures it is another one."""
        return apart(self.eager.logits, self.seen.logits)

    @property
    def shown(self) -> Seen:
        """The plain pass that shows patterns, where eager attention is the one that runs; else what runs.

        What is read of an eager pass is held to an eager pass: in half precision rounding adds up, layer by
        layer, to far more than what a fault in one layer would be.
        """
        return self.eager if self.eager_differs <= self.tolerance else self.seen

    @cached_property
    def read(self) -> tuple[dict[int, torch.Tensor], torch.Tensor]:
        """Every layer's pattern as analyses read it, and the logits of that pass."""
        found: dict[int, torch.Tensor] = {}
        with self.model.reading(lambda layer, pattern, _: found.__setitem__(layer, pattern.clone())):
            logits = self.model.logits(self.tokens)
        return found, logits

    @cached_property
    def patterns(self) -> dict[int, Float[torch.Tensor, "1 head query key"]]:
        """Each layer's pattern: the plain model's, where its eager attention is the one that runs; else what
        is read, which ``mixing`` holds to attention's output.

        Raises Invalid where the plain model shows none.
        """
        if not self.eager_differs <= self.tolerance:
            return self.read[0]
        layers = self.model.info.n_layers
        if len(self.eager.patterns) != layers:
            raise Invalid(
                f"The plain model shows the patterns of {len(self.eager.patterns)} of {layers} layers.",
                "Choose an architecture whose eager attention returns its weights.",
                code="no-patterns",
            )
        return dict(enumerate(self.eager.patterns))

    @cached_property
    def read_weights(self) -> WeightsPass:
        """Weights as circuits read them, and a pass with what they read."""
        with self.model.reading(lambda *_: None):
            return WeightsPass(self.model, self.tokens)

    @property
    def rotary(self) -> bool:
        """Whether positions turn queries and keys."""
        kind: str = self.read_weights.folded.bridge.cfg.positional_embedding_type
        return kind == "rotary"

    @cached_property
    def still(self) -> Seen:
        """The eager pass with every token at position 0, where rotary positions turn nothing."""
        # With a mask of its own: transformers takes positions that don't follow for several texts in a row.
        return PlainModel(self.model, "eager").run(
            self.tokens,
            position_ids=torch.zeros_like(self.tokens),
            attention_mask=torch.ones_like(self.tokens),
        )


def apart(found: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest difference as a share of the largest number expected; infinite for another shape."""
    if found.shape != expected.shape:
        return float("inf")
    if not expected.numel():
        return 0.0
    wide = expected.double()
    scale = float(wide.abs().max())
    difference = float((found.double() - wide).abs().max())
    return difference if scale == 0 else difference / scale


def shares_apart(found: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest difference of shares, as it is; infinite for another shape."""
    if found.shape != expected.shape:
        return float("inf")
    return float((found.double() - expected.double()).abs().max())


def worst(differences: Sequence[float]) -> float:
    """The largest; NaN where one is."""
    return float(torch.tensor(differences, dtype=torch.float64).max()) if differences else 0.0
