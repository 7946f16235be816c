"""Tokens with true byte spans. Reads tokenizer.json through the ``tokenizers`` library; loads no torch.

1. Each piece of the vocabulary is turned into the bytes that it stands for: the byte alphabet of byte-level
   BPE (GPT-2, Llama 3), or U+2581 for a space and ``<0x0A>`` for a byte (SentencePiece: Llama 2, Gemma).
2. ``spans`` finds which bytes of the text, as it was typed, each token covers: those of the non-special
   tokens cut the text without gap or overlap.
3. ``glyphs`` finds the characters that several tokens share, so that each token has a name that can be read.
"""

from __future__ import annotations

import builtins
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import tokenizers

from headscope.core.model.glyphs import Glyph, as_text, glyphs, label, sequence_glyphs
from headscope.core.model.spans import Aligner, unencodable
from headscope.errors import Invalid, NotFound

Kind = Literal["byte-level", "sentencepiece", "plain"]
Bos = Literal["none", "added", "in-text", "doubled"]

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE = "\u2581"
_SETTINGS = ("config.json", "special_tokens_map.json", "tokenizer_config.json")
"""Files beside tokenizer.json that say whether BOS comes first."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its id, the bytes [start, end) of the UTF-8 text it covers, those bytes, if it is special.

    A special token that was added (BOS) covers nothing, start == end, and ``bytes`` is its name. ``glyph`` is
    what it shares with its neighbours, None where it is text by itself or stands alone. An ``unknown`` one
    covers what the vocabulary lacks: the model reads no more than that something stands there.
    """

    id: int
    start: int
    end: int
    bytes: builtins.bytes
    special: bool
    glyph: Glyph | None = None
    unknown: bool = False

    @property
    def text(self) -> str | None:
        """The bytes decoded, or None where they are not valid UTF-8 by themselves."""
        return as_text(self.bytes)

    @property
    def label(self) -> str:
        """What it is called in lists and on axes: ``·cats``, ``日 2/3``, ``0xe697``."""
        return label(self.bytes, self.glyph)


