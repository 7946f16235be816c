"""What a run's parameters name is handed to its analysis when it is planned and computed, on any machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import pytest

from headscope.analyses.base import Context, Kept, Piece, Spec
from headscope.analyses.references import PromptsRef, TaskNames, TaskRef, TasksRef
from headscope.analyses.request import identity, named_tasks, run_id
from headscope.errors import HeadscopeError
from headscope.jobs.engine import run_foreground
from headscope.store import prompts, runs, tasks
from headscope.tasks.catalogue import TaskCatalogue
from headscope.tasks.prompts import PromptSet, prompt_set
from headscope.tasks.stored import to_json
from headscope.tasks.task import Row
from headscope.tasks.text import TextTask
from jobs import tiny
from jobs.conftest import Bench

TINY: Any = tiny.TINY


class ReadingParams(tiny.TinyParams):
    prompts: Annotated[str, PromptsRef()]


def plan_reading(spec: Spec[ReadingParams]) -> Sequence[Piece]:
    """A piece a prompt; each answers its prompt's length."""
    texts = spec.needed("prompts", PromptSet).texts
    return [
        Piece(f"p{k}", f"prompt {k}", lambda _, text=text: {"g": np.array([len(text)], "f4")})  # type: ignore[misc]
        for k, text in enumerate(texts)
    ]


READING: Any = replace(TINY, params=ReadingParams, plan=plan_reading)


class AskingParams(tiny.TinyParams):
    retain: Annotated[TaskNames, TasksRef()] = ()
    other: Annotated[str | None, TaskRef()] = None


def plan_asking(spec: Spec[AskingParams]) -> Sequence[Piece]:
    """Answers how many rows the named tasks have."""

    def rows(_: Context) -> Kept:
        several: Any = spec.inputs["retain"]
        one: Any = spec.inputs["other"]
        return {"g": np.array([*(task.n_rows for task in several), one.n_rows], "f4")}

    return [Piece("p0", "rows", rows)]


ASKING: Any = replace(TINY, params=AskingParams, plan=plan_asking)


def compute(bench: Bench, run_id: str, prompt: str) -> None:
    request = tiny.request(run_id)
    request.params.update(prompts=prompt, pieces=3)
    carry_out(bench, request, READING)


def carry_out(bench: Bench, request: Any, analysis: Any) -> None:
    with bench.store.session() as session:
        runs.create_or_get(session, request, queue=None)
    analyses: Mapping[str, Any] = {"tiny": analysis}
    run_foreground(
        bench.store, request.id, tiny.NoFolders(), settings=bench.settings,
        analyses=analyses, models=tiny.NoModels(),
    )  # fmt: skip


def test_prompts_are_planned_by_and_computed_on(bench: Bench) -> None:
    with bench.store.session() as session:
        kept = prompts.add(session, prompt_set(["a", "bb", "ccc"])).row.id
    compute(bench, "a" * 20, kept)
    with bench.store.session() as session:
        gates = runs.result(session, "a" * 20).arrays["g_plus"]
    np.testing.assert_array_equal(gates.ravel(), [1, 2, 3])


def test_prompts_deleted_meanwhile_end_the_run_in_words(bench: Bench) -> None:
    with bench.store.session() as session:
        kept = prompts.add(session, prompt_set(["a", "bb", "ccc"])).row.id
        prompts.remove(session, kept)
    with pytest.raises(HeadscopeError, match="prompts: There is no prompt") as error:
        compute(bench, "b" * 20, kept)
    assert error.value.code == "unknown-prompt"
    assert bench.run("b" * 20).status == "failed"


def pairs(n: int) -> TextTask:
    return TextTask("pairs", "Pairs", tuple(Row(f"q{i}", f"a{i}") for i in range(n)))


def keep(bench: Bench, task: TextTask) -> None:
    with bench.store.session() as session:
        tasks.add(session, task.name, to_json(task))


def asked_for(task: TextTask) -> Any:
    """A request whose parameters name the task, beside a built-in one, under the id that it must have."""
    params = AskingParams.model_validate({"retain": "pairs, antonym", "other": "pairs", "pieces": 1})
    full = params.model_dump(mode="json")
    named = named_tasks(ASKING, full, TaskCatalogue([task]))
    request = tiny.request(run_id(identity(ASKING, full, tiny.MODEL, None, named)))
    request.params.update(full)
    return request


def test_tasks_named_are_handed_over_in_their_order(bench: Bench) -> None:
    keep(bench, pairs(5))
    request = asked_for(pairs(5))
    carry_out(bench, request, ASKING)
    with bench.store.session() as session:
        rows = runs.result(session, request.id).arrays["g_plus"].ravel()
    antonyms = TaskCatalogue().get("antonym").n_rows
    assert rows.tolist() == [5, antonyms, 5]


def test_a_named_task_that_has_changed_ends_the_run_in_words(bench: Bench) -> None:
    keep(bench, pairs(6))
    with pytest.raises(HeadscopeError, match="antonym, pairs has changed") as error:
        carry_out(bench, asked_for(pairs(5)), ASKING)
    assert error.value.code == "task-changed"


def test_a_named_task_that_is_not_there_is_said_with_its_parameter(bench: Bench) -> None:
    with pytest.raises(HeadscopeError, match="retain: There is no task 'pairs'") as error:
        carry_out(bench, asked_for(pairs(5)), ASKING)
    assert error.value.code == "unknown-task"
