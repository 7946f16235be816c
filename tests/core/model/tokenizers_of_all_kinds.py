"""Small tokenizers of every kind that models come with, trained here; and scripts to hold them to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers import Tokenizer as Engine

SCRIPTS: Mapping[str, str] = {
    "latin": "The quick brown fox naïve café Ångström İstanbul straße ﬁne ½ x²",
    "latin, decomposed": "cafe\u0301 nai\u0308ve A\u030anger e\u0323\u0302 e\u0302\u0323 a\u0315\u0300",
    "cyrillic": "привет, мир! Ёжик и\u0306",
    "greek": "Ελληνικά ΣΟΦΟΣ ά α\u0301",
    "arabic": "مرحبا بالعالم مَرْحَبًا",
    "hebrew": "שלום שָׁלוֹם",
    "devanagari": "नमस्ते क्षत्रिय कि",
    "thai": "สวัสดีน้ำ กำ",
    "cjk": "日本語の文章 中文，標點。",
    "hangul": "한국어 안녕",
    "hangul, decomposed": "\u1112\u1161\u11ab\u1100\u116e\u11a8",
    "emoji": "😀 👩\u200d🚀 👍🏽 👨\u200d👩\u200d👧\u200d👦 ❤\ufe0f 1\ufe0f\u20e3",
    "flags": "🇩🇪🇫🇷🇯🇵",
    "control characters": "a\x00b\x07c\x1b[0m\x7f\u0085\u200b\u202e\ufeff",
    "line ends and tabs": "a\r\nb\rc\n\n\td\t\te\n",
    "spaces": "  a   b \u00a0c\u3000d    ",
    "code": "def f(x):\n    return {'a': 1_000}  # <unk> ▁ Ġ",
    "long words": "pneumono" * 60 + " " + "д" * 150,
    "together": "日本語 😀 привет",
}
TRAINED_ON = [*SCRIPTS.values(), "the cat sat on the mat. The cats' mats, 12 345 of them!"] * 4

GPT4 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)


def byte_level(normalizer: Any = None, *, prefix: bool = False, size: int = 420) -> Engine:
    """GPT-2's: byte-level BPE."""
    engine = Engine(models.BPE())
    engine.normalizer = normalizer
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    engine.decoder = decoders.ByteLevel()
    engine.post_processor = processors.ByteLevel(trim_offsets=True)
    return _trained(engine, trainers.BpeTrainer, size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def tiktoken_like() -> Engine:
    """Llama 3's and Qwen's: a regex cuts words, then byte-level BPE without the regex of its own."""
    engine = Engine(models.BPE(ignore_merges=True))
    engine.normalizer = normalizers.NFC()
    engine.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(GPT4), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    engine.decoder = decoders.ByteLevel()
    return _trained(engine, trainers.BpeTrainer, 420, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def sentencepiece_bpe(*normal: Any) -> Engine:
    """Gemma's and Llama 2's: BPE over words joined by U+2581, and bytes for what has no piece."""
    replace = normalizers.Replace(" ", "▁")
    learns = Engine(models.BPE())
    learns.normalizer = replace
    _trained(learns, trainers.BpeTrainer, 90, sample=["the cat sat on the mat, naïve привет"] * 4)
    spec = json.loads(learns.to_str())
    _with_bytes(spec["model"]["vocab"])
    spec["model"] |= {"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True}
    spec["decoder"] = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}
    engine = Engine.from_str(json.dumps(spec))
    engine.normalizer = normalizers.Sequence([*normal, replace])
    return engine


def unigram(*, bytes_too: bool) -> Engine:
    """T5's and XLM-R's: sentencepiece's unigram under NFKC, spaces collapsed, in Metaspace."""
    engine = Engine(models.Unigram())
    engine.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
            normalizers.Strip(left=False, right=True),
        ]
    )
    engine.pre_tokenizer = pre_tokenizers.Metaspace()
    engine.decoder = decoders.Metaspace()
    _trained(
        engine,
        trainers.UnigramTrainer,
        150,
        specials=["<unk>"],
        unk_token="<unk>",
        sample=["The cat sat on the mats, naïve привет हिंदी"] * 4,
    )
    if not bytes_too:
        return engine
    spec = json.loads(engine.to_str())
    spec["model"]["vocab"] += [[f"<0x{byte:02X}>", -20.0] for byte in range(256)]
    spec["model"]["byte_fallback"] = True
    return Engine.from_str(json.dumps(spec))


