"""An example of everything that circuit look-ups send and answer, for the API's document."""

from __future__ import annotations

from typing import Any, Final

_TOKEN: Final[dict[str, Any]] = {
    "id": 319,
    "start": 0,
    "end": 4,
    "text": " cat",
    "hex": "20636174",
    "special": False,
}
_CELL: Final[dict[str, Any]] = {"row": _TOKEN, "column": _TOKEN, "value": 12.1}
_WEIGHED: Final[dict[str, Any]] = {"token": _TOKEN, "value": 0.31}
_DIRECTION: Final[dict[str, Any]] = {
    "value": 3.2,
    "left_high": [_WEIGHED],
    "left_low": [],
    "right_high": [_WEIGHED],
    "right_low": [],
}
_TRIGRAM: Final[dict[str, Any]] = {"destination": _TOKEN, "output": _TOKEN, "q": 2.0, "o": 4.0, "score": 8.0}
_PAIRS: Final[dict[str, Any]] = {
    "source": _TOKEN,
    "intended": [_TRIGRAM, _TRIGRAM],
    "crossed": [_TRIGRAM, _TRIGRAM],
    "margin": 1.5,
}
_HEAD: Final[dict[str, Any]] = {
    "model": "headscope-2l",
    "layer": 1,
    "head": 5,
    "weight_processing": "folded",
}
_LIMITS: Final = ["Learned positions are added to the tokens."]

CIRCUIT_EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "TablesIn": {**_HEAD, "circuit": "ov", "token": 319, "top": 20},
    "Cell": _CELL,
    "TablesOut": {
        **_HEAD,
        "circuit": "ov",
        "token": _TOKEN,
        "cells": [_CELL],
        "column": [_CELL],
        "vocabulary": 512,
        "unit": "logits, up to the scale of the norms",
        "limits": _LIMITS,
    },
    "CrossedIn": {**_HEAD, "source": 319, "pairs": [[300, 301], [302, 303]]},
    "Trigram": _TRIGRAM,
    "CrossedPairs": _PAIRS,
    "CrossedOut": {**_HEAD, "found": [_PAIRS], "chosen": True, "limits": _LIMITS},
    "VirtualIn": {"model": "headscope-2l", "writer": "0.3", "reader": "1.5 k"},
    "Weighed": _WEIGHED,
    "Direction": _DIRECTION,
    "VirtualOut": {
        "model": "headscope-2l",
        "writer": "0.3",
        "reader": "1.5 k",
        "weight_processing": "folded",
        "left": "reads",
        "right": "reads",
        "norm": 1.9,
        "share": 0.22,
        "random": 0.088,
        "directions": [_DIRECTION],
        "limits": _LIMITS,
    },
    "TokenSearchIn": {"model": "headscope-2l", "text": "cat", "top": 20},
    "TokenSearchOut": {
        "model": "headscope-2l",
        "spelled": [_TOKEN],
        "containing": [_TOKEN],
        "n_containing": 1,
    },
}
