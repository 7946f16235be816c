"""A small result of each analysis, drawn by seed: what figures, tables and exports are tested with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from figures import circuit_samples
from figures.results import model, result
from headscope.analyses.base import Result
from headscope.core.scores import SCORES


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
    return Result(
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


SAMPLES: Mapping[str, Callable[[], Result]] = {
    "chg": result,
    "induction": induction,
    "eigen": circuit_samples.eigen,
    "composition": circuit_samples.composition,
}
