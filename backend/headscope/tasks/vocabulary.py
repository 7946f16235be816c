"""Which tokens of a vocabulary generated tasks may use."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from headscope.core.model.tokens import Tokenizer
from headscope.errors import NotFound
from headscope.tasks.draw import ordered
from headscope.tasks.task import Split

_POOL = 2000
_TEST_SHARE = 0.2
_FEW = 100


@lru_cache(maxsize=4)
def ordinary_tokens(tokenizer: Tokenizer) -> tuple[int, ...]:
    """Ids of all tokens that stand for text: not special, not empty, not a hole in the vocabulary."""
    return tuple(i for i in range(tokenizer.n_vocab) if not tokenizer.is_special(i) and _bytes(tokenizer, i))


@lru_cache(maxsize=8)
def rule_tokens(tokenizer: Tokenizer, seed: int, *, whole: bool = False) -> dict[Split, tuple[int, ...]]:
    """Up to 2000 tokens of two or more ASCII letters, without a space before, a fifth of them for testing.

    Each is what the tokenizer itself makes of its text, so that ``A^B^A`` reads as these tokens. ``whole``
    takes those that are words and no endings: the vocabulary has them with a space before, too. Where there
    are fewer than 100, any are taken, and single letters where there are fewer than 100 of these
    (byte-level vocabularies of toy models).
    """
    ordinary = {i: _bytes(tokenizer, i) for i in ordinary_tokens(tokenizer)}
    after_space = {spelled[1:] for spelled in ordinary.values() if spelled[:1] == b" "} if whole else set()
    letters = [i for i, spelled in ordinary.items() if _is_word(spelled, 2)]
    words = [i for i in letters if ordinary[i] in after_space]
    if len(words) < _FEW:
        words = letters
    if len(words) < _FEW:
        words = [i for i, spelled in ordinary.items() if _is_word(spelled, 1)]
    shuffled = (words[index] for index in ordered(f"rule tokens {seed}", [str(i) for i in words]))
    pool = tuple(islice((i for i in shuffled if _is_canonical(tokenizer, i)), _POOL))
    n_test = round(_TEST_SHARE * len(pool))
    return {"train": pool[n_test:], "test": pool[:n_test]}


def spaced_words(tokenizer: Tokenizer, seed: int) -> Iterator[str]:
    """Tokens that are a space and two or more small ASCII letters, in random order.

    Each is what the tokenizer itself makes of the word between two others: a text of such words keeps them.
    """
    spelled = (_bytes(tokenizer, i) for i in ordinary_tokens(tokenizer))
    words = [w.decode() for w in spelled if w[:1] == b" " and _is_word(w[1:], 2) and w.islower()]
    shuffled = (words[index] for index in ordered(f"spaced words {seed}", words))
    return (word for word in shuffled if len(tokenizer.encode(f" a{word} a", bos=False)) == 3)


@lru_cache(maxsize=4)
def word_tokens(tokenizer: Tokenizer) -> tuple[int, ...]:
    """Up to 2000 of ``spaced_words`` as ids, the same for every seed."""
    words = islice(spaced_words(tokenizer, 0), _POOL)
    return tuple(tokenizer.encode(f" a{word} a", bos=False)[1] for word in words)


def within_text(tokenizer: Tokenizer, character: str) -> tuple[int, ...]:
    """A character's token (or tokens) within a text: at its start some tokenizers put a space first."""
    within = tuple(token.id for token in tokenizer.tokens(f"a{character}", bos=False) if token.start >= 1)
    return within or tuple(tokenizer.encode(character, bos=False))


def _is_word(spelled: bytes, least: int) -> bool:
    return len(spelled) >= least and spelled.isascii() and spelled.isalpha()


def _is_canonical(tokenizer: Tokenizer, token_id: int) -> bool:
    """Whether the tokenizer itself writes the token between carets (a word at the start may get a space)."""
    text = _bytes(tokenizer, token_id).decode()
    return tokenizer.encode(f"^{text}^", bos=False)[-2:-1] == [token_id]


def _bytes(tokenizer: Tokenizer, token_id: int) -> bytes:
    try:
        return tokenizer.decode_bytes(token_id)
    except NotFound:  # padded vocabularies have ids without a token
        return b""