class Tokenizer:
    """A tokenizer file. ``hash`` identifies it; ``n_vocab`` its size; ``bos_id`` None where it has no BOS.

    ``adds_bos`` is the tokenizer's own policy: ``add_bos_token`` where tokenizer_config.json states it, else
    whether tokenizer.json's post-processor puts a special token first.
    """

    hash: str
    n_vocab: int
    bos_id: int | None
    adds_bos: bool

    def __init__(self, source: str, config: Mapping[str, Any] | None = None, rows: int | None = None) -> None:
        """``source`` is the text of tokenizer.json, ``config`` tokenizer_config.json's content, if any.
        ``rows``: tokens that the model's embedding has; what lies beyond is no token of the model's.
        """
        spec = json.loads(source)
        engine = tokenizers.Tokenizer.from_str(source)
        # A file may carry truncation and padding from its training run; text is never cut silently here.
        engine.no_truncation()
        engine.no_padding()
        engine.encode_special_tokens = True
        self._engine = engine
        self._kind = _kind(spec)
        added = spec.get("added_tokens") or []
        self._added = {t["id"]: str(t["content"]) for t in added}
        self._specials = frozenset(t["id"] for t in added if t.get("special"))
        self._continuing = str((spec.get("model") or {}).get("continuing_subword_prefix") or "")
        self._complete = self._spells_every_byte(spec.get("model") or {})
        self._unknown = _unknown(engine, spec.get("model") or {})
        self._aligner = Aligner(engine, spaces=self._kind == "sentencepiece")
        self._rows = rows
        n_vocab = int(engine.get_vocab_size(with_added_tokens=True))
        self.n_vocab = n_vocab if rows is None else min(n_vocab, rows)
        self.bos_id, self.adds_bos = _bos(engine, spec, config or {})
        policy = f"bos={self.bos_id if self.adds_bos else None}"
        self.hash = hashlib.sha256(f"{policy}\n{source}".encode()).hexdigest()

    @classmethod
    def from_folder(cls, folder: Path, rows: int | None = None) -> Tokenizer:
        """Read ``tokenizer.json`` and, where there are any, the BOS settings beside it.

        ``rows``: tokens that the model's embedding has. Raises NotFound without the file, Invalid where it
        can't be read or belongs to a model of more tokens (other-tokenizer).
        """
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise NotFound(
                f"{folder} has no tokenizer.json.",
                "Save it in the fast format: AutoTokenizer.from_pretrained(...).save_pretrained(folder).",
                code="no-tokenizer",
            )
        beside = (folder / name for name in _SETTINGS)
        state = tuple((f, f.stat().st_size, f.stat().st_mtime_ns) for f in (path, *beside) if f.is_file())
        try:
            tokenizer = _read(folder, rows, state)
        except Exception as error:  # the library raises bare Exception for a file it can't parse
            raise Invalid(
                f"{path} is not a tokenizer file: {error}.",
                "Copy the file again from its source.",
                code="bad-tokenizer",
            ) from error
        tokenizer._check_rows(path)
        return tokenizer

    def encode(self, text: str, *, bos: bool | None = None) -> list[int]:
        """Ids of text, special tokens in text treated as text. bos None: the tokenizer's own policy.

        Raises Invalid for lone surrogates, for characters that the vocabulary has no token for, and where bos
        is asked of a tokenizer that has none.
        """
        if not self._complete:  # such a tokenizer drops what it can't spell; ``tokens`` finds that out
            return [token.id for token in self.tokens(text, bos=bos)]
        _utf8(text)
        return self._with_rows(self._prefix(bos) + self._engine.encode(text, add_special_tokens=False).ids)

    def tokens(self, text: str, *, bos: bool | None = None) -> list[Token]:
        """Tokens of text with their bytes; their concatenation, without specials, is the text in UTF-8.

        Raises Invalid for lone surrogates, and for characters that the vocabulary has no token for.
        """
        utf8 = _utf8(text)
        self._check_alphabet(text)
        encoding = self._engine.encode(text, add_special_tokens=False)
        ids = encoding.ids
        cuts = self._aligner.cuts(text, [self.decode_bytes(i) for i in ids], encoding.offsets)
        starts = [0, *(cut.end for cut in cuts[:-1])]
        covered = [utf8[start : cut.end] for start, cut in zip(starts, cuts, strict=False)]
        shared = glyphs(covered, [cut.within for cut in cuts])
        tokens = [Token(i, 0, 0, self.decode_bytes(i), True) for i in self._prefix(bos)]
        for token_id, start, content, glyph in zip(ids, starts, covered, shared, strict=False):
            end, unknown = start + len(content), token_id == self._unknown
            tokens.append(Token(token_id, start, end, content, False, glyph, unknown))
        self._with_rows([token.id for token in tokens])
        return tokens

    def sequence(self, ids: Sequence[int]) -> list[Token]:
        """Tokens of ids, with spans counted in their concatenation; special ones cover nothing.

        So do ids outside the vocabulary: weights may have rows that no token uses.
        """
        spelled = [self._spelled(token_id) for token_id in ids]
        special = [self.is_special(token_id) for token_id in ids]
        shared = sequence_glyphs(
            [None if apart else piece for apart, piece in zip(special, spelled, strict=True)]
        )
        tokens: list[Token] = []
        start = 0
        for token_id, content, apart, glyph in zip(ids, spelled, special, shared, strict=True):
            end = start if apart else start + len(content)
            tokens.append(Token(token_id, start, end, content, apart, glyph))
            start = end
        return tokens

    def normalised(self, text: str) -> str:
        """What the tokenizer's normaliser makes of a text before it is cut: the text itself without one."""
        return self._aligner.normalised(text)

    def decode_bytes(self, token_id: int) -> bytes:
        """The bytes a token stands for; a special token's are its name.

        Raises NotFound outside the vocabulary.
        """
        if token_id in self._added:
            return self._added[token_id].encode()
        piece = self._engine.id_to_token(token_id) if token_id >= 0 else None
        if piece is None:
            raise NotFound(
                f"Token {token_id} is not in the vocabulary.",
                f"Ids run 0-{self.n_vocab - 1}.",
                code="unknown-token",
            )
        return self._piece_bytes(piece)

    def _spelled(self, token_id: int) -> bytes:
        try:
            return self.decode_bytes(token_id)
        except NotFound:
            return b""

    def is_special(self, token_id: int) -> bool:
        """Whether the tokenizer file marks the token as special (BOS, EOS, chat markers)."""
        return token_id in self._specials

    def _check_rows(self, path: Path) -> None:
        """Added tokens may lie beyond the embedding, where texts can do without them; ordinary ones can't."""
        ordinary = int(self._engine.get_vocab_size(with_added_tokens=False))
        if self._rows is not None and ordinary > self._rows:
            raise Invalid(
                f"{path} has {ordinary:,} tokens; the model's embedding has {self._rows:,} rows.",
                "Copy the tokenizer from where the weights are from.",
                code="other-tokenizer",
            )

    def _with_rows(self, ids: list[int]) -> list[int]:
        """The ids, if the embedding has a row for each."""
        beyond = next((i for i in ids if self._rows is not None and i >= self._rows), None)
        if beyond is not None:
            name = self.decode_bytes(beyond).decode("utf-8", "replace")
            raise Invalid(
                f"The token {name!r} ({beyond}) is none of the model's: its embedding has {self._rows:,}.",
                "Remove it from the text.",
                code="unknown-token",
            )
        return ids

    def _prefix(self, bos: bool | None) -> list[int]:
        if not (self.adds_bos if bos is None else bos):
            return []
        if self.bos_id is None:
            raise Invalid(
                "This tokenizer has no beginning-of-sequence token.",
                "Leave BOS at the model's own setting.",
                code="no-bos",
            )
        return [self.bos_id]

    def _piece_bytes(self, piece: str) -> bytes:
        if self._kind == "byte-level":
            alphabet = _byte_alphabet()
            # A piece with a character outside the alphabet was added as plain text.
            return bytes(alphabet[c] for c in piece) if all(c in alphabet for c in piece) else piece.encode()
        if self._kind == "sentencepiece":
            byte = _BYTE_TOKEN.fullmatch(piece)
            return bytes([int(byte[1], 16)]) if byte else piece.replace(_SPACE, " ").encode()
        return piece.removeprefix(self._continuing).encode() if self._continuing else piece.encode()

    def _spells_every_byte(self, model: Mapping[str, Any]) -> bool:
        if self._kind == "byte-level":
            return all(self._engine.token_to_id(c) is not None for c in _byte_alphabet())
        return bool(model.get("byte_fallback")) and all(
            self._engine.token_to_id(f"<0x{b:02X}>") is not None for b in range(256)
        )

    def _check_alphabet(self, text: str) -> None:
        """Byte-level BPE without all 256 bytes drops the others in silence, even inside a character."""
        if self._kind != "byte-level" or self._complete:
            return
        letter = {byte: character for character, byte in _byte_alphabet().items()}
        for character in self.normalised(text):
            if any(self._engine.token_to_id(letter[byte]) is None for byte in character.encode()):
                raise unencodable(character)


