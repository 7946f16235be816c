"""Gate vectors are kept by model, weights and content; a finished run gives some to try."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load
from starlette.testclient import TestClient

from figures.gates_samples import cchg
from figures.results import result as made_result
from figures.samples import sufficiency
from headscope.core.arrays import decode, encode
from headscope.core.gating.roles import finished
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from services.results import changed
from web.conftest import Rows

GATES = "/api/v1/gates"
MODEL = "headscope-2l"


def table(seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).random((2, 8)).astype("f4")


def keep(client: TestClient, gates: np.ndarray[Any, Any], name: str = "mine", **more: Any) -> dict[str, Any]:
    answer = client.post(GATES, json={"name": name, "model": MODEL, "gates": encode(gates), **more})
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json())


def test_the_same_gates_are_kept_once(client: TestClient) -> None:
    gates = table()
    first = client.post(GATES, json={"name": "mine", "model": MODEL, "gates": encode(gates)})
    made = first.json()
    assert first.status_code == 201
    assert first.headers["location"] == f"{GATES}/{made['id']}"
    assert (made["n_layers"], made["n_heads"], made["origin"]) == (2, 8, "by hand")
    assert made["closed"] == (gates < 0.5).sum()
    np.testing.assert_array_equal(decode(made["gates"]), gates)
    again = client.post(GATES, json={"name": "ours", "model": MODEL, "gates": gates.tolist()})
    assert (again.status_code, again.json()["id"], again.json()["name"]) == (200, made["id"], "ours")
    assert keep(client, table(1))["id"] != made["id"]
    assert [row["name"] for row in client.get(GATES, params={"model": MODEL}).json()] == ["mine", "ours"]
    assert client.get(GATES, params={"model": "smollm2-135m"}).json() == []
    assert client.get(f"{GATES}/{made['id']}").json()["name"] == "ours"


def test_deleted(client: TestClient) -> None:
    made = keep(client, table())
    assert client.delete(f"{GATES}/{made['id']}").status_code == 204
    for answer in (client.get(f"{GATES}/{made['id']}"), client.delete(f"{GATES}/{made['id']}")):
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown-gates")


def test_exports_say_the_same(client: TestClient) -> None:
    gates = table()
    made = keep(client, gates, "no copying / yet")
    files = {f: client.get(f"{GATES}/{made['id']}/export", params={"format": f}) for f in KINDS}
    assert files["json"].headers["content-disposition"] == 'attachment; filename="no-copying-yet.json"'
    content = files["json"].json()
    assert (content["model"], content["revision"]) == (MODEL, made["revision"])
    np.testing.assert_array_equal(np.array(content["gates"], "f4"), gates)
    np.testing.assert_array_equal(load(files["safetensors"].content)["gates"], gates)
    rows = np.loadtxt(io.StringIO(files["csv"].text), delimiter=",", skiprows=1)
    np.testing.assert_array_equal(rows[:, 2].reshape(2, 8).astype("f4"), gates)
    assert files["csv"].text.startswith("layer,head,gate\n0,0,")


KINDS = ("json", "csv", "safetensors")


def upload(client: TestClient, filename: str, content: bytes, /, **words: str) -> Any:
    return client.post(f"{GATES}/upload", files={"file": (filename, content)}, data=words)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_exported_can_be_uploaded(client: TestClient, kind: str) -> None:
    made = keep(client, table(), "mine", ablation="mean" if kind != "csv" else "zero")
    content = client.get(f"{GATES}/{made['id']}/export", params={"format": kind}).content
    client.delete(f"{GATES}/{made['id']}")
    words = {"model": MODEL} if kind == "csv" else {}
    first, again = (upload(client, f"mine.{kind}", content, **words) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200), first.text
    same = ("id", "gates", "name", "model", "revision", "ablation")
    assert {name: first.json()[name] for name in same} == {name: made[name] for name in same}
    assert first.headers["location"] == f"{GATES}/{made['id']}"
    assert upload(client, f"mine.{kind}", content, name="ours", **words).json()["name"] == "ours"
    as_answered = client.get(f"{GATES}/{made['id']}").content
    assert upload(client, "answer.json", as_answered).json()["id"] == made["id"]


ONES = np.ones((2, 8)).tolist()
BAD_FILES: dict[str, tuple[str, bytes, dict[str, str], int, str, str]] = {
    "no model": ("g.csv", b"layer,head,gate\n0,0,1\n", {}, 422, "no-model", "g.csv doesn't say whose"),
    "another model": (
        "g.json", json.dumps({"model": "smollm2-135m", "gates": ONES}).encode(), {"model": MODEL},
        422, "other-model", "are of smollm2-135m, not of headscope-2l",
    ),
    "a folder": (
        "g.json", json.dumps({"model": "/etc", "gates": ONES}).encode(), {}, 404, "unknown-model", "/etc",
    ),
    "twice": (
        "g.csv", b"layer,head,gate\n0,0,1\n0,0,0\n", {"model": MODEL},
        422, "bad-gates", "g.csv, line 3: the head 0.0 stands on line 2 already",
    ),
    "size": (
        "g.csv", b"layer,head,gate\n0,0,1\n", {"model": MODEL},
        422, "bad-gates", "g.csv: The gates have shape 1x1",
    ),
    "type": ("g.npz", b"PK", {"model": MODEL}, 422, "file-type", "g.npz is no gate file"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD_FILES)
def test_files_that_are_no_gates(bad: TestClient, fault: str) -> None:
    name, content, words, status, code, says = BAD_FILES[fault]
    answer = upload(bad, name, content, **words)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert says in answer.json()["detail"]
    assert answer.json()["remedy"]
    assert bad.get(GATES).json() == []


def bad(**changes: Any) -> dict[str, Any]:
    return {"name": "mine", "model": MODEL, "gates": encode(table()), **changes}


WRONG = np.full((2, 8), 0.5, "f4")
WRONG[1, 3] = 1.5
HAIR = np.where(WRONG > 1, np.nextafter(np.float32(1), np.float32(2)), WRONG).astype("f4")
NAN = np.where(WRONG > 1, np.nan, WRONG).astype("f4")
BAD = {
    "outside": (bad(gates=encode(WRONG)), "bad-gates", "layer 1, head 3 is 1.5"),
    "a hair outside": (bad(gates=encode(HAIR)), "bad-gates", "layer 1, head 3 is 1.0000001"),
    "NaN": (bad(gates=encode(NAN)), "bad-gates", "layer 1, head 3 is nan"),
    "negative": (bad(gates=(-WRONG).tolist()), "bad-gates", "-0.5"),
    "shape": (bad(gates=encode(table()[:, :7])), "bad-gates", "2x7"),
    "ragged": (bad(gates=[[1.0], [1.0, 0.0]]), "bad-gates", "not a table"),
    "malformed": (bad(gates={"dtype": "f4", "shape": "2, 8", "bdata": "AAAA"}), "malformed-array", "64"),
    "no name": (bad(name=""), "invalid-request", ""),
    "two lines": (bad(name="a\nb"), "invalid-request", ""),
    "unknown": (bad(model="nothing"), "unknown-model", "nothing"),
}


@pytest.mark.parametrize("fault", BAD)
def test_gates_that_cannot_be(bad: TestClient, fault: str) -> None:
    body, code, says = BAD[fault]
    answer = bad.post(GATES, json=body)
    assert answer.status_code in (404, 422)
    assert answer.json()["code"] == code, answer.text
    assert says in answer.json()["detail"]
    assert bad.get(GATES).json() == []


# -- what a run gives ------------------------------------------------------------------------------


def given(client: TestClient, run_id: str, **query: Any) -> dict[str, np.ndarray[Any, Any]]:
    answer = client.get(f"/api/v1/runs/{run_id}/gates", params=query)
    assert answer.status_code == 200, answer.text
    found = {preset["name"]: decode(preset["gates"]) for preset in answer.json()}
    assert all(p["open"] == (found[p["name"]] >= 0.5).sum() for p in answer.json())
    assert all(p["reading"] for p in answer.json())
    return found


def test_a_run_gives_its_gates(client: TestClient, rows: Rows) -> None:
    result = made_result()
    run_id = rows.done("a", result)
    plus, minus = (result.arrays[f"g_{sign}"] for sign in ("plus", "minus"))
    ran = np.flatnonzero(finished(plus, minus))
    mean = given(client, run_id)
    assert list(mean) == ["plus", "minus", "facilitating", "without-harmful", "always", "random"]
    np.testing.assert_allclose(mean["plus"], plus[ran].mean(0), atol=1e-6)
    np.testing.assert_array_equal(mean["facilitating"], minus[ran].astype("f8").mean(0) >= 0.5)
    index = int(ran[-1])
    for threshold in (0.3, 0.7):
        one = given(client, run_id, seed=result.seeds[index], threshold=threshold)
        np.testing.assert_array_equal(one["plus"], plus[index])
        np.testing.assert_array_equal(one["minus"], minus[index])
        np.testing.assert_array_equal(one["facilitating"], minus[index] >= threshold)
        np.testing.assert_array_equal(one["without-harmful"], ~(1 - plus[index] >= threshold))
        np.testing.assert_array_equal(one["always"], (minus[ran] >= threshold).all(0))
        assert one["random"].sum() == one["facilitating"].sum()
        assert set(np.unique(one["random"])) <= {0.0, 1.0}
        again = given(client, run_id, seed=result.seeds[index], threshold=threshold)
        np.testing.assert_array_equal(again["random"], one["random"])


def test_a_run_gives_the_heads_that_a_sufficiency_run_of_it_found(client: TestClient, rows: Rows) -> None:
    run_id, found = rows.done("a"), sufficiency()
    for number, (of, fewest) in enumerate((("b", 3), (run_id, None))):
        outcome = changed(found, values={**found.values, "fewest": fewest})
        rows.done(f"s{number}", outcome, analysis="sufficiency", params={"run": of})
    assert "sufficient" not in given(client, run_id)
    rows.done("s2", found, analysis="sufficiency", params={"run": run_id})
    np.testing.assert_array_equal(given(client, run_id)["sufficient"], found.arrays["subset"])


def test_a_sufficiency_run_gives_its_heads_to_keep(client: TestClient, rows: Rows) -> None:
    found = sufficiency()
    rows.done("s", found, analysis="sufficiency", params={"run": "a"})
    assert list(given(client, "s")) == ["sufficient"]
    np.testing.assert_array_equal(given(client, "s")["sufficient"], found.arrays["subset"])
    rows.done("t", changed(found, values={**found.values, "fewest": None}), analysis="sufficiency")
    none = client.get("/api/v1/runs/t/gates")
    assert (none.status_code, none.json()["code"]) == (409, "no-gates")
    assert "no better than with all heads closed" in none.json()["detail"]


def test_gates_of_a_run_are_kept_under_their_own_id(client: TestClient, rows: Rows) -> None:
    found = cchg()
    wide = {
        name: np.tile(array, 2) if name.startswith(("g_", "plain_")) else array
        for name, array in found.arrays.items()
    }
    contrast = changed(found, model=Catalogue(Settings()).info(MODEL), arrays=wide)
    rows.done("c", contrast, analysis="cchg", model=contrast.model, task=None)
    assert list(given(client, "c")) == [
        "named-open", "named-open-rounded", "exchanged-open", "exchanged-open-rounded",
    ]  # fmt: skip
    wanted = {"preset": "named-open", "seed": "1"}
    first = client.post(f"{GATES}/of-run/c", params=wanted)
    assert first.status_code == 201, first.text
    np.testing.assert_array_equal(decode(first.json()["gates"]), wide["g_named_open"][1])
    assert first.json()["name"] == "plural without plural-instruction, seed 1"
    assert client.post(f"{GATES}/of-run/c", params=wanted).status_code == 200
    for query, status, code in (({}, 422, "preset-missing"), ({"preset": "plus"}, 404, "unknown-preset")):
        answer = client.post(f"{GATES}/of-run/c", params=query)
        assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_runs_that_give_none(client: TestClient, rows: Rows) -> None:
    rows.done("a")
    rows.waiting("b")
    for path, status, code in (
        ("a/gates?seed=99", 404, "unknown-seed"),
        ("a/gates?seed=first", 422, "invalid-request"),
        ("a/gates?threshold=0", 422, "invalid-request"),
        ("b/gates", 409, "run-not-done"),
        ("none/gates", 404, "unknown-run"),
    ):
        answer = client.get(f"/api/v1/runs/{path}")
        assert (answer.status_code, answer.json()["code"]) == (status, code), path
