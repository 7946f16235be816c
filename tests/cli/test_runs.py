"""Runs on the command line: found, shown, exported, cancelled, deleted."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.conftest import Shell
from figures.results import result as made_result
from headscope.core.arrays import decode
from headscope.store import attempts, migrate, runs, workers
from headscope.store.session import open_store
from web.conftest import request_for

Listed = list[dict[str, Any]]


@pytest.fixture(scope="module")
def every(shipped: Shell) -> Listed:
    """The shipped runs, as the list tells of them."""
    return list(shipped.json("runs", "list", "--limit", "1000", "--json")["runs"])


@pytest.fixture
def queued(shell: Shell) -> Callable[[str], str]:
    """Puts a run of that id into the shell's store, which waits for a worker."""
    migrate.upgrade(shell.settings)

    def put(run_id: str) -> str:
        store = open_store(shell.settings)
        with store.session() as session:
            runs.create_or_get(session, request_for(run_id, made_result()), queue="cpu")
        store.close()
        return run_id

    return put


def claimed(shell: Shell, run_id: str) -> None:
    """As if a worker that lives computed it."""
    store = open_store(shell.settings)
    with store.session() as session:
        workers.register(session, "w", host="h", device="cpu", queue="cpu", patience=3600)
        assert attempts.claim(session, run_id, 1, "w", machine="m", code_version="1")
    store.close()


# -- list and show -------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["model", "task", "analysis", "status"])
def test_each_filter_leaves_what_fits(shipped: Shell, every: Listed, column: str) -> None:
    for value in {run[column] for run in every} - {None}:
        told = shipped.json("runs", "list", f"--{column}", value, "--limit", "1000", "--json")
        fits = [run["id"] for run in every if run[column] == value]
        assert [run["id"] for run in told["runs"]] == fits
        assert told["total"] == len(fits)
    assert shipped.json("runs", "list", f"--{column}", "nothing", "--json") == {"runs": [], "total": 0}


def test_filters_narrow_each_other(shipped: Shell, every: Listed) -> None:
    told = shipped.json("runs", "list", "--analysis", "chg", "--model", "headscope-2l", "--json")
    assert {(run["analysis"], run["model"]) for run in told["runs"]} == {("chg", "headscope-2l")}


def test_what_a_page_leaves_out_is_said(shipped: Shell, every: Listed) -> None:
    said = shipped("runs", "list", "--limit", "2")
    assert f"{len(every) - 2} more: --limit {len(every)}" in said.stderr
    assert len(said.stdout.strip().splitlines()) == 3
    assert shipped("runs", "list", "--limit", "1000").stderr == ""
    assert shipped("runs", "list", "--limit", "0", code=2)


def test_the_newest_comes_first_and_shipped_ones_say_so(shipped: Shell, every: Listed) -> None:
    created = [run["created_at"] for run in every]
    assert created == sorted(created, reverse=True)
    lines = shipped("runs", "list", "--limit", "1000").stdout.splitlines()[1:]
    assert all("done (shipped)" in line for line in lines)


def test_an_empty_store_is_an_empty_table(shell: Shell) -> None:
    assert shell.json("runs", "list", "--json") == {"runs": [], "total": 0}
    assert len(shell("runs", "list").stdout.strip().splitlines()) == 1


def test_a_run_is_shown_with_all_that_it_is(shipped: Shell, every: Listed) -> None:
    for run in every:
        shown = shipped.json("runs", "show", run["id"], "--json")
        assert {name: shown[name] for name in run} == run
        assert f"headscope run {run['analysis']} --model {run['model']}" in shown["reproduce"]
    said = shipped("runs", "show", every[0]["id"]).stdout
    for part in (
        every[0]["id"],
        every[0]["model"],
        "params",
        "attempt 1: first, done",
        "headscope run",
    ):
        assert part in said


def test_first_letters_suffice_where_they_name_one(shell: Shell, queued: Callable[[str], str]) -> None:
    for run_id in ("ab1", "ab2", "a_%", "ab"):
        queued(run_id)
    assert shell.json("runs", "show", "ab1", "--json")["id"] == "ab1"
    assert shell.json("runs", "show", "ab", "--json")["id"] == "ab", "a whole id is no beginning"
    assert shell.json("runs", "show", "a_", "--json")["id"] == "a_%", "no pattern of the database's"
    said = shell("runs", "show", "a", code=2).stderr
    assert "Several runs begin with 'a'" in said
    assert "more of the id" in said
    assert "There is no run '%'" in shell("runs", "show", "%", code=2).stderr


