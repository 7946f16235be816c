"""What someone asks for becomes a run with a name and a price, or is refused with what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from headscope.analyses.base import Estimate
from headscope.analyses.request import Request
from headscope.core.gating.gate_vector import gate_vector
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.errors import HeadscopeError
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.store import gates, prompts, runs, tasks
from headscope.store.requests import ask
from headscope.store.session import Store
from headscope.store.tables import Run
from headscope.tasks.prompts import prompt_set
from headscope.tasks.stored import to_json
from headscope.tasks.upload import parse_upload

ROWS = b"prompt,target\nsky,blue\ngrass,green\nsun,yellow\ncoal,black\nsnow,white\n"


@pytest.fixture(scope="module")
def models() -> Catalogue:
    return Catalogue(Settings(data_dir=Path("unused")))


@pytest.fixture(scope="module")
def info(models: Catalogue) -> ModelInfo:
    return models.info("headscope-2l")


@pytest.fixture(scope="module")
def tokenizer(models: Catalogue) -> Tokenizer:
    return models.tokenizer("headscope-2l")


@pytest.fixture
def asked(store: Store, info: ModelInfo, tokenizer: Tokenizer) -> Any:
    """``ask`` of the bundled model, in a session of its own."""

    def put(analysis: str, **more: Any) -> tuple[Request, Estimate]:
        with store.session() as session:
            return ask(session, analysis, info, tokenizer, **more)

    return put


def test_the_same_words_are_the_same_run(asked: Any) -> None:
    first, estimate = asked("chg", task="induction", preset="quick")
    again, _ = asked("chg", task="induction", preset="quick", params={})
    spelled, _ = asked("chg", task="induction", params=first.params)
    assert first.id == again.id == spelled.id
    assert (first.preset, spelled.preset) == ("quick", None)
    assert (first.analysis, first.task, first.task_title) == (
        "chg",
        "induction",
        "Induction on random words",
    )
    assert first.seeds == tuple(range(first.params["seeds"]))
    assert estimate.seconds > 0
    assert estimate.peak_bytes > 0
    assert estimate.basis


def test_whatever_decides_the_answer_decides_the_name(asked: Any) -> None:
    base = {"task": "induction", "preset": "quick"}
    ids = [
        asked("chg", **base)[0].id,
        asked("chg", **base, params={"steps": 7})[0].id,
        asked("chg", **base, params={"dtype": "bfloat16"})[0].id,
        asked("chg", task="rule-aba", preset="quick")[0].id,
        asked("induction")[0].id,
    ]
    assert len(set(ids)) == len(ids)


def test_more_work_takes_longer_and_a_faster_machine_less(asked: Any) -> None:
    def seconds(steps: int, **more: Any) -> float:
        return float(asked("chg", task="induction", params={"steps": steps, "seeds": 2}, **more)[1].seconds)

    assert seconds(10) < seconds(100) < seconds(500)
    assert seconds(100, throughput=1e12) < seconds(100, throughput=1e10)


def test_asking_starts_nothing(store: Store, asked: Any) -> None:
    asked("chg", task="induction", preset="quick")
    with store.session() as session:
        assert session.scalar(select(func.count()).select_from(Run)) == 0


def test_a_task_of_ones_own_is_found_and_its_content_is_in_the_name(store: Store, asked: Any) -> None:
    ids = []
    for content in (ROWS, ROWS + b"milk,white\n"):
        task = parse_upload("mine", "mine.csv", content)
        with store.session() as session:
            tasks.add(session, task.name, to_json(task))
        request, _ = asked("chg", task="mine", preset="quick", params={"n_train": 2, "n_test": 1})
        assert request.task_hash == task.content_hash
        ids.append(request.id)
        with store.session() as session:
            tasks.remove(session, "mine")
    assert ids[0] != ids[1]
    with pytest.raises(HeadscopeError, match="no task 'mine'"):
        asked("chg", task="mine", preset="quick")


REFUSED: dict[str, tuple[str, dict[str, Any], int, str, str]] = {
    "analysis": ("nope", {}, 404, "unknown-analysis", "chg"),
    "task": ("chg", {"task": "nope"}, 404, "unknown-task", "nope"),
    "no task": ("chg", {}, 422, "task-missing", "headscope tasks list"),
    "preset": ("chg", {"task": "induction", "preset": "nope"}, 422, "unknown-preset", "quick"),
    "parameter": (
        "chg", {"task": "induction", "params": {"nope": 1}}, 422, "unknown-parameter", "steps",
    ),
    "value": (
        "chg", {"task": "induction", "params": {"steps": -1}}, 422, "invalid-parameter", "steps",
    ),
    "prompts": ("battery", {"params": {"prompts": "nope"}}, 404, "unknown-prompt", "prompts: "),
    "no prompts": ("battery", {}, 422, "prompts-missing", "headscope prompts add"),
    "no gates": (
        "evaluation", {"params": {"tasks": "induction"}}, 422, "gates-missing", "headscope gates list",
    ),
    "tasks": ("evaluation", {"params": {"tasks": "nope"}}, 404, "unknown-task", "tasks: "),
    "run": (
        "sufficiency", {"task": "induction", "params": {"run": "nope"}}, 404, "unknown-run", "run: ",
    ),
    "no run": ("sufficiency", {"task": "induction"}, 422, "run-missing", "headscope runs list"),
}  # fmt: skip


@pytest.mark.parametrize("fault", REFUSED)
def test_what_can_not_be_computed_is_refused_before_there_is_a_run(
    store: Store, asked: Any, info: ModelInfo, fault: str
) -> None:
    analysis, more, status, code, says = REFUSED[fault]
    if fault == "tasks":
        more = {"params": {**more["params"], "gates": kept_gates(store, info)}}
    with pytest.raises(HeadscopeError) as error:
        asked(analysis, **more)
    assert (error.value.status, error.value.code) == (status, code)
    assert says in str(error.value)
    assert error.value.remedy


def kept_gates(store: Store, info: ModelInfo) -> str:
    with store.session() as session:
        table = np.ones((info.n_layers, info.n_heads), "f4")
        return gates.add(session, gate_vector("open", info, table)).row.id


def test_what_parameters_name_is_looked_up(store: Store, asked: Any, info: ModelInfo) -> None:
    with store.session() as session:
        texts = prompts.add(session, prompt_set(["the cat sat on the cat"])).row.id
    params = {"prompts": texts, "gates": kept_gates(store, info)}
    request, _ = asked("battery", params=params)
    assert {name: request.params[name] for name in params} == params
    request, _ = asked("evaluation", params={"gates": params["gates"], "tasks": "induction, rule-aba"})
    assert request.params["tasks"] == ["induction", "rule-aba"]


def test_an_unfinished_run_is_no_input(store: Store, asked: Any) -> None:
    request, _ = asked("chg", task="induction", preset="quick")

    def follow(session: Session) -> None:
        runs.create_or_get(session, request, queue="cpu")

    store.patiently(follow)
    with pytest.raises(HeadscopeError) as error:
        asked("sufficiency", task="induction", params={"run": request.id})
    assert (error.value.status, error.value.code) == (409, "run-not-done")
    assert error.value.message.startswith("run: ")
