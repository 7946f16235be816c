"""What was found wrong of a model is refused before a run waits for anything; the rest goes on."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from headscope import __version__
from headscope.core.model.capabilities import Check, Proof
from headscope.jobs.device import find_device
from headscope.jobs.device_queue import DeviceQueue
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.store import workers
from headscope.store.session import Store
from headscope.worker.accuracy import Accuracies
from headscope.worker.app import create_app
from headscope.worker.handler import RequestHandler
from headscope.worker.main import model_cache
from services.served import served

MODEL = "headscope-2l"
WRONG = Check("patterns", "patterns equal the plain model's", "patterns", 1e-3, 0.09, "fails")
RUN: dict[str, Any] = {"model": MODEL, "analysis": "chg", "task": "induction", "preset": "quick"}


@pytest.fixture
def catalogue(settings: Settings) -> Catalogue:
    return Catalogue(settings)


@pytest.fixture
def without_patterns(catalogue: Catalogue) -> Proof:
    """A kept proof by which the model's patterns aren't read right."""
    info = catalogue.info(MODEL)
    library = importlib.metadata.version("transformers")
    proof = Proof(MODEL, info.revision, info.dtype, (WRONG,), 0.1, code_version=__version__, library=library)
    catalogue.proofs.put(proof)
    return proof


@pytest.fixture
def asking(
    client: TestClient, store: Store, catalogue: Catalogue, settings: Settings
) -> Iterator[TestClient]:
    """The web application over a worker."""
    models = model_cache(settings, catalogue, find_device("cpu"))
    handler = RequestHandler(store, catalogue, models, Accuracies(store, models, DeviceQueue()), "a secret")
    with served(create_app(handler)) as address:
        with store.session() as session:
            workers.register(
                session, "w", host="h", device="cpu", queue="cpu", address=address, secret="a secret",
                patience=3600,
            )  # fmt: skip
        yield client


def test_a_model_shows_what_was_found(client: TestClient, without_patterns: Proof) -> None:
    found = client.get(f"/api/v1/models/{MODEL}").json()["proof"]
    by_name = {each["name"]: each for each in found["capabilities"]}
    assert not by_name["patterns"]["has"]
    assert by_name["patterns"]["reason"].endswith("differs by 0.09, allowed is 0.001")
    assert by_name["gating"]["has"]
    assert found["checks"][0]["verdict"] == "fails"


def test_runs_that_need_it_are_refused_by_its_name_and_figure(
    client: TestClient, without_patterns: Proof
) -> None:
    for path in ("/api/v1/runs", "/api/v1/runs/estimate"):
        wrong = client.post(path, json={"model": MODEL, "analysis": "induction"})
        assert (wrong.status_code, wrong.json()["code"]) == (409, "not-proved")
        assert "can't give attention patterns: patterns equal" in wrong.json()["detail"]
        assert "0.09" in wrong.json()["detail"]
    assert client.get("/api/v1/runs").json()["total"] == 0
    assert client.post("/api/v1/runs/estimate", json=RUN).status_code == 200


def test_nothing_runs_where_logits_are_wrong(
    client: TestClient, catalogue: Catalogue, without_patterns: Proof
) -> None:
    catalogue.proofs.put(replace(without_patterns, checks=(replace(WRONG, capability="logits"),)))
    wrong = client.post("/api/v1/runs/estimate", json=RUN).json()
    assert wrong["code"] == "not-proved"
    assert "Choose another model" in wrong["remedy"]


def test_analyses_say_what_they_need(client: TestClient) -> None:
    needs = {each["name"]: each["needs"] for each in client.get("/api/v1/analyses").json()}
    assert needs["chg"] == ["gating"]
    assert set(needs["paths"]) == {"circuits", "patterns"}
    assert {name for name, needed in needs.items() if not needed} == {"ability", "meaning"}


def test_a_worker_proves_a_model_that_is_asked_for(asking: TestClient) -> None:
    assert asking.get(f"/api/v1/models/{MODEL}").json()["proof"] is None
    answer = asking.post(f"/api/v1/models/{MODEL}/check", params={"wait": 60})
    assert answer.status_code == 200, answer.text
    assert all(each["has"] for each in answer.json()["capabilities"])
    assert asking.get(f"/api/v1/models/{MODEL}").json()["proof"] == answer.json()


def test_the_lab_refuses_what_fails_and_goes_on_with_the_rest(
    asking: TestClient, without_patterns: Proof
) -> None:
    body = {"model": MODEL, "text": "the cat sat on the cat", "wait": 60}
    look = asking.post("/api/v1/lab/look", json=body)
    assert (look.status_code, look.json()["code"]) == (409, "not-proved")
    patterns = asking.post("/api/v1/lab/patterns", json=body)
    assert patterns.json()["code"] == "not-proved"
    gates = asking.post("/api/v1/lab/gates", json={**body, "gates": [[1.0] * 8, [0.0] * 8]})
    assert gates.status_code == 200, gates.text
    again = asking.post(f"/api/v1/models/{MODEL}/check", params={"wait": 60, "anew": True})
    assert all(each["has"] for each in again.json()["capabilities"])
    assert asking.post("/api/v1/lab/look", json=body).status_code == 200


def test_a_model_that_is_not_here_or_without_a_worker(client: TestClient) -> None:
    assert client.post("/api/v1/models/gpt9/check").status_code == 404
    alone = client.post(f"/api/v1/models/{MODEL}/check")
    assert (alone.status_code, alone.json()["code"]) == (503, "no-worker")
