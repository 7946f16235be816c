"""Small real tokenizers, trained here in milliseconds."""

from __future__ import annotations

import pytest
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers import Tokenizer as Engine

from headscope.core.model.tokens import Tokenizer
from headscope.tasks.builtin import builtin_tasks
from headscope.tasks.text import TextTask

BOS = "<|begin|>"


def _corpus() -> list[str]:
    tasks = [task for task in builtin_tasks().values() if isinstance(task, TextTask)]
    return [f"Q: {row.prompt}\nA: {row.target}" for task in tasks for row in task.rows[:300]]


def _engine(n_vocab: int) -> Engine:
    engine = Engine(models.BPE())
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    engine.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    engine.train_from_iterator(
        _corpus(),
        trainers.BpeTrainer(
            vocab_size=n_vocab, special_tokens=[BOS], initial_alphabet=alphabet, show_progress=False
        ),
    )
    return engine


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    """Byte-level BPE that puts BOS first by itself, like Llama 3's."""
    engine = _engine(2000)
    engine.post_processor = processors.TemplateProcessing(single=f"{BOS} $A", special_tokens=[(BOS, 0)])
    return Tokenizer(engine.to_str())


@pytest.fixture(scope="session")
def without_bos() -> Tokenizer:
    """Byte-level BPE without a beginning-of-sequence token."""
    return Tokenizer(_engine(2000).to_str())


@pytest.fixture(scope="session")
def only_bytes() -> Tokenizer:
    """A vocabulary of 256 bytes and BOS."""
    return Tokenizer(_engine(257).to_str())


@pytest.fixture(scope="session")
def straddling() -> Tokenizer:
    """Byte-level BPE without pre-tokenisation, with tokens ``:c`` and ``: ``: tokens cross the boundary."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [(":", "c"), (":", "Ġ"), ("a", "t")]
    vocabulary = {piece: i for i, piece in enumerate([*alphabet, *("".join(m) for m in merges)])}
    engine = Engine(models.BPE(vocabulary, merges))
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    engine.decoder = decoders.ByteLevel()
    return Tokenizer(engine.to_str())


@pytest.fixture(scope="session")
def sentencepiece() -> Tokenizer:
    """Like Llama 2's: U+2581 for a space, one put first, bytes as fallback, no pre-tokenisation."""
    letters = ["▁", *"abcdefghijklmnopqrstuvwxyz:^QA"]
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    merges = [("c", "a"), ("ca", "t"), ("▁", "cat"), ("d", "o"), ("do", "g"), ("▁", "dog")]
    pieces = ["<unk>", "<s>", *fallback, *letters, *("".join(m) for m in merges)]
    engine = Engine(
        models.BPE(
            {piece: i for i, piece in enumerate(pieces)},
            merges,
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    engine.add_special_tokens(["<unk>", "<s>"])
    engine.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    engine.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    engine.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return Tokenizer(engine.to_str())


@pytest.fixture(scope="session")
def lowercasing() -> Tokenizer:
    """A normaliser that changes the text: pieces don't spell it, spans come from offsets."""
    engine = _engine(2000)
    engine.normalizer = normalizers.Sequence(
        [normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()]
    )
    return Tokenizer(engine.to_str())


@pytest.fixture(scope="session")
def composing() -> Tokenizer:
    """A normaliser that makes one character of a letter and its accent."""
    engine = _engine(2000)
    engine.normalizer = normalizers.NFC()
    return Tokenizer(engine.to_str())


@pytest.fixture(scope="session")
def replacing() -> Tokenizer:
    """A normaliser that makes one space of several, and one quotation mark of two."""
    engine = _engine(2000)
    engine.normalizer = normalizers.Sequence(
        [normalizers.Replace(Regex(" +"), " "), normalizers.Replace("``", '"')]
    )
    return Tokenizer(engine.to_str())


@pytest.fixture(scope="session")
def words() -> Tokenizer:
    """Whole words, and a normaliser that strips marks without a word."""
    engine = Engine(models.WordLevel({"[UNK]": 0, "say": 1, "cat": 2}, unk_token="[UNK]"))
    engine.pre_tokenizer = pre_tokenizers.Whitespace()
    engine.normalizer = normalizers.StripAccents()
    return Tokenizer(engine.to_str())