def word_piece(normalizer: Any = None) -> Engine:
    """BERT's: lower case without accents, spaces dropped, words that can't be built unknown."""
    engine = Engine(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    engine.normalizer = normalizer or normalizers.BertNormalizer()
    engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    engine.decoder = decoders.WordPiece()
    return _trained(engine, trainers.WordPieceTrainer, 260, specials=["[UNK]"], sample=TRAINED_ON[:6])


def metaspace(scheme: str, *, split: bool = True) -> Engine:
    """BPE in Metaspace, the space put first by ``scheme``."""
    engine = Engine(models.BPE(unk_token="<unk>"))
    engine.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    engine.decoder = decoders.Metaspace(prepend_scheme=scheme, split=split)
    return _trained(engine, trainers.BpeTrainer, 400, specials=["<unk>"])


def lower_cased() -> Engine:
    """GPT-1's and CLIP's: lower-cased characters, a word's last one marked."""
    engine = Engine(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    engine.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    engine.pre_tokenizer = pre_tokenizers.Whitespace()
    return _trained(engine, trainers.BpeTrainer, 300, specials=["<unk>"], end_of_word_suffix="</w>")


def stripped() -> Engine:
    """Byte-level under decomposition and lower case, accents off: every normaliser at once."""
    return byte_level(
        normalizers.Sequence(
            [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()]
        )
    )


KINDS: Mapping[str, Callable[[], Engine]] = {
    "byte-level BPE": byte_level,
    "byte-level BPE with a prefix space": lambda: byte_level(prefix=True),
    "byte-level BPE of single bytes": lambda: byte_level(size=256),
    "byte-level BPE under NFC": lambda: byte_level(normalizers.NFC()),
    "byte-level BPE under NFD": lambda: byte_level(normalizers.NFD()),
    "byte-level BPE under NFKC": lambda: byte_level(normalizers.NFKC()),
    "byte-level BPE, accents stripped": stripped,
    "tiktoken-like": tiktoken_like,
    "sentencepiece BPE with bytes": sentencepiece_bpe,
    "sentencepiece BPE with a prefix": lambda: sentencepiece_bpe(normalizers.Prepend("▁")),
    "sentencepiece BPE under NFKC": lambda: sentencepiece_bpe(normalizers.NFKC()),
    "sentencepiece unigram": lambda: unigram(bytes_too=False),
    "sentencepiece unigram with bytes": lambda: unigram(bytes_too=True),
    "word pieces": word_piece,
    "word pieces, case kept": lambda: word_piece(normalizers.BertNormalizer(lowercase=False)),
    "metaspace always": lambda: metaspace("always"),
    "metaspace first": lambda: metaspace("first"),
    "metaspace first, unsplit": lambda: metaspace("first", split=False),
    "metaspace never": lambda: metaspace("never"),
    "lower-cased BPE": lower_cased,
}


def _trained(
    engine: Engine,
    trainer: Any,
    size: int,
    *,
    specials: Sequence[str] = (),
    sample: Sequence[str] = TRAINED_ON,
    **more: Any,
) -> Engine:
    engine.train_from_iterator(
        sample, trainer(vocab_size=size, special_tokens=list(specials), show_progress=False, **more)
    )
    return engine


def _with_bytes(vocabulary: dict[str, int]) -> None:
    for piece in ("<unk>", *(f"<0x{byte:02X}>" for byte in range(256))):
        vocabulary[piece] = len(vocabulary)
