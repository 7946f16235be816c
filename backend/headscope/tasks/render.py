"""From text to tokens with the target marked.

1. Context and target are tokenised *together*, as the model would see them: a target tokenised by itself may
   fall into other tokens.
2. The target's bytes are the text's last ones; a space that the template puts right before them counts as
   the target's own, since most tokenizers join it to the word.
3. The target's tokens are those that lie within these bytes, and the token that holds the target's first
   byte even where that token begins earlier (a tokenizer with a token ``:c`` reads ``A:cat`` so).
4. Bytes are those of the text as it was written. Where a normaliser makes one character of the prompt's end
   and the target's beginning, nobody can say where the answer begins, and the row is refused.
"""

from __future__ import annotations

from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.task import Example


def render(
    tokenizer: Tokenizer,
    context: str,
    target: str,
    counterfactual: str | None = None,
    *,
    bos: bool | None = None,
) -> Example:
    """An example for one context and target.

    Where the two answers change the tokens before them, both begin at the first token that differs: they are
    asked in one place. Raises Invalid: ``empty-target`` where an answer tokenises to nothing,
    ``nothing-before-target`` where no token comes before it, so that nothing predicts it,
    ``ambiguous-target`` where a normaliser joins it to the prompt.
    """
    tokens, start = _answered(tokenizer, context, target, bos)
    if counterfactual is None:
        _check(target, tokens, start)
        return Example(tuple(tokens), tuple(range(start, len(tokens))))
    other, at = _answered(tokenizer, context, counterfactual, bos)
    start = at = min(start, at, _shared(tokens, other))
    _check(target, tokens, start)
    _check(counterfactual, other, at)
    return Example(tuple(tokens), tuple(range(start, len(tokens))), tuple(other[at:]))


def paired_tokens(
    tokenizer: Tokenizer, example: Example, context: str, target: str, *, bos: bool | None = None
) -> tuple[int, ...] | None:
    """Tokens of another context before the example's own target; None unless they match its positions."""
    tokens, _ = _answered(tokenizer, context, target, bos)
    start = min(example.targets)
    if len(tokens) != len(example.tokens) or tuple(tokens[start:]) != example.tokens[start:]:
        return None
    return tuple(tokens)


def _check(answer: str, tokens: list[int], start: int) -> None:
    if start == len(tokens):
        raise Invalid(
            f"The answer {answer!r} tokenises to nothing with this model's tokenizer.",
            "Give the row an answer of visible characters.",
            code="empty-target",
        )
    if start == 0:
        raise Invalid(
            f"No token comes before the answer {answer!r}, so nothing predicts it.",
            "Give the row a prompt, or let the task put BOS first.",
            code="nothing-before-target",
        )


def _answered(tokenizer: Tokenizer, context: str, target: str, bos: bool | None) -> tuple[list[int], int]:
    """Ids of context and target, and the index of the target's first token."""
    text = context + target
    ids = tokenizer.encode(text, bos=bos)
    spaced = context.endswith(" ")
    start = _from_the_end(tokenizer, ids, target.encode(), spaced=spaced)
    if start is None:
        start = _by_spans(tokenizer, text, context, bos, spaced=spaced)
    return ids, start


def _shared(tokens: list[int], other: list[int]) -> int:
    """How many tokens both begin with."""
    pairs = zip(tokens, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(tokens), len(other)))


def _from_the_end(tokenizer: Tokenizer, ids: list[int], target: bytes, *, spaced: bool) -> int | None:
    """Walk back from the last token until the pieces spell the target; None where they spell another text.

    The same answer as the spans of all tokens, without looking at a long context.
    """
    spelled = b""
    start = len(ids)
    while start > 0 and len(spelled) < len(target) and not tokenizer.is_special(ids[start - 1]):
        start -= 1
        spelled = tokenizer.decode_bytes(ids[start]) + spelled
    if not target or not spelled.endswith(target):
        return None
    if spelled == target and spaced and start > 0 and tokenizer.decode_bytes(ids[start - 1]) == b" ":
        start -= 1
    return start


def _by_spans(tokenizer: Tokenizer, text: str, context: str, bos: bool | None, *, spaced: bool) -> int:
    """The target's first token by byte spans, where pieces don't spell the text (a normaliser changed it)."""
    tokens = tokenizer.tokens(text, bos=bos)
    if [token.id for token in tokens] == tokenizer.encode(context, bos=bos):
        return len(tokens)  # the normaliser took the target away; the spans would give it to the prompt
    first = len(_with_what_vanishes(tokenizer, text, context).encode())
    space = first - 1 if spaced else first
    for index, token in enumerate(tokens):
        if not token.special and token.start < token.end and (token.end > first or token.start >= space):
            return index
    return len(tokens)


def _with_what_vanishes(tokenizer: Tokenizer, text: str, context: str) -> str:
    """The context with those first characters of the target that the normaliser takes away.

    Raises Invalid (ambiguous-target) where the normaliser makes one of the context's end and the target.
    """
    before = tokenizer.normalised(context)
    if not tokenizer.normalised(text).startswith(before):
        raise Invalid(
            f"This model's tokenizer joins the prompt's end, {context[-1:]!r}, to the answer's beginning, "
            f"{text[len(context) :][:1]!r}: where the answer begins is unclear.",
            "Begin the answer with a character of its own, such as a letter or a space.",
            code="ambiguous-target",
        )
    end = len(context)
    while end < len(text) and tokenizer.normalised(text[: end + 1]) == before:
        end += 1
    return text[:end]
