"""A small result of each analysis, drawn by seed: what figures, tables and exports are tested with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from figures import (
    circuit_samples,
    gates_samples,
    meaning_samples,
    mediation_samples,
    pattern_samples,
    relative_samples,
)
from figures.results import model, result
from headscope.analyses.base import Result
from headscope.analyses.circuit_test.result import CircuitTestResult
from headscope.analyses.circuit_test.schema import CircuitTestParams
from headscope.analyses.circuit_test.verdicts import verdicts
from headscope.analyses.sequential_ablation.summary import values
from services.results import made


def sufficiency() -> Result:
    """Three of eight heads keep 96 % of the gain; two random orders don't."""
    k = np.array([0, 1, 2, 3, 4, 8], np.uint32)
    kept = np.array([0, 0.1, 0.4, 0.96, 1.02, 1.0])
    tried = np.array([0, 1, 4, 8], np.uint32)
    random = np.array([[0, 0.02, 0.3, 1], [0, 0, 0.5, 1]])
    subset = np.zeros((2, 4), np.float32)
    subset[[0, 0, 1], [0, 2, 0]] = 1
    order = np.array([[0, 0], [1, 0], [0, 2], [1, 1], [0, 1], [1, 2], [1, 3], [0, 3]], np.uint16)
    score = np.zeros((2, 4), np.float32)
    score[tuple(order.T.astype(int))] = np.linspace(0.99, 0.01, 8)
    arrays = {"kept": kept, "log_probability": 3 * kept - 3.1, "accuracy": np.clip(kept, 0, 1)}
    arrays |= {
        f"random_{name}": array
        for name, array in {"kept": random, "log_probability": 3 * random - 3.1, "accuracy": random}.items()
    }
    return made(
        analysis="sufficiency",
        schema_version=1,
        params={"run": "0" * 20, "keep": 0.95, "points": 4, "orders": 2},
        model=model(2, 4, 2),
        task={"name": "pairs", "title": "Pairs"},
        seeds=(0, 1),
        arrays={
            **{name: array.astype(np.float32) for name, array in arrays.items()},
            "open_heads": k,
            "random_open_heads": tried,
            "order": order,
            "facilitation": score,
            "subset": subset,
        },
        values={
            "fewest": 3,
            "n_heads": 8,
            "kept": 0.96,
            "log_probability_closed": -3.1,
            "log_probability_open": -0.1,
            "n_test": 40,
            "notes": [],
        },
    )


def sequential_ablation(seeds: int = 2) -> Result:
    """Eight heads: the needed first fall at once, the harmful first rise, the others fall late."""
    draw = np.random.default_rng(5)
    k = np.arange(9)
    shapes = np.stack([-4 * (1 - np.exp(-k / 1.5)), 1.2 * np.exp(-((k - 2) ** 2) / 4) - k / 2, -(k**3) / 128])
    shapes[:, 0], shapes[:, -1] = 0, -4
    middle = (k > 0) & (k < 8)
    delta = shapes[:, None] + middle * draw.normal(0, 0.1, (3, seeds, 9))
    chance = -k / 2 + middle * draw.normal(0, 0.5, (4, 9))
    arrays: dict[str, Any] = {
        **{"delta": delta, "closed": delta - 0.3, "opened": np.full_like(delta, -0.3)},
        **{
            "random_delta": chance,
            "random_closed": chance - 0.3,
            "random_opened": np.full_like(chance, -0.3),
        },
        "score": np.sort(draw.uniform(0, 1, (3, seeds, 8)))[..., ::-1].copy(),
    }
    order = np.argsort(draw.uniform(size=(3, seeds, 8)))
    arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
    arrays |= {
        "k": k.astype(np.uint16),
        "order": order.astype(np.uint16),
        "random_order": np.argsort(draw.uniform(size=(4, 8))).astype(np.uint16),
        "random_seed": (np.arange(4) % seeds).astype(np.uint16),
    }
    return made(
        analysis="sequential-ablation",
        schema_version=1,
        params={"gating": "0" * 20, "points": 24, "orders": 4, "n_test": 64},
        model=model(2, 4, 2),
        task={"name": "pairs", "title": "Pairs"},
        seeds=tuple(range(seeds)),
        arrays=arrays,
        values=values(arrays, 64, ()),
    )


