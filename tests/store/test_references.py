"""What a run's parameters may name, and each refusal by its code, with the parameter in front."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import pytest
from pydantic import create_model
from sqlalchemy.orm import Session

from headscope.analyses import ANALYSES
from headscope.analyses.base import Analysis, Params, Result
from headscope.analyses.references import (
    GatesRef,
    GatingRef,
    PromptsRef,
    Reference,
    RunRef,
    TaskRef,
    TasksRef,
)
from headscope.analyses.request import Request
from headscope.core.gating.gate_vector import gate_vector
from headscope.core.model.info import ModelInfo
from headscope.errors import HeadscopeError
from headscope.store import artifacts, attempts, gates, prompts, runs, tasks
from headscope.store.references import look_up
from headscope.store.session import Store
from headscope.tasks.builtin import builtin_tasks
from headscope.tasks.prompts import prompt_set
from headscope.tasks.stored import to_json
from headscope.tasks.upload import parse_upload
from services.results import changed
from store.conftest import MODEL, result_with

Make = Callable[..., Request]
INDUCTION = builtin_tasks()["induction"]
OF_TASK = {"name": INDUCTION.name, "content_hash": INDUCTION.content_hash}


def reading(**references: Reference) -> Analysis[Any, Any]:
    """An analysis whose parameters are these references."""
    fields: dict[str, Any] = {name: (Annotated[Any, each], None) for name, each in references.items()}
    params = create_model("Reading", __base__=Params, **fields)
    return replace(ANALYSES["induction"], title="Reading", params=params)


def finished(session: Session, request: Request, **parts: Any) -> str:
    """A finished run, its result with other ``parts``."""
    result: Result = changed(result_with(np.ones((2, 2, 3), "f4")), **parts)
    runs.create_or_get(session, request, queue="cpu")
    attempts.claim(session, request.id, 1, "w", machine="m", code_version="1")
    attempts.finish(session, request.id, 1, "w", result.to_json(), result.arrays, {})
    return request.id


def refusal(
    store: Store, analysis: Any, params: Mapping[str, Any], model: ModelInfo = MODEL, task: Any = None
) -> HeadscopeError:
    with store.session() as session, pytest.raises(HeadscopeError) as error:
        look_up(session, analysis, params, model, task)
    assert error.value.remedy
    return error.value


def test_tasks_are_found_one_or_several_in_the_order_named(store: Store) -> None:
    mine = parse_upload("mine", "mine.csv", b"prompt,target\nsky,blue\nsun,yellow\ncoal,black\n")
    with store.session() as session:
        tasks.add(session, "mine", to_json(mine))
    with store.session() as session:
        found: Any = look_up(
            session, reading(one=TaskRef(), many=TasksRef()),
            {"one": "rule-aba", "many": ["mine", "induction"]}, MODEL, None,
        )  # fmt: skip
    assert found["one"].name == "rule-aba"
    assert [task.name for task in found["many"]] == ["mine", "induction"]
    assert found["many"][0] == mine


def test_tasks_left_out_are_left_out(store: Store) -> None:
    with store.session() as session:
        assert look_up(session, reading(one=TaskRef(), many=TasksRef()), {"many": []}, MODEL, None) == {}


@pytest.mark.parametrize(
    ("reference", "value"), [(TaskRef(), "nope"), (TasksRef(), ["induction", "nope"])], ids=["one", "several"]
)
def test_an_unknown_task_is_named_with_its_parameter(store: Store, reference: Reference, value: Any) -> None:
    error = refusal(store, reading(forget=reference), {"forget": value})
    assert (error.status, error.code) == (404, "unknown-task")
    assert error.message.startswith("forget: There is no task 'nope'")


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        (RunRef("planted", needed=True), "run-missing"),
        (PromptsRef(needed=True), "prompts-missing"),
        (GatesRef(needed=True), "gates-missing"),
        (TaskRef(needed=True), "task-missing"),
        (TasksRef(needed=True), "task-missing"),
    ],
)
@pytest.mark.parametrize("given", [{}, {"it": None}])
def test_what_is_needed_and_missing(
    store: Store, reference: Reference, code: str, given: dict[str, None]
) -> None:
    error = refusal(store, reading(it=reference), given)
    assert (error.status, error.code) == (422, code)
    assert "Reading" in error.message


def test_a_run_of_another_analysis(store: Store, request_for: Make) -> None:
    with store.session() as session:
        run = finished(session, request_for())
    for wanted, code in ((GatingRef(), "not-gating"), (RunRef("induction"), "other-analysis")):
        error = refusal(store, reading(gating=wanted), {"gating": run})
        assert (error.status, error.code) == (422, code)
        assert error.message.startswith("gating: ")
        assert "'planted'" in error.message


def test_a_run_of_another_task_where_the_same_is_wanted(store: Store, request_for: Make) -> None:
    with store.session() as session:
        run = finished(session, request_for(), task=OF_TASK)
    reference = {"run": RunRef("planted", same_task=True)}
    with store.session() as session:
        assert look_up(session, reading(**reference), {"run": run}, MODEL, INDUCTION)
        assert look_up(session, reading(**reference), {"run": run}, MODEL, None), "an analysis without one"
    other = builtin_tasks()["rule-aba"]
    assert refusal(store, reading(**reference), {"run": run}, task=other).code == "other-task"
    with store.session() as session:
        assert look_up(session, reading(run=RunRef("planted")), {"run": run}, MODEL, other)


def test_the_same_tasks_rows_may_have_changed_since(store: Store, request_for: Make) -> None:
    with store.session() as session:
        run = finished(session, request_for(), task={**OF_TASK, "content_hash": "of other rows"})
    error = refusal(
        store, reading(run=RunRef("planted", same_task=True)), {"run": run}, task=INDUCTION
    )  # fmt: skip
    assert error.code == "other-task"
    assert "as it is here" in error.message


def test_what_a_stopped_run_has_is_no_input_yet(store: Store, request_for: Make) -> None:
    request = request_for()
    with store.session() as session:
        runs.create_or_get(session, request, queue="cpu")
        runs.request_cancel(session, request.id)
        attempts.keep_partial(
            session, runs.get(session, request.id), result_with(np.ones((1, 2, 3), "f4")).to_json(), {}
        )
    error = refusal(store, reading(run=RunRef("planted")), {"run": request.id})
    assert (error.status, error.code) == (409, "run-not-done")
    assert "may still change" in error.message


def test_a_deleted_thing_is_missed_when_it_is_computed(store: Store) -> None:
    """Looked up again then: ids are hashes, so that what is there is what was asked for."""
    with store.session() as session:
        texts = prompts.add(session, prompt_set(["a"])).row.id
        vector = gates.add(session, gate_vector("mine", MODEL, np.ones((2, 3)))).row.id
        prompts.remove(session, texts)
        gates.remove(session, vector)
        artifacts.drop_unused(session)
    both = reading(prompts=PromptsRef(), gates=GatesRef())
    assert refusal(store, both, {"prompts": texts}).code == "unknown-prompt"
    assert refusal(store, both, {"gates": vector}).code == "unknown-gates"


def test_the_precision_of_a_run_is_no_other_model(store: Store, request_for: Make) -> None:
    with store.session() as session:
        run = finished(session, request_for(), model=replace(MODEL, dtype="bfloat16"))
        assert look_up(session, reading(run=RunRef("planted")), {"run": run}, MODEL, None)
