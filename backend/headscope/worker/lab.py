"""What heads do on someone's own prompt: attention patterns, and what gates change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headscope.core.arrays import decode, encode
from headscope.core.model import HeadModel
from headscope.core.tokens import Token
from headscope.errors import Invalid, TooLarge
from headscope.messages import GatesIn, GatesOut, LabIn, NextToken, PatternsIn, PatternsOut, TokenOut

if TYPE_CHECKING:
    import torch

MOST_PATTERN_BYTES = 64 * 2**20
"""An answer's patterns: 30 layers of 9 heads over 240 tokens."""


def patterns(model: HeadModel, wanted: PatternsIn) -> PatternsOut:
    """Attention patterns [layer, head, query, key], float32; each row sums to 1.

    Raises ``Invalid`` for text that can't be used or layers that aren't there, ``TooLarge`` beyond 64 MiB.
    """
    import torch

    tokens = _tokens(model, wanted)
    layers = _layers(model, wanted.layers)
    size = 4 * len(layers) * model.info.n_heads * len(tokens) ** 2
    if size > MOST_PATTERN_BYTES:
        raise TooLarge(
            f"The patterns of {len(layers)} layers over {len(tokens)} tokens take {size / 2**20:.0f} MiB.",
            "Ask for fewer layers, or a shorter text.",
            code="patterns-too-large",
        )
    with torch.no_grad(), model.captured(layers, ("pattern",)) as seen:
        model.logits(_batch(model, tokens))
    stacked = np.stack([seen[f"{layer}.pattern"][0].float().cpu().numpy() for layer in layers])
    return PatternsOut(
        model=model.info.name,
        tokens=[token_out(token) for token in tokens],
        layers=list(layers),
        patterns=encode(stacked),
    )


def gates(model: HeadModel, wanted: GatesIn) -> GatesOut:
    """Next tokens, losses (nats) and KL(ungated || gated) at the last position, before and under the gates.

    Raises ``Invalid`` for text or gates that can't be used.
    """
    import torch

    tokens = _tokens(model, wanted)
    batch = _batch(model, tokens)
    gate = torch.from_numpy(gate_array(wanted, model)).to(model.device)
    with torch.no_grad():
        before = model.logits(batch)[0].double().log_softmax(-1).cpu()
        with model.gated(gate):
            after = model.logits(batch)[0].double().log_softmax(-1).cpu()
    last = _Last(before[-1], after[-1])
    return GatesOut(
        model=model.info.name,
        tokens=[token_out(token) for token in tokens],
        next=_next(model, last, wanted.top),
        loss_before=_losses(before, tokens),
        loss_after=_losses(after, tokens),
        kl=max(0.0, float((last.before.exp() * (last.before - last.after)).sum())),
    )


def gate_array(wanted: GatesIn, model: HeadModel) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """The gates as [layer, head] float32; ``Invalid`` unless they have that shape and lie in [0, 1]."""
    given = wanted.gates
    try:
        array = np.asarray(decode(given) if isinstance(given, dict) else given, dtype=np.float32)
    except ValueError as error:
        raise Invalid(
            "The gates are not a table of numbers.", "Send one number per head.", code="bad-gates"
        ) from error
    shape = (model.info.n_layers, model.info.n_heads)
    if array.shape != shape:
        raise Invalid(
            f"The gates have shape {'x'.join(map(str, array.shape))}.",
            f"{model.info.name} has {shape[0]} layers of {shape[1]} heads: send {shape[0]}x{shape[1]}.",
            code="bad-gates",
        )
    if not (np.isfinite(array).all() and (array >= 0).all() and (array <= 1).all()):
        raise Invalid("Gates lie between 0 and 1.", "0 is off, 1 is on.", code="bad-gates")
    return array


def token_out(token: Token) -> TokenOut:
    """A token as it travels."""
    return TokenOut(
        id=token.id,
        start=token.start,
        end=token.end,
        text=token.text,
        hex=token.bytes.hex(),
        special=token.special,
    )


@dataclass(frozen=True)
class _Last:
    before: torch.Tensor
    after: torch.Tensor


def _next(model: HeadModel, last: _Last, top: int) -> list[NextToken]:
    most = last.before.maximum(last.after).topk(min(top, len(last.before))).indices.tolist()
    return [
        NextToken(
            token=_vocabulary_token(model, index),
            before=float(last.before[index].exp()),
            after=float(last.after[index].exp()),
        )
        for index in most
    ]


def _vocabulary_token(model: HeadModel, index: int) -> TokenOut:
    if index >= model.tokenizer.n_vocab:  # weights may have rows that no token uses
        return TokenOut(id=index, start=0, end=0, text=None, hex="", special=False)
    content = model.tokenizer.decode_bytes(index)
    return token_out(Token(index, 0, len(content), content, model.tokenizer.is_special(index)))


def _losses(logp: torch.Tensor, tokens: list[Token]) -> list[float | None]:
    following = [-float(logp[place, token.id]) for place, token in enumerate(tokens[1:])]
    return [None, *following]


def _tokens(model: HeadModel, wanted: LabIn) -> list[Token]:
    tokens = model.tokenizer.tokens(wanted.text, bos=wanted.bos)
    if not tokens:
        raise Invalid("The text has no tokens.", "Write at least one character.", code="empty-text")
    if len(tokens) > model.info.n_ctx:
        raise Invalid(
            f"The text has {len(tokens)} tokens; {model.info.name} reads {model.info.n_ctx}.",
            "Shorten it.",
            code="too-long",
        )
    return tokens


def _layers(model: HeadModel, wanted: list[int] | None) -> tuple[int, ...]:
    there = range(model.info.n_layers)
    for layer in wanted or ():
        if layer not in there:
            raise Invalid(
                f"There is no layer {layer} of {model.info.n_layers}.",
                f"Layers run 0-{model.info.n_layers - 1}.",
                code="unknown-layer",
            )
    return tuple(there) if wanted is None else tuple(dict.fromkeys(wanted))


def _batch(model: HeadModel, tokens: list[Token]) -> torch.Tensor:
    import torch

    return torch.tensor([[token.id for token in tokens]], device=model.device)
