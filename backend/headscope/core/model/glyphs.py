"""What tokens are called: their own text, or the character that several of them share.

A token of a byte vocabulary may hold a third of a character. By itself it is bytes; beside its neighbours it
is the first part of a 日. Tokens between whose ends a character is cut are one *glyph*:
1. a cut inside a character joins the tokens on both sides of it;
2. where that character is one of several that are seen as one (an emoji of a family, a letter with its
   accent), the tokens of all of them join, so that a glyph is whole on the page;
3. tokens that no cut joins are their own text. So is a lone accent: a model that reads it as a token of its
   own is shown to do so.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby

from tokenizers import Regex, pre_tokenizers

_SIGNS = {" ": "·", "\n": "⏎", "\t": "⇥", "\r": "␍"}
_BAD = "\ufffd"
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class Glyph:
    """Characters that ``parts`` tokens share; this one is ``part``, counted from 1."""

    text: str
    part: int
    parts: int


def glyphs(pieces: Sequence[bytes], joined: Sequence[bool] = ()) -> list[Glyph | None]:
    """Of each piece of a text its glyph, None for those that are text by themselves.

    ``joined``: whether a piece shares a character with the next one though no byte of it is cut (a normaliser
    made one of two). Pieces that are no part of any whole character have no glyph: they are bytes.
    """
    if not pieces:
        return []
    ends = list(accumulate(map(len, pieces)))
    text, at = _characters(b"".join(pieces))
    join = [end not in at for end in ends[:-1]] + [False]
    for place, wanted in enumerate(joined[: len(pieces) - 1]):
        join[place] |= wanted
    if any(join):
        _join_clusters(join, ends, text, at)
    return list(_grouped(pieces, join))


def sequence_glyphs(pieces: Sequence[bytes | None]) -> list[Glyph | None]:
    """As ``glyphs``, of a sequence in which None stands for a special token: no character goes across one."""
    found: list[Glyph | None] = []
    for _, members in groupby(pieces, key=lambda piece: piece is None):
        run = list(members)
        text = [piece for piece in run if piece is not None]
        found += glyphs(text) or [None] * len(run)
    return found


def label(content: bytes, glyph: Glyph | None = None) -> str:
    """A token in words: spaces and line ends visible, what can't be seen in hexadecimal.

    ``·cats``; ``日 2/3`` for the second of three tokens of one character; ``0xe697`` where it is no text.
    """
    if glyph is not None:
        return f"{_seen(glyph.text)} {glyph.part}/{glyph.parts}"
    text = as_text(content)
    return f"0x{content.hex()}" if text is None else _seen(text)


def as_text(content: bytes) -> str | None:
    """The bytes decoded, or None where they are not valid UTF-8 by themselves."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _seen(text: str) -> str:
    """Nothing invisible, nothing that would lean on its neighbours; ``∅`` for nothing at all."""
    if not text:
        return "∅"
    seen = "".join(_sign(character, text, place) for place, character in enumerate(text))
    return f"◌{seen}" if unicodedata.category(text[0]).startswith("M") else seen


def _sign(character: str, text: str, place: int) -> str:
    if character == _JOINER and _joins(text[:place][-1:], text[place + 1 :][:1]):
        return character
    if character in _SIGNS or character.isprintable():
        return _SIGNS.get(character, character)
    return f"0x{ord(character):02x}"


def _joins(before: str, after: str) -> bool:
    """Whether a joiner between these makes one sign of them: of emoji, or behind a virama."""
    if not before or not after:
        return False
    return unicodedata.category(before) in ("So", "Sk", "Mn") and unicodedata.category(after) in ("So", "Lo")


def _characters(content: bytes) -> tuple[str, dict[int, int]]:
    """The characters of some bytes, U+FFFD for what is none, and which byte each starts at: {byte: place}."""
    text = content.decode("utf-8", "surrogateescape")
    lengths = [1 if "\udc80" <= c <= "\udcff" else len(c.encode()) for c in text]
    starts = [0, *accumulate(lengths)]
    shown = "".join(_BAD if "\udc80" <= c <= "\udcff" else c for c in text)
    return shown, {start: place for place, start in enumerate(starts)}


def _join_clusters(join: list[bool], ends: Sequence[int], text: str, at: dict[int, int]) -> None:
    """Where a cut joins two tokens inside what is seen as one character, join all tokens inside it."""
    byte_of = list(at)
    place = 0
    for first, last in _clusters(text):
        inside = []
        while place < len(ends) and ends[place] < byte_of[last]:
            if ends[place] > byte_of[first]:
                inside.append(place)
            place += 1
        if any(join[cut] for cut in inside):
            for cut in inside:
                join[cut] = True


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Where each extended grapheme cluster (UAX 29) begins and ends, in characters."""
    for _, (first, last) in _cluster_splitter().pre_tokenize_str(text):
        yield first, last


@lru_cache(maxsize=1)
def _cluster_splitter() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Split(Regex(r"\X"), "isolated")


def _grouped(pieces: Sequence[bytes], join: Sequence[bool]) -> Iterator[Glyph | None]:
    first = 0
    for place, joins in enumerate(join):
        if joins:
            continue
        parts = place + 1 - first
        content = b"".join(pieces[first : place + 1])
        text = as_text(content) if parts > 1 else None
        yield from (Glyph(text, part + 1, parts) if text else None for part in range(parts))
        first = place + 1
