"""The client against a real server with a real worker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import numpy as np
import pytest

import headscope as hs
from headscope.core.gating.gate_vector import GateVector
from headscope.errors import Cancelled, Gone, Invalid, NotFound, Refused, Unavailable
from python.conftest import TINY
from python.failing import breaks_off, failing, problem
from services.server import Server

ROWS = [{"prompt": f"{a} then {b}", "target": b} for a, b in zip("abcdefgh", "hgfedcba", strict=True)]


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[hs.Client]:
    with hs.Client(server.url) as client:
        yield client


@pytest.fixture(scope="module")
def run(client: hs.Client) -> hs.Run:
    return client.start("chg", model="headscope-2l", task="induction", seeds=2, **TINY).wait(120)


def test_what_there_is(client: hs.Client) -> None:
    assert client.health().version == hs.__version__
    assert "headscope-2l" in {model.name for model in client.models()}
    assert client.model("headscope-2l").n_layers == 2
    assert client.task("induction").kind == "generated"
    assert {analysis.name for analysis in client.analyses()} >= {"chg", "battery"}


def test_a_run_from_start_to_end(client: hs.Client, run: hs.Run) -> None:
    assert run.status == "done"
    assert run.params["seeds"] == 2
    assert run.result.g_plus.shape == (2, 2, 8)
    assert run.headline["accuracy_ungated"] is not None
    assert run.url == f"{client.address}/runs/{run.id}"
    again = client.start("chg", model="headscope-2l", task="induction", seeds=2, **TINY)
    assert (again.id, again.status) == (run.id, "done")
    assert client.run(run.id).id == run.id


def test_it_shows_the_same_as_a_run_of_this_machine(run: hs.Run) -> None:
    figure = run.figure("roles", threshold=0.4)
    assert figure.layout.meta["title"]
    assert figure.layout.template.layout.font.family
    table = run.table("roles", mode="always")
    frame = run.frame("roles", mode="always")
    assert list(frame.columns) == [column["name"] for column in table["columns"]]
    assert len(frame) == len(table["rows"]) == 16
    assert set(run.roles(0.4).ravel()) <= {"needed", "harmful", "both", "irrelevant", "undecided"}
    csv = run.export("csv", figure="roles", threshold=0.4)
    assert csv.startswith(b"layer,head")


def test_its_gates(client: hs.Client, run: hs.Run) -> None:
    gates = run.gates("G+")
    assert isinstance(gates, GateVector)
    np.testing.assert_allclose(gates.gates, run.result.g_plus.mean(axis=0), atol=1e-6)
    kept = client.add_gates(gates)
    assert kept in {vector.id for vector in client.kept_gates("headscope-2l")}
    with pytest.raises(NotFound, match="plus, minus"):
        run.gates("nope")


def test_runs_come_page_by_page(client: hs.Client, run: hs.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.python.client.PAGE", 5)
    everything = [each.id for each in client.runs()]
    assert len(everything) == len(set(everything)) > 10
    assert run.id in everything
    assert [each.id for each in client.runs(analysis="chg", model="headscope-2l", task="induction")] == [
        each.id
        for each in client.runs(analysis="chg")
        if each.task == "induction" and each.model == run.model
    ]


def test_rows_become_a_task_once(client: hs.Client) -> None:
    name = client.add_task(ROWS)
    assert client.add_task(list(ROWS)) == name
    assert client.task(name).n_rows == len(ROWS)
    estimate = client.estimate("chg", model="headscope-2l", task=ROWS, **TINY)
    assert estimate.seconds > 0
    with pytest.raises(Refused) as refused:
        client.add_task(ROWS[:4], name=name)
    assert refused.value.code == "task-exists"
    client.delete_task(name)
    with pytest.raises(NotFound):
        client.task(name)


def test_prompts_and_gates_are_given_as_they_are(client: hs.Client, run: hs.Run) -> None:
    texts = ["the cat sat on the mat, the cat", "the dog sat"]
    battery = client.start("battery", model="headscope-2l", prompts=texts, gates=run.gates("G-")).wait(120)
    assert battery.params["gates"] in {kept.id for kept in client.kept_gates()}
    assert battery.params["prompts"] in {kept.id for kept in client.prompts()}
    client.delete_prompts(battery.params["prompts"])


def test_the_lab_takes_and_gives_arrays(client: hs.Client) -> None:
    text = "the cat sat on the mat and the cat"
    gates = np.ones((2, 8), np.float32)
    gates[1] = 0
    answer = client.lab("gates", model="headscope-2l", text=text, gates=gates)
    assert answer
    look = client.lab("look", model="headscope-2l", text=text)
    assert any(isinstance(value, np.ndarray) for value in _leaves(look))
    assert client.circuits("tokens", model="headscope-2l", text="the")
    assert client.tokenize("headscope-2l", text)["tokens"]
    with pytest.raises(Invalid) as refused:
        client.lab("gates", model="headscope-2l", text=text, gates=gates[:1])
    assert refused.value.code == "bad-gates"


def test_shares(client: hs.Client, run: hs.Run) -> None:
    share = client.share([run], visibility="public")
    assert share.url.startswith("http")
    assert share.token in {each.token for each in client.shares()}
    client.revoke(share.token)
    with pytest.raises(Gone):
        client._http.send("GET", f"/shares/{share.token}")


def test_cancel_and_delete(client: hs.Client) -> None:
    many = {**TINY, "steps": 2000}
    run = client.start("chg", model="headscope-2l", task="induction", seeds=1, **many)
    with pytest.raises(Refused):
        run.delete()
    with pytest.raises(TimeoutError):
        run.wait(0.5)
    run.cancel()
    with pytest.raises(Cancelled):
        run.wait(30)
    assert run.status == "cancelled"
    run.delete()
    with pytest.raises(NotFound) as raised:
        client.run(run.id)
    assert raised.value.code == "unknown-run"


def test_errors_are_typed(client: hs.Client) -> None:
    with pytest.raises(NotFound) as unknown:
        client.start("chg", model="nope", task="induction")
    assert unknown.value.code == "unknown-model"
    with pytest.raises(Invalid) as wrong:
        client.start("chg", model="headscope-2l", task="induction", steps=-1)
    assert wrong.value.code == "invalid-parameter"
    with pytest.raises(Invalid):
        client.start("chg", model="headscope-2l", task=[])


def test_a_stream_that_breaks_is_taken_up_again(client: hs.Client, run: hs.Run) -> None:
    """The events come in two parts, with failures between: as over a bad line."""
    done = run.describe().model_dump(mode="json")
    running = {**done, "status": "running"}

    def half(handler: BaseHTTPRequestHandler) -> None:
        body = f"event: run\ndata: {json.dumps(running)}\n\n: still here\n\n".encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Content-Length", str(len(body) + 100))  # promised, and not sent
        handler.end_headers()
        handler.wfile.write(body)
        breaks_off(handler)

    def whole(handler: BaseHTTPRequestHandler) -> None:
        body = f"event: run\ndata: {json.dumps(done)}\n\n".encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    away = problem(503, "database-down", Retry_After="0")
    with failing(half, breaks_off, away, good=whole) as bad, hs.Client(bad.url, patience=5) as other:
        assert [known.status for known in other.changes(run.id)] == ["running", "done"]
        assert len(bad.asked) == 4
    with failing(*[breaks_off] * 20) as bad, hs.Client(bad.url, patience=0.5) as other:
        with pytest.raises(Unavailable) as raised:
            list(other.changes(run.id))
        assert raised.value.code == "unreachable"


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    else:
        yield value
