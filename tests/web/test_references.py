"""A run whose parameters name kept things: a wrong id is said when the run is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from headscope.core.gating.gate_vector import GateVector, vector_id
from headscope.store import gates
from headscope.store.session import Store

MODEL = "headscope-2l"


def asked(**params: Any) -> dict[str, Any]:
    return {"analysis": "battery", "model": MODEL, "params": params}


@pytest.fixture
def prompts(client: TestClient) -> str:
    answer = client.post("/api/v1/prompts", json={"text": "the cat sat on the cat sat"})
    return str(answer.json()["id"])


@pytest.mark.parametrize("path", ["runs", "runs/estimate"])
def test_a_wrong_id_is_said_at_once(client: TestClient, prompts: str, store: Store, path: str) -> None:
    with store.session() as session:
        other = _kept(session, "smollm2-135m", (30, 9))
        stale = _kept(session, MODEL, (2, 8))
    for params, status, code, says in (
        ({"prompts": "none"}, 404, "unknown-prompt", "prompts: There is no prompt 'none'"),
        ({"prompts": prompts, "gates": "none"}, 404, "unknown-gates", "gates: There are no gates 'none'"),
        ({"prompts": prompts, "gates": other}, 422, "other-model", "belong to smollm2-135m"),
        ({"prompts": prompts, "gates": stale}, 422, "other-model", "belong to other weights of headscope-2l"),
    ):
        answer = client.post(f"/api/v1/{path}", json=asked(**params))
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
        assert says in answer.json()["detail"]
        assert answer.json()["remedy"]
    assert client.get("/api/v1/runs").json()["total"] == 0


def test_the_content_is_part_of_what_a_run_is(client: TestClient, prompts: str) -> None:
    made = client.post("/api/v1/gates", json={"name": "all", "model": MODEL, "gates": [[0.5] * 8] * 2}).json()
    ids = [
        client.post("/api/v1/runs/estimate", json=asked(**params)).json()["run_id"]
        for params in ({"prompts": prompts}, {"prompts": prompts, "gates": made["id"]}, {"prompts": prompts})
    ]
    assert ids[0] == ids[2] != ids[1]


def _kept(session: Any, model: str, shape: tuple[int, int]) -> str:
    """Gates of weights that aren't these."""
    table = np.ones(shape, "f4")
    vector = GateVector(vector_id(model, "old", table), "old ones", model, "old", table)
    return gates.add(session, vector).row.id
