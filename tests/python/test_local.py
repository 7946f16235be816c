"""``hs.run`` and what it gives, in this process and this machine's store."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import headscope as hs
from headscope.analyses.chg.result import ChgResult
from headscope.cli.runs import described
from headscope.errors import Invalid, NotFound, Refused, Unavailable
from python.conftest import TINY

ROWS = [{"prompt": f"{a} then {b}", "target": b} for a, b in zip("abcdefgh", "hgfedcba", strict=True)]


def test_importing_it_is_light() -> None:
    heavy = {"torch", "transformers", "numpy", "sqlalchemy", "httpx", "pydantic", "plotly", "rich"}
    code = f"import sys, headscope as hs; dir(hs); sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_name_leads_somewhere_and_says_what_it_is() -> None:
    assert set(hs.__all__) <= set(dir(hs))
    for name in hs.__all__:
        assert getattr(hs, name).__doc__
    with pytest.raises(AttributeError, match="nope"):
        hs.nope  # type: ignore[attr-defined]  # noqa: B018


def test_a_run_is_computed_once_and_found_by_everyone(here: Path) -> None:
    run = hs.run("chg", model="headscope-2l", task="induction", seeds=2, **TINY)
    assert run.status == "done"
    assert run.result.g_plus.shape == (2, 2, 8)
    assert run.result.model.name == "headscope-2l"
    assert isinstance(run.result, ChgResult)
    assert run.roles().shape == (2, 2, 8)
    np.testing.assert_array_equal(
        run.roles(1.0) == "needed", (run.result.g_minus >= 1) & (run.result.g_plus > 0)
    )
    verdicts = run.verdicts()
    assert set(verdicts) == {"needed", "harmful", "irrelevant"}
    assert verdicts["needed"].shape == (2, 8)
    assert list(run.frame()["verdict_needed"]) == verdicts["needed"].reshape(-1).tolist()
    assert isinstance(run.frame(), pd.DataFrame)
    assert len(run.frame("loss")) == len(run.table("loss")["rows"])
    for name in run.figures:
        assert run.figure(name, theme="dark").layout.meta["reading"]
    again = hs.run("chg", model="headscope-2l", task="induction", seeds=2, **TINY)
    assert again.describe().attempts == run.describe().attempts  # nothing was computed
    found = hs.find(run.id)
    assert found is not None
    assert repr(found) == repr(run)
    assert next(hs.runs(analysis="chg")).id == run.id
    assert "induction" in run._repr_html_()
    with hs.Local()._session() as session:
        from headscope.store import runs

        assert described(runs.get(session, run.id))["status"] == "done"


def test_what_ships_is_there(here: Path) -> None:
    shipped = [run for run in hs.runs() if run.describe().origin == "gallery"]
    assert len(shipped) > 10
    assert shipped[0].figure() is not None
    assert hs.find("nope") is None
    assert "headscope-2l" in hs.list_models()
    assert "singular-plural" in hs.list_tasks()


def test_runs_build_on_runs_gates_and_prompts(here: Path) -> None:
    model = hs.load("headscope-2l")
    run = hs.run("chg", model=model, task="induction", seeds=1, **TINY)
    texts = ["the cat sat on the mat, the cat", "the dog sat"]
    battery = hs.run("battery", model=model, prompts=texts, gates=run.gates("G+"))
    assert battery.status == "done"
    with pytest.raises(Refused) as none:
        battery.roles()
    assert none.value.code == "no-gates"
    more = hs.run("chg", model=model, task="induction", adds_to=run, **{**TINY, "seeds": 2})
    np.testing.assert_array_equal(more.result.g_plus[0], run.result.g_plus[0])


@pytest.mark.parametrize("form", ["rows", "tuples", "frame", "csv", "jsonl"])
def test_a_task_of_your_own(here: Path, tmp_path: Path, form: str) -> None:
    frame = pd.DataFrame([*ROWS, {"prompt": "x then y", "target": "y", "counterfactual": "z"}])
    given: object = {
        "rows": ROWS,
        "tuples": [(row["prompt"], row["target"]) for row in ROWS],
        "frame": frame,
    }.get(form)
    if form in ("csv", "jsonl"):
        path = tmp_path / f"My Letters.{form}"
        text = frame.to_csv(index=False) if form == "csv" else frame.to_json(orient="records", lines=True)
        path.write_text(text)
        given = str(path)
    name = hs.add_task(given)
    assert name.startswith("my-letters-" if form in ("csv", "jsonl") else "rows-")
    assert hs.add_task(given) == name
    assert name in hs.list_tasks()
    run = hs.run("chg", model="headscope-2l", task=given, seeds=1, **{**TINY, "n_train": 4, "n_test": 2})
    assert run.task == name


def test_a_task_that_is_none(here: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound) as missing:
        hs.add_task(tmp_path / "none.csv")
    assert missing.value.code == "file-unreadable"
    with pytest.raises(Invalid) as empty:
        hs.add_task([])
    assert empty.value.code == "no-rows"
    with pytest.raises(Invalid, match=r"rows.jsonl, line 1"):
        hs.add_task([{"prompt": "a"}])
    with pytest.warns(UserWarning, match=r"1 of \d+ rows unused"):
        hs.add_task([*ROWS, ROWS[0]], name="twice")
    hs.add_task(ROWS, name="letters")
    with pytest.raises(Refused) as taken:
        hs.add_task(ROWS[:5], name="letters")
    assert taken.value.code == "task-exists"


def test_what_is_asked_wrongly_leaves_no_run(here: Path) -> None:
    before = len(list(hs.runs()))
    for asked, code in (
        ({"model": "nope", "task": "induction"}, "unknown-model"),
        ({"model": "smollm2-135m", "task": "induction"}, "model-not-fetched"),
        ({"model": "headscope-2l", "task": "nope"}, "unknown-task"),
        ({"model": "headscope-2l"}, "task-missing"),
        ({"model": "headscope-2l", "task": "induction", "preset": "nope"}, "unknown-preset"),
        ({"model": "headscope-2l", "task": "induction", "stepps": 3}, "unknown-parameter"),
    ):
        with pytest.raises((Invalid, NotFound, Unavailable)) as raised:
            hs.run("chg", **asked)
        assert raised.value.code == code
        assert raised.value.remedy
    assert len(list(hs.runs())) == before


def test_ctrl_c_leaves_a_run_to_go_on_with(here: Path) -> None:
    asked = {"model": "headscope-2l", "task": "induction", "seeds": 1, **TINY, "steps": 1000}
    waiting = threading.Event()

    def stop_it() -> None:
        """As a person does who sees that it takes too long."""
        while not any(run.describe().progress for run in hs.runs(analysis="chg", status="running")):
            waiting.wait(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    person = threading.Thread(target=stop_it)
    person.start()
    with pytest.raises(KeyboardInterrupt) as stopped:
        hs.run("chg", **asked)
    person.join()
    assert any("goes on from there" in note for note in stopped.value.__notes__)
    run = next(hs.runs(analysis="chg", status="cancelled"))
    again = {**asked, "model": hs.load("headscope-2l")}
    assert hs.Local()._request("chg", again.pop("model"), again.pop("task"), None, again).id == run.id
    run.delete()
    assert hs.find(run.id) is None


def test_exports(here: Path, tmp_path: Path) -> None:
    run = next(hs.runs(analysis="chg", model="headscope-2l"))
    for form in ("csv", "json", "npz", "html"):
        file = tmp_path / f"run.{form}"
        assert run.export(form, file) == file.read_bytes() != b""
    with pytest.raises(Invalid) as wrong:
        run.export("csv", figur="roles")
    assert wrong.value.code == "unknown-option"
