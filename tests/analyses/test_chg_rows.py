"""The rows of a gating run: as many in-context examples as the model needs, and only those that it solves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analyses.gating_runs import pieces_of, run, spec_of
from headscope.analyses import in_place
from headscope.analyses.base import Context, Spec
from headscope.analyses.chg import CHG
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.chg.rows import needed
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.evaluation import EVALUATION
from headscope.analyses.held_out import fitted_rows, held_out
from headscope.analyses.relatives import RELATIVES
from headscope.analyses.request import parse_params
from headscope.analyses.sufficiency import SUFFICIENCY
from headscope.core.gating.gate_vector import gate_vector
from headscope.errors import Refused
from micro.shots import ShotTask
from micro.two_tasks import two_task_model
from micro.words import word_tokenizer

MODEL = two_task_model()
SMALL: dict[str, Any] = {"seeds": 2, "steps": 2, "batch_size": 4}
AUTO, SOLVED = ChgParams(**SMALL, shots="auto"), ChgParams(**SMALL, examples="solved")
HALF = ShotTask(known=2)
"""The model gets two of four rows right without in-context examples."""


def fitted(params: ChgParams, task: Any = HALF, **more: Any) -> ChgResult:
    return run(params, task=task, model=MODEL, **more)


def test_auto_fits_with_as_many_in_context_examples_as_the_model_needs() -> None:
    result = fitted(AUTO)
    assert (result.params["shots"], result.shots) == ("auto", 2)
    np.testing.assert_array_equal(result.heldout_accuracy[0], 1)
    assert result.chance == 0.25
    assert "50 % with 0, 50 % with 1, 100 % with 2 answered right" in result.notes[0]
    by_number = fitted(AUTO.model_copy(update={"shots": 2}))
    np.testing.assert_array_equal(result.g_plus, by_number.g_plus)
    np.testing.assert_array_equal(result.g_minus, by_number.g_minus)
    assert by_number.shots == 2


def test_the_ability_is_the_first_of_its_pieces_and_every_other_needs_it() -> None:
    pieces = CHG.plan(spec_of(AUTO, task=HALF, model=MODEL))
    tried = [f"ability/{n}" for n in (0, 1, 2, 5, 10)]
    assert [piece.key for piece in pieces[:5]] == tried
    assert all(set(tried) <= set(piece.needs) for piece in pieces[5:])
    assert not needed(spec_of(ChgParams(**SMALL)))


def test_what_goes_on_from_the_run_draws_its_rows_alike() -> None:
    result = fitted(AUTO)
    for rows in (held_out(HALF, result, 4, MODEL), fitted_rows(HALF, result, MODEL)):
        assert rows[0] == HALF.examples(None, "test", shots=2)[0]
    params = SUFFICIENCY.params.model_validate({"run": "0" * 20, "points": 2, "orders": 1})
    spec = Spec(params, MODEL.info, HALF, {"run": result})
    gained = in_place.compute(SUFFICIENCY, spec, MODEL)
    assert gained.log_probability_open == pytest.approx(float(result.heldout_log_probability[0, 0]), abs=1e-5)


def test_seeds_added_have_the_in_context_examples_of_the_run() -> None:
    first = replace(fitted(AUTO), shots=1)
    more = ChgParams(**{**SMALL, "seeds": 3}, shots="auto", adds_to="0" * 20)
    result = fitted(more, inputs={"adds_to": first})
    assert (result.shots, len(result.seeds)) == (1, 3)
    np.testing.assert_array_equal(result.heldout_accuracy[0, -1], 0.5)
    assert "as many as the run took that seeds are added to" in result.notes[0]


def test_only_rows_that_the_model_gets_right_are_fitted_and_scored() -> None:
    result = fitted(SOLVED)
    assert result.solved_test is not None
    assert result.solved_test.tolist() == [1, 1, 0, 0] * 6
    assert (result.n_train, result.n_test, result.chance) == (12, 12, 0.5)
    np.testing.assert_array_equal(result.heldout_accuracy[0], 1)
    assert result.notes[0] == (
        "Fitted and scored on the rows that the ungated model gets right: 12 of 24 to fit on, 12 of 24 held "
        "out. Guessing the most frequent answer gets 50.0 %."
    )
    rows = held_out(HALF, result, 9, MODEL)
    assert len(rows) == 9
    assert {example.tokens[1] for example in [*rows, *fitted_rows(HALF, result, MODEL)]} == {0, 1}


def test_seeds_are_added_on_the_same_solved_rows() -> None:
    first = fitted(SOLVED)
    more = ChgParams(**{**SMALL, "seeds": 3}, examples="solved", adds_to="0" * 20)
    result = fitted(more, inputs={"adds_to": first})
    whole = fitted(SOLVED.model_copy(update={"seeds": 3}))
    np.testing.assert_allclose(result.g_plus, whole.g_plus, atol=1e-6)
    np.testing.assert_array_equal(result.arrays["solved_train"], whole.arrays["solved_train"])


def test_a_model_that_solves_too_few_rows_is_refused() -> None:
    with pytest.raises(Refused, match="gets 0 of 24 rows right") as error:
        pieces_of(SOLVED, task=ShotTask(known=0), model=MODEL)
    assert error.value.code == "none-solved"


def test_runs_of_before_keep_their_names_and_take_more_seeds() -> None:
    known = ChgParams(**SMALL).model_dump(mode="json")
    assert "examples" not in ChgParams.identifying(known)
    assert ChgParams.identifying({**known, "examples": "solved"})["examples"] == "solved"
    earlier = fitted(ChgParams(**SMALL))
    earlier = replace(earlier, params={k: v for k, v in earlier.params.items() if k != "examples"})
    more = ChgParams(**{**SMALL, "seeds": 3}, adds_to="0" * 20)
    assert len(fitted(more, inputs={"adds_to": earlier}).seeds) == 3


def test_the_estimate_is_of_the_most_in_context_examples() -> None:
    spec = spec_of(AUTO, task=HALF, model=MODEL)
    few = spec_of(ChgParams(**SMALL, shots=0), task=HALF, model=MODEL)
    tokenizer = word_tokenizer()
    assert CHG.estimate(spec, tokenizer=tokenizer).seconds > CHG.estimate(few, tokenizer=tokenizer).seconds
    assert "examples of 4 tokens" in CHG.estimate(spec, tokenizer=tokenizer).basis


def test_its_relatives_and_gates_on_tasks_choose_too() -> None:
    params = RELATIVES.params.model_validate({"n_examples": 4, "points": 1, "shots": "auto"})
    relatives = RELATIVES.plan(Spec(params, MODEL.info, HALF))
    found = {piece.key: piece.compute(Context(MODEL)) for piece in relatives if not piece.needs}
    left_out = next(piece for piece in relatives if piece.key.startswith("left-out"))
    rises = left_out.compute(Context(MODEL, found))["rise"]
    assert (rises[:2, 0, 0] > 1).all()  # with two in-context examples head 0 alone answers
    gates = gate_vector("open", MODEL.info, np.ones((1, 3), np.float32))
    asked = EVALUATION.params.model_validate({"gates": gates.id, "tasks": ["shots"], "shots": "auto"})
    inputs: dict[str, Any] = {"gates": gates, "tasks": (HALF,)}
    evaluated = in_place.compute(EVALUATION, Spec(asked, MODEL.info, None, inputs), MODEL)
    assert evaluated.tasks[0]["shots"] == 2
    assert evaluated.accuracy.tolist() == [[1, 1]]


@pytest.mark.parametrize(("given", "is_kept_as"), [("auto", "auto"), ("5", 5), (0, 0), (None, None)])
def test_the_setting_takes_words_and_numbers(given: Any, is_kept_as: Any) -> None:
    for analysis in (CHG, RELATIVES, EVALUATION):
        assert parse_params(analysis, None, {"shots": given}).model_dump(mode="json")["shots"] == is_kept_as
