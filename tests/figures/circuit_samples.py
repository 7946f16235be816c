"""Small results of the analyses that read weights, drawn by seed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from figures.results import model
from headscope.analyses.base import Result

FOLDED = {"weight_processing": "folded", "dtype": "float32"}
MODEL = replace(model(2, 4, 2), weight_processing="folded")


def sample(analysis: str, arrays: dict[str, Any], seeds: int = 0, **values: Any) -> Result:
    """A result of the tiny model."""
    return Result(
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
