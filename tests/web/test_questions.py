"""A live question is a line in the table, its messages and its answer: nothing else has to know of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from starlette.testclient import TestClient

from headscope.core.model.head_model import HeadModel
from headscope.jobs.device import find_device
from headscope.jobs.device_queue import DeviceQueue
from headscope.messages import LabIn, Schema
from headscope.messages.questions import ACCURACY, PROOF, QUESTIONS, TRIAL, Question
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.store import workers
from headscope.store.session import Store
from headscope.web.app import create_app as create_web
from headscope.worker.accuracy import Accuracies
from headscope.worker.answers import ANSWERS, on_prompt
from headscope.worker.app import create_app as create_worker
from headscope.worker.handler import RequestHandler
from headscope.worker.lab.plan import Plan
from headscope.worker.lab.prompt import Prompt
from headscope.worker.main import model_cache
from services.served import served
from web.conftest import BASE_URL

MODEL = "headscope-2l"


class RepeatsIn(LabIn):
    least: int = 1


class RepeatsOut(Schema):
    repeated: list[int]


REPEATS: Final = Question(
    "repeats", "/lab/repeats", RepeatsIn, RepeatsOut, "Tokens that come back", "A toy question."
)


def plan(model: HeadModel, prompt: Prompt, wanted: RepeatsIn) -> Plan[RepeatsOut]:
    counts = {index: prompt.ids.count(index) for index in prompt.ids}
    repeated = [index for index, count in counts.items() if count > wanted.least]
    return Plan(lambda n: n, lambda: RepeatsOut(repeated=repeated))


@pytest.fixture
def catalogue(settings: Settings) -> Catalogue:
    return Catalogue(settings)


@pytest.fixture
def asking(settings: Settings, store: Store, catalogue: Catalogue) -> Iterator[TestClient]:
    """The web application with the toy question, over a worker that answers it."""
    models = model_cache(settings, catalogue, find_device("cpu"))
    handler = RequestHandler(store, catalogue, models, Accuracies(store, models, DeviceQueue()), "a secret")
    worker = create_worker(handler, {**ANSWERS, REPEATS: on_prompt(plan)})
    web = create_web(settings, (*QUESTIONS, REPEATS))
    with served(worker) as address, TestClient(web, base_url=BASE_URL) as client:
        with store.session() as session:
            workers.register(
                session, "w", host="h", device="cpu", queue="cpu", address=address, secret="a secret",
                patience=3600,
            )  # fmt: skip
        yield client


def test_a_toy_question_goes_from_the_page_to_the_worker_and_back(
    asking: TestClient, catalogue: Catalogue
) -> None:
    cat, *_ = catalogue.tokenizer(MODEL).encode(" cat", bos=False)
    body = {"model": MODEL, "text": "the cat sat on the cat", "wait": 60}
    answer = asking.post("/api/v1/lab/repeats", json=body)
    assert answer.status_code == 200, answer.text
    assert cat in answer.json()["repeated"]
    assert asking.post("/api/v1/lab/repeats", json={**body, "least": 9}).json() == {"repeated": []}


def test_it_is_checked_before_the_worker_is_asked_and_by_it(asking: TestClient) -> None:
    wrong = asking.post("/api/v1/lab/repeats", json={"model": MODEL, "text": "a", "most": 1})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid-request")
    empty = asking.post("/api/v1/lab/repeats", json={"model": MODEL, "text": "", "bos": False, "wait": 60})
    assert (empty.status_code, empty.json()["code"]) == (422, "empty-text")


def test_it_is_in_the_document(asking: TestClient) -> None:
    operation = asking.get("/api/v1/openapi.json").json()["paths"]["/api/v1/lab/repeats"]["post"]
    assert operation["operationId"] == "repeats"
    assert operation["tags"] == ["lab"]
    assert operation["summary"] == "Tokens that come back"
    (body,) = operation["requestBody"]["content"].values()
    assert body["schema"]["$ref"].endswith("/RepeatsIn")


def test_each_question_has_its_answer() -> None:
    assert set(ANSWERS) == {*QUESTIONS, ACCURACY, PROOF, TRIAL}
    assert len({question.path for question in ANSWERS}) == len(ANSWERS)
