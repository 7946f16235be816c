"""Prompts and gates on the command line: kept, listed, taken along, deleted, used by runs and in Python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

import headscope
from cli.conftest import Shell, written
from headscope.cli.run import parameters
from headscope.errors import Invalid, NotFound
from headscope.models.catalogue import Catalogue
from headscope.store import runs
from headscope.store.session import open_store

MODEL = "headscope-2l"

# -- prompts ---------------------------------------------------------------------------------------


def test_prompts_are_kept_listed_and_deleted(shell: Shell, tmp_path: Path) -> None:
    one = shell("prompts", "add", written(tmp_path / "a.txt", "the [bold]cat\n")).stdout.strip()
    many = shell(
        "prompts", "add", written(tmp_path / "b.csv", "text,id\nthe cat,1\nthe dog,2\n"), "--name", "pets"
    )
    listed = shell.json("prompts", "list", "--json")
    assert [(row["id"], row["name"], row["n"]) for row in listed] == [
        (many.stdout.strip(), "pets", 2),
        (one, "a", 1),
    ]
    assert "2 prompts" in many.stderr
    assert "the [bold]cat" in shell("prompts", "list").stdout
    shell("prompts", "delete", one)
    assert len(shell.json("prompts", "list", "--json")) == 1
    assert "unknown" not in shell("prompts", "delete", one, code=2).stderr
    assert one in shell("prompts", "delete", one, code=2).stderr


def test_files_that_are_no_prompts(shell: Shell, tmp_path: Path) -> None:
    for name, content, says in (
        ("a.jsonl", '"a"\n7\n', "a.jsonl, line 2"),
        ("b.csv", 'text\n"a\n', "b.csv, line 2"),
        ("c.pdf", "%PDF", "neither text, JSON lines nor CSV"),
    ):
        said = shell("prompts", "add", written(tmp_path / name, content), code=2).stderr
        assert says in said
        assert len(said.strip().splitlines()) >= 2
    assert "can't be read" in shell("prompts", "add", tmp_path / "none.txt", code=2).stderr
    assert shell.json("prompts", "list", "--json") == []


# -- gates -----------------------------------------------------------------------------------------

GATES = np.ones((2, 8), "f4")
GATES[1, 5] = 0.0
GATES[0, 3] = 0.1


def test_gates_go_out_and_come_back(shell: Shell, tmp_path: Path) -> None:
    source = written(
        tmp_path / "g.json", json.dumps({"model": MODEL, "name": "mine", "gates": GATES.tolist()})
    )
    kept = shell("gates", "add", source).stdout.strip()
    for kind in ("json", "csv", "safetensors"):
        file = tmp_path / f"out.{kind}"
        shell("gates", "export", kept, "--format", kind, "-o", file)
        more = ("--model", MODEL) if kind == "csv" else ()
        assert shell("gates", "add", file, *more).stdout.strip() == kept
        vector = headscope.load_gates(file, model=MODEL if kind == "csv" else "", settings=shell.settings)
        np.testing.assert_array_equal(vector.gates, GATES)
    assert shell("gates", "export", kept, "--format", "csv", "-o", "-").stdout.startswith("layer,head,gate\n")
    shown = shell("gates", "show", kept).stdout
    assert "·" in shown
    assert "0.10" in shown
    assert shell.json("gates", "show", kept, "--json")["gates"][1][5] == 0.0
    assert [row["id"] for row in shell.json("gates", "list", "--json")] == [kept]
    assert shell.json("gates", "list", "--model", "other", "--json") == []
    assert kept in shell("gates", "list").stdout
    by_id = headscope.load_gates(kept, settings=shell.settings)
    np.testing.assert_array_equal(by_id.gates, GATES)
    by_id.check_model(Catalogue(shell.settings).info(MODEL))
    shell("gates", "delete", kept)
    with pytest.raises(NotFound):
        headscope.load_gates(kept, settings=shell.settings)
    assert shell.json("gates", "list", "--json") == []


def test_gates_are_taken_from_a_run(shipped: Shell) -> None:
    shell, store = shipped, open_store(shipped.settings)
    with store.session() as session:
        (run, *_), _ = runs.find(session, model=MODEL, analysis="chg")
        run_id, result = run.id, runs.result(session, run.id)
    store.close()
    kept = shell("gates", "take", run_id, "--preset", "minus").stdout.strip()
    vector = headscope.load_gates(kept, settings=shell.settings)
    np.testing.assert_allclose(vector.gates, result.arrays["g_minus"].astype("f8").mean(0), atol=1e-6)
    assert run_id in vector.origin
    one = shell("gates", "take", run_id, "--preset", "plus", "--seed", "3").stdout.strip()
    by_seed = headscope.load_gates(one, settings=shell.settings).gates
    np.testing.assert_array_equal(by_seed, result.arrays["g_plus"][list(result.seeds).index(3)])
    several = shell("gates", "take", run_id, code=2)
    assert "Name one of plus, minus" in several.stderr
    assert "no gates called 'all'" in shell("gates", "take", run_id, "--preset", "all", code=2).stderr


BAD_GATES = {
    "shape.json": (json.dumps({"model": MODEL, "gates": [[1.0]]}), "2x8"),
    "outside.csv": (
        "layer,head,gate\n" + "".join(f"{i // 8},{i % 8},1.5\n" for i in range(16)),
        "line 2, column 3 (gate): '1.5'",
    ),
    "holes.csv": ("layer,head,gate\n0,0,1\n1,1,1\n", "2 of 4 heads"),
    "negative.csv": ("layer,head,gate\n-1,0,1\n1,0,1\n", "line 2, column 1 (layer): '-1' is no layer"),
    "huge.csv": ("layer,head,gate\n1000000000,1000000000,1\n", "is no layer"),
    "header.csv": ("0,0,1\n", "layer,head,gate"),
    "text.json": ("not JSON", "text.json, line 1, column 1: this isn't JSON"),
    "deep.json": ("[" * 100_000, "isn't JSON that can be read"),
    "torn.safetensors": (save({"gates": GATES})[:40], "isn't a safetensors file"),
    "other.json": (json.dumps({"model": MODEL, "revision": "x", "gates": GATES.tolist()}), "other weights"),
    "words.txt": ("1", "no gate file"),
}


@pytest.mark.parametrize("name", BAD_GATES)
def test_files_that_are_no_gates(shell: Shell, tmp_path: Path, name: str) -> None:
    content, says = BAD_GATES[name]
    more = () if "other" in name else ("--model", MODEL)
    said = shell("gates", "add", written(tmp_path / name, content), *more, code=2).stderr
    assert says in said
    assert len(said.strip().splitlines()) >= 2


def test_gates_that_name_no_model(shell: Shell, tmp_path: Path) -> None:
    file = written(tmp_path / "g.json", json.dumps(GATES.tolist()))
    assert "Name it with --model." in shell("gates", "add", file, code=2).stderr
    assert len(shell("gates", "add", file, "--model", MODEL).stdout.strip()) == 20
    with pytest.raises(Invalid):
        headscope.load_gates(file, settings=shell.settings)
    with pytest.raises(NotFound):
        headscope.load_gates(tmp_path / "none.json", settings=shell.settings)


# -- runs ------------------------------------------------------------------------------------------


def test_an_id_is_text_even_where_it_looks_like_a_number() -> None:
    read = parameters(
        ["prompts=12345678901234567890", "gates=5e100", "steps=60", "x=null"], {"prompts", "gates"}
    )
    assert read == {"prompts": "12345678901234567890", "gates": "5e100", "steps": 60, "x": None}


def test_a_run_says_at_once_which_id_is_wrong(shell: Shell, tmp_path: Path) -> None:
    run = ("run", "battery", "--model", MODEL, "--param")
    assert "prompts: There is no prompt 'none'" in shell(*run, "prompts=none", code=2).stderr
    prompts = shell("prompts", "add", written(tmp_path / "a.txt", "the cat")).stdout.strip()
    said = shell(*run, f"prompts={prompts}", "--param", "gates=none", code=2).stderr
    assert "gates: There are no gates 'none'" in said
    assert shell.json("runs", "list", "--json")["total"] == 0


def test_a_run_takes_a_file_of_prompts(shell: Shell, tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", '"the cat sat on the cat sat"\n"the dog and the dog"\n')
    shell("run", "battery", "--model", MODEL, "--prompts", file)
    kept = shell.json("prompts", "list", "--json")
    assert [row["n"] for row in kept] == [2]
    (run,) = shell.json("runs", "list", "--json")["runs"]
    assert (run["status"], run["params"]["prompts"]) == ("done", kept[0]["id"])
    said = shell("run", "chg", "--model", MODEL, "--task", "induction", "--prompts", file, code=2).stderr
    assert "chg reads no prompts" in said


def test_gates_at_work_on_a_text_on_a_task_and_in_the_weights(shell: Shell, tmp_path: Path) -> None:
    gates_file = written(
        tmp_path / "g.json", json.dumps({"model": MODEL, "name": "mine", "gates": GATES.tolist()})
    )
    text = "To be, or not to be: to b"
    said = shell.json("gates", "apply", gates_file, "--prompt", text, "--tokens", "3", "--json")
    assert said["as_it_is"] != said["gated"]
    folder = tmp_path / "baked"
    shell("gates", "bake", gates_file, "-o", folder)
    plain = {"name": "open", "model": str(folder), "gates": np.ones((2, 8)).tolist()}
    open_gates = written(tmp_path / "open.json", json.dumps(plain))
    again = shell.json("gates", "apply", open_gates, "--prompt", text, "--tokens", "3", "--json")
    assert again["as_it_is"] == again["gated"] == said["gated"]
    (row,) = shell.json("gates", "evaluate", gates_file, "--task", "induction", "--examples", "4", "--json")
    assert row["task"] == "induction"
    assert row["accuracy_after"] < row["accuracy_before"]
