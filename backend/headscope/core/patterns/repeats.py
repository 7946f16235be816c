"""Which tokens of a prompt repeat. Loads no torch: what draws arcs reads it without a model."""

from __future__ import annotations

from collections.abc import Sequence

from headscope.core.model.tokens import Token


def copies(tokens: Sequence[Token], fold: bool = False, most: int | None = None) -> list[list[int]]:
    """Of each token the positions where it stood before, the latest last; special tokens never count.

    ``fold``: tokens whose text differs only in case or in spaces around it are the same ("The", " the").
    Tokens that are no text by themselves, and those of nothing but spaces, are compared by their bytes.
    ``most``: name only so many of the latest; a token repeated 1,000 times names half a million without.
    """
    seen: dict[int | str | bytes, list[int]] = {}
    before: list[list[int]] = []
    for position, token in enumerate(tokens):
        if token.special:
            before.append([])
            continue
        earlier = seen.setdefault(_key(token) if fold else token.id, [])
        before.append(earlier[-most:] if most else list(earlier))
        earlier.append(position)
    return before


def predictable(before: Sequence[Sequence[int]]) -> list[int]:
    """Of what ``copies`` gives, the repeats whose predecessor is a repeat too: what induction can predict."""
    return [i for i in range(1, len(before)) if before[i] and before[i - 1]]


def _key(token: Token) -> str | bytes:
    """What tokens have in common that differ in case and outer spaces only."""
    return (token.text or "").casefold().strip() or token.bytes
