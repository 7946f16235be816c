"""Which bytes of a text each of its tokens covers, whatever a tokenizer made of the text first.

The tokenizers library counts characters, so the three tokens of an emoji all say (0, 1). Spans are bytes:
1. where the pieces' bytes add up to the text's, less the space that SentencePiece puts first, they are the
   spans;
2. where they add up to what the normaliser made of the text (composed, lower-cased, accents stripped), each
   cut goes back to the characters that the reader typed;
3. otherwise (a word became "unknown", spaces were dropped) the library's character offsets decide.
Characters that no token stands for belong to the token before them, from the first space on to the one after.
A cut inside of what several tokens share (one character, or what the normaliser made one) is ``within``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from operator import itemgetter

import tokenizers
from tokenizers import PreTokenizedString, Regex

from headscope.errors import Invalid

_ANY = Regex(r"[\s\S]")
_SPACE = "\u2581"


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a token ends, in bytes of the text; ``within``: the next token shares its last character."""

    end: int
    within: bool = False


@dataclass(frozen=True, slots=True)
class _Run:
    """Bytes of the normalised text, and the bytes [start, end) of the typed one that they stand for."""

    length: int
    start: int
    end: int
    changed: bool


class Aligner:
    """The normaliser and pre-tokeniser of an engine; ``spaces``: U+2581 stands for a space in its pieces."""

    def __init__(self, engine: tokenizers.Tokenizer, *, spaces: bool) -> None:
        self._normaliser = engine.normalizer
        self._pre_tokeniser = engine.pre_tokenizer
        self._spaces = spaces

    def normalised(self, text: str) -> str:
        """What the normaliser makes of a text."""
        return str(self._normaliser.normalize_str(text)) if self._normaliser else text

    def cuts(self, text: str, pieces: Sequence[bytes], offsets: Sequence[tuple[int, int]]) -> list[Cut]:
        """Each token's end. ``pieces`` are the tokens' bytes, ``offsets`` the library's, in characters.

        Raises ``Invalid`` (not-encodable) for a character that reaches the vocabulary and has no token, and
        for a text of which the tokenizer leaves nothing.
        """
        if text and not pieces:
            raise unencodable(text)
        spelled = b"".join(pieces)
        lengths = _without_prefix(pieces, spelled, text.encode())
        if lengths is not None:
            return [Cut(end) for end in accumulate(lengths)]
        if self._normaliser is not None:
            lengths = _without_prefix(pieces, spelled, self._spelling(self.normalised(text)))
            if lengths is not None:
                return list(_through(self._runs(text), lengths))
        return self._by_offset(text, pieces, offsets)

    def _spelling(self, normalised: str) -> bytes:
        return (normalised.replace(_SPACE, " ") if self._spaces else normalised).encode()

    def _characters(self, text: str, *, as_far_as: str) -> list[tuple[str, int, int]]:
        """The normalised characters, each with the typed ones [start, end) that it comes from."""
        parts = PreTokenizedString(text)
        if self._normaliser is not None:
            parts.normalize(self._normaliser.normalize)
        if as_far_as == "vocabulary" and self._pre_tokeniser is not None:
            self._pre_tokeniser.pre_tokenize(parts)
        parts.split(lambda _, part: part.split(_ANY, "isolated"))
        return [
            (character, *where) for character, where, _ in parts.get_splits("original", "char") if character
        ]

    def _runs(self, text: str) -> list[_Run]:
        """The normalised text in runs that come from the same typed characters, gaps given to neighbours."""
        at = _bytes_at(text)
        found = []
        for (start, end), members in groupby(self._placed(text), key=itemgetter(1, 2)):
            made = "".join(character for character, _, _ in members)
            found.append((len(self._spelling(made)), start, end, made))
        starts = [start for _, start, end, _ in found if end > start]
        starts.append(len(text))
        runs, here, following = [], 0, 0
        for length, start, end, made in found:
            stop = here
            if end > start:
                following += 1
                stop = max(here, end + _held(text[end : starts[following]]))
            runs.append(_Run(length, at[here], at[stop], made != text[here:stop]))
            here = stop
        if runs:
            runs[-1] = replace(runs[-1], end=at[-1])
        return runs

    def _placed(self, text: str) -> Iterator[tuple[str, int, int]]:
        """The normalised characters; a space that stands for nothing typed (a prefix) comes from nowhere."""
        for character, start, end in self._characters(text, as_far_as="normaliser"):
            typed = text[start:end]
            inserted = character in (" ", _SPACE) and not typed.isspace() and typed != _SPACE
            yield (character, start, start) if inserted else (character, start, end)

    def _by_offset(self, text: str, pieces: Sequence[bytes], offsets: Sequence[tuple[int, int]]) -> list[Cut]:
        at = _bytes_at(text)
        cuts: list[Cut] = []
        here, spoken = 0, 0
        lost = self._loses(text)
        for (start, end), members in groupby(range(len(pieces)), key=lambda index: offsets[index]):
            sharing = list(members)
            if start > spoken:
                lost(spoken, start)
                here = max(here, at[spoken + _held(text[spoken:start])])
                if cuts and not cuts[-1].within:
                    cuts[-1] = Cut(here)
            spoken = max(spoken, end)
            stop = max(here, at[spoken])
            for index in sharing[:-1]:
                blank = pieces[index] == b" " and not text[start:end][:1].isspace()
                here = here if blank else min(stop, here + len(pieces[index]))
                cuts.append(Cut(here, within=not blank))
            here = stop
            cuts.append(Cut(here))
        lost(spoken, len(text))
        if cuts:
            cuts[-1] = Cut(at[-1])
        return cuts

    def _loses(self, text: str) -> Callable[[int, int], None]:
        """A check of characters without a token: spaces aside, those that reach the vocabulary are lost."""
        reach: set[int] | None = None

        def check(start: int, end: int) -> None:
            nonlocal reach
            if not text[start:end].strip():
                return
            if reach is None:
                through = self._characters(text, as_far_as="vocabulary")
                reach = {index for _, first, last in through for index in range(first, last)}
            for index in range(start, end):
                if index in reach and not text[index].isspace():
                    raise unencodable(text[index])

        return check


