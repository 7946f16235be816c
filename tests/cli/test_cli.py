"""The command line as a person uses it: real processes, real stores, exit codes and messages."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from cli.conftest import TINY, Shell
from services.server import Server


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shell, str]:
    """A shell in whose store one tiny run is finished, and the run's id."""
    shell = Shell(tmp_path_factory.mktemp("shell"))
    shell("run", "chg", "--model", "headscope-2l", "--task", "induction", *TINY)
    return shell, str(shell.json("runs", "list", "--json")["runs"][0]["id"])


# -- help and version ------------------------------------------------------------------------------


def test_help_answers_at_once(shell: Shell) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said, _ = shell.start("--help").communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Seconds of a core, not of the clock: what else the machine does is no concern of this test.
    assert (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime) < 1.0
    for command in ("serve", "worker", "run", "runs", "models", "tasks", "export", "atlas", "db"):
        assert command in said


def test_version(shell: Shell) -> None:
    from headscope import __version__

    assert shell("--version").stdout == f"headscope {__version__}\n"


def test_no_command_loads_torch_before_it_must() -> None:
    heavy = {"torch", "fastapi", "sqlalchemy", "plotly"}
    code = f"import sys, headscope.cli; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "nope", "--model", "headscope-2l"), "nope"),
        (("run", "chg", "--model", "nope", "--task", "induction"), "nope"),
        (("run", "chg", "--model", "headscope-2l", "--task", "nope"), "nope"),
        (("run", "chg", "--model", "headscope-2l"), "task"),
        (("run", "chg", "--model", "headscope-2l", "--task", "induction", "--preset", "nope"), "quick"),
        (("run", "chg", "--model", "headscope-2l", "--task", "induction", "--param", "nope=1"), "steps"),
        (("run", "chg", "--model", "headscope-2l", "--task", "induction", "--param", "steps=-1"), "steps"),
        (("run", "chg", "--model", "headscope-2l", "--task", "induction", "--param", "steps"), "NAME=VALUE"),
        (("runs", "show", "nope"), "nope"),
        (("runs", "delete", "--yes", "nope"), "nope"),
        (("export", "nope"), "nope"),
        (("tasks", "show", "nope"), "nope"),
        (("tasks", "delete", "induction"), "induction"),
        (("tasks", "add", "no-such-file.csv"), "no-such-file.csv"),
        (("models", "fetch", "nope"), "nope"),
        (("models", "add", "mine", "no-such-folder"), "no-such-folder"),
    ],
)
def test_bad_input_is_answered_with_what_to_do(shell: Shell, words: tuple[str, ...], says: str) -> None:
    said = shell(*words, code=2).stderr
    assert said.lstrip().startswith("Error: ")
    assert says in said
    assert len(said.strip().splitlines()) >= 2  # what is wrong, and what to do


def test_a_bad_variable_is_named(shell: Shell) -> None:
    assert "HEADSCOPE_PORT" in shell("db", "upgrade", code=2, HEADSCOPE_PORT="eighty").stderr
    assert (
        "HEADSCOPE_DATABASE_URL"
        in shell("db", "upgrade", code=2, HEADSCOPE_DATABASE_URL="mysql://x/y").stderr
    )


def test_a_database_that_is_down_is_a_failure_not_bad_input(shell: Shell) -> None:
    said = shell("runs", "list", code=1, HEADSCOPE_DATABASE_URL="postgresql://nobody@127.0.0.1:1/none").stderr
    assert "does not answer" in said


# -- compute, read, export -------------------------------------------------------------------------


def test_the_same_request_is_not_computed_twice(done: tuple[Shell, str]) -> None:
    shell, run = done
    said = shell("run", "chg", "--model", "headscope-2l", "--task", "induction", *TINY, "--json", "-")
    assert "computed before" in said.stderr
    result = json.loads(said.stdout)
    assert result["analysis"] == "chg"
    assert result["g_plus"]["dtype"] == "f4"
    assert run in said.stderr


def test_a_result_goes_to_a_file(done: tuple[Shell, str], tmp_path: Path) -> None:
    shell, _ = done
    file = tmp_path / "result.json"
    shell("run", "chg", "--model", "headscope-2l", "--task", "induction", *TINY, "--json", file)
    assert json.loads(file.read_text(encoding="utf-8"))["schema_version"] >= 1
    said = shell(
        "run", "chg", "--model", "headscope-2l", "--task", "induction", *TINY, "--json", tmp_path, code=1
    )
    assert "can't be written" in said.stderr


