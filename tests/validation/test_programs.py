"""Compiled and trained models compute what they are said to, and closing heads bears out their roles."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from headscope.core.gating.evaluation import evaluate
from headscope.validation import compiled, trained
from headscope.validation.cells import cells
from headscope.validation.compiled import PROGRAMS, drawn
from headscope.validation.known import PROGRAM_SETTINGS, ablated, agrees, trial_of
from headscope.validation.premises import MUCH

NAMES = sorted(PROGRAMS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [0, 5])
def test_the_weights_are_the_program(name: str, seed: int) -> None:
    known = compiled.known(name, seed)
    examples = known.task.draw(200, 77 + seed)
    score = evaluate(known.model, examples)
    assert float(score.accuracy) == 1
    assert float(score.log_probability) > -0.01


@pytest.mark.parametrize("name", NAMES)
def test_roles_are_those_that_closing_heads_shows(name: str) -> None:
    known = compiled.known(name, 1)
    costs = ablated(known.model, known.task.examples(None, "test"))
    assert agrees(known.roles, costs, regularisation=0.1)
    assert known.roles["needed"]
    assert known.roles["useless"]
    n_heads = known.model.info.n_layers * known.model.info.n_heads
    assert len(known.roles["needed"]) + len(known.roles["useless"]) == n_heads


def test_an_idle_head_is_useless_though_it_computes() -> None:
    arrays = compiled._arrays("bystander")
    weights, needed = compiled.widened(arrays, 0, ("count",))
    _, both = compiled.widened(arrays, 0)
    assert set(needed) < set(both)
    (idle,) = set(both) - set(needed)
    assert weights.W_O[idle].abs().max() > 0.5


def test_heads_beside_a_program_do_something() -> None:
    known = compiled.known("previous", 0)
    tokens = torch.tensor([example.tokens for example in known.task.draw(2, 0)])
    gates = torch.ones(known.model.info.n_layers, known.model.info.n_heads)
    for head in known.roles["useless"]:
        gates[head] = 0
    with known.model.gated(gates):
        without = known.model.logits(tokens)
    assert not torch.allclose(without, known.model.logits(tokens), atol=1e-3)


def test_answers_by_hand() -> None:
    answer = {name: program.answer for name, program in PROGRAMS.items()}
    assert answer["previous"](("a", "b", "c")) == "b"
    assert answer["induction"](("a", "b", "c", "a")) == "b"
    assert answer["count"](("a", "b", "a", "a")) == "3"
    assert answer["order"](("c", "a", "b", "c", "a", "b", "2nd")) == "b"
    assert answer["distinct"](("b", "b", "a", "b", "c", "3rd")) == "c"
    (example,) = drawn(PROGRAMS["previous"], ["bos", *compiled.LETTERS], 1, 0)
    assert example.targets == (8,)
    assert example.tokens[8] == example.tokens[6]


@pytest.mark.parametrize("name", list(trained.TASKS))
def test_a_trained_model_can_do_its_task_and_its_needed_head_has_no_substitute(name: str) -> None:
    known = trained.known(name, 2)
    examples = known.task.examples(None, "test")
    assert float(evaluate(known.model, examples).accuracy) > 0.99
    value = trained.exhaustive(known.model, examples)
    assert all(value[head] >= MUCH for head in known.roles["needed"])
    assert len(known.roles["needed"]) == 1
    # With any other single head closed the model still does it.
    assert np.sort(ablated(known.model, examples).ravel())[-2] < MUCH


def test_a_fit_finds_the_needed_head_of_a_program() -> None:
    settings = PROGRAM_SETTINGS.model_copy(update={"seeds": 4, "steps": 80})
    one = trial_of(compiled.known("count", 0), settings)
    assert one.holds
    (row, _) = cells([one])
    assert row.found["needed"].auroc.mean == 1
    assert np.isnan(row.found["harmful"].auroc.mean)
