"""Tokens equal the tokenizer's own on every script, by tokenizers of every kind, and cover what was typed."""

from __future__ import annotations

import json
import unicodedata
from functools import cache
from typing import Literal

import pytest
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Engine

from core.model.tokenizers_of_all_kinds import KINDS, SCRIPTS
from headscope.core.model.tokens import Token, Tokenizer
from headscope.errors import Invalid

TEXTS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
        st.sampled_from([word for text in SCRIPTS.values() for word in (*text[:80].split(" "), " ")]),
        st.sampled_from(["\u0301", "\u0323", "\u200d", "\ufe0f", "🏽", "\u11ab", "▁", " ", "\n"]),
    ),
    max_size=8,
).map("".join)


@cache
def both(kind: str) -> tuple[Engine, Tokenizer]:
    engine = KINDS[kind]()
    engine.encode_special_tokens = True  # their names in a text are text
    return engine, Tokenizer(engine.to_str())


def check(kind: str, text: str) -> list[Token]:
    """Ids are the library's, spans cut the text, glyphs are whole; where nothing is left, it's refused."""
    engine, tokenizer = both(kind)
    expected = engine.encode(text, add_special_tokens=False).ids
    if text and not expected:
        with pytest.raises(Invalid, match="no token for"):
            tokenizer.tokens(text)
        return []
    tokens = tokenizer.tokens(text)
    assert [token.id for token in tokens] == tokenizer.encode(text) == expected
    at = 0
    for token in tokens:
        assert token.start == at
        assert token.bytes == text.encode()[token.start : token.end]
        at = token.end
    assert at == len(text.encode())
    check_glyphs(tokens, text)
    return tokens


def check_glyphs(tokens: list[Token], text: str) -> None:
    """Glyphs are runs of tokens 1 … n over whole characters; what has none is text by itself."""
    place = 0
    while place < len(tokens):
        glyph = tokens[place].glyph
        if glyph is None:
            assert tokens[place].text is not None, tokens[place]
            place += 1
            continue
        run = tokens[place : place + glyph.parts]
        assert [(token.glyph.text, token.glyph.part) for token in run if token.glyph] == [
            (glyph.text, part) for part in range(1, glyph.parts + 1)
        ]
        assert b"".join(token.bytes for token in run).decode() == glyph.text
        assert glyph.parts > 1
        place += glyph.parts


@pytest.mark.parametrize("kind", KINDS)
def test_every_script(kind: str) -> None:
    engine, tokenizer = both(kind)
    plain = transformers.PreTrainedTokenizerFast(tokenizer_object=engine, split_special_tokens=True)
    for text in SCRIPTS.values():
        assert check(kind, text)
        assert tokenizer.encode(text) == plain(text)["input_ids"]


@pytest.mark.parametrize("kind", KINDS)
def test_any_text(kind: str) -> None:
    @settings(max_examples=40, deadline=None)
    @given(TEXTS)
    def any_text(text: str) -> None:
        check(kind, text)

    any_text()


@pytest.mark.parametrize("kind", KINDS)
def test_half_a_character_is_refused(kind: str) -> None:
    with pytest.raises(Invalid, match="lone surrogate"):
        both(kind)[1].tokens("a\ud83d b")


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_what_is_composed_covers_what_was_typed(form: Literal["NFC", "NFKC"]) -> None:
    """The issue's case: e and its accent, typed as two characters, are the model's one."""
    kind = f"byte-level BPE under {form}"
    for text in (SCRIPTS["latin, decomposed"], SCRIPTS["hangul, decomposed"], SCRIPTS["greek"]):
        tokens, composed = check(kind, text), check(kind, unicodedata.normalize(form, text))
        assert [token.id for token in tokens] == [token.id for token in composed]
        for typed, made in zip(tokens, composed, strict=True):
            if typed.glyph and made.glyph:
                assert unicodedata.normalize(form, typed.glyph.text) == made.glyph.text
                assert (typed.glyph.part, typed.glyph.parts) == (made.glyph.part, made.glyph.parts)
            else:
                assert unicodedata.normalize(form, typed.text or "") == made.text


@pytest.mark.parametrize(
    "kind", ["word pieces", "sentencepiece unigram", "metaspace always", "lower-cased BPE"]
)
def test_what_a_vocabulary_has_no_word_for_is_marked_as_unknown(kind: str) -> None:
    engine, tokenizer = both(kind)
    tokens = tokenizer.tokens("the ᚠ cat")
    name = "[UNK]" if kind == "word pieces" else "<unk>"
    assert [token.id == engine.token_to_id(name) for token in tokens] == [token.unknown for token in tokens]
    assert "ᚠ" in (next(token.text for token in tokens if token.unknown) or "")
    bytes_too = both("sentencepiece BPE with bytes")[1]
    assert not any(token.unknown for token in bytes_too.tokens("the ᚠ cat"))


def test_a_character_that_a_vocabulary_lacks_is_refused_though_its_neighbours_are_composed() -> None:
    """Of what no token stands for, the accent was composed away and the sign is lost."""
    engine = Engine.from_str(KINDS["metaspace always"]().to_str())
    spec = json.loads(engine.to_str())
    spec["normalizer"] = {"type": "NFC"}
    spec["model"]["unk_token"] = None
    tokenizer = Tokenizer(json.dumps(spec))
    assert [token.text for token in tokenizer.tokens("cafe\u0301  ")][:2] == ["caf", "e\u0301"]
    with pytest.raises(Invalid, match=r"no token for 'щ' \(U\+0449\)"):
        tokenizer.tokens("cafe\u0301 щ ")
