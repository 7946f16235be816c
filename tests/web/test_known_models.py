"""What a page can say of models that aren't here: the list of known ones, and a configuration tried."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import transformers
from fastapi.testclient import TestClient

from headscope.models.known import KNOWN
from headscope.settings import Settings
from headscope.store import workers
from headscope.web.app import create_app
from worker.conftest import Served
from worker.conftest import worker as worker


@pytest.fixture(scope="module")
def pages(worker: Served) -> Iterator[TestClient]:
    """The API beside the worker of the tests, on its store."""
    path = Path(str(worker.store.engine.url.database)).parent
    with TestClient(create_app(Settings(data_dir=path)), base_url="http://localhost") as client:
        yield client


def test_known_models_stand_by_name_with_what_they_take(pages: TestClient, worker: Served) -> None:
    told = pages.get("/api/v1/known-models").json()
    assert [model["name"] for model in told["models"]] == [known.name for known in KNOWN]
    gpt2 = told["models"][0]
    assert (gpt2["command"], gpt2["here"]) == ("headscope models fetch openai-community/gpt2", False)
    assert gpt2["memory_float32"] > 4 * gpt2["n_params"] > gpt2["memory_bfloat16"] - 600 * 2**20
    assert (told["memory_bytes"], gpt2["fits"]) == (None, None), "the worker hasn't said what it has"
    with worker.store.session() as session:
        workers.register(
            session, "large", host="h", device="cuda:0", queue="gpu-24", memory_bytes=24 * 2**30, patience=60
        )
    told = pages.get("/api/v1/known-models").json()
    fits = {model["title"]: model["fits"] for model in told["models"]}
    assert told["memory_bytes"] == 24 * 2**30
    assert (fits["GPT-2 small"], fits["Mistral 7B"]) == ("float32", "bfloat16")
    assert "command line" in told["why"]


def test_a_configuration_is_tried_by_a_worker(pages: TestClient) -> None:
    config = transformers.GPT2Config(n_layer=48, n_head=25, n_embd=1600, architectures=["GPT2LMHeadModel"])
    answer = pages.post("/api/v1/models/try", json={"config": json.dumps(config.to_dict())})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["architecture"], told["n_layers"], told["n_heads"]) == ("GPT2LMHeadModel", 48, 25)
    assert told["n_params"] == 1_557_611_200
    has = {one["name"]: one["has"] for one in told["expected"]}
    assert [has[name] for name in ("logits", "patterns", "gating")] == [True, True, True]


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ("{", "bad-config"),
        (
            '{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_attention_heads": 2}',
            "bad-config",
        ),
        ('{"architectures": ["T5"], "is_encoder_decoder": true}', "unsupported-architecture"),
    ],
)
def test_what_can_not_be_used_is_refused_by_name(pages: TestClient, config: str, code: str) -> None:
    answer = pages.post("/api/v1/models/try", json={"config": config})
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert answer.json()["remedy"]
