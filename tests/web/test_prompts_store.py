"""Prompts are kept by their content, paged, deleted for good, and nobody else's to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from headscope.settings import Settings
from headscope.store.session import Store
from headscope.store.tables import Artifact, Prompt
from web.conftest import TOKEN, browser

PROMPTS = "/api/v1/prompts"


def keep(client: TestClient, text: str, **more: str) -> dict[str, Any]:
    answer = client.post(PROMPTS, json={"text": text, **more})
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json())


def upload(client: TestClient, filename: str, content: bytes, **form: str) -> Any:
    return client.post(f"{PROMPTS}/upload", files={"file": (filename, content)}, data=form)


def n_kept(store: Store) -> tuple[int, int]:
    with store.session() as session:
        counts = [session.scalar(select(func.count()).select_from(t)) for t in (Prompt, Artifact)]
    return counts[0] or 0, counts[1] or 0


def test_the_same_text_is_kept_once(client: TestClient) -> None:
    first = client.post(PROMPTS, json={"text": "the cat\n sat", "name": "cats"})
    assert first.status_code == 201
    made = first.json()
    assert first.headers["location"] == f"{PROMPTS}/{made['id']}"
    assert (made["kind"], made["n"], made["characters"], made["beginning"]) == ("text", 1, 12, "the cat sat")
    again = client.post(PROMPTS, json={"text": "the cat\n sat"})
    assert (again.status_code, again.json()) == (200, made)
    renamed = client.post(PROMPTS, json={"text": "the cat\n sat", "name": "one cat"})
    assert (renamed.status_code, renamed.json()["name"]) == (200, "one cat")
    other = keep(client, "the cat\n sat ")
    assert other["id"] != made["id"]
    assert [row["id"] for row in client.get(PROMPTS).json()] == [other["id"], made["id"]]


def test_what_was_written_comes_back(client: TestClient) -> None:
    text = " tab\t \U0001f9d9\u200d e\u0301 \u05d0\u05d1 <b>markup</b>\r\n\x85end \n"
    kept = keep(client, text)
    assert client.get(f"{PROMPTS}/{kept['id']}").json()["texts"] == [text]


def test_a_batch_comes_in_pages(client: TestClient) -> None:
    content = "".join(f'"prompt {i}"\n' for i in range(10_000)).encode()
    answer = upload(client, "many.jsonl", content)
    assert answer.status_code == 201
    made = answer.json()
    assert (made["kind"], made["n"], made["name"]) == ("batch", 10_000, "many")
    page = client.get(f"{PROMPTS}/{made['id']}", params={"offset": 9_990, "limit": 100}).json()
    assert (page["offset"], page["texts"]) == (9_990, [f"prompt {i}" for i in range(9_990, 10_000)])
    assert upload(client, "again.csv", content.replace(b'"', b""), name="as CSV").json()["id"] == made["id"]


def test_deleted_for_good(client: TestClient, store: Store) -> None:
    kept = keep(client, "a secret")
    assert n_kept(store) == (1, 1)
    assert client.delete(f"{PROMPTS}/{kept['id']}").status_code == 204
    assert n_kept(store) == (0, 0)
    for answer in (client.get(f"{PROMPTS}/{kept['id']}"), client.delete(f"{PROMPTS}/{kept['id']}")):
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown-prompt")


BAD_TEXTS = {"": "prompt-empty", "a\x00": "not-text"}


def test_texts_that_cannot_be_prompts(client: TestClient, store: Store) -> None:
    for text, code in BAD_TEXTS.items():
        answer = client.post(PROMPTS, json={"text": text})
        assert (answer.status_code, answer.json()["code"]) == (422, code)
        assert answer.json()["remedy"]
    half = client.post(PROMPTS, content=b'{"text": "\\ud800"}', headers={"content-type": "application/json"})
    assert half.status_code == 422
    assert half.json()["remedy"]
    assert client.post(PROMPTS, json={"text": "a" * 400_001}).status_code == 422
    assert client.post(PROMPTS, json={"text": "a", "name": "a\nb"}).status_code == 422
    assert n_kept(store) == (0, 0)


BAD_FILES: dict[str, tuple[str, bytes, int, str]] = {
    "too many": ("a.jsonl", b'"a"\n' * 10_001, 413, "a.jsonl, line 10001: "),
    "unbalanced": ("a.csv", b'text\n"the cat\n', 422, "a.csv, line 2"),
    "mixed encodings": ("a.csv", "text\ncafé\n".encode() + "é".encode("latin-1"), 422, "a.csv, line 3"),
    "NUL": ("a.txt", b"a\nb\0", 422, "a.txt, line 2"),
    "surrogate": ("a.jsonl", b'"a"\n"\\udc00"', 422, "a.jsonl, line 2"),
    "megabyte": ("a.jsonl", b'"a"\n"' + b"a" * 10**6 + b'"', 422, "a.jsonl, line 2"),
    "empty": ("a.txt", b"", 422, "a.txt: the prompt is empty."),
    "type": ("a.pdf", b"%PDF", 422, "a.pdf is neither"),
}


def test_files_that_cannot_be_prompts(client: TestClient, store: Store) -> None:
    for name, content, status, says in BAD_FILES.values():
        answer = upload(client, name, content)
        assert answer.status_code == status, answer.text
        assert answer.json()["detail"].startswith(says)
        assert answer.json()["remedy"]
    assert n_kept(store) == (0, 0)


def test_a_table_is_read_with_its_own_separator(client: TestClient) -> None:
    for name, content in (("a.csv", b"id;text\n1;the cat\n"), ("a.tsv", b"id\ttext\r1\tthe cat\r")):
        kept = upload(client, name, content).json()
        assert client.get(f"{PROMPTS}/{kept['id']}").json()["texts"] == ["the cat"]


def test_too_large_a_file(client: TestClient, settings: Settings, store: Store) -> None:
    small = settings.model_copy(update={"max_upload_bytes": 5_000})
    with browser(small) as client:
        assert upload(client, "a.txt", b"a" * 5_001).status_code == 413
        assert upload(client, "a.txt", b"a" * 5_000).status_code == 201


def test_examples_for_a_model(client: TestClient) -> None:
    found = client.get(f"{PROMPTS}/examples", params={"model": "headscope-2l"}).json()
    assert [example["name"] for example in found] == ["name", "repeated", "code", "plain"]
    assert found[0]["mute"] == ["1.5", "1.2"]
    assert client.get(f"{PROMPTS}/examples", params={"model": "none"}).status_code == 404


@pytest.fixture
def outsider(guarded: Settings, store: Store) -> Iterator[TestClient]:
    with browser(guarded) as client:
        yield client


def test_kept_prompts_are_private(guarded: Settings, outsider: TestClient) -> None:
    with browser(guarded, headers={"Authorization": f"Bearer {TOKEN}"}) as owner:
        kept = keep(owner, "a secret")
        for method, path in (
            ("GET", ""),
            ("GET", f"/{kept['id']}"),
            ("DELETE", f"/{kept['id']}"),
            ("POST", ""),
            ("POST", "/upload"),
            ("GET", "/examples?model=headscope-2l"),
        ):
            answer = outsider.request(method, f"{PROMPTS}{path}")
            assert (answer.status_code, answer.json()["code"]) == (401, "sign-in-needed"), path
            assert "secret" not in answer.text
        assert owner.get(f"{PROMPTS}/{kept['id']}").json()["texts"] == ["a secret"]
