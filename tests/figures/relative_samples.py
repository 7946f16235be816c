"""Small results of the analyses that measure heads by other means than gates, drawn by seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from figures.results import model
from headscope.analyses.base import Result
from headscope.analyses.relatives.schema import MEASURES

TASK = {"name": "pairs", "title": "Pairs", "content_hash": "pairs"}


def relatives() -> Result:
    """Leaving out 1.0 costs most, its slope says nothing; 0.3 harms."""
    draw = np.random.default_rng(7)
    arrays: dict[str, Any] = {}
    for measure in MEASURES:
        values = draw.normal(0, 0.02, (2, 4))
        values[1, 0], values[0, 3] = (0.01, 0.0) if measure.name == "slope" else (3.0, -0.5)
        arrays[measure.name] = np.abs(values) if measure.name == "importance" else values
        arrays[f"{measure.name}_se"] = draw.uniform(0.001, 0.01, (2, 4))
    return Result(
        analysis="relatives",
        schema_version=1,
        params={"n_examples": 16, "points": 8},
        model=model(2, 4, 2),
        task=TASK,
        seeds=(0,),
        arrays={name: array.astype(np.float32) for name, array in arrays.items()},
        values={"n_examples": 16, "loss": 0.2, "loss_closed": 5.0, "path_sum": 4.8, "notes": []},
    )
