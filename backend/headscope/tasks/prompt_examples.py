"""Prompts to begin with, each for a thing that attention heads do on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from headscope.core.model.tokens import Tokenizer
from headscope.errors import HeadscopeError
from headscope.tasks.vocabulary import spaced_words

_REPEATED: Final = 24
"""Tokens of one copy; fewer where a vocabulary has fewer words."""

INDUCTION_HEADS: Final[Mapping[str, tuple[str, ...]]] = {
    "headscope-2l": ("1.5", "1.2"),
    "smollm2-135m": ("17.4", "18.6", "17.3"),
}
"""Heads that copy, strongest first, as measured; other models' are found by looking."""

NAME: Final = (
    "The old wizard Zorblax met a dragon by the river. Years later, nobody remembered the dragon, but the "
    "wizard Zor"
)
CODE: Final = """\
def total_price(basket):
    running_sum = 0
    for item in basket:
        running_sum += item.price
    return running_"""
PLAIN: Final = (
    "In the morning the fog lifted slowly from the harbour. Two fishermen mended their nets and talked about "
    "the weather, while gulls waited on the wall for what the boats would bring."
)


@dataclass(frozen=True)
class PromptExample:
    """A prompt with what to look for. ``bos`` None: the tokenizer's policy; ``mute``: heads worth muting."""

    name: str
    title: str
    reading: str
    text: str
    bos: bool | None = None
    mute: tuple[str, ...] = ()


def prompt_examples(model: str, tokenizer: Tokenizer, n_ctx: int) -> list[PromptExample]:
    """The examples that fit a model: a name that comes back, repeated random tokens, code, plain text."""
    heads = INDUCTION_HEADS.get(model, ())
    repeated = repeated_words(tokenizer, min(_REPEATED, (n_ctx - 1) // 2))
    examples = [
        PromptExample(
            "name",
            "A name that comes back",
            "A made-up name, begun a second time: heads that copy finish it. Mute them and it is lost.",
            NAME,
            False if model == "smollm2-135m" else None,
            heads,
        ),
        PromptExample(
            "repeated",
            "Random words, repeated",
            "Nothing but copying helps here: the second half can be told only from the first.",
            repeated,
            None,
            heads,
        ),
        PromptExample(
            "code",
            "Code with a repeated name",
            "A variable is named, used, and about to be used again.",
            CODE,
            None,
            heads,
        ),
        PromptExample(
            "plain",
            "A plain text",
            "Little repeats: compare how much less the copying heads matter here.",
            PLAIN,
        ),
    ]
    return [example for example in examples if example.text and _fits(tokenizer, example.text, n_ctx)]


def repeated_words(tokenizer: Tokenizer, n: int, seed: int = 0) -> str:
    """Up to n random words, twice, that the tokenizer reads as the same tokens twice; empty for none."""
    words = list(islice(spaced_words(tokenizer, seed), n))
    while len(words) >= 4:
        for text in ("".join(words * 2), "".join(words * 2).lstrip()):
            ids = tokenizer.encode(text, bos=False)
            if len(ids) == 2 * len(words) and ids[: len(words)] == ids[len(words) :]:
                return text
        words = words[: len(words) // 2]
    return ""


def _fits(tokenizer: Tokenizer, text: str, n_ctx: int) -> bool:
    try:
        return len(tokenizer.encode(text)) < n_ctx
    except HeadscopeError:  # a toy vocabulary can't spell everything
        return False
