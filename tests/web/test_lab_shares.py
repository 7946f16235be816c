"""A share of a lab view is a copy: it opens without a worker, stays as it was, goes when it is revoked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from headscope.core.arrays import decode
from headscope.jobs.device import find_device
from headscope.jobs.device_queue import DeviceQueue
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.store import migrate, workers
from headscope.store.session import Store, open_store
from headscope.store.tables import Artifact, Share, now
from headscope.worker.accuracy import Accuracies
from headscope.worker.app import create_app
from headscope.worker.handler import RequestHandler
from headscope.worker.main import model_cache
from services.served import served
from web.conftest import TOKEN, browser

MODEL = "headscope-2l"
TEXT = "the cat sat on the cat"
SECRET = "a secret"


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A worker's endpoint, served for real."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("worker"))
    migrate.upgrade(settings)
    store = open_store(settings)
    catalogue = Catalogue(settings)
    models = model_cache(settings, catalogue, find_device("cpu"))
    with models.model(MODEL, dtype="float32", attention="sdpa"):
        pass  # loaded, however long that takes here
    handler = RequestHandler(store, catalogue, models, Accuracies(store, models, DeviceQueue()), SECRET)
    with served(create_app(handler)) as address:
        yield address
    store.close()


@pytest.fixture
def worker(store: Store, endpoint: str) -> str:
    """That worker on the list of this test's database."""
    with store.session() as session:
        workers.register(
            session, "w", host="h", device="cpu", queue="cpu", address=endpoint, secret=SECRET, patience=3600
        )
    return "w"


@pytest.fixture
def owner(guarded: Settings, store: Store) -> Iterator[TestClient]:
    with browser(guarded, headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        yield client


@pytest.fixture
def outsider(guarded: Settings, store: Store) -> Iterator[TestClient]:
    with browser(guarded) as client:
        yield client


GATES = np.ones((2, 8), "f4")
GATES[1, 5] = 0.0


def lab(**changes: Any) -> dict[str, Any]:
    return {"model": MODEL, "text": TEXT, "gates": GATES.tolist(), "at": 3, "answers": [5, 6], **changes}


def share(owner: TestClient, body: dict[str, Any], **options: Any) -> str:
    answer = owner.post("/api/v1/shares", json={"lab": body, "path": "/lab", **options})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["token"])


def n_artifacts(store: Store) -> int:
    with store.session() as session:
        return session.scalar(select(func.count()).select_from(Artifact)) or 0


def test_an_outsider_sees_what_was_shared_without_any_worker(
    owner: TestClient, outsider: TestClient, worker: str, store: Store
) -> None:
    token = share(owner, lab(), view={"head": "1.5"})
    asked = {"model": MODEL, "text": TEXT}
    look = owner.post("/api/v1/lab/look", json=asked).json()
    gated = owner.post(
        "/api/v1/lab/gates", json={**asked, "gates": GATES.tolist(), "at": 3, "answers": [5, 6]}
    ).json()
    with store.session() as session:
        workers.retire(session, worker)
    opened = outsider.get(f"/api/v1/shares/{token}")
    assert opened.status_code == 200
    kept = opened.json()["lab"]
    assert (kept["model"], kept["model_title"], kept["text"]) == (MODEL, "Headscope two-layer", TEXT)
    assert (kept["look"], kept["gates"]) == (look, gated)
    np.testing.assert_array_equal(decode(kept["gate_values"]), GATES)
    assert opened.json()["runs"] == []
    assert opened.json()["view"] == {"head": "1.5"}
    for path in ("prompts", "gates", "lab/look"):
        assert outsider.request("GET" if path != "lab/look" else "POST", f"/api/v1/{path}").status_code == 401


def test_the_copy_outlives_the_prompt_and_dies_with_the_share(
    owner: TestClient, outsider: TestClient, worker: str, store: Store
) -> None:
    prompt = owner.post("/api/v1/prompts", json={"text": TEXT}).json()["id"]
    by_id = {name: value for name, value in lab(prompt=prompt).items() if name != "text"}
    tokens = [share(owner, by_id), share(owner, by_id)]
    assert owner.delete(f"/api/v1/prompts/{prompt}").status_code == 204
    assert outsider.get(f"/api/v1/shares/{tokens[0]}").json()["lab"]["text"] == TEXT
    assert n_artifacts(store) == 1  # the same view is kept once
    owner.delete(f"/api/v1/shares/{tokens[0]}")
    answer = outsider.get(f"/api/v1/shares/{tokens[0]}")
    assert (answer.status_code, answer.json()["code"]) == (410, "share-revoked")
    assert TEXT not in answer.text
    assert outsider.get(f"/api/v1/shares/{tokens[1]}").json()["lab"]["text"] == TEXT
    owner.delete(f"/api/v1/shares/{tokens[1]}")
    assert n_artifacts(store) == 0


def test_expired_and_private(owner: TestClient, outsider: TestClient, worker: str, store: Store) -> None:
    private = share(owner, lab(), visibility="private")
    assert outsider.get(f"/api/v1/shares/{private}").json()["code"] == "sign-in-needed"
    assert owner.get(f"/api/v1/shares/{private}").json()["lab"]["text"] == TEXT
    with store.session() as session:
        session.get_one(Share, private).expires_at = now() - timedelta(seconds=1)
    assert owner.get(f"/api/v1/shares/{private}").json()["code"] == "share-expired"
    share(owner, lab(text="another text"))
    assert n_artifacts(store) == 1  # the expired one's copy went


BAD: dict[str, tuple[dict[str, Any], int, str]] = {
    "gates": ({"lab": lab(gates=[[2.0] * 8] * 2)}, 422, "bad-gates"),
    "shape": ({"lab": lab(gates=[[1.0] * 3])}, 422, "bad-gates"),
    "prompt": ({"lab": {**lab(prompt="none"), "text": None}}, 404, "unknown-prompt"),
    "model": ({"lab": lab(model="none")}, 404, "unknown-model"),
    "too long": ({"lab": lab(text="a b " * 600)}, 422, "too-long"),
    "both": ({"lab": lab(), "run_ids": ["a"]}, 422, "invalid-request"),
    "nothing": ({}, 422, "invalid-request"),
}


@pytest.mark.parametrize("fault", BAD)
def test_views_that_cannot_be_shared(client: TestClient, worker: str, store: Store, fault: str) -> None:
    body, status, code = BAD[fault]
    answer = client.post("/api/v1/shares", json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert client.get("/api/v1/shares").json() == []
    assert n_artifacts(store) == 0


def test_without_a_worker_nothing_is_made(client: TestClient) -> None:
    answer = client.post("/api/v1/shares", json={"lab": lab()})
    assert (answer.status_code, answer.json()["code"]) == (503, "no-worker")
    assert client.get("/api/v1/shares").json() == []
