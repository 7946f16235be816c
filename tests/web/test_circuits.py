"""Looking tokens up by their text, and circuit questions where nobody answers."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient


def test_tokens_by_their_text(client: TestClient) -> None:
    said = client.post("/api/v1/circuits/tokens", json={"model": "headscope-2l", "text": "The"}).json()
    assert "".join(token["text"] for token in said["spelled"]) == "The"
    assert said["n_containing"] >= len(said["containing"]) > 1
    assert all("the" in token["text"].casefold() for token in said["containing"])
    lengths = [len(token["hex"]) for token in said["containing"]]
    assert lengths == sorted(lengths), "the shortest first"


@pytest.mark.parametrize("text", ["\u2603 snow", "<b>&amp;", "  ", "\n"])
def test_any_text_can_be_looked_up(client: TestClient, text: str) -> None:
    answer = client.post("/api/v1/circuits/tokens", json={"model": "headscope-2l", "text": text})
    assert answer.status_code == 200
    assert bytes.fromhex("".join(token["hex"] for token in answer.json()["spelled"])).decode() == text


def test_without_a_worker_it_says_so_at_once(client: TestClient) -> None:
    for path, body in (
        ("tables", {"circuit": "ov"}),
        ("crossed", {"layer": 1, "head": 5}),
        ("virtual", {"writer": "0.3", "reader": "1.5 k"}),
    ):
        answer = client.post(f"/api/v1/circuits/{path}", json={"model": "headscope-2l", **body})
        assert answer.status_code == 503
        assert answer.json()["code"] == "no-worker"
        unknown = client.post(f"/api/v1/circuits/{path}", json={"model": "none", **body})
        assert unknown.status_code == 404
