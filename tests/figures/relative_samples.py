"""Small results of the analyses that measure heads by other means than gates, drawn by seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from figures.results import model
from headscope.analyses.agreement import methods, verdicts
from headscope.analyses.agreement.ablations import survival
from headscope.analyses.agreement.disagreement import disputed
from headscope.analyses.agreement.methods import Seen
from headscope.analyses.agreement.order import order
from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.agreement.statistics import correlations, statistics
from headscope.analyses.base import Result
from headscope.analyses.relatives.result import MEASURES
from services.results import made

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
    return made(
        analysis="relatives",
        schema_version=1,
        params={"n_examples": 16, "points": 8},
        model=model(2, 4, 2),
        task=TASK,
        seeds=(0,),
        arrays={name: array.astype(np.float32) for name, array in arrays.items()},
        values={"n_examples": 16, "loss": 0.2, "loss_closed": 5.0, "path_sum": 4.8, "notes": []},
    )


def agreement() -> Result:
    """Gating finds 0.0, 0.2 and 1.1; leaving out 0.0 and 1.0, mediation nothing."""
    draw = np.random.default_rng(8)
    facilitation = draw.uniform(0, 0.3, (5, 2, 4))
    facilitation[:, 0, 0], facilitation[:3, 0, 2], facilitation[1:, 1, 1] = 0.9, 0.8, 0.7
    interference = draw.uniform(0, 0.2, (5, 2, 4))
    gating = methods.by_gating(facilitation, 0.5)
    left_out = draw.normal(0, 0.02, (2, 4))
    left_out[[0, 1], [0, 0]] = 4.0, 2.0
    mediated, error, nowhere = draw.normal(0, 0.01, (2, 4)), np.full((2, 4), 0.01), np.zeros((2, 4), bool)
    seen = {
        "gating": gating,
        "left_out": Seen(
            left_out, methods.by_size(left_out, error, 0.1), error, verdicts.by_error(left_out, error, 0.1)
        ),
        "mediation": Seen(mediated, nowhere, error, verdicts.by_own_test(nowhere, mediated, error, 0.05)),
    }
    found = disputed(seen)
    arrays: dict[str, Any] = dict(methods.arrays_of(seen))
    for score, values in (("facilitation", facilitation), ("interference", interference)):
        for word, reduce in (("mean", np.mean), ("low", np.min), ("high", np.max)):
            arrays[f"{score}_{word}"] = reduce(values, axis=0).astype(np.float32)
    columns = {"gating": gating.effect, "interference": interference.mean(axis=0)}
    columns |= {name: seen[name].effect for name in ("left_out", "mediation")}
    arrays |= {
        "seeds_needing": (facilitation >= 0.5).mean(axis=0).astype(np.float32),
        "n_seeds": np.array([5]),
        "statistics": statistics(seen, facilitation, interference),
        "correlations": correlations(columns),
        "order": order(seen),
        "heads": np.array([head for head, _ in found], np.uint16),
        "strength": np.array([strength for _, strength in found], np.float32),
    }
    by_mean = (facilitation >= 0.5).mean(axis=0).astype(np.float32)
    by_mean[0, 2] = 0.2  # its role doesn't survive
    by_kind = {"needed_by_zero": arrays["seeds_needing"], "needed_by_mean": by_mean}
    by_kind |= {f"harmful_by_{kind}": np.zeros((2, 4), np.float32) for kind in ("zero", "mean")}
    arrays |= by_kind
    told = [
        {
            "head": f"{layer}.{head}",
            "strength": round(strength, 3),
            "found": ["gating"],
            "missed": ["left_out", "mediation"],
            "seeds": 0.5,
            "measured": {"closed": 0.01, "slope": None, "partner": [1, 1], "interaction": 2.0},
            "why": [{"kind": "redundant", "text": "1.1 is a backup for it.", "accounts_for": ["left_out"]}],
        }
        for (layer, head), strength in found[:2]
    ]
    return made(
        analysis="agreement",
        schema_version=2,
        params=AgreementParams(gating="0" * 20, most=2).model_dump(mode="json"),
        model=model(2, 4, 2),
        task=TASK,
        seeds=(0,),
        arrays=arrays,
        values={
            "methods": list(seen),
            "disagreements": told,
            "n_disputed": len(found),
            "n_seeds": 5,
            "notes": [],
            "ablation": "zero",
            "survival": survival(by_kind, "zero"),
        },
    )


def probe() -> Result:
    """1.2 holds the label."""
    draw = np.random.default_rng(9)
    accuracy = draw.uniform(0.45, 0.55, (2, 4))
    accuracy[1, 2] = 0.95
    control = draw.uniform(0.45, 0.55, (2, 2, 4))
    significant = np.zeros((2, 4), np.uint8)
    significant[1, 2] = 1
    arrays = {"accuracy": accuracy, "control": control, "selectivity": accuracy - control.mean(axis=0)}
    return made(
        analysis="probe",
        schema_version=1,
        params={"n_train": 60, "n_test": 40, "controls": 2},
        model=model(2, 4, 2),
        task=TASK,
        seeds=(0, 1),
        arrays={
            **{name: array.astype(np.float32) for name, array in arrays.items()},
            "p": np.where(significant, 1e-6, 1).astype(np.float32),
            "significant": significant,
        },
        values={
            "labels": ["is", "are"],
            "train_rows": [30, 30],
            "test_rows": [21, 19],
            "chance": 0.525,
            "n_train": 60,
            "n_test": 40,
            "notes": [],
        },
    )
