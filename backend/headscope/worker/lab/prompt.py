"""A prompt as a model reads it: its tokens, its positions, and what must be true of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headscope.core.model.glyphs import glyphs
from headscope.core.model.head_model import HeadModel
from headscope.core.model.tokens import Token
from headscope.errors import Invalid
from headscope.messages import GlyphOut, LabIn, TokenOut

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Prompt:
    """A text's tokens, BOS included where there is one; at least one, and no more than the context holds."""

    text: str
    tokens: list[Token]

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def ids(self) -> list[int]:
        """The tokens' ids."""
        return [token.id for token in self.tokens]

    @property
    def out(self) -> list[TokenOut]:
        """The tokens as they travel."""
        return [TokenOut.of(token) for token in self.tokens]

    def batch(self, model: HeadModel) -> torch.Tensor:
        """The ids as a batch of one, [1, pos], on the model's device."""
        import torch

        return torch.tensor([self.ids], device=model.device)

    def begun(self, at: int) -> list[bytes]:
        """The bytes of the tokens up to ``at`` that share a character with the one behind it; none else."""
        glyph = self.tokens[at].glyph
        if glyph is None or glyph.part == glyph.parts:
            return []
        return [token.bytes for token in self.tokens[at + 1 - glyph.part : at + 1]]

    def position(self, at: int | None) -> int:
        """``at``, or the last position; ``Invalid`` (unknown-position) where there is no such token."""
        if at is None:
            return len(self) - 1
        if at >= len(self):
            raise Invalid(
                f"There is no position {at}: the prompt has {len(self)} tokens.",
                f"Positions run 0-{len(self) - 1}.",
                code="unknown-position",
            )
        return at


def read(model: HeadModel, wanted: LabIn) -> Prompt:
    """The request's text as tokens.

    Raises ``Invalid``: empty-text, too-long (never cut), not-text, not-encodable, no-bos.
    """
    if wanted.text is None:
        raise Invalid(
            "A worker reads texts, not the ids of stored prompts.", "Send the text.", code="no-text"
        )
    tokens = model.tokenizer.tokens(wanted.text, bos=wanted.bos)
    if not tokens:
        raise Invalid("The text has no tokens.", "Write at least one character.", code="empty-text")
    n_ctx = model.info.n_ctx
    if len(tokens) > n_ctx:
        raise Invalid(
            f"The text has {len(tokens)} tokens; {model.info.name} reads {n_ctx}.",
            f"Shorten it by {len(tokens) - n_ctx} tokens.",
            code="too-long",
        )
    return Prompt(wanted.text, tokens)


def known_token(model: HeadModel, index: int) -> int:
    """A token id that the model can predict; ``Invalid`` (unknown-token) for any other."""
    if not 0 <= index < model.info.d_vocab:
        raise Invalid(
            f"There is no token {index}.", f"Ids run 0-{model.info.d_vocab - 1}.", code="unknown-token"
        )
    return index


def vocabulary_token(model: HeadModel, index: int) -> TokenOut:
    """A token by its id, covering its own bytes."""
    if index >= model.tokenizer.n_vocab:  # weights may have rows that no token uses
        return TokenOut(id=index, start=0, end=0, text=None, hex="", special=False)
    content = model.tokenizer.decode_bytes(index)
    return TokenOut.of(Token(index, 0, len(content), content, model.tokenizer.is_special(index)))


def next_token(model: HeadModel, prompt: Prompt, at: int, index: int) -> TokenOut:
    """A token that may come after position ``at``: what ends a character begun there is called by it."""
    token = vocabulary_token(model, index)
    begun = prompt.begun(at)
    glyph = glyphs([*begun, bytes.fromhex(token.hex)])[-1] if begun else None
    return token if glyph is None else token.model_copy(update={"glyph": GlyphOut.of(glyph)})


def sequence_out(model: HeadModel, ids: Sequence[int]) -> list[TokenOut]:
    """Tokens one after the other, with spans counted in their concatenation; special ones cover nothing."""
    return [TokenOut.of(token) for token in model.tokenizer.sequence(ids)]