def test_runs_are_listed_and_shown(done: tuple[Shell, str]) -> None:
    shell, run = done
    assert run in shell("runs", "list", "--status", "done").stdout
    shown = shell.json("runs", "show", run, "--json")
    assert shown["status"] == "done"
    assert shown["params"]["steps"] == 3
    assert shown["attempts"][0]["status"] == "done"
    assert shell.json("runs", "show", run[:12], "--json") == shown
    assert "attempt 1" in shell("runs", "show", run).stdout


@pytest.mark.parametrize(
    ("kind", "begins"),
    [
        ("csv", b""),
        ("json", b"{"),
        ("npz", b"PK"),
        ("html", b"<!"),
        ("ipynb", b"{"),
        ("png", b"\x89PNG"),
        ("svg", b"<svg"),
    ],
)
def test_a_run_is_exported(
    done: tuple[Shell, str], tmp_path: Path, kind: str, begins: bytes, chromium_path: Path
) -> None:
    shell, run = done
    file = tmp_path / f"run.{kind}"
    shell("export", run, "--format", kind, "--figure", "roles", "-o", file)
    assert file.read_bytes().startswith(begins)
    assert file.stat().st_size > 100


def test_an_unknown_format_or_figure_is_refused(done: tuple[Shell, str]) -> None:
    shell, run = done
    assert "docx" in shell("export", run, "--format", "docx", code=2).stderr
    assert "roles" in shell("export", run, "--format", "html", "--figure", "nope", code=2).stderr


def test_ctrl_c_cancels_and_the_same_command_goes_on(shell: Shell) -> None:
    words = ("run", "chg", "--model", "headscope-2l", "--task", "induction")
    slow = ("--param", "steps=400", "--param", "seeds=2", "--param", "batch_size=64")
    running = shell.start(*words, *slow)
    try:
        status = wait_for_run(shell, "running")
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130
    assert "Traceback" not in said
    assert shell.json("runs", "show", status["id"], "--json")["status"] == "cancelled"


