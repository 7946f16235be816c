"""Gates on tasks: predicted in a planted model, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from headscope.analyses import figures, in_place
from headscope.analyses.base import Spec
from headscope.analyses.evaluation import EVALUATION
from headscope.analyses.evaluation.result import EvaluationResult
from headscope.analyses.evaluation.schema import EvaluationParams
from headscope.analyses.references import check_needed
from headscope.core.gating.gate_vector import gate_vector
from headscope.errors import Invalid
from micro.two_tasks import LOWER, UPPER, two_task_model

PARAMS = EvaluationParams.model_validate({"gates": "g", "tasks": "lower, upper", "n_test": 8})
MODEL = two_task_model()


def asked(inputs: dict[str, Any]) -> Spec[EvaluationParams]:
    return Spec(PARAMS, MODEL.info, None, inputs)


def run(gates: list[list[float]]) -> EvaluationResult:
    vector = gate_vector("mine", MODEL.info, np.array(gates, np.float32))
    return in_place.compute(EVALUATION, asked({"gates": vector, "tasks": (LOWER, UPPER)}), MODEL)


def test_a_closed_head_takes_its_own_task_and_no_other() -> None:
    result = run([[1, 0, 1]])
    assert result.accuracy.tolist() == [[1, 1], [1, 0]]
    before, after = result.log_probability[1]
    assert before > -0.1
    assert after == pytest.approx(-np.log(16), abs=1e-4)  # nothing is said of the answer any more
    told = {"mean_accuracy_ungated": 1.0, "mean_accuracy_gated": 0.5, "heads_shut": 1}
    assert EVALUATION.headline(result) == told
    assert set(told) <= set(EVALUATION.quantities)
    assert result.origin["name"] == "mine"
    assert result.values["gates"] == result.origin  # as results have always been stored
    np.testing.assert_array_equal(result.gates, [[1, 0, 1]])
    rows = figures.table(result, "accuracy")["rows"]
    assert [row[0] for row in rows] == ["lower", "upper"]
    for name in figures.names("evaluation"):
        assert figures.build(result, name)["layout"]["meta"]["reading"]
        assert figures.table(result, name)["rows"]


def test_open_gates_are_the_model_as_it_is() -> None:
    result = run([[1, 1, 1]])
    for name in ("accuracy", "log_probability"):
        np.testing.assert_array_equal(result.arrays[name][:, 0], result.arrays[name][:, 1])


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"tasks": (LOWER,)}, "gates-missing"),
        ({"gates": gate_vector("g", MODEL.info, [[1, 1, 1]])}, "task-missing"),
    ],
)
def test_what_is_missing_is_refused(inputs: dict[str, Any], code: str) -> None:
    with pytest.raises(Invalid) as error:
        check_needed(EVALUATION.title, EVALUATION.references, inputs)
    assert error.value.code == code


@pytest.mark.parametrize("ask", [EVALUATION.plan, EVALUATION.estimate])
def test_a_task_named_twice_is_refused(ask: Callable[[Spec[EvaluationParams]], object]) -> None:
    gates = gate_vector("g", MODEL.info, [[1, 1, 1]])
    with pytest.raises(Invalid, match="'lower' is named twice") as error:
        ask(asked({"gates": gates, "tasks": (LOWER, LOWER)}))
    assert error.value.code == "same-task"
