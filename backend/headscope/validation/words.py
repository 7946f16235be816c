"""A tokenizer of single words, for models whose tokens mean nothing."""

from __future__ import annotations

import json

from headscope.core.model.tokens import Tokenizer


def word_tokenizer(n: int, bos: int | None) -> Tokenizer:
    """Token i is the word "wi"; token 0 and ``bos`` are special, and ``bos`` goes first."""
    words = [f"w{i}" for i in range(n)]
    special = [0] if bos is None else [0, bos]
    spec = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": i,
                "content": words[i],
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for i in special
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: i for i, word in enumerate(words)},
            "unk_token": words[0],
        },
    }
    config = {} if bos is None else {"bos_token": words[bos], "add_bos_token": True}
    return Tokenizer(json.dumps(spec), config)
