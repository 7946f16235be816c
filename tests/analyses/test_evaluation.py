"""Gates on tasks: predicted in a planted model, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headscope.analyses import figures
from headscope.analyses.base import Arrays, Context, Result
from headscope.analyses.evaluation.compute import Evaluation
from headscope.analyses.evaluation.schema import EvaluationParams
from headscope.core.gating.gate_vector import gate_vector
from headscope.errors import Invalid
from micro.two_tasks import LOWER, UPPER, two_task_model

EVALUATION = Evaluation()
PARAMS = EvaluationParams.model_validate({"gates": "g", "tasks": "lower, upper", "n_test": 8})
MODEL = two_task_model()


def run(gates: list[list[float]]) -> Result:
    given: dict[str, Any] = {
        "gates": gate_vector("mine", MODEL.info, np.array(gates, np.float32)), "tasks": (LOWER, UPPER),
    }  # fmt: skip
    done: dict[str, Arrays] = {}
    for piece in EVALUATION.plan(PARAMS, MODEL.info, given):
        done[piece.key] = EVALUATION.compute(piece, PARAMS, Context(MODEL, None, inputs=given))
    return EVALUATION.assemble(PARAMS, MODEL.info, None, done)


def test_a_closed_head_takes_its_own_task_and_no_other() -> None:
    result = run([[1, 0, 1]])
    assert result.arrays["accuracy"].tolist() == [[1, 1], [1, 0]]
    before, after = result.arrays["log_probability"][1]
    assert before > -0.1
    assert after == pytest.approx(-np.log(16), abs=1e-4)  # nothing is said of the answer any more
    told = {"mean_accuracy_ungated": 1.0, "mean_accuracy_gated": 0.5, "heads_shut": 1}
    assert EVALUATION.headline(result) == told
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
        ({"gates": gate_vector("g", MODEL.info, [[1, 1, 1]]), "tasks": (LOWER, LOWER)}, "same-task"),
    ],
)
def test_what_is_missing_or_named_twice_is_refused(inputs: dict[str, Any], code: str) -> None:
    with pytest.raises(Invalid) as error:
        EVALUATION.estimate(PARAMS, MODEL.info, None, inputs=inputs)
    assert error.value.code == code