# -- cancel and delete ---------------------------------------------------------------------------------


def test_what_waits_is_cancelled_and_what_computes_is_asked(
    shell: Shell, queued: Callable[[str], str]
) -> None:
    waiting, computing = queued("waiting"), queued("computing")
    claimed(shell, computing)
    assert "Run waiting is cancelled." in shell("runs", "cancel", waiting[:4]).stderr
    assert "Run computing is asked to stop." in shell("runs", "cancel", computing).stderr
    assert shell.json("runs", "show", waiting, "--json")["status"] == "cancelled"
    assert shell.json("runs", "show", computing, "--json")["status"] == "running"
    assert "Run waiting is cancelled." in shell("runs", "cancel", waiting).stderr, "again changes nothing"
    assert "There is no run 'none'" in shell("runs", "cancel", "none", code=2).stderr


def test_a_run_is_deleted_only_when_that_is_meant(shell: Shell, queued: Callable[[str], str]) -> None:
    run = queued("mine")
    said = shell("runs", "delete", "--yes", run, code=2).stderr
    assert "Run mine is queued." in said
    assert "Cancel it first." in said
    shell("runs", "cancel", run)
    asked = shell("runs", "delete", run, typed="n\n", code=1)
    assert "Delete run mine and its results?" in asked.stderr
    assert shell.json("runs", "list", "--json")["total"] == 1
    assert "Run mine is deleted." in shell("runs", "delete", "mi", typed="y\n").stderr
    assert shell.json("runs", "list", "--json")["total"] == 0
    assert "There is no run 'mine'" in shell("runs", "delete", "--yes", run, code=2).stderr


# -- export --------------------------------------------------------------------------------------------


def test_json_out_is_what_the_store_has(shipped: Shell, every: Listed) -> None:
    store = open_store(shipped.settings)
    for run in every:
        told = shipped.json("export", run["id"][:12], "--format", "json", "-o", "-")
        with store.session() as session:
            result = runs.result(session, run["id"])
        assert told["analysis"] == run["analysis"]
        assert told["values"] == json.loads(json.dumps(result.values))
        for name, array in result.arrays.items():
            np.testing.assert_array_equal(decode(told[name]), array)
    store.close()


def test_csv_out_has_a_row_a_head(shipped: Shell, every: Listed) -> None:
    run = next(run for run in every if (run["analysis"], run["model"]) == ("chg", "headscope-2l"))
    text = shipped("export", run["id"], "--format", "csv", "--figure", "roles", "-o", "-").stdout
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    assert {(row["layer"], row["head"]) for row in rows} == {
        (str(la), str(h)) for la in range(2) for h in range(8)
    }


def test_a_file_is_named_by_its_content_and_lies_here(
    shipped: Shell, every: Listed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for kind in ("csv", "json", "npz", "ipynb", "html"):
        said = shipped("export", every[0]["id"], "--format", kind)
        assert said.stdout == ""
        (file,) = tmp_path.glob(f"*.{kind}")
        assert f"Wrote {file.name} ({file.stat().st_size:,} bytes)." in said.stderr.replace("\n", "")
        file.unlink()


def test_what_can_not_be_written_says_what_to_do(shipped: Shell, every: Listed, tmp_path: Path) -> None:
    said = shipped("export", every[0]["id"], "-o", tmp_path / "none" / "file.json", code=1).stderr
    assert "can't be written: No such file or directory." in said
    assert "-o" in said


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--threshold", "1.5"), "threshold"),
        (("--mode", "sometimes"), "every"),
        (("--theme", "sepia"), "light"),
        (("--format", "docx"), "ipynb"),
        (("--format", "csv", "--figure", "nope"), "roles"),
    ],
)
def test_a_look_that_can_not_be_is_refused(
    shipped: Shell, every: Listed, words: tuple[str, ...], says: str
) -> None:
    run = next(run for run in every if run["analysis"] == "chg")
    assert says in shipped("export", run["id"], *words, "-o", "-", code=2).stderr


def test_a_run_without_a_result_is_not_exported(shell: Shell, queued: Callable[[str], str]) -> None:
    said = shell("export", queued("mine"), code=2).stderr
    assert "Run mine has no result: it is queued." in said
    assert "Wait until it is done." in said
