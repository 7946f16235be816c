"""An example of everything that a look at a prompt sends and answers, for the API's document."""

from __future__ import annotations

from typing import Any, Final

TOKEN: Final[dict[str, Any]] = {
    "id": 3290,
    "start": 0,
    "end": 4,
    "text": "cats",
    "hex": "63617473",
    "special": False,
}
PROMPT: Final[dict[str, Any]] = {"model": "headscope-2l", "text": "the cat sat on the cat", "bos": None}
_SCORE: Final[dict[str, Any]] = {
    "name": "induction",
    "title": "Induction",
    "reading": "How much a repeated token looks at what followed its earlier copy.",
    "unit": None,
}
_THUMBS: Final[dict[str, Any]] = {
    "size": 1,
    "block": 1,
    "values": {"dtype": "u1", "shape": "1, 1, 1", "bdata": "/w=="},
}
_ANSWER: Final[dict[str, Any]] = {
    "token": TOKEN,
    "before": -0.02,
    "after": -2.9,
    "rank_before": 0,
    "rank_after": 3,
}
_PART: Final[dict[str, Any]] = {"name": "embedding", "title": "Embedding", "value": 0.8}
_LENS_LAYER: Final[dict[str, Any]] = {
    "layers": 1,
    "top": [TOKEN],
    "top_probability": [0.61],
    "log_probability": -0.5,
    "rank": 0,
}

LAB_EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "LabIn": PROMPT,
    "PatternsIn": {**PROMPT, "layers": [1]},
    "TopKeys": {
        "keys": {"dtype": "u2", "shape": "1, 1, 1, 1", "bdata": "AAA="},
        "weights": {"dtype": "u1", "shape": "1, 1, 1, 1", "bdata": "/w=="},
        "rest": {"dtype": "f4", "shape": "1, 1, 1", "bdata": "AAAAAA=="},
    },
    "PatternsOut": {
        "model": "headscope-2l",
        "tokens": [TOKEN],
        "layers": [1],
        "patterns": {"dtype": "f4", "shape": "1, 1, 1, 1", "bdata": "AACAPw=="},
    },
    "LookIn": {**PROMPT, "fold": True},
    "ScoreOut": _SCORE,
    "Thumbs": _THUMBS,
    "LookOut": {
        "model": "headscope-2l",
        "n_kv_heads": 8,
        "tokens": [TOKEN],
        "n_ctx": 256,
        "bos": "none",
        "copies": [[]],
        "scores": [_SCORE],
        "values": {"dtype": "f4", "shape": "1, 1, 1", "bdata": "AAAAAA=="},
        "loss": {"dtype": "f4", "shape": "1", "bdata": "AADAfw=="},
        "loss_first": None,
        "loss_repeat": None,
        "sink": 0.42,
        "thumbs": _THUMBS,
    },
    "GatesIn": {**PROMPT, "gates": [[1.0, 0.0]], "top": 10, "board": "a1b2", "turn": 7},
    "NextToken": {"token": TOKEN, "before": 0.983, "after": 0.055},
    "Answer": _ANSWER,
    "Change": {"before": 4.2, "after": -0.3},
    "GatesOut": {
        "model": "headscope-2l",
        "tokens": [TOKEN],
        "at": 0,
        "next": [{"token": TOKEN, "before": 0.983, "after": 0.055}],
        "answers": [_ANSWER],
        "logit_difference": None,
        "loss_before": [None],
        "loss_after": [None],
        "kl": 2.91,
    },
    "ContinueIn": {**PROMPT, "gates": [[1.0, 0.0]], "n_tokens": 20, "temperature": 0.0},
    "ContinueOut": {"model": "headscope-2l", "before": [TOKEN], "after": [TOKEN], "note": ""},
    "HeadAblationIn": {**PROMPT, "layer": 1, "head": 4},
    "HeadAblationOut": {
        "model": "headscope-2l",
        "layer": 1,
        "head": 4,
        "loss": {"dtype": "f4", "shape": "3, 1", "bdata": "AADAfwAAwH8AAMB/"},
        "loss_repeat": [0.4, 2.1, 2.2],
    },
    "AttributionIn": {**PROMPT, "at": 5, "token": 3290},
    "Part": _PART,
    "AttributionOut": {
        "model": "headscope-2l",
        "tokens": [TOKEN],
        "at": 0,
        "token": TOKEN,
        "against": None,
        "heads": {"dtype": "f4", "shape": "1, 1", "bdata": "AACAPw=="},
        "parts": [_PART],
        "total": 1.8,
        "logit": 1.8,
        "note": "",
    },
    "LensIn": {**PROMPT, "at": 5},
    "LensLayer": _LENS_LAYER,
    "LensOut": {"model": "headscope-2l", "at": 0, "token": TOKEN, "layers": [_LENS_LAYER]},
}
