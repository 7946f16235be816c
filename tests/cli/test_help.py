"""Every command explains itself, says its options, and answers nonsense with exit code 2."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from cli.conftest import Shell
from headscope.cli import app, console
from headscope.errors import (
    Cancelled,
    Forbidden,
    HeadscopeError,
    Invalid,
    NotFound,
    Refused,
    TooLarge,
    Unavailable,
)

DOCUMENTED = Path(__file__).parents[2] / "docs" / "command-line.md"


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with what is typed to reach it."""
    for name, command in getattr(group, "commands", {}).items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_says_what_a_command_does_and_takes(shell: Shell, words: tuple[str, ...]) -> None:
    said = shell(*words, "--help").stdout
    command = COMMANDS[words]
    assert command.help
    assert command.help.split("\n")[0] in " ".join(said.split())
    for param in command.params:
        is_option = param.param_type_name == "option"
        if is_option and param.hidden:
            continue
        assert param.help, f"{param.name} is not explained"
        for option in param.opts if is_option else ():
            assert option in said


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_unknown_option_is_bad_input(shell: Shell, words: tuple[str, ...]) -> None:
    assert "--nonsense" in shell(*words, "--nonsense", code=2).stderr


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_is_documented(words: tuple[str, ...]) -> None:
    assert f"headscope {' '.join(words)}" in DOCUMENTED.read_text(encoding="utf-8")


def test_every_option_that_is_needed_is_asked_for(shell: Shell) -> None:
    for words, command in COMMANDS.items():
        needed = [param for param in command.params if param.required]
        if needed:
            said = shell(*words, code=2).stderr
            assert any(re.search(rf"{name}\b", said, re.I) for name in names(needed[0])), f"{words}: {said}"


def names(param: Any) -> list[str]:
    """As it may be called in a message."""
    return [*param.opts, str(param.name), str(param.metavar or param.name)]


@pytest.mark.parametrize("group", ["models", "tasks", "prompts", "gates", "runs", "atlas", "validate", "db"])
def test_a_group_alone_lists_its_commands(shell: Shell, group: str) -> None:
    said = shell(group, code=2)
    for words in COMMANDS:
        if words[0] == group:
            assert words[1] in said.stdout + said.stderr


# -- how errors become words and exit codes ----------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (NotFound, 2),
        (Invalid, 2),
        (TooLarge, 2),
        (Refused, 2),
        (Unavailable, 1),
        (Forbidden, 1),
        (HeadscopeError, 1),
    ],
)
def test_whose_fault_it_is_decides_the_exit_code(
    kind: type[HeadscopeError], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as left:
        console.fail(kind("What is wrong [bold]here[/].", "What to do."))
    assert left.value.exit_code == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "Error: What is wrong [bold]here[/].\nWhat to do.\n"


def test_an_error_without_a_remedy_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as left:
        console.fail(Cancelled("It was stopped.", ""), console.CANCELLED)
    assert (left.value.exit_code, capsys.readouterr().err) == (130, "Error: It was stopped.\n")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HEADSCOPE_PORT", "70000"),
        ("HEADSCOPE_MAX_UPLOAD_BYTES", "0"),
        ("HEADSCOPE_MODEL_MEMORY_BYTES", "much"),
        ("HEADSCOPE_WORKER_PATIENCE", "-1"),
    ],
)
def test_a_variable_of_no_use_is_named(shell: Shell, name: str, value: str) -> None:
    said = shell("tasks", "list", code=2, **{name: value}).stderr
    assert said.startswith(f"Error: {name} can't be used: ")
    assert "docs/operations.md" in said


def test_an_option_wins_over_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_PORT", "9000")
    assert console.settings().port == 9000
    assert console.settings(port=9001).port == 9001
    assert console.settings(port=None).port == 9000
