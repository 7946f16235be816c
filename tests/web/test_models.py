"""Models, tokens, examples, and what needs a worker where there is none."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import pytest
from starlette.testclient import TestClient

from headscope.store import workers
from headscope.store.session import Store

GATES = [[1.0] * 8, [0.0] * 8]


def test_models(client: TestClient, store: Store) -> None:
    with store.session() as session:
        workers.register(session, "w", host="lab", device="cpu", queue="cpu")
        workers.beat(session, "w", ["headscope-2l"])
    found = {model["name"]: model for model in client.get("/api/v1/models").json()}
    small = found["headscope-2l"]
    assert (small["ready"], small["n_layers"], small["n_heads"], small["resident_on"]) == (True, 2, 8, ["w"])
    assert small["card"] is None
    large = found["smollm2-135m"]
    assert (large["ready"], large["n_layers"]) == (False, None)
    assert "headscope models fetch smollm2-135m" in large["remedy"]
    assert large["terms"] is None
    gemma = found["gemma3-270m"]
    assert gemma["terms"] == {"name": "Gemma Terms of Use", "address": "https://ai.google.dev/gemma/terms"}
    assert gemma["bytes_to_download"] < gemma["bytes_needed"]
    assert client.get("/api/v1/models/headscope-2l").json()["card"]


def test_a_pasted_list_of_heads_is_read_and_checked(bad: TestClient) -> None:
    def read(text: str, model: str = "headscope-2l") -> Any:
        return bad.post(f"/api/v1/models/{model}/heads", json={"text": text})

    assert read("L1H5\nL0H3 0.3").json() == {"heads": [[0, 3], [1, 5]], "text": "0.3, 1.5", "of_heads": 16}
    for text, code, detail in (
        ("0.3, 1-5", "bad-head", 'Line 1, column 6: "1-5" is no head.'),
        ("", "no-heads", "The list names no head."),
        ("0.3, 2.0", "unknown-head", "headscope-2l has no head 2.0."),
    ):
        answer = read(text)
        assert (answer.status_code, answer.json()["code"]) == (422, code)
        assert answer.json()["detail"] == detail
    assert read("0.3", "gpt9").status_code == 404


@pytest.mark.parametrize("name", ["gpt9", "org/name", "..", "%2Fetc", "~"])
def test_an_unknown_model(bad: TestClient, name: str) -> None:
    answer = bad.get(f"/api/v1/models/{name}")
    assert answer.status_code == 404
    if answer.json()["code"] != "no-such-path":
        assert answer.json()["code"] == "unknown-model"
        assert "headscope-2l" in answer.json()["remedy"]


def tokenize(client: TestClient, text: str, **more: Any) -> Any:
    return client.post("/api/v1/prompts/tokenize", json={"model": "headscope-2l", "text": text, **more})


def test_tokens_cover_the_text_byte_for_byte(bad: TestClient) -> None:
    text = "the caf\u00e9 <b>\u2003\n\t\U0001f600 end"
    found = tokenize(bad, text).json()
    assert b"".join(bytes.fromhex(t["hex"]) for t in found["tokens"] if not t["special"]) == text.encode()
    spans = [(t["start"], t["end"]) for t in found["tokens"] if not t["special"]]
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text.encode())
    assert all(one[1] == two[0] for one, two in pairwise(spans))
    assert found["n_ctx"] >= 256
    assert any(t["text"] is None for t in found["tokens"]), "the emoji's bytes stand apart"
    glyphs = [(t["glyph"]["text"], t["glyph"]["part"]) for t in found["tokens"] if t["glyph"]]
    assert glyphs[:2] == [("\u00e9", 1), ("\u00e9", 2)]
    assert glyphs[-4:] == [("\U0001f600", part) for part in (1, 2, 3, 4)]
    assert all(t["glyph"] for t in found["tokens"] if t["text"] is None)


def test_bos_is_told(bad: TestClient) -> None:
    without = tokenize(bad, "the cat", bos=False).json()
    assert without["bos"] == "none"
    added = tokenize(bad, "the cat", bos=True)
    if added.status_code == 200:
        assert added.json()["bos"] == "added"
        bos = bytes.fromhex(added.json()["tokens"][0]["hex"]).decode()
        assert tokenize(bad, f"{bos}the cat", bos=True).json()["bos"] == "doubled"
        assert tokenize(bad, f"{bos}the cat", bos=False).json()["bos"] == "in-text"
    else:
        assert added.json()["code"] == "no-bos"


def test_no_text_and_too_much(bad: TestClient) -> None:
    assert tokenize(bad, "").status_code == 200
    assert tokenize(bad, "x" * 400_001).json()["code"] == "invalid-request"


def test_examples_mark_their_targets(bad: TestClient) -> None:
    found = bad.get("/api/v1/tasks/singular-plural/examples?model=headscope-2l&split=test&limit=3").json()
    assert (found["split"], len(found["examples"])) == ("test", 3)
    assert found["n_train"] > found["n_test"] > 0
    for example in found["examples"]:
        assert all(0 < place < len(example["tokens"]) for place in example["targets"])
        assert example["targets"][-1] == len(example["tokens"]) - 1


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("model=headscope-2l&limit=0", "invalid-request"),
        ("model=headscope-2l&split=all", "invalid-request"),
        ("model=gpt9", "unknown-model"),
        ("model=smollm2-135m", "model-not-fetched"),
        ("", "invalid-request"),
    ],
)
def test_examples_that_cannot_be(bad: TestClient, query: str, code: str) -> None:
    assert bad.get(f"/api/v1/tasks/induction/examples?{query}").json()["code"] == code


def test_without_a_worker_nothing_waits(client: TestClient) -> None:
    started = time.monotonic()
    for path, body in (("patterns", {}), ("gates", {"gates": GATES})):
        answer = client.post(f"/api/v1/lab/{path}", json={"model": "headscope-2l", "text": "a b", **body})
        assert (answer.status_code, answer.json()["code"]) == (503, "no-worker")
        assert "headscope worker" in answer.json()["remedy"]
    accuracy = client.get("/api/v1/tasks/induction/accuracy?model=headscope-2l").json()
    assert (accuracy["status"], accuracy["accuracy"]) == ("unavailable", None)
    assert accuracy["detail"]
    assert time.monotonic() - started < 30, "a worker is given 90 s to answer; one that is dead, none"


def test_a_worker_that_is_gone_is_said_at_once(client: TestClient, store: Store) -> None:
    with store.session() as session:
        workers.register(
            session, "w", host="lab", device="cpu", queue="cpu", address="http://127.0.0.1:9", secret="s"
        )
    answer = client.post("/api/v1/lab/patterns", json={"model": "headscope-2l", "text": "a b"})
    assert (answer.status_code, answer.json()["code"]) == (503, "no-worker")


def test_the_lab_refuses_models_before_asking_a_worker(bad: TestClient) -> None:
    for path in ("patterns", "gates"):
        body = {"model": "/etc", "text": "a", **({"gates": GATES} if path == "gates" else {})}
        assert bad.post(f"/api/v1/lab/{path}", json=body).json()["code"] == "unknown-model"
