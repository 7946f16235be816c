"""Gates on tasks: predicted in a planted model, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from analyses.specs import SMALL
from analyses.specs import asked as wanted
from headscope.analyses import figures, in_place
from headscope.analyses.base import Kept, Spec
from headscope.analyses.evaluation import EVALUATION
from headscope.analyses.evaluation.result import EvaluationResult, headline
from headscope.analyses.evaluation.schema import EvaluationParams
from headscope.analyses.references import check_needed
from headscope.core.arrays import decode
from headscope.core.gating.evaluation import evaluate
from headscope.core.gating.gate_vector import gate_vector
from headscope.core.gating.replacements import Means, Replacements, Resampled, mean_table
from headscope.errors import Cancelled, Invalid
from micro.planted import PlantedTask
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


# -- joined from pieces drawn at random -------------------------------------------------------------

ACCURACY = np.array([[0.9, 0.3], [0.5, 0.55]])


def drawn(**about: Any) -> EvaluationResult:
    """What is made of these accuracies without and with the gates; ``about`` changes the second task."""
    spec = wanted("evaluation", SMALL)
    gates = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)
    done: dict[str, Kept] = {}
    for k, piece in enumerate(EVALUATION.plan(spec)):
        told = {
            "name": piece.label, "title": piece.label.title(), "content_hash": str(k), "judged": "top",
            "n": 40, "n_left_out": 0, "chance": 0.125, "verdict": "can",
            "gates": {"id": "1", "name": "half", "origin": "by hand"},
        }  # fmt: skip
        done[piece.key] = {
            "accuracy": ACCURACY[k], "log_probability": np.log(ACCURACY[k]), "table": gates,
            "about": {**told, **(about if k else {})},
        }  # fmt: skip
    return EVALUATION.assemble(spec, done)


def test_tasks_stand_beside_each_other_and_the_headline_is_their_mean() -> None:
    found = drawn()
    np.testing.assert_allclose(found.accuracy, ACCURACY, rtol=1e-6)
    np.testing.assert_allclose(found.log_probability, np.log(ACCURACY), rtol=1e-6)
    assert headline(found) == {
        "mean_accuracy_ungated": pytest.approx(0.7),
        "mean_accuracy_gated": pytest.approx(0.425),
        "heads_shut": 6,
    }
    accuracy, log_probability = found.accuracy[:1], found.log_probability[:1]
    one = replace(found, accuracy=accuracy, log_probability=log_probability, tasks=found.tasks[:1])
    assert headline(one)["accuracy_gated"] == pytest.approx(0.3)
    assert found.to_json()["values"]["gates"] == {"id": "1", "name": "half", "origin": "by hand"}


def test_each_caveat_of_an_evaluation_is_told_when_it_is_due() -> None:
    assert drawn().notes == []
    assert drawn(verdict="cannot", n_left_out=3).notes == [
        "The model can't do other without the gates either: no better than guessing (12.5%).",
        "3 rows of other are longer than the context.",
    ]


def test_bars_and_table_of_an_evaluation_say_the_same() -> None:
    found = drawn()
    table = figures.table(found, "accuracy")
    assert [column["unit"] for column in table["columns"]] == [
        "",
        "",
        "share",
        "share",
        "share",
        "nats",
        "nats",
        "nats",
    ]
    before, after, guessed = figures.build(found, "accuracy")["data"]
    rows = table["rows"]
    assert before["y"] == after["y"] == [row[0] for row in rows] == ["planted", "other"]
    np.testing.assert_allclose(decode(before["x"]), [100 * row[3] for row in rows], rtol=1e-5)
    np.testing.assert_allclose(decode(after["x"]), [100 * row[4] for row in rows], rtol=1e-5)
    np.testing.assert_allclose(decode(guessed["x"]), [100 * row[2] for row in rows], rtol=1e-5)
    assert [row[-1] for row in rows] == pytest.approx([-np.log(found.model.d_vocab)] * 2)
    reading = figures.build(found, "accuracy")["layout"]["meta"]["reading"]
    assert "“half”" in reading
    assert "12 % on planted, 12 % on other" in reading
    gates = [row[3] for row in figures.table(found, "gates")["rows"]]
    np.testing.assert_allclose(gates, found.gates.reshape(-1), rtol=1e-6)


def test_an_evaluation_stops_at_a_checkpoint() -> None:
    def checkpoint() -> None:
        raise Cancelled("Stopped.", "Start it again.")

    vector = gate_vector("mine", MODEL.info, np.ones((1, 3), np.float32))
    with pytest.raises(Cancelled):
        in_place.compute(
            EVALUATION, asked({"gates": vector, "tasks": (LOWER, UPPER)}), MODEL, checkpoint=checkpoint
        )


def test_an_estimate_takes_no_more_rows_than_a_task_has() -> None:
    def seconds(n: int) -> float:
        params = EvaluationParams(gates="g", tasks=("planted",), n_test=n)
        return EVALUATION.estimate(Spec(params, SMALL, None, {"tasks": (PlantedTask(),)})).seconds

    assert seconds(2) < seconds(24) == seconds(4000)


@pytest.mark.parametrize(("asked", "used"), [(None, "mean"), ("resample", "resample"), ("zero", "zero")])
def test_gates_are_evaluated_as_they_were_fitted_unless_asked_otherwise(asked: str | None, used: str) -> None:
    vector = gate_vector("mine", MODEL.info, [[0.2, 0.5, 0.7]], ablation="mean")
    params = EvaluationParams(gates=vector.id, tasks=("lower",), n_test=4, ablation=asked)
    spec = Spec(params, MODEL.info, None, {"gates": vector, "tasks": (LOWER,)})
    found = in_place.compute(EVALUATION, spec, MODEL)
    train, held_out = LOWER.examples(None, "train"), LOWER.examples(None, "test", limit=4)
    others: dict[str, Replacements | None] = {
        "mean": Means(mean_table(MODEL, train)), "resample": Resampled(train), "zero": None,
    }  # fmt: skip
    gates = torch.from_numpy(vector.gates.copy())[None]
    expected = evaluate(MODEL, held_out, gates, replacements=others[used]).log_probability
    assert found.log_probability[0, 1] == pytest.approx(float(expected[0]), abs=1e-5)
    told = "The gates were fitted with mean ablation" in " ".join(found.notes)
    assert told == (used != "mean")
