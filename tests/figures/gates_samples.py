"""Small results of contrastive gating and of gates on tasks."""

from __future__ import annotations

from typing import Any

import numpy as np

from figures.results import model
from headscope.analyses.base import Result
from headscope.analyses.cchg.schema import CchgParams
from services.results import made


def cchg(seeds: int = 2, updates: int = 5) -> Result:
    """Both ways, one push: what is forgotten falls, a held-out task with it; a plain map stands beside."""
    draw = np.random.default_rng(8)
    params = CchgParams(
        retain=("plural",), forget=("plural-instruction",), held_out_forget=("past-instruction",),
        gating="0" * 20, seeds=seeds, steps=updates,
    )  # fmt: skip
    before = np.array([0.8, 0.5, 0.4])
    after = {"named_open": [0.78, 0.05, 0.1], "exchanged_open": [0.1, 0.48, 0.3]}
    arrays: dict[str, Any] = {
        "accuracy_ungated": before,
        "log_probability_ungated": np.log(before),
        "plain_open": draw.uniform(0, 1, (2, 4)),
        "plain_shut": draw.uniform(0, 0.5, (2, 4)),
    }
    curve = np.linspace(-6, -0.5, updates)
    for key, found in after.items():
        accuracy = np.array(found) * draw.uniform(0.95, 1.05, (seeds, 1))
        arrays |= {
            f"g_{key}": draw.uniform(0, 1, (seeds, 2, 4)),
            f"retained_{key}": np.tile(curve, (seeds, 1)),
            f"forgotten_{key}": np.tile(-4 + curve[::-1], (seeds, 1)),
            f"accuracy_{key}": accuracy,
            f"log_probability_{key}": np.log(accuracy),
        }
    common = {
        "content_hash": "1" * 12,
        "form_of": "",
        "judged": "top",
        "n": 40,
        "n_left_out": 0,
        "chance": 0.05,
    }
    places = (
        ("plural", "retain", False),
        ("plural-instruction", "forget", False),
        ("past-instruction", "forget", True),
    )
    sets = (["plural"], ["plural-instruction"])
    return made(
        analysis="cchg",
        schema_version=1,
        params=params.model_dump(mode="json"),
        model=model(2, 4, 2),
        task=None,
        seeds=tuple(range(seeds)),
        arrays={name: np.asarray(array, np.float32) for name, array in arrays.items()},
        values={
            "tasks": [
                {"name": name, "title": name, "set": one, "held_out": held, "verdict": "can", **common}
                for name, one, held in places
            ],
            "fits": [
                {
                    "key": f"{way}_open", "way": way, "push": "open", "regularisation": 0.1,
                    "retain": sets[first], "forget": sets[1 - first],
                    "kept": kept, "left": left, "seeds_apart": apart, "of_seeds": seeds,
                }
                for way, first, kept, left, apart in (
                    ("named", 0, 0.97, 0.1, 2), ("exchanged", 1, 0.96, 0.12, 2),
                )
            ],
            "failed_seeds": {"named_open": [], "exchanged_open": []},
            "keep": 0.9,
            "lose": 0.5,
            "gating": "0" * 20,
            "notes": [],
        },
    )  # fmt: skip


def ability() -> Result:
    """The model can do it from two in-context examples on; ten are too long."""
    accuracy = np.array([0, 0.22, 0.85, 0.88])
    ends = accuracy[:, None] + np.array([[0, 0.04], [-0.08, 0.1], [-0.09, 0.06], [-0.08, 0.05]])
    log_probability = np.array([-7.5, -3.1, -0.62, -0.5])
    arrays = {
        "accuracy": accuracy,
        "accuracy_interval": ends,
        "log_probability": log_probability,
        "log_probability_interval": log_probability[:, None] + np.array([-0.3, 0.3]),
        "chance": np.full(4, 0.05),
    }
    counts = {"shots": [0, 1, 2, 5], "n_test": [96] * 4, "n_left_out": [0, 0, 0, 2]}
    return made(
        analysis="ability",
        schema_version=1,
        params={"shots": [0, 1, 2, 5, 10], "n_test": 96},
        model=model(2, 4, 2),
        task={"name": "pairs", "title": "Pairs"},
        seeds=(),
        arrays={name: array.astype(np.float32) for name, array in arrays.items()}
        | {name: np.array(values, np.uint32) for name, values in counts.items()},
        values={
            "auto": 2,
            "uniform": -float(np.log(100)),
            "judged": "top",
            "left_out": [{"shots": 10, "why": "None of 96 examples fits."}],
            "notes": ["The model can do the task: with 2 in-context examples it answers 85.0 % right."],
        },
    )


def evaluation() -> Result:
    """Two tasks, of which the gates take one."""
    gates = np.ones((2, 4), np.float32)
    gates[1, 2] = 0
    about = {
        "content_hash": "1" * 12,
        "judged": "top",
        "n": 40,
        "n_left_out": 0,
        "chance": 0.05,
        "verdict": "can",
    }
    told = {"id": "0" * 20, "name": "no copying", "origin": "by hand"}
    return made(
        analysis="evaluation",
        schema_version=1,
        params={"gates": "0" * 20, "tasks": ["plural", "past"]},
        model=model(2, 4, 2),
        task=None,
        seeds=(),
        arrays={
            "accuracy": np.array([[0.8, 0.1], [0.7, 0.7]], np.float32),
            "log_probability": np.array([[-0.5, -4.0], [-0.6, -0.6]], np.float32),
            "gates": gates,
        },
        values={
            "tasks": [{"name": name, "title": name, "gates": told, **about} for name in ("plural", "past")],
            "gates": told,
            "notes": [],
        },
    )
