from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from headscope.analyses.base import Result
from headscope.analyses.request import Request
from headscope.core.model.info import ModelInfo
from headscope.settings import Settings
from headscope.store.session import Store, open_store
from services.results import made

MODEL = ModelInfo(
    name="tiny", revision="r1", architecture="Tiny", n_layers=2, n_heads=3, n_kv_heads=3, d_model=8, d_head=4,
    d_vocab=16, n_ctx=32, n_params=100, n_params_non_embedding=50, dtype="float32", weight_processing="none",
    tokenizer_hash="t1", bos=False,
)  # fmt: skip


@pytest.fixture
def store(migrated: Settings) -> Iterator[Store]:
    opened = open_store(migrated, patience=2.0)
    yield opened
    opened.close()


@pytest.fixture
def request_for() -> Callable[..., Request]:
    def make(run_id: str = "a" * 20, **changes: Any) -> Request:
        values: dict[str, Any] = {
            "id": run_id, "analysis": "chg", "version": 1, "title": "Causal head gating", "model": MODEL,
            "attention": "sdpa", "task": "induction", "task_title": "Induction", "task_hash": "h1",
            "preset": "quick", "params": {"seeds": 2}, "seeds": (0, 1),
        }  # fmt: skip
        return Request(**{**values, **changes})

    return make


def result_with(gates: np.ndarray[Any, Any]) -> Result:
    return made(
        analysis="planted", schema_version=1, params={"seeds": 2}, model=MODEL, task={"name": "induction"},
        seeds=(0, 1), arrays={"g_plus": gates, "loss": np.zeros(3, "f4")}, values={"n_test": 4},
    )  # fmt: skip
