"""Parameters that name something kept: their schema, what is found among parameters, and each refusal."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import pytest
from pydantic import Field, ValidationError

from analyses.gating_runs import PARAMS, TASK
from analyses.gating_runs import run as gating
from headscope.analyses import ANALYSES
from headscope.analyses.base import Params, Result, Spec, TaskNames
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.gating_run import gating_run
from headscope.analyses.references import (
    GatesRef,
    GatingRef,
    Input,
    PromptsRef,
    Reference,
    RunRef,
    TaskRef,
    TasksRef,
    check_needed,
    references,
)
from headscope.analyses.request import named_tasks, resolve
from headscope.errors import Invalid, NotFound
from headscope.tasks.prompts import PromptSet, prompt_set
from micro.model import random_model
from services.results import changed

INFO = random_model().info


class Everything(Params):
    """A parameter of each kind, in an order that isn't the alphabet's."""

    run: Annotated[str | None, GatingRef(same_task=True, needed=True)] = Field(default=None)
    plain: int = 3
    prompts: Annotated[str | None, PromptsRef()] = Field(default=None)
    gates: Annotated[str | None, GatesRef(needed=True)] = Field(default=None)
    others: Annotated[TaskNames, TasksRef()] = Field(default=())
    task: Annotated[str | None, TaskRef()] = Field(default=None)


@pytest.fixture(scope="module")
def run() -> ChgResult:
    return gating(PARAMS.model_copy(update={"steps": 1, "seeds": 2}))


# -- what a type says -------------------------------------------------------------------------------


def test_references_are_found_in_their_order() -> None:
    found = references(Everything)
    assert list(found) == ["run", "prompts", "gates", "others", "task"]
    assert [each.kind for each in found.values()] == ["run", "prompts", "gates", "tasks", "task"]
    assert found["run"] == GatingRef(same_task=True, needed=True)


def test_the_schema_tells_the_form_what_to_offer() -> None:
    fields = Everything.model_json_schema()["properties"]
    assert (fields["run"]["analysis"], fields["run"]["same_task"], fields["run"]["needed"]) == (
        "chg",
        True,
        True,
    )
    assert fields["gates"]["needed"]
    for name in ("prompts", "others", "task", "plain"):
        assert "needed" not in fields[name]
        assert "analysis" not in fields[name]


@pytest.mark.parametrize("name", ANALYSES)
def test_what_an_analysis_refers_to_it_also_has_as_a_parameter(name: str) -> None:
    analysis = ANALYSES[name]
    fields = analysis.params.model_json_schema()["properties"]
    assert set(analysis.references) <= set(fields)
    for param, reference in analysis.references.items():
        assert bool(fields[param].get("needed")) or not reference.needed
        if isinstance(reference, RunRef):
            assert reference.analysis in ANALYSES
            assert reference.other != "not-gating" or reference.analysis == "chg"


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("one,two", ("one", "two")),
        (" one , , two ,", ("one", "two")),
        ("", ()),
        (["one", "two"], ("one", "two")),
        ((), ()),
    ],
)
def test_names_of_tasks_come_as_a_list_or_as_one_text(given: Any, names: tuple[str, ...]) -> None:
    assert Everything(others=given).others == names


def test_names_of_tasks_are_texts() -> None:
    with pytest.raises(ValidationError):
        Everything.model_validate({"others": [1, 2]})
    with pytest.raises(ValidationError):
        Everything.model_validate({"others": 3})


# -- what is missing --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "code", "said", "remedy"),
    [
        (RunRef("chg"), "run-missing", "Toy needs a finished run of chg.", "headscope runs list"),
        (PromptsRef(), "prompts-missing", "Toy needs prompts.", "headscope prompts add"),
        (GatesRef(), "gates-missing", "Toy needs gates.", "headscope gates list"),
        (TasksRef(), "task-missing", "Toy needs a task for it.", "--param it=singular-plural"),
        (TaskRef(), "task-missing", "Toy needs a task for it.", "--param it=singular-plural"),
    ],
)
def test_what_is_missing_says_so_and_where_to_get_it(
    reference: Reference, code: str, said: str, remedy: str
) -> None:
    problem = reference.missing("Toy", "it")
    assert (problem.code, problem.message) == (code, said)
    assert remedy in problem.remedy


def test_the_first_missing_one_is_named_and_what_may_be_left_out_is_not(run: ChgResult) -> None:
    known, vector = references(Everything), prompt_set(["a"])
    with pytest.raises(Invalid) as first:
        check_needed("Toy", known, {})
    assert first.value.code == "run-missing"
    with pytest.raises(Invalid) as second:
        check_needed("Toy", known, {"run": run})
    assert second.value.code == "gates-missing"
    check_needed("Toy", known, {"run": run, "gates": vector})
    with pytest.raises(Invalid) as empty:
        check_needed("Toy", {"tasks": TasksRef(needed=True)}, {"tasks": ()})
    assert empty.value.code == "task-missing"


# -- what a run must be -----------------------------------------------------------------------------


def test_a_run_of_the_same_task_and_analysis_passes(run: ChgResult) -> None:
    RunRef("chg", same_task=True).check(run, TASK)
    RunRef("chg", same_task=True).check(run, None)
    other = replace(TASK, content_hash="another")
    RunRef("chg").check(run, other)
    with pytest.raises(Invalid, match="'planted'") as refused:
        RunRef("chg", same_task=True).check(run, other)
    assert refused.value.code == "other-task"


def test_a_run_of_another_analysis_is_refused_in_its_words(run: ChgResult) -> None:
    with pytest.raises(Invalid, match="of the analysis 'chg', not of 'probe'") as other:
        RunRef("probe").check(run, TASK)
    assert other.value.code == "other-analysis"
    stray = replace(run, analysis="probe")
    with pytest.raises(Invalid) as gates:
        GatingRef().check(stray, TASK)
    assert gates.value.code == "not-gating"


def test_a_run_without_a_task_is_of_another_one(run: ChgResult) -> None:
    with pytest.raises(Invalid) as refused:
        RunRef("chg", same_task=True).check(replace(run, task=None), TASK)
    assert refused.value.code == "other-task"


# -- what a spec hands out --------------------------------------------------------------------------


def spec(task: Any = TASK, **inputs: Input) -> Spec[Everything]:
    return Spec(Everything(), INFO, task, inputs)


def test_an_input_is_handed_out_if_it_is_of_the_kind_asked_for(run: ChgResult) -> None:
    texts = prompt_set(["a", "b"])
    assert spec(prompts=texts).input("prompts", PromptSet) is texts
    assert spec(prompts=texts).input("prompts", Result) is None
    assert spec().input("prompts", PromptSet) is None
    assert spec(run=run).needed("run", ChgResult) is run


def test_what_is_needed_is_refused_where_it_is_missing_or_something_else(run: ChgResult) -> None:
    for inputs, code in (
        ({}, "run-missing"),
        ({"run": prompt_set(["a"])}, "run-missing"),
        ({"run": replace(run, analysis="probe")}, "not-gating"),
    ):
        with pytest.raises(Invalid) as refused:
            spec(**inputs).needed("run", ChgResult)
        assert refused.value.code == code
    with pytest.raises(Invalid) as other:
        spec(replace(TASK, content_hash="another"), run=run).needed("run", ChgResult)
    assert other.value.code == "other-task"


def test_a_gating_run_without_a_fit_is_no_gating_run(run: ChgResult) -> None:
    asked = Spec(Everything(), INFO, TASK, {"run": run})
    assert gating_run(asked, "run") is run
    half = changed(run, arrays={**run.arrays, "g_plus": _without(run.g_plus, 0)})
    assert gating_run(Spec(Everything(), INFO, TASK, {"run": half}), "run").ran.tolist() == [False, True]
    none = changed(half, arrays={**half.arrays, "g_plus": _without(half.arrays["g_plus"], 1)})
    with pytest.raises(Invalid) as refused:
        gating_run(Spec(Everything(), INFO, TASK, {"run": none}), "run")
    assert refused.value.code == "nothing-fitted"


def _without(gates: Any, seed: int) -> Any:
    lost = gates.copy()
    lost[seed] = float("nan")
    return lost


# -- what a request makes of them -------------------------------------------------------------------


def test_tasks_named_are_looked_up_and_are_part_of_the_id() -> None:
    params = {"gates": "g", "tasks": ["singular-plural", "antonym"]}
    evaluation = ANALYSES["evaluation"]
    found = named_tasks(evaluation, params)
    assert [task.name for task in found["tasks"]] == ["singular-plural", "antonym"]
    assert named_tasks(evaluation, {"gates": "g", "tasks": []}) == {}
    ids = {resolve("evaluation", INFO, None, None, {**params, "tasks": tasks}).id for tasks in (
        ["singular-plural"], ["antonym"], ["singular-plural", "antonym"],
    )}  # fmt: skip
    assert len(ids) == 3


def test_an_unknown_task_is_refused_with_the_parameter_it_stands_in() -> None:
    with pytest.raises(NotFound, match=r"^tasks: ") as unknown:
        named_tasks(ANALYSES["evaluation"], {"tasks": ["no-such-task"]})
    assert unknown.value.code == "unknown-task"
