"""Heads planted beside a model's own: they cost what they should, and a run finds them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from headscope.core.gating.evaluation import evaluate
from headscope.errors import Invalid
from headscope.tasks.task import Example
from headscope.validation.chg import QUICK_SETTINGS
from headscope.validation.into import WithPlanted, answers_of, plant_into
from headscope.validation.known import DrawnTask
from headscope.validation.model import as_model
from headscope.validation.planted import build
from headscope.validation.suite import COPIED, Case
from headscope.validation.task import planted_examples

PLAN = Case("small", "attention-only", 0.1, 0).plan
TASK = DrawnTask("planted", lambda n, seed: planted_examples(n, seed, PLAN.vocab, COPIED), rows=(64, 16))


def test_planted_heads_cost_what_the_formula_says() -> None:
    base = as_model(build(PLAN), PLAN, "planted")
    examples = TASK.examples(None, "test")
    planted = WithPlanted(base, answers_of(examples), strength=2.0)
    own = torch.ones(PLAN.n_layers, PLAN.n_heads)
    rows = torch.tensor([[1.0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 1, 1], [1, 0, 0, 1], [1, 0, 0, 0]])
    gates = torch.cat([own.repeat(len(rows), 1, 1), rows[:, None]], dim=1)
    found = evaluate(planted, examples, gates).log_probability
    assert found[0] == pytest.approx(float(evaluate(base, examples).log_probability))
    assert found[3] == pytest.approx(float(found[0])), "one of the pair is enough"
    for closed in (1, 2, 4):
        assert found[closed] == pytest.approx(float(found[1]))
    # A logit lowered by s turns p into p e^-s / (1 - p + p e^-s); single targets, so no mean comes between.
    one = [Example(e.tokens[: e.targets[0] + 1], e.targets[:1]) for e in examples[:1]]
    alone = WithPlanted(base, answers_of(one), strength=2.0)
    before, after = evaluate(alone, one, gates[:2]).log_probability.exp().tolist()
    assert after == pytest.approx(before * math.exp(-2) / (1 - before + before * math.exp(-2)), rel=1e-4)


def test_a_run_finds_them_among_the_real_ones() -> None:
    settings = QUICK_SETTINGS.model_copy(update={"seeds": 4, "steps": 100, "within_clamp": True})
    told = plant_into(as_model(build(PLAN, 0.1, 0), PLAN, "planted"), TASK, settings)
    assert told.found == {"needed": True, "harmful": True, "useless": True, "redundant": True}
    assert (told.n_real, told.fits, len(told.heads)) == (8, 4, 4)
    needed = told.heads[0]
    assert needed.head == (PLAN.n_layers, 0)
    assert needed.cost > 0.5
    first, second = (told.pair.heads.index((PLAN.n_layers, n)) for n in (2, 3))
    assert told.pair.interaction[first, second] > 0.5
    assert np.nanmax(told.pair.alone[[first, second]]) < 0.01


def test_examples_that_disagree_can_not_be_planted_for() -> None:
    with pytest.raises(Invalid, match="begin alike"):
        answers_of([Example((1, 2), (1,)), Example((1, 3), (1,))])


@pytest.mark.parametrize("setting", [{"shots": "auto"}, {"demonstrations": "pool"}, {"examples": "solved"}])
def test_examples_that_a_fit_chooses_itself_can_not_be_planted_for(setting: dict[str, str]) -> None:
    model = as_model(build(PLAN), PLAN, "planted")
    with pytest.raises(Invalid, match=r"in-context|before the fit"):
        plant_into(model, TASK, QUICK_SETTINGS.model_copy(update=setting))
