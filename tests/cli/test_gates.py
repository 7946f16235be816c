"""Gates on the command line: what goes out comes back, elsewhere too, and faults say what to do."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import headscope
from cli.conftest import Shell, written

MODEL = "headscope-2l"
FORMATS = ("json", "csv", "safetensors")


@pytest.fixture(scope="module")
def run(shipped: Shell) -> str:
    """A shipped gating run of the bundled model."""
    found = shipped.json("runs", "list", "--analysis", "chg", "--model", MODEL, "--json")["runs"]
    return str(found[0]["id"])


@pytest.fixture
def mine(shell: Shell, tmp_path: Path) -> str:
    """The id of gates that the shell keeps."""
    gates = {"name": "my [bold] gates", "model": MODEL, "gates": np.eye(2, 8).tolist()}
    return shell("gates", "add", written(tmp_path / "mine.json", json.dumps(gates))).stdout.strip()


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("preset", ["plus", "minus", "facilitating", "random"])
def test_what_was_taken_goes_to_another_store_and_is_the_same(
    shipped: Shell, shell: Shell, run: str, tmp_path: Path, preset: str, kind: str
) -> None:
    taken = shipped("gates", "take", run, "--preset", preset).stdout.strip()
    file = tmp_path / f"gates.{kind}"
    shipped("gates", "export", taken, "--format", kind, "-o", file)
    more = ("--model", MODEL) if kind == "csv" else ()
    assert shell("gates", "add", file, *more).stdout.strip() == taken
    here, there = (shelf.json("gates", "show", taken, "--json") for shelf in (shipped, shell))
    assert here["gates"] == there["gates"]
    if kind != "csv":
        assert here == there, "name, origin and revision travel too"


def test_a_file_is_named_by_the_gates(
    shell: Shell, mine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shell("gates", "export", mine)
    assert (tmp_path / "my-bold-gates.json").is_file()
    assert "Known: json, csv, safetensors" in shell("gates", "export", mine, "--format", "npz", code=2).stderr


def test_names_are_shown_as_they_are(shell: Shell, mine: str) -> None:
    assert "my [bold] gates" in shell("gates", "list").stdout
    assert "my [bold] gates" in shell("gates", "show", mine).stdout
    assert "14 of 16" in shell("gates", "list").stdout
    (listed,) = shell.json("gates", "list", "--json")
    assert (listed["id"], listed["closed"], listed["model"]) == (mine, 14, MODEL)
    assert "gates" not in listed


def test_the_same_gates_take_the_new_name(shell: Shell, mine: str, tmp_path: Path) -> None:
    assert shell("gates", "add", tmp_path / "mine.json", "--name", "ours").stdout.strip() == mine
    assert [row["name"] for row in shell.json("gates", "list", "--json")] == ["ours"]


def test_a_layer_is_a_line(shell: Shell, mine: str) -> None:
    lines = shell("gates", "show", mine).stdout.splitlines()
    assert [line.split() for line in lines[2:]] == [
        ["0", "1", *"·······"],
        ["1", "·", "1", *"······"],
    ]


@pytest.mark.parametrize(
    "words", [("show", "none"), ("delete", "none"), ("export", "none"), ("apply", "none", "--prompt", "a")]
)
def test_gates_that_are_not_there(shell: Shell, words: tuple[str, ...]) -> None:
    said = shell("gates", *words, code=2).stderr
    assert "There are no gates 'none'." in said or "no file" in said
    assert len(said.strip().splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "Name one of plus, minus"),
        (("--preset", "all"), "no gates called 'all'"),
        (("--preset", "plus", "--seed", "99"), "no fit of seed 99"),
        (("--preset", "plus", "--threshold", "0"), "threshold"),
    ],
)
def test_what_can_not_be_taken(shipped: Shell, run: str, words: tuple[str, ...], says: str) -> None:
    assert says in shipped("gates", "take", run, *words, code=2).stderr


def test_a_run_that_gives_no_gates_names_analyses_that_do(shipped: Shell) -> None:
    (induction, *_) = shipped.json("runs", "list", "--analysis", "induction", "--json")["runs"]
    said = shipped("gates", "take", induction["id"], code=2).stderr
    assert "has no gates" in said
    assert "chg, cchg" in said


def test_other_weights_of_the_model_are_told_apart(shell: Shell, mine: str, tmp_path: Path) -> None:
    other = {"model": MODEL, "revision": "0" * 16, "gates": np.ones((2, 8)).tolist()}
    file = written(tmp_path / "other.json", json.dumps(other))
    for words in (("add", file), ("apply", file, "--prompt", "a")):
        assert "other weights" in shell("gates", *words, code=2).stderr
    assert [row["id"] for row in shell.json("gates", "list", "--json")] == [mine]


def test_a_folder_that_is_there_is_replaced_only_by_force(shell: Shell, mine: str, tmp_path: Path) -> None:
    folder = tmp_path / "baked"
    folder.mkdir()
    written(folder / "notes.txt", "mine")
    said = shell("gates", "bake", mine, "-o", folder, code=2).stderr
    assert str(folder) in said.replace("\n", "")
    shell("gates", "bake", mine, "-o", folder, "--force", code=2)
    assert [file.name for file in folder.iterdir()] == ["notes.txt"], "no model's folder: never replaced"


def test_python_reads_what_the_command_line_keeps(shell: Shell, mine: str, tmp_path: Path) -> None:
    shell("gates", "export", mine, "--format", "safetensors", "-o", tmp_path / "g.safetensors")
    for source in (mine, tmp_path / "g.safetensors"):
        vector = headscope.load_gates(source, settings=shell.settings)
        assert (vector.id, vector.name) == (mine, "my [bold] gates")
        np.testing.assert_array_equal(vector.gates, np.eye(2, 8))


def test_gates_fitted_by_mean_are_applied_by_mean(shell: Shell, tmp_path: Path) -> None:
    half = np.full((2, 8), 0.5).tolist()
    by_mean = {"name": "by mean", "model": MODEL, "gates": half, "ablation": "mean"}
    by_zero = {"name": "by zero", "model": MODEL, "gates": half}
    mean, zero = (
        shell("gates", "add", written(tmp_path / f"{one['name']}.json", json.dumps(one))).stdout.strip()
        for one in (by_mean, by_zero)
    )
    words = ("--prompt", "Once upon a time there was", "--tokens", "8", "--json")
    assert "reference texts" in shell("gates", "apply", mean, *words, code=2).stderr
    texts = written(tmp_path / "texts.txt", "A cat sat on a mat.\n\nThe dog ran to the house.\n")
    with_means = shell.json("gates", "apply", mean, *words, "--reference", texts)
    with_nothing = shell.json("gates", "apply", zero, *words)
    assert with_means["as_it_is"] == with_nothing["as_it_is"]
    assert with_means["gated"] != with_nothing["gated"]