@lru_cache(maxsize=8)
def _read(folder: Path, rows: int | None, state: tuple[tuple[Path, int, int], ...]) -> Tokenizer:
    """Kept between calls for as long as the files are the same: a large vocabulary takes seconds to read."""
    source = (folder / "tokenizer.json").read_text(encoding="utf-8")
    return Tokenizer(source, _bos_settings(folder), rows)


def bos_of(tokenizer: Tokenizer, tokens: Sequence[Token], text: str) -> Bos:
    """``in-text``: the text begins with the BOS token's name, which the model reads as plain characters."""
    if tokenizer.bos_id is None:
        return "none"
    added = bool(tokens) and tokens[0].special and tokens[0].id == tokenizer.bos_id
    spelled = tokenizer.decode_bytes(tokenizer.bos_id).decode("utf-8", "replace")
    in_text = bool(spelled) and text.startswith(spelled)
    if added:
        return "doubled" if in_text else "added"
    return "in-text" if in_text else "none"


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Invalid(
            f"Character {error.start} of the text is a lone surrogate (U+{ord(text[error.start]):04X}), "
            "half of a character.",
            "Paste the text again, or remove that character.",
            code="not-text",
        ) from error


@lru_cache(maxsize=1)
def _byte_alphabet() -> dict[str, int]:
    """GPT-2's byte alphabet: printable Latin-1 stands for itself, the other bytes for U+0100 and up."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in set(printable)]
    return {chr(b): b for b in printable} | {chr(0x100 + i): b for i, b in enumerate(others)}


def _parts(spec: Any) -> list[dict[str, Any]]:
    """A component and, where it is a sequence, its members."""
    if not isinstance(spec, dict):
        return []
    members = next(
        (spec[k] for k in ("pretokenizers", "normalizers", "decoders", "processors") if k in spec), None
    )
    return [part for member in members for part in _parts(member)] if members else [spec]


def _kind(spec: Mapping[str, Any]) -> Kind:
    parts = [p for key in ("pre_tokenizer", "decoder", "normalizer") for p in _parts(spec.get(key))]
    types = {p.get("type") for p in parts}
    if "ByteLevel" in types:
        return "byte-level"
    replaces = any(p.get("type") == "Replace" and _SPACE in json.dumps(p, ensure_ascii=False) for p in parts)
    if "Metaspace" in types or "ByteFallback" in types or replaces:
        return "sentencepiece"
    return "plain"


def _unknown(engine: tokenizers.Tokenizer, model: Mapping[str, Any]) -> int | None:
    """The id of what stands for everything that the vocabulary lacks, where it has one."""
    if model.get("type") == "Unigram":
        return model.get("unk_id")
    name = model.get("unk_token")
    return engine.token_to_id(name) if name else None


def _bos(
    engine: tokenizers.Tokenizer, spec: Mapping[str, Any], config: Mapping[str, Any]
) -> tuple[int | None, bool]:
    """The BOS token's id and whether the tokenizer puts it first by itself."""
    processors = _parts(spec.get("post_processor"))
    template = next((p["single"] for p in processors if p.get("type") == "TemplateProcessing"), None)
    leading = template[0].get("SpecialToken", {}).get("id") if template else None
    name = leading or config.get("bos_token")
    if isinstance(name, dict):
        name = name.get("content")
    bos_id = engine.token_to_id(name) if name else config.get("bos_token_id")
    if not isinstance(bos_id, int):
        return None, False
    stated = config.get("add_bos_token")
    return bos_id, stated if isinstance(stated, bool) else leading is not None


def _bos_settings(folder: Path) -> dict[str, Any]:
    """``bos_token``, ``add_bos_token`` and ``bos_token_id`` from the files beside tokenizer.json."""
    settings: dict[str, Any] = {}
    for name in _SETTINGS:
        path = folder / name
        if path.is_file():
            content = json.loads(path.read_text(encoding="utf-8"))
            keys = ("bos_token", "add_bos_token", "bos_token_id")
            settings |= {k: content[k] for k in keys if content.get(k) is not None}
    return settings
