"""Tokens cut the text's bytes without gap or overlap, whatever the text and whatever the tokenizer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Engine
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from headscope.core.model.tokens import Token, Tokenizer
from headscope.errors import Invalid, NotFound

CORPUS = ["the cat sat on the mat 😀 naïve café 日本語の文 <|bos|>\n\tdef f(x): return x"] * 30


def _byte_level(**changes: Any) -> Engine:
    engine = Engine(models.BPE())
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=changes.get("prefix", False))
    engine.decoder = decoders.ByteLevel()
    engine.normalizer = changes.get("normalizer")
    alphabet = pre_tokenizers.ByteLevel.alphabet() if changes.get("complete", True) else []
    engine.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(
            vocab_size=380, initial_alphabet=alphabet, special_tokens=["<|bos|>"], show_progress=False
        ),
    )
    if changes.get("template", True):
        engine.post_processor = processors.TemplateProcessing(
            single="<|bos|> $A", special_tokens=[("<|bos|>", engine.token_to_id("<|bos|>"))]
        )
    return engine


def _sentencepiece(prefix: bool) -> str:
    """BPE as Llama 2 and Gemma have it: U+2581 for spaces, bytes for what has no piece."""
    engine = Engine(models.BPE())
    replace = normalizers.Replace(" ", "▁")
    engine.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), replace]) if prefix else replace
    specials = ["<unk>", "<s>"] + [f"<0x{b:02X}>" for b in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=340, special_tokens=specials, show_progress=False)
    engine.train_from_iterator(["the cat sat on the mat, naïve"] * 30, trainer)
    spec = json.loads(engine.to_str())
    spec["model"] |= {"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True}
    spec["added_tokens"] = [t for t in spec["added_tokens"] if not t["content"].startswith("<0x")]
    spec["decoder"] = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}
    return json.dumps(spec)


def _word_pieces() -> Engine:
    engine = Engine(models.WordPiece(unk_token="[UNK]"))
    engine.normalizer = normalizers.Sequence(
        [normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]
    )
    engine.pre_tokenizer = pre_tokenizers.Whitespace()
    engine.train_from_iterator(
        CORPUS, trainers.WordPieceTrainer(vocab_size=200, special_tokens=["[UNK]"], show_progress=False)
    )
    return engine


TOKENIZERS = {
    "byte-level": Tokenizer(_byte_level().to_str()),
    "byte-level with a prefix space": Tokenizer(_byte_level(prefix=True).to_str()),
    "byte-level, normalised": Tokenizer(_byte_level(normalizer=normalizers.NFC()).to_str()),
    "sentencepiece": Tokenizer(_sentencepiece(prefix=True), {"bos_token": "<s>", "add_bos_token": True}),
    "sentencepiece without prefix": Tokenizer(_sentencepiece(prefix=False)),
    "word pieces": Tokenizer(_word_pieces().to_str()),
}
TEXTS = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("the cat sat <|bos|> ▁ <s> \u0301 \u0327 é 😀 👩\u200d🚀 日 \x00 \n\t"),
    ),
    max_size=40,
)


def _check_spans(tokens: list[Token], text: str) -> None:
    utf8 = text.encode()
    at = 0
    for token in tokens:
        if token.special:
            assert token.start == token.end == 0
            continue
        assert (token.start, token.bytes) == (at, utf8[token.start : token.end])
        at = token.end
    assert b"".join(t.bytes for t in tokens if not t.special) == utf8


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_bytes_add_up_to_the_text(kind: str) -> None:
    tokenizer = TOKENIZERS[kind]

    @settings(max_examples=150, deadline=None)
    @given(TEXTS)
    def check(text: str) -> None:
        if kind == "word pieces" and not tokenizer._engine.encode(text).ids:
            return  # a tokenizer that drops spaces has nothing to hold them
        tokens = tokenizer.tokens(text)
        _check_spans(tokens, text)
        assert [t.id for t in tokens] == tokenizer.encode(text)

    check()


def test_an_emoji_is_cut_at_its_bytes() -> None:
    tokens = TOKENIZERS["byte-level"].tokens("x👩y", bos=False)
    assert tokens[0].bytes == b"x"
    assert b"".join(t.bytes for t in tokens[1:-1]) == "👩".encode()
    assert len(tokens) > 3
    assert [t.text for t in tokens[1:-1]] == [None] * (len(tokens) - 2)
    assert tokens[1].end == 1 + len(tokens[1].bytes)


def test_special_tokens_in_text_are_text() -> None:
    tokenizer = TOKENIZERS["byte-level"]
    tokens = tokenizer.tokens("a <|bos|> b")
    assert [t.special for t in tokens].count(True) == 1
    assert tokens[0] == Token(0, 0, 0, b"<|bos|>", True)
    assert 0 not in [t.id for t in tokens[1:]]
    assert tokenizer.is_special(0)
    assert not tokenizer.is_special(5)


def test_bos_policy() -> None:
    adds = TOKENIZERS["byte-level"]
    assert (adds.bos_id, adds.adds_bos) == (0, True)
    assert adds.encode("cat") == [0, *adds.encode("cat", bos=False)]
    silent = Tokenizer(_byte_level(template=False).to_str(), {"bos_token": {"content": "<|bos|>"}})
    assert (silent.bos_id, silent.adds_bos) == (0, False)
    assert silent.encode("cat", bos=True)[0] == 0
    overruled = Tokenizer(_byte_level().to_str(), {"bos_token": "<|bos|>", "add_bos_token": False})
    assert not overruled.adds_bos
    none = TOKENIZERS["word pieces"]
    assert none.bos_id is None
    with pytest.raises(Invalid, match="no beginning-of-sequence"):
        none.encode("cat", bos=True)
    assert adds.hash != overruled.hash


def test_truncation_in_the_file_is_not_obeyed() -> None:
    engine = _byte_level()
    engine.enable_truncation(3)
    engine.enable_padding(length=50)
    assert len(Tokenizer(engine.to_str()).encode("the quick brown fox jumps", bos=False)) not in (3, 50)


def test_what_can_not_be_encoded_is_named() -> None:
    with pytest.raises(Invalid, match=r"lone surrogate \(U\+D83D\)"):
        TOKENIZERS["byte-level"].encode("ab\ud83d")
    with pytest.raises(Invalid, match="lone surrogate"):
        TOKENIZERS["byte-level"].tokens("\udc00")
    holes = Tokenizer(_byte_level(complete=False).to_str())
    with pytest.raises(Invalid, match=r"no token for 'Ω' \(U\+03A9\)"):
        holes.encode("catΩ")
    assert TOKENIZERS["byte-level"].tokens("a\x00b", bos=False)[1].bytes == b"\x00"


def test_decode_bytes() -> None:
    tokenizer = TOKENIZERS["byte-level"]
    for token in tokenizer.tokens(CORPUS[0], bos=False):
        assert tokenizer.decode_bytes(token.id) == token.bytes
    assert TOKENIZERS["sentencepiece"].decode_bytes(2 + 0x0A) == b"\n"
    for beyond in (tokenizer.n_vocab, -1):
        with pytest.raises(NotFound, match="not in the vocabulary"):
            tokenizer.decode_bytes(beyond)


def test_folders(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no tokenizer\.json"):
        Tokenizer.from_folder(tmp_path)
    _byte_level(template=False).save(str(tmp_path / "tokenizer.json"))
    assert Tokenizer.from_folder(tmp_path).bos_id is None
    (tmp_path / "config.json").write_text('{"bos_token_id": 7}')
    assert Tokenizer.from_folder(tmp_path).bos_id == 7
    (tmp_path / "tokenizer_config.json").write_text('{"bos_token": "<|bos|>", "add_bos_token": true}')
    assert (Tokenizer.from_folder(tmp_path).bos_id, Tokenizer.from_folder(tmp_path).adds_bos) == (0, True)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(Invalid, match="not a tokenizer file"):
        Tokenizer.from_folder(tmp_path)


def test_loads_no_torch() -> None:
    import subprocess
    import sys

    modules = "sys, headscope.core.model.tokens, headscope.core.model.head_model, headscope.models.catalogue"
    words = f"import {modules}; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=True, cwd="backend"
    )
    assert done.stdout.strip() == "False"
