"""Small results of the analyses that score attention patterns, drawn by seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from figures.results import model
from headscope.analyses.base import Result
from headscope.analyses.battery.tally import Tally
from headscope.core.patterns.scores import SCORES
from services.results import made


def induction(seeds: int = 3, length: int = 6) -> Result:
    """Two layers of four heads; 1.0 does induction, the repeat is cheap, two heads were gated off."""
    draw = np.random.default_rng(1)
    shape = (seeds, 2, 4)
    arrays: dict[str, Any] = {score.name: draw.uniform(0, 0.4, shape) for score in SCORES}
    arrays["induction"][:, 1, 0] = draw.uniform(0.8, 0.9, seeds)
    arrays["entropy"] = draw.uniform(0, 2, shape)
    loss = np.where(np.arange(2 * length + 1) > length + 1, 0.3, 4.0) + draw.normal(
        0, 0.1, (seeds, 2 * length + 1)
    )
    loss[:, 0] = np.nan
    arrays |= {
        "loss": loss,
        "loss_first": np.nanmean(loss[:, : length + 1], axis=1),
        "loss_second": loss[:, length + 2 :].mean(axis=1),
        "learning": loss[:, -1] - loss[:, 1],
        "rise_free": draw.uniform(0, 3, (seeds, 2)),
        "rise_frozen": draw.uniform(-0.1, 1, (seeds, 2)),
    }
    typed = {name: array.astype(np.float32) for name, array in arrays.items()}
    return made(
        analysis="induction",
        schema_version=1,
        params={"seeds": seeds, "length": length, "copies": 2, "ablate": 2, "gates": None},
        model=model(2, 4, 2),
        task=None,
        seeds=tuple(range(seeds)),
        arrays={**typed, "ablated_heads": np.array([[1, 0], [0, 3]], np.uint16)},
        values={
            "positions": 2 * length + 1,
            "bos": True,
            "copies_start": [1, length + 1],
            "learning_pair": [1, 2 * length],
            "notes": [],
        },
    )


def in_context_learning(documents: int = 20) -> Result:
    """Loss falls by two nats within the first hundred tokens; without 1.0 it falls by one."""
    draw = np.random.default_rng(3)
    fall = 2 - 2 * np.exp(-np.arange(512) / 30)
    loss = 5 - fall + draw.normal(0, 1, (documents, 512))
    loss[:, 0] = np.nan
    at = loss[None][:, :, (50, 500)].repeat(2, axis=0)
    around = np.stack([loss[:, p - 10 : p + 11].mean(1) for p in (50, 500)], axis=1)[None].repeat(2, axis=0)
    for closed in (at, around):
        closed[0] += [0.2, 1.2] + draw.normal(0, 0.1, (documents, 2))
        closed[1] += draw.normal(0, 0.1, (documents, 2))
    arrays = {"loss": loss, "closed_at": at, "closed_around": around}
    return made(
        analysis="in-context-learning",
        schema_version=1,
        params={"prompts": None, "documents": documents, "window": 10, "heads": "1.0, 0.3"},
        model=model(2, 4, 2),
        task=None,
        seeds=(),
        arrays={
            **{name: array.astype(np.float32) for name, array in arrays.items()},
            "documents": np.arange(documents, dtype=np.uint32),
            "closed_heads": np.array([[1, 0], [0, 3]], np.uint16),
        },
        values={"n_short": 0, "source": "plays of William Shakespeare", "notes": []},
    )


def battery(prompts: int = 6) -> Result:
    """Six prompts, in one of which nothing repeats and one of which was too long."""
    draw = np.random.default_rng(2)
    values = draw.uniform(0, 0.9, (prompts, len(SCORES), 2, 4))
    values[0, :3] = values[prompts - 1] = np.nan
    tally = Tally.of(values, 0)
    losses = {name: draw.uniform(1, 4, prompts) for name in ("loss", "loss_first", "loss_repeat")}
    losses["loss_repeat"][0] = np.nan
    for loss in losses.values():
        loss[-1] = np.nan
    return made(
        analysis="battery",
        schema_version=1,
        params={"prompts": "0" * 20, "too_long": "skip", "gates": None},
        model=model(2, 4, 2),
        task=None,
        seeds=(0,),
        arrays={
            "mean": tally.means().astype(np.float32),
            "sd": tally.spread().astype(np.float32),
            "count": tally.count.astype(np.uint32),
            "top": tally.top,
            "top_value": tally.top_value.astype(np.float32),
            "n_tokens": np.array([5, 9, 12, 7, 20, 900], np.uint32),
            "n_repeats": np.array([0, 3, 4, 2, 9, 0], np.uint32),
            "skipped": np.array([0, 0, 0, 0, 0, 1], np.uint8),
            **{name: loss.astype(np.float32) for name, loss in losses.items()},
        },
        values={
            "scores": [score.name for score in SCORES],
            "n_prompts": prompts,
            "n_skipped": 1,
            "notes": [],
        },
    )
