"""Ability: predicted in a planted model that can do a task from two in-context examples on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headscope.analyses import figures, in_place
from headscope.analyses.ability import ABILITY
from headscope.analyses.ability.result import AbilityResult
from headscope.analyses.base import Spec
from headscope.errors import Invalid, Refused
from micro.shots import ShotTask
from micro.two_tasks import LOWER, two_task_model

MODEL = two_task_model()


def run(task: Any, **params: Any) -> AbilityResult:
    asked = ABILITY.params.model_validate({"n_test": 24, **params})
    return in_place.compute(ABILITY, Spec(asked, MODEL.info, task), MODEL)


def test_the_model_can_do_it_from_two_in_context_examples_on() -> None:
    result = run(ShotTask(known=1))
    assert result.shots.tolist() == [0, 1, 2]
    assert result.accuracy.tolist() == [0.25, 0.25, 1]
    assert [each.can_do for each in result.abilities] == [False, False, True]
    np.testing.assert_allclose(result.chance, 0.25)
    np.testing.assert_allclose(result.accuracy_interval[2], [0.8575, 1], atol=1e-3)
    assert result.log_probability[2] > -0.3 > result.log_probability[1]
    assert result.uniform == pytest.approx(-np.log(16))
    assert result.auto == 2
    assert ABILITY.headline(result) == {
        "best_accuracy": 1.0, "auto_shots": 2, "accuracy": 1.0, "chance": 0.25, "verdict": "can do it",
    }  # fmt: skip
    assert [each["shots"] for each in result.left_out] == [5, 10]
    assert "No row fits with 5." in result.notes[1]


def test_numbers_may_be_chosen_in_any_way_they_are_written() -> None:
    for given in ((2, 0), "2, 0", "0,2,2", [0, 2]):
        assert ABILITY.params.model_validate({"shots": given}).model_dump()["shots"] == (0, 2)
    assert ABILITY.params.model_validate({"shots": 5}).model_dump()["shots"] == (5,)


def test_a_task_without_in_context_examples_is_tried_once() -> None:
    result = run(LOWER)
    assert result.shots.tolist() == [0]
    assert {each["why"] for each in result.left_out} == {"Task lower has no in-context examples."}


def test_a_model_that_never_can_is_told_of() -> None:
    result = run(ShotTask(known=1, learned_from=99))
    assert (result.auto, result.accuracy.tolist()) == (0, [0.25] * 3)
    assert "can’t do the task" in result.notes[0]
    assert "steering map" in result.notes[1]
    assert ABILITY.headline(result)["verdict"] == "can’t do it"


def test_only_where_nothing_fits_it_is_refused() -> None:
    with pytest.raises(Refused, match="No row fits with 9") as error:
        run(ShotTask(), shots=[9, 10])
    assert error.value.code == "nothing-fits"


def test_it_needs_a_task() -> None:
    with pytest.raises(Invalid) as error:
        ABILITY.plan(Spec(ABILITY.params(), MODEL.info))
    assert error.value.code == "task-missing"


def test_figure_and_table_tell_the_same() -> None:
    result = run(ShotTask(known=1))
    drawn = figures.build(result, "ability")
    reading = drawn["layout"]["meta"]["reading"]
    assert "shots=auto takes 2 in-context examples" in reading
    assert [trace["name"] for trace in drawn["data"]] == [
        "by guessing", "answered right", "each token alike", "log-probability",
    ]  # fmt: skip
    table = figures.table(result, "ability")
    names = [column["name"] for column in table["columns"]]
    taken = [row[names.index("shots")] for row in table["rows"] if row[names.index("taken")]]
    assert taken == [2]
