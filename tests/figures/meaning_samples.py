"""A small result of meaning and the runs behind it, planted by hand.

Two layers of four heads: 0.3 looks at the previous token, 1.0 does induction and copies, 1.1 gives .7 to the
first token yet carries the task, 1.2 writes against what it sees; the gating run needs 0.3 and 1.0 always.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from figures import circuit_samples, pattern_samples
from figures.results import model
from headscope.analyses.base import Input, Result, Spec
from headscope.analyses.in_place import compute
from headscope.analyses.meaning import MEANING
from headscope.analyses.meaning.result import MeaningResult
from headscope.analyses.meaning.schema import MeaningParams
from micro.model import random_model
from services.results import changed, made

INFO = replace(model(2, 4, 2), d_head=32)


def result(**params: Any) -> MeaningResult:
    """All kinds of evidence but abstract rules."""
    given: dict[str, Input] = {
        "induction": induction(),
        "eigen": eigen(),
        "functions": functions(),
        "gating": gating(),
    }
    return of(given, **{"draws": 500, **params})


def of(given: dict[str, Input], **params: Any) -> MeaningResult:
    """Meaning of these runs."""
    asked = MeaningParams(**{**dict.fromkeys(given, "abc"), **params})
    return compute(MEANING, Spec(asked, INFO, None, given), random_model())


def run(analysis: str, params: dict[str, Any], arrays: dict[str, Any], **values: Any) -> Result:
    task = values.pop("task", None)
    typed = {name: _stored(array) for name, array in arrays.items()}
    return made(analysis, 1, params, INFO, task, (0, 1), typed, values)


def _stored(array: Any) -> Any:
    """As results hold it: float32, ones and zeros for what is or isn't, counts as they are."""
    values = np.asarray(array)
    return values.astype({"b": np.uint8, "u": np.uint32}.get(values.dtype.kind, np.float32))


def at(value: float, *heads: tuple[int, int], otherwise: float = 0.05) -> Any:
    """[layer, head], these heads at ``value``."""
    grid = np.full((2, 4), otherwise)
    for head in heads:
        grid[head] = value
    return grid


def draws(grid: Any, seeds: int, spread: float = 0.01) -> Any:
    """Draws about a mean."""
    return np.stack([grid - spread, grid + spread] * seeds)[:seeds]


def induction(seeds: int = 4, **scores: Any) -> Result:
    arrays = {
        "induction": at(0.8, (1, 0)),
        "previous": at(0.9, (0, 3)),
        "duplicate": at(0.4, otherwise=0.02),
        "sink": at(0.7, (1, 1)),
    } | scores
    planted = {name: draws(grid, seeds).astype(np.float32) for name, grid in arrays.items()}
    whole = pattern_samples.induction(seeds=seeds)
    return changed(whole, model=INFO, arrays={**whole.arrays, **planted})


def eigen(positivity: Any = None) -> Result:
    grid = at(0.9, (1, 0), otherwise=0.0) + at(-0.8, (1, 2), otherwise=0.0)
    copying = np.asarray(grid if positivity is None else positivity, np.float32)
    whole = circuit_samples.eigen()
    return changed(whole, model=INFO, arrays={**whole.arrays, "ov_positivity": copying})


def functions() -> Result:
    effect = np.stack([at(0.4, (1, 1), otherwise=0.0), at(0.0)])
    significant = effect > 0.2
    answers = dict.fromkeys(("p_clean", "right_clean", "p_shuffled", "right_shuffled"), np.ones(2))
    return run(
        "mediation-function-vectors",
        {"sds": 3.0},
        {
            "rise": effect[:, None],
            "effect": effect,
            "error": 0.01 * np.ones_like(effect),
            "significant": significant,
            "over_tasks": effect.mean(0),
            "over_tasks_significant": significant[0],
            **dict.fromkeys(("n_prompts", "n_clean"), np.full(2, 10, np.uint32)),
            **answers,
        },
        limits=[0.2, 0.2],
        over_tasks_limit=0.2,
        notes=[],
        tasks=["pairs", "colours"],
        titles=["Pairs", "colours"],
        task={"name": "pairs", "title": "Pairs"},
    )


def rules() -> Result:
    arrays: dict[str, Any] = {}
    for kind in ("abstraction", "induction", "retrieval"):
        arrays |= {
            kind: at(1.0, (0, 2)),
            f"{kind}_error": at(0.1),
            f"{kind}_significant": np.zeros((2, 4), bool),
        }
    arrays["abstraction_significant"] = at(1.0, (0, 2), otherwise=0.0) > 0
    pairs = {"rule": 9, "items": 9}
    params = {"correction": "max", "alpha": 0.05}
    return run("mediation-abstract-rules", params, arrays, tried=pairs, kept=pairs, notes=[])


def gating() -> Result:
    """0.3 and 1.0 always needed, 0.1 harmful, 1.1 and 1.3 never matter, the others needed in one seed."""
    minus = np.stack([at(0.9, (0, 3), (1, 0)), at(0.9, (0, 3), (1, 0), (0, 0), (0, 2), (1, 2))])
    plus = np.stack([at(0.1, (0, 1), otherwise=0.95)] * 2)
    return run("chg", {}, {"g_minus": minus, "g_plus": plus}, task={"name": "pairs", "title": "Pairs"})
