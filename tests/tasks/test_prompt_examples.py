"""Built-in prompts are what they say, for each model's own tokens."""

from __future__ import annotations

from pathlib import Path

import pytest

from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.tasks.prompt_examples import prompt_examples, repeated_words


@pytest.fixture
def bundled(tmp_path: Path) -> Catalogue:
    return Catalogue(Settings(data_dir=tmp_path))


def test_random_words_are_the_same_tokens_twice(bundled: Catalogue) -> None:
    tokenizer = bundled.tokenizer("headscope-2l")
    for seed in range(5):
        text = repeated_words(tokenizer, 16, seed)
        ids = tokenizer.encode(text, bos=False)
        assert len(ids) == 32
        assert ids[:16] == ids[16:]
        assert len(set(ids[:16])) == 16
    assert repeated_words(tokenizer, 16, 0) == repeated_words(tokenizer, 16, 0) != text


def test_each_example_fits_and_names_heads_that_are_there(bundled: Catalogue) -> None:
    info = bundled.info("headscope-2l")
    examples = prompt_examples(info.name, bundled.tokenizer(info.name), info.n_ctx)
    assert [example.name for example in examples] == ["name", "repeated", "code", "plain"]
    for example in examples:
        tokens = bundled.tokenizer(info.name).encode(example.text, bos=example.bos)
        assert 20 < len(tokens) < info.n_ctx
        for head in example.mute:
            layer, number = map(int, head.split("."))
            assert layer < info.n_layers
            assert number < info.n_heads


def test_what_does_not_fit_is_left_out(bundled: Catalogue) -> None:
    names = [e.name for e in prompt_examples("other", bundled.tokenizer("headscope-2l"), 64)]
    assert names == ["name", "repeated"]
