"""A model that follows ABA and ABB by one head of each kind, because every weight is set by hand.

0.0  symbol abstraction: looks for its own token, and at a third item writes whether it was there as the first
     or as the second item of its line
1.0  symbolic induction: at the last token, reads the symbols of all third items: the rule
2.0  retrieval: by the rule looks at the question's first or second item and writes it to the logits

Two examples and a question are sixteen tokens: ``a^b^a`` twice with line ends, then ``a^b^``.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import torch

from headscope.core.model.head_model import HeadModel
from headscope.core.model.tokens import Tokenizer
from headscope.validation.model import as_model
from micro.mediator import empty

ABSTRACTION, INDUCTION, RETRIEVAL = (0, 0), (1, 0), (2, 0)
SHOTS, N_CTX, VOCAB = 2, 16, 40
CARET, NEWLINE = 1, 2
ITEMS = torch.arange(3, VOCAB)
D_MODEL = VOCAB + N_CTX + 4 + VOCAB
_FIRST, _SECOND, _RULE_A, _RULE_B = range(VOCAB + N_CTX, VOCAB + N_CTX + 4)
_LOGITS = slice(VOCAB + N_CTX + 4, D_MODEL)
_LOOK, _SURE = 20.0, 10.0
_LAST = 6 * SHOTS + 3


def rule_model() -> HeadModel:
    """The model of the module's table."""
    plan, weights = empty(3, 4, VOCAB, N_CTX, D_MODEL)
    root = math.sqrt(plan.d_head)
    position = torch.arange(VOCAB, VOCAB + N_CTX)
    items = torch.arange(len(ITEMS))
    weights.W_U[_LOGITS] = torch.eye(VOCAB, dtype=torch.float64)

    weights.W_Q[0, 0, ITEMS, items] = _LOOK * root
    weights.W_K[0, 0, ITEMS, items] = 1
    for shot in range(SHOTS):
        weights.W_V[0, 0, position[6 * shot], 0] = weights.W_V[0, 0, position[6 * shot + 2], 1] = 1
    weights.W_O[0, 0, 0, _FIRST] = weights.W_O[0, 0, 1, _SECOND] = 2  # half of its look is at itself

    weights.W_Q[1, 0, position[_LAST], 0] = _LOOK * root
    weights.W_K[1, 0, position[[6 * shot + 4 for shot in range(SHOTS)]], 0] = 1
    weights.W_V[1, 0, _FIRST, 0] = weights.W_V[1, 0, _SECOND, 1] = 1
    weights.W_O[1, 0, 0, _RULE_A] = weights.W_O[1, 0, 1, _RULE_B] = 1

    weights.W_Q[2, 0, _RULE_A, 0] = weights.W_Q[2, 0, _RULE_B, 1] = _LOOK * root
    weights.W_K[2, 0, position[6 * SHOTS], 0] = weights.W_K[2, 0, position[6 * SHOTS + 2], 1] = 1
    weights.W_V[2, 0, ITEMS, items] = 1
    weights.W_O[2, 0, items, _LOGITS.start + ITEMS] = _SURE
    model = as_model(weights, plan, "rules")
    assert model.info.n_ctx == N_CTX
    return _reading(model)


def rule_tokenizer() -> Tokenizer:
    """Every item is a word of two letters; ^ and line ends stand alone."""
    words = [f"{chr(97 + i // 6)}{chr(97 + i % 6)}" for i in range(len(ITEMS))]
    spec: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": r"\^|\n"},
            "behavior": "Isolated",
            "invert": False,
        },
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: i for i, word in enumerate(["[unk]", "^", "\n", *words])},
            "unk_token": "[unk]",
        },
    }
    return Tokenizer(json.dumps(spec), {})


def _reading(model: Any) -> HeadModel:
    model.tokenizer = rule_tokenizer()
    model.info = replace(model.info, bos=False)
    found: HeadModel = model
    return found
