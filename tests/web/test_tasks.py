"""Tasks are listed, uploaded, refused with the line that is wrong, and deleted."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

ROWS = b"""{"prompt": "cat", "target": "cats"}
{"prompt": "dog", "target": "dogs"}
{"prompt": "fox", "target": "foxes"}
"""


def upload(client: TestClient, content: bytes = ROWS, filename: str = "rows.jsonl", **fields: Any) -> Any:
    data = {"name": "plurals", **fields}
    return client.post("/api/v1/tasks", files={"file": (filename, content)}, data=data)


def test_built_in_tasks(bad: TestClient) -> None:
    names = {task["name"]: task for task in bad.get("/api/v1/tasks").json()}
    assert {"induction", "singular-plural"} <= set(names)
    assert names["induction"]["origin"] == "built-in"
    assert bad.get("/api/v1/tasks/induction").json() == names["induction"]


def test_a_life(client: TestClient) -> None:
    made = upload(client, title="Plurals", template="{prompt} ->{target}", shots="1")
    assert made.status_code == 201, made.text
    assert made.headers["location"] == "/api/v1/tasks/plurals"
    task = client.get("/api/v1/tasks/plurals").json()
    assert (task["origin"], task["title"], task["n_rows"], task["shots"]) == ("yours", "Plurals", 3, 1)
    assert "plurals" in [task["name"] for task in client.get("/api/v1/tasks").json()]
    again = upload(client)
    assert (again.status_code, again.json()["code"]) == (409, "task-exists")
    assert client.delete("/api/v1/tasks/plurals").status_code == 204
    assert client.get("/api/v1/tasks/plurals").json()["code"] == "unknown-task"


def test_a_csv(client: TestClient) -> None:
    assert upload(client, "prompt,target\nété,étés\na,as\nb,bs\n".encode(), "rows.csv").status_code == 201


def test_rows_that_are_not_used_are_said(client: TestClient) -> None:
    task = upload(client, b"prompt;target\na;b\nc;d\na;e\nf;g\n", "rows.csv").json()
    assert (task["n_rows"], task["unused"]) == (
        3, "1 of 4 rows unused: an earlier row has the same prompt with another answer (first: 'a').",
    )  # fmt: skip
    assert client.get("/api/v1/tasks/induction").json()["unused"] == ""


def test_what_is_wrong_with_a_form_is_said_in_the_pages_own_ways(bad: TestClient) -> None:
    form: dict[str, Any] = {"files": {"file": ("rows.csv", ROWS)}, "data": {"name": "x", "shots": "many"}}
    on_page = bad.post("/api/v1/tasks", headers={"X-Headscope-Reader": "page"}, **form).json()
    assert on_page["remedy"] == "Change shots and try again."
    assert "openapi.json" in bad.post("/api/v1/tasks", **form).json()["remedy"]


def test_what_cannot_be_a_task_is_refused_and_nothing_is_kept(client: TestClient) -> None:
    faults = {
        "wrong header": (b"question,answer\na,b\n", "rows.csv", {}),
        "no rows": (b"", "rows.jsonl", {}),
        "no target": (b'{"prompt": "cat", "target": ""}\n', "rows.jsonl", {}),
        "not UTF-8": (b'{"prompt": "caf\xe9", "target": "x"}\n', "rows.jsonl", {}),
        "not JSON": (b"{prompt}\n", "rows.jsonl", {}),
        "not a text file": (b"\x00\x01\x02", "rows.jsonl", {}),
        "a name for a path": (ROWS, "rows.jsonl", {"name": "../x"}),
        "a name that is too long": (ROWS, "rows.jsonl", {"name": "x" * 65}),
        "a template without its parts": (ROWS, "rows.jsonl", {"template": "no parts"}),
        "more examples than rows": (ROWS, "rows.jsonl", {"shots": "64"}),
        "shots that are no number": (ROWS, "rows.jsonl", {"shots": "many"}),
    }
    for what, (content, filename, fields) in faults.items():
        answer = upload(client, content, filename, **fields)
        assert answer.status_code == 422, what
        assert answer.headers["content-type"] == "application/problem+json", what
        assert answer.json()["detail"], what
        assert answer.json()["remedy"], what
    assert all(task["origin"] == "built-in" for task in client.get("/api/v1/tasks").json())


def test_a_form_without_its_parts(bad: TestClient) -> None:
    assert bad.post("/api/v1/tasks", data={"name": "x"}).json()["remedy"] == "Add file."
    assert bad.post("/api/v1/tasks", files={"file": ("a.csv", ROWS)}).json()["remedy"] == "Add name."


def test_a_file_between_the_limits(bad: TestClient) -> None:
    """Within the form's allowance, beyond the file's."""
    answer = upload(bad, b"x" * (10 * 2**20 + 100))
    assert (answer.status_code, answer.json()["code"]) == (413, "too-large")


@pytest.mark.parametrize("name", ["none", "a%2Fb", "%00"])
def test_an_unknown_task(bad: TestClient, name: str) -> None:
    for path in (f"/api/v1/tasks/{name}", f"/api/v1/tasks/{name}/examples?model=m"):
        answer = bad.get(path)
        assert answer.status_code == 404
        assert answer.json()["remedy"]
    assert bad.delete(f"/api/v1/tasks/{name}").status_code == 404


def test_a_built_in_task_stays(bad: TestClient) -> None:
    answer = bad.delete("/api/v1/tasks/induction")
    assert (answer.status_code, answer.json()["code"]) == (409, "task-built-in")
