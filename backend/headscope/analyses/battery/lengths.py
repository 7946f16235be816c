"""How long prompts are in tokens, and which don't fit the context. Nothing is ever cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headscope.core.model.tokens import Token, Tokenizer
from headscope.errors import HeadscopeError, Invalid

_NAMED = 5
_ENOUGH = 50
"""So many prompts that don't fit are looked for before a run; the message says "at least"."""


def tokens_of(tokenizer: Tokenizer, text: str, number: int, bos: bool | None) -> list[Token]:
    """The tokens of prompt ``number``; ``Invalid`` names the prompt where its text has no tokens."""
    try:
        return tokenizer.tokens(text, bos=bos)
    except HeadscopeError as error:
        raise error.about(f"Prompt {number}") from error


def check_lengths(
    tokenizer: Tokenizer, texts: Sequence[str], bos: bool | None, n_ctx: int, name: str
) -> None:
    """Raise ``Invalid`` (too-long) where prompts are longer than the context, with their numbers.

    A token covers a byte or more, so that most prompts need no tokenizing to be seen to fit.
    """
    long: list[tuple[int, int]] = []
    for number, text in enumerate(texts, 1):
        if len(text.encode()) < n_ctx:
            continue
        length = len(tokens_of(tokenizer, text, number, bos))
        if length > n_ctx:
            long.append((number, length))
        if len(long) == _ENOUGH:
            break
    if long:
        raise _too_long(long, n_ctx, name)


def measured(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    bos: bool | None,
    checkpoint: Callable[[], None],
    report: Callable[[int], None],
) -> list[int]:
    """Tokens of every prompt; ``checkpoint`` is called between prompts."""
    found = []
    for number, text in enumerate(texts, 1):
        checkpoint()
        found.append(len(tokens_of(tokenizer, text, number, bos)))
        if number % 200 == 0:
            report(number)
    return found


def check_measured(lengths: Sequence[int], n_ctx: int, name: str) -> None:
    """The same for lengths that are known."""
    long = [(number, length) for number, length in enumerate(lengths, 1) if length > n_ctx]
    if long:
        raise _too_long(long, n_ctx, name)


def _too_long(long: Sequence[tuple[int, int]], n_ctx: int, name: str) -> Invalid:
    count = f"at least {_ENOUGH}" if len(long) == _ENOUGH else str(len(long))
    named = ", ".join(f"{number} ({length:,} tokens)" for number, length in long[:_NAMED])
    rest = " and others" if len(long) > _NAMED else ""
    return Invalid(
        f"{count} prompt{'s' if len(long) > 1 else ''} longer than the {n_ctx:,} tokens of {name}'s context: "
        f"number {named}{rest}.",
        "Shorten them, or skip them: too_long=skip.",
        code="too-long",
    )
