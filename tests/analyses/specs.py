"""What any analysis may be asked for, on a model of any size: for what must hold of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from headscope.analyses import ANALYSES, cutting
from headscope.analyses.base import Result, Spec
from headscope.core.gating.gate_vector import gate_vector
from headscope.core.model.head_list import as_text
from headscope.core.model.info import ModelInfo
from headscope.tasks.prompts import prompt_set
from micro.model import random_model
from micro.planted import PlantedTask
from services.results import made

TASK = PlantedTask()
OTHER = replace(TASK, name="other", content_hash="0ther")
MORE = replace(TASK, name="more", content_hash="m0re")
TEXTS = tuple(f"w{number} " * (1 + number % 7) for number in range(1, 13))


def sized(layers: int, heads: int, width: int, vocab: int = 512) -> ModelInfo:
    """A model of so many layers and heads, of ``width`` numbers each; its parameters counted as they are."""
    d_model = heads * width
    body = layers * (4 * d_model * d_model + 8 * d_model * d_model)
    return replace(
        random_model().info,
        n_layers=layers,
        n_heads=heads,
        n_kv_heads=heads,
        d_head=width,
        d_model=d_model,
        d_vocab=vocab,
        n_ctx=2048,
        n_params=body + 2 * vocab * d_model,
        n_params_non_embedding=body,
    )


SMALL, LARGE = sized(3, 4, 8), sized(24, 16, 64, 50_000)

models = st.builds(
    sized,
    layers=st.integers(2, 32),
    heads=st.integers(1, 32),
    width=st.sampled_from((8, 64, 128)),
    vocab=st.sampled_from((300, 50_000)),
)
"""From toys to models whose smallest piece is hours."""


def gating(model: ModelInfo, seeds: int = 2) -> Result:
    """A finished gating run of the model, of the task, with gates drawn at random."""
    draw = np.random.default_rng(0)
    g = {f"g_{name}": draw.uniform(size=(seeds, model.n_layers, model.n_heads)) for name in ("plus", "minus")}
    arrays = {name: gates.astype(np.float32) for name, gates in g.items()}
    task = {"name": TASK.name, "content_hash": TASK.content_hash}
    params = ANALYSES["chg"].params(seeds=seeds).model_dump(mode="json")
    return made("chg", ANALYSES["chg"].version, params, model, task, tuple(range(seeds)), arrays)


def asked(name: str, model: ModelInfo, **params: Any) -> Spec[Any]:
    """An analysis with all that it needs, and what it may refer to."""
    given, inputs = _NEEDED.get(name, lambda _: ({}, {}))(model)
    analysis = ANALYSES[name]
    task = TASK if analysis.needs_task else None
    return Spec(analysis.params.model_validate({**given, **params}), model, task, inputs)


Needs = tuple[Mapping[str, Any], Mapping[str, Any]]


def _of_run(param: str) -> Any:
    return lambda model: ({param: "0" * 20}, {param: gating(model)})


def _contrastive(model: ModelInfo) -> Needs:
    names = {"retain": ["planted"], "forget": ["other"], "held_out_forget": ["more"], "gating": "0" * 20}
    return names, {
        "retain": (TASK,), "forget": (OTHER,), "held_out_forget": (MORE,), "gating": gating(model),
    }  # fmt: skip


def _evaluated(model: ModelInfo) -> Needs:
    gates = gate_vector("half", model, np.full((model.n_layers, model.n_heads), 0.5))
    return {"gates": gates.id, "tasks": ["planted", "other"]}, {"gates": gates, "tasks": (TASK, OTHER)}


def _first_half(model: ModelInfo) -> str:
    half = model.n_layers * model.n_heads // 2
    return as_text(divmod(number, model.n_heads) for number in range(half))


_NEEDED: Mapping[str, Any] = {
    "cchg": _contrastive,
    "evaluation": _evaluated,
    "battery": lambda _: ({"prompts": "1" * 20}, {"prompts": prompt_set(TEXTS)}),
    "in-context-learning": lambda model: ({"heads": _first_half(model)}, {}),
    "sufficiency": _of_run("run"),
    "sequential-ablation": _of_run("gating"),
    "circuit-test": lambda model: ({"heads": _first_half(model)}, {}),
    "mediation-function-vectors": lambda _: ({"tasks": ["other"]}, {"tasks": (OTHER,)}),
}


def cut_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces that can be cut no further."""
    monkeypatch.setattr(cutting, "PIECE_FLOP", 1.0)


def span(word: str) -> slice:
    """``3-5`` as it stands in keys."""
    first, last = map(int, word.split("-"))
    return slice(first, last + 1)