def unencodable(characters: str) -> Invalid:
    """The refusal of a text whose first character has no token."""
    first = characters[0]
    return Invalid(
        f"The model's vocabulary has no token for {first!r} (U+{ord(first):04X}).",
        "Remove that character.",
        code="not-encodable",
    )


def _without_prefix(pieces: Sequence[bytes], spelled: bytes, text: bytes) -> list[int] | None:
    """Bytes per piece where the pieces spell the text, or the text behind one space; else None."""
    lengths = [len(piece) for piece in pieces]
    if spelled == text:
        return lengths
    if spelled == b" " + text:
        lengths[next(index for index, length in enumerate(lengths) if length)] -= 1
        return lengths
    return None


def _through(runs: Sequence[_Run], lengths: Sequence[int]) -> Iterator[Cut]:
    """Cuts of the normalised text, by the pieces' lengths in it, as cuts of the typed one."""
    place, into, end = 0, 0, 0
    for length in lengths:
        into += length
        while place < len(runs) and into >= runs[place].length:
            into -= runs[place].length
            end = runs[place].end
            place += 1
        if into == 0:
            yield Cut(end)
        else:
            run = runs[place]
            yield Cut(min(run.start + into, run.end), within=run.changed)


def _held(gap: str) -> int:
    """How many characters of a gap belong to the token before it: those before its first space."""
    return next((index for index, character in enumerate(gap) if character.isspace()), len(gap))


def _bytes_at(text: str) -> list[int]:
    """The byte at which each character starts, and the text's end."""
    return [0, *accumulate(len(character.encode()) for character in text)]