def test_ctrl_c_while_a_string_is_executed_ends_with_130_too(tmp_path: Path) -> None:
    """As in the making of a dataclass: CPython remembers such an interrupt after it was caught."""
    command = """
        import typer
        from headscope.cli.console import Commands, err_console

        app = typer.Typer(cls=Commands)
        app.command("other")(lambda: None)

        @app.command("stop")
        def stop():
            err_console().print("Working.")
            exec("raise KeyboardInterrupt")

        app()
    """
    (tmp_path / "interrupted.py").write_text(textwrap.dedent(command))
    ended = subprocess.run(
        [sys.executable, "-m", "interrupted", "stop"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (130, "Working.\nStopped.\n")


def test_a_run_is_deleted(shell: Shell) -> None:
    shell("run", "chg", "--model", "headscope-2l", "--task", "induction", *TINY)
    run = shell.json("runs", "list", "--json")["runs"][0]["id"]
    shell("runs", "delete", "--yes", run)
    assert shell.json("runs", "list", "--json")["total"] == 0


# -- tasks, models, tables -------------------------------------------------------------------------


def test_tasks_are_added_shown_and_deleted(shell: Shell, tmp_path: Path) -> None:
    rows = "\n".join(
        f"{a},{b}" for a, b in [("sky", "blue"), ("grass", "green"), ("空", "yellow"), ("coal", "black")]
    )
    file = tmp_path / "colours.csv"
    file.write_text(f"prompt,target\n{rows}\n", encoding="utf-8")
    shell("tasks", "add", file, "--template", r"Q: {prompt}\nA: {target}")
    assert "colours" in shell("tasks", "list").stdout
    assert "↵" in shell("tasks", "show", "colours").stdout
    assert "<空 1/3>·<空 2/3>·<空 3/3>" in shell("tasks", "show", "colours", "--examples", "9").stdout
    assert "colours" in shell("tasks", "add", file, code=2).stderr
    shell("tasks", "delete", "colours")
    assert "colours" not in [task["name"] for task in shell.json("tasks", "list", "--json")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "prompt"),
        (b"question,answer\na,b\n", "prompt"),
        (b"prompt,target\nsky,\n", "target"),
        (b"prompt,target\n\xff\xfe,x\n", "UTF-8"),
    ],
    ids=["empty", "wrong header", "no target", "not UTF-8"],
)
def test_a_file_that_is_no_task_is_refused(shell: Shell, tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "mine.csv"
    file.write_bytes(content)
    assert says in shell("tasks", "add", file, code=2).stderr


def test_models_are_listed(shell: Shell) -> None:
    models = {model["name"]: model for model in shell.json("models", "list", "--json")}
    assert models["headscope-2l"]["ready"]
    assert not models["smollm2-135m"]["ready"]
    assert "headscope models fetch smollm2-135m" in models["smollm2-135m"]["remedy"]
    assert "headscope-2l" in shell("models", "list").stdout


def test_terms_of_use_stand_in_the_list_and_before_a_fetch(shell: Shell) -> None:
    (gemma,) = [m for m in shell.json("models", "list", "--json") if m["name"] == "gemma3-270m"]
    assert gemma["terms"]["address"] == "https://ai.google.dev/gemma/terms"
    said = shell("models", "fetch", "gemma3-270m", code=2).stderr
    assert "Gemma Terms of Use" in said
    assert "headscope models fetch gemma3-270m --accept-terms" in said


def test_a_model_that_is_not_fetched_is_a_failure_with_the_command(shell: Shell) -> None:
    said = shell("run", "chg", "--model", "smollm2-135m", "--task", "singular-plural", code=1).stderr
    assert "headscope models fetch smollm2-135m" in said


def test_the_database_is_brought_up_to_date(shell: Shell, postgres_url: str) -> None:
    assert "SQLite" in shell("db", "upgrade").stderr
    assert "Postgres" in shell("db", "upgrade", HEADSCOPE_DATABASE_URL=postgres_url).stderr
    assert "task" in shell("runs", "list", HEADSCOPE_DATABASE_URL=postgres_url).stdout


# -- serve -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    running = Server(tmp_path_factory.mktemp("server"), "--no-worker")
    yield running
    running.stop()


def test_the_page_is_there_when_the_start_line_is(server: Server) -> None:
    import httpx

    assert "<html" in httpx.get(server.url).text
    assert httpx.get(f"{server.url}/api/v1/health").json()["version"]


def test_a_taken_port_is_said_at_once(shell: Shell) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        said = shell("serve", "--port", port, code=1).stderr
    assert f"Port {port}" in said
    assert "--port" in said


def test_beyond_loopback_a_token_is_required(shell: Shell) -> None:
    assert "HEADSCOPE_TOKEN" in shell("serve", "--host", "0.0.0.0", "--port", "0", code=2).stderr  # noqa: S104


def test_a_data_folder_that_cannot_be_made_is_said(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    said = shell("serve", "--port", "0", "--data-dir", tmp_path / "file" / "below", code=1).stderr
    assert "HEADSCOPE_DATA_DIR" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_server_ends_in_order_and_its_worker_with_it(tmp_path: Path, number: int) -> None:
    running = Server(tmp_path)
    child = wait_for_worker(running)
    running.stop(number)
    assert "Traceback" not in running.output
    assert gone(child)


def test_the_worker_ends_when_its_server_is_killed(tmp_path: Path) -> None:
    running = Server(tmp_path)
    child = wait_for_worker(running)
    running.stop(signal.SIGKILL)
    assert gone(child)


def test_a_killed_worker_is_started_again(tmp_path: Path) -> None:
    running = Server(tmp_path)
    try:
        first = wait_for_worker(running)
        os.kill(first, signal.SIGKILL)
        second = wait_for_worker(running, other_than=first)
        assert second != first
    finally:
        running.stop()


def wait_for_run(shell: Shell, status: str, seconds: float = 60) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for run in shell.json("runs", "list", "--json")["runs"]:
            if run["status"] == status and run["progress"]:
                return run
        time.sleep(0.2)
    raise AssertionError(f"no run became {status}")


def wait_for_worker(running: Server, *, other_than: int | None = None, seconds: float = 60) -> int:
    """The process id of the server's worker, once the server knows a live one."""
    import httpx

    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        child = running.worker_pid()
        health = httpx.get(f"{running.url}/api/v1/health").json()
        if child not in (None, other_than) and any(worker["alive"] for worker in health["workers"]):
            assert child is not None
            return child
        time.sleep(0.2)
    raise AssertionError(f"no worker came up:\n{running.output}")


def gone(process: int, seconds: float = 15) -> bool:
    """Whether a process ends in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if psutil.Process(process).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.1)
    return False


def test_answers_do_not_wait_for_acknowledgements() -> None:
    from headscope.cli.serve import listen

    with (
        listen("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
