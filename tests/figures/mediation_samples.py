"""Small results of causal mediation, drawn by seed."""

from __future__ import annotations

import numpy as np

from figures.results import model
from headscope.analyses.base import Result
from services.results import made


def function_vectors() -> Result:
    """Two tasks; 1.2 carries both, 0.1 the first, nothing else anything."""
    draw = np.random.default_rng(7)
    rise = draw.normal(0, 0.004, (2, 5, 2, 4))
    rise[:, :, 1, 2] += 0.2
    rise[0, :, 0, 1] += 0.08
    rise[1, 4] = np.nan
    effect = np.nanmean(rise, axis=1)
    significant = np.zeros((2, 2, 4), np.uint8)
    significant[:, 1, 2] = significant[0, 0, 1] = 1
    arrays = {
        "rise": rise,
        "effect": effect,
        "error": np.nanstd(rise, axis=1, ddof=1) / np.sqrt([[[5]], [[4]]]),
        "over_tasks": effect.mean(0),
        "p_clean": np.array([0.82, 0.64]),
        "right_clean": np.array([0.9, 0.7]),
        "p_shuffled": np.array([0.31, 0.12]),
        "right_shuffled": np.array([0.4, 0.25]),
    }
    return made(
        analysis="mediation-function-vectors",
        schema_version=1,
        params={"tasks": ["antonym"], "shots": 5, "clean": 20, "prompts": 5, "sds": 3.0, "seed": 0},
        model=model(2, 4, 2),
        task={"name": "pairs", "title": "Pairs"},
        seeds=(0,),
        arrays={
            **{name: array.astype(np.float32) for name, array in arrays.items()},
            "significant": significant,
            "over_tasks_significant": significant[1],
            "n_prompts": np.array([5, 4], np.uint32),
            "n_clean": np.array([20, 20], np.uint32),
        },
        values={
            "tasks": ["pairs", "antonym"],
            "titles": ["Pairs", "antonym"],
            "limits": [0.07, 0.15],
            "over_tasks_limit": 0.11,
            "notes": ["antonym: 4 shuffled prompts, where 5 were asked for."],
        },
    )


def abstract_rules() -> Result:
    """0.1 abstracts, 0.3 carries the rule, 1.2 retrieves."""
    draw, arrays = np.random.default_rng(8), dict[str, np.ndarray]()
    for name, head in (("abstraction", (0, 1)), ("induction", (0, 3)), ("retrieval", (1, 2))):
        scores = draw.normal(0, 0.3, (9, 2, 4))
        scores[:, head[0], head[1]] += 4
        mean = scores.mean(0)
        p = np.where(mean > 3, 1 / 512, 0.5)
        arrays |= {
            f"{name}_scores": scores.astype(np.float32),
            name: mean.astype(np.float32),
            f"{name}_error": (scores.std(0, ddof=1) / 3).astype(np.float32),
            **{f"{name}_{kind}": p.astype(np.float32) for kind in ("p", "p_max", "p_holm")},
            f"{name}_significant": (mean > 3).astype(np.uint8),
        }
    return made(
        analysis="mediation-abstract-rules",
        schema_version=1,
        params={"shots": 5, "pairs": 9, "candidates": 60, "correction": "max", "alpha": 0.05},
        model=model(2, 4, 2),
        task=None,
        seeds=(0,),
        arrays={**arrays, "rule_base_aba": np.ones(9, np.uint8), "items_base_aba": np.ones(9, np.uint8)},
        values={"tried": {"rule": 31, "items": 12}, "kept": {"rule": 9, "items": 9}, "notes": []},
    )
