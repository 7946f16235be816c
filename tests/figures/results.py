"""Results small enough to check by eye, and one as large as a page must carry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from headscope.analyses.base import Result
from headscope.analyses.chg.result import ChgResult
from headscope.core.model.info import ModelInfo
from services.results import changed, made


def model(layers: int, heads: int, kv_heads: int) -> ModelInfo:
    return ModelInfo(
        name="tiny",
        revision="0" * 12,
        architecture="HeadscopeAttentionOnly",
        n_layers=layers,
        n_heads=heads,
        n_kv_heads=kv_heads,
        d_model=16,
        d_head=4,
        d_vocab=100,
        n_ctx=64,
        n_params=1000,
        n_params_non_embedding=500,
        dtype="float32",
        weight_processing="none",
        tokenizer_hash="1" * 12,
        bos=False,
    )


def result(
    layers: int = 2, heads: int = 4, kv_heads: int = 2, seeds: int = 3, steps: int = 4, seed: int = 0
) -> ChgResult:
    """Gates drawn so that all roles occur; everything in float32, as a run stores it."""
    draw = np.random.default_rng(seed)
    lean = draw.normal(0, 3, (1, layers, heads)) + draw.normal(0, 1.5, (seeds, layers, heads))
    push = draw.normal(2, 0.7, lean.shape)
    losses = 0.5 + np.exp(-np.arange(steps) / steps) + draw.normal(0, 0.02, (3, seeds, steps))
    accuracy = np.clip(np.array([[0.72], [0.8], [0.9], [0.8]]) + draw.normal(0, 0.03, (4, seeds)), 0, 1)
    arrays: dict[str, Any] = {
        "g_zero": _sigmoid(lean),
        "g_plus": _sigmoid(lean + push),
        "g_minus": _sigmoid(lean - push),
        "loss_zero": losses[0],
        "loss_plus": losses[1],
        "loss_minus": losses[2],
        "heldout_log_probability": np.log(accuracy),
        "heldout_accuracy": accuracy,
    }
    hard = np.clip(accuracy[2:] - 0.05 + draw.normal(0, 0.02, (2, seeds)), 0.01, 1)
    arrays |= {"rounded_log_probability": np.log(hard), "rounded_accuracy": hard}
    made_up = made(
        analysis="chg",
        schema_version=2,
        params={"seeds": seeds, "steps": steps},
        model=model(layers, heads, kv_heads),
        task={"name": "pairs", "title": "a <b>task</b> & more"},
        seeds=tuple(range(seeds)),
        arrays={name: array.astype(np.float32) for name, array in arrays.items()},
        values={"n_train": 100, "n_test": 40},
    )
    assert isinstance(made_up, ChgResult)
    return made_up


def on(whole: Result, *, model: str = "tiny", task: str = "pairs", **info: Any) -> Result:
    """The result as if of another model and task; ``info`` changes the model's other fields."""
    named = {"name": task, "title": task.capitalize()}
    revision = info.pop("revision", model.ljust(12, "0"))
    return replace(whole, model=replace(whole.model, name=model, revision=revision, **info), task=named)


def compared(one_model: bool) -> list[Result]:
    """Three runs on two tasks, one of them with fewer seeds; of two models unless heads must match."""
    other = "tiny" if one_model else "large"
    return [
        on(result(seed=1)),
        on(result(seed=2, seeds=5), task="colours"),
        on(without_fit(result(seed=3), 1), model=other, task="colours"),
    ]


def without_fit(whole: Result, seed: int) -> Result:
    """The result as it is when one seed's fit failed: NaN in all its numbers."""
    arrays = {name: array.copy() for name, array in whole.arrays.items()}
    for name, array in arrays.items():
        if name.startswith("heldout"):
            array[1:, seed] = np.nan
        elif name.startswith("rounded"):
            array[:, seed] = np.nan
        else:
            array[seed] = np.nan
    return changed(whole, arrays=arrays)


def _sigmoid(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(1 / (1 + np.exp(-x)))