def circuit_test() -> Result:
    """Three of eight heads: sufficient, not all shown to be needed, told apart from the model."""
    draw = np.random.default_rng(6)
    score = np.round(draw.uniform(0, 1, (2, 2, 4)), 3)
    curve = np.array([[0.2, 0.97, 1.0], [-0.1, 0.8, 1.0]])
    random_curve = np.sort(draw.uniform(-0.2, 1, (4, 3)), axis=1)
    random_curve[:, -1] = 1
    arrays: dict[str, Any] = {
        "curve": curve, "random_curve": random_curve, "cpr": [0.71, 0.58], "cmd": [0.17, 0.3],
        "random_cpr": draw.uniform(0.2, 0.5, 4), "random_cmd": draw.uniform(0.4, 0.7, 4),
        "at_size": [0.95, 0.7], "score": score, "random": draw.uniform(-11, -4, 19),
        "random_without": draw.uniform(-4, -1, 19), "subset_kept": draw.uniform(0, 0.8, 6),
        "subset_whole": draw.uniform(0.1, 0.9, 6), "loss": [4.0, 2.5, 0.1], "loss_p": [1 / 6, 1 / 6, 0.5],
        "inflated": [0.3, -0.2, 0.0, 0.1, 0.05], "example_model": draw.normal(-1, 0.3, 24),
        "example_circuit": draw.normal(-1.4, 0.3, 24), "example_without": draw.normal(-9, 1, 24),
    }  # fmt: skip
    numbers: dict[str, Any] = {name: np.asarray(array, np.float32) for name, array in arrays.items()}
    numbers["score"] = score
    whole = made(
        analysis="circuit-test",
        schema_version=1,
        params=CircuitTestParams(heads="0.0, 0.2, 1.0", n_test=24).model_dump(mode="json"),
        model=model(2, 4, 2),
        task={"name": "pairs", "title": "Pairs", "content_hash": "pairs"},
        seeds=tuple(range(4)),
        arrays={
            **numbers,
            "heads": np.array([[0, 0], [0, 2], [1, 0]], np.uint16),
            "kept_heads": np.array([1, 4, 8], np.uint32),
            "subset_size": np.array([1, 2, 3, 0, 1, 2], np.uint32),
            "inflated_heads": np.array([[0, 1], [0, 3], [1, 1], [1, 2], [1, 3]], np.uint16),
        },
        values={
            "rankings": ["gating", "left_out"],
            "n_heads": 8,
            "n_test": 24,
            "score_none": -11.0,
            "score_all": -1.0,
            "score_circuit": -1.4,
            "score_without": -9.0,
            "score_chance": -4.6,
            "faithfulness": 0.96,
            "tests": [],
            "notes": [],
        },
    )
    assert isinstance(whole, CircuitTestResult)
    return whole.judged(verdicts(whole, 99, 0))


SAMPLES: Mapping[str, Callable[[], Result]] = {
    "chg": result,
    "cchg": gates_samples.cchg,
    "ability": gates_samples.ability,
    "evaluation": gates_samples.evaluation,
    "induction": pattern_samples.induction,
    "in-context-learning": pattern_samples.in_context_learning,
    "battery": pattern_samples.battery,
    "sufficiency": sufficiency,
    "sequential-ablation": sequential_ablation,
    "circuit-test": circuit_test,
    "relatives": relative_samples.relatives,
    "agreement": relative_samples.agreement,
    "probe": relative_samples.probe,
    "mediation-function-vectors": mediation_samples.function_vectors,
    "mediation-abstract-rules": mediation_samples.abstract_rules,
    "meaning": meaning_samples.result,
    "eigen": circuit_samples.eigen,
    "composition": circuit_samples.composition,
    "skip-trigrams": circuit_samples.skip_trigrams,
    "paths": circuit_samples.paths,
    "residual": circuit_samples.residual,
}
