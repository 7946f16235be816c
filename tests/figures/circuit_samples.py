"""Small results of the analyses that read weights, drawn by seed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from figures.results import model
from headscope.analyses.base import Result
from services.results import made

FOLDED = {"weight_processing": "folded", "dtype": "float32"}
MODEL = replace(model(2, 4, 2), weight_processing="folded")


def sample(analysis: str, arrays: dict[str, Any], seeds: int = 0, **values: Any) -> Result:
    """A result of the tiny model."""
    return made(
        analysis=analysis,
        schema_version=1,
        params=FOLDED,
        model=MODEL,
        task=None,
        seeds=tuple(range(seeds)),
        arrays=arrays,
        values={"limits": ["Positions are left out."], "notes": [], **values},
    )


def eigen() -> Result:
    """1.0 copies and matches; the first layer has no QK through another head."""
    draw = np.random.default_rng(2)
    arrays: dict[str, Any] = {}
    for name in ("ov", "qk", "qk_best", "qk_all", "qk_offset"):
        values = draw.normal(0, 1, (2, 4, 4, 2)) * np.array([10, 1, 0.1, 1e-6])[:, None]
        if name in ("ov", "qk_best"):
            values[1, 0, :, 0] = np.abs(values[1, 0, :, 0]) + 1
        if name in ("qk_best", "qk_all"):
            values[0] = np.nan
        arrays[name] = values.astype(np.float32)
        moduli = np.hypot(values[..., 0], values[..., 1])
        arrays[f"{name}_positivity"] = (values[..., 0].sum(-1) / moduli.sum(-1)).astype(np.float32)
    scores = draw.uniform(0, 0.3, (3, 3, 2, 4)).astype(np.float32)
    scores[0, :, 1, 0], scores[1, :, 0, 2] = 0.9, 0.8
    arrays |= dict(zip(("induction", "previous", "current"), scores, strict=True))
    arrays["best_previous"] = np.array([[-1, -1], [0, 2]], dtype=np.int16)
    return sample("eigen", arrays, seeds=3)


def composition() -> Result:
    """The keys of 1.0 read what 0.2 writes."""
    draw = np.random.default_rng(3)
    arrays: dict[str, Any] = {}
    for kind in ("q", "k", "v"):
        scores = np.full((2, 4, 2, 4), np.nan, dtype=np.float32)
        scores[0, :, 1] = draw.normal(0, 0.02, (4, 4))
        arrays[kind] = scores
    arrays["k"][0, 2, 1, 0] = 0.2
    return sample("composition", arrays, baseline=0.25)


TOKENS = [[0, "\n", "0a"], [1, " keep", "206b656570"], [2, "<b>", "3c623e"], [3, None, "ff"]]


def skip_trigrams() -> Result:
    """Two heads, of which the second has a crossed pair and the first none."""
    draw = np.random.default_rng(4)
    near = draw.integers(0, 4, (2, 3, 2)).astype(np.int32)
    falling = np.sort(draw.uniform(0, 3, (2, 3, 2)))[..., ::-1].astype(np.float32)
    crossed = np.full((2, 2, 5), -1, np.int32)
    scores = np.full((2, 2, 4), np.nan, np.float32)
    margin = np.full((2, 2), np.nan, np.float32)
    crossed[1, 0], scores[1, 0], margin[1, 0] = (1, 0, 2, 3, 0), (8, 15, 10, 12), 3
    arrays: dict[str, Any] = {
        "heads": np.array([[0, 1], [1, 0]], np.uint16),
        "sources": np.array([[1, 2, 3], [3, 0, 1]], np.int32),
        "scores": np.array([[5, 4, 3], [9, 2, 1]], np.float32),
        "destinations": near,
        "q": falling,
        "outputs": near[..., ::-1].copy(),
        "o": falling * 2,
        "crossed": crossed,
        "crossed_scores": scores,
        "crossed_margin": margin,
        "bigram_rows": np.array([1, 2], np.int32),
        "bigram_columns": np.array([0, 3], np.int32),
        "bigram_values": np.array([7.5, 2.25], np.float32),
    }
    return sample("skip-trigrams", arrays, tokens=TOKENS, vocabulary=100)


def paths() -> Result:
    """A few paths of each order, two virtual heads, and something through MLPs."""
    draw = np.random.default_rng(5)
    pattern = np.tril(draw.uniform(0.1, 1, (2, 4, 4)))
    virtual = np.full((3, 2, 4, 2, 4), np.nan, np.float32)
    virtual[:, 0, :, 1] = draw.normal(0, 0.1, (3, 4, 4))
    arrays: dict[str, Any] = {
        "first": np.array([2, -1, 2, 5, 1], np.int32),
        "second": np.array([4, -1, -1, -1, 6], np.int32),
        "source": np.array([0, 0, 1, 2, 0], np.uint8),
        "value": np.array([3, -2, 1.5, 0.5, -0.25], np.float32),
        "pairs": np.array([[0, 2, 1, 0], [0, 1, 1, 2]], np.uint16),
        "pair_pattern": (pattern / pattern.sum(-1, keepdims=True)).astype(np.float32),
        "pair_spectrum": draw.normal(0, 1, (2, 4, 2)).astype(np.float32),
        "orders": np.array([[4, 3, 2], [4.2, 3.1, 2.2], [3.9, 2.8, 1.9]], np.float32),
        "heads": draw.normal(0, 0.3, (3, 2, 4)).astype(np.float32),
        "virtual": virtual,
    }
    prompt = [TOKENS[1], TOKENS[2], TOKENS[3], TOKENS[0]]
    values = {"at": 3, "token": 2, "against": 0, "total": 2.5, "logit": 2.5, "n_terms": 5}
    values |= {"longer": 0.0, "through_mlps": -0.25, "other_terms": 0.0}
    return sample("paths", arrays, 3, tokens=TOKENS, prompt=prompt, pairs_by="importance", **values)


def residual() -> Result:
    """Two layers with MLPs; a head and a few neurons clear what they read."""
    draw = np.random.default_rng(6)
    writers = ["embed", *(f"{layer}.{head}" for layer in range(2) for head in range(4)), "mlp 0", "mlp 1"]
    readers = [f"{layer}.{head} {kind}" for layer in range(2) for kind in "qkv" for head in range(4)]
    readers += ["mlp 0", "mlp 1", "unembed"]
    shares = draw.uniform(0, 0.5, (len(writers), len(readers))).astype(np.float32)
    shares[1:5, :12] = np.nan
    erasing = draw.uniform(-1, 0.2, (2, 4)).astype(np.float32)
    erasing[1, 3] = 0.9
    arrays: dict[str, Any] = {
        "shares": shares,
        "written": draw.uniform(1, 9, len(writers)).astype(np.float32),
        "cosine": draw.uniform(-1, 0.5, (2, 12)).astype(np.float32),
        "erasing": erasing,
        "current": draw.uniform(0, 1, (2, 4)).astype(np.float32),
        "stream": draw.uniform(1, 20, (3, 5)).astype(np.float32),
        "attention": draw.uniform(1, 5, (2, 5)).astype(np.float32),
        "mlp": draw.uniform(1, 5, (2, 5)).astype(np.float32),
    }
    return sample("residual", arrays, writers=writers, readers=readers)
