"""Planted models in the real architecture are those worked out by hand; premises hold or are said not to."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from headscope.errors import Invalid
from headscope.validation.model import as_model
from headscope.validation.planted import ROLE_OF, build
from headscope.validation.premises import premises
from headscope.validation.suite import FORMS, SIZES, Case, cases, sizes_named
from headscope.validation.task import PlantedTask, planted_examples
from micro.planted import PLAN, planted_model


def test_the_real_architecture_computes_what_the_weights_say() -> None:
    tokens = torch.tensor([example.tokens for example in planted_examples(4)])
    gates = torch.rand(2, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    real, plain = as_model(build(PLAN), PLAN, "planted"), planted_model()
    with real.gated(gates.float()), plain.gated(gates):
        torch.testing.assert_close(real.logits(tokens).double(), plain.logits(tokens), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_answers_right_and_is_what_it_was_planted_as(form: str) -> None:
    (case,) = [case for case in cases(("medium",), (0.1,), seed=3) if case.form == form]
    plan = case.plan
    model = as_model(build(plan, case.noise, case.seed), plan, "planted")
    assert model.info.n_kv_heads == (3 if form == "grouped" else 6)
    assert (model.parts.mlps[0] is None) == (form == "attention-only")
    examples = PlantedTask(vocab=plan.vocab, copy=4).examples(None, "test")
    found = premises(model, plan, examples, regularisation=0.1)
    assert found.hold
    assert max(found.useless, found.one_of_pair) < found.little < 0.5 < min(found.needed, found.pair)


def test_premises_say_where_noise_drowns_what_was_planted() -> None:
    case = Case("small", "attention-only", 3.0, 0)
    plan = case.plan
    model = as_model(build(plan, case.noise, case.seed), plan, "planted")
    examples = PlantedTask(vocab=plan.vocab, copy=4).examples(None, "test")
    assert not premises(model, plan, examples, regularisation=0.1).hold


def test_the_pair_can_be_exchanged_whatever_the_noise() -> None:
    plan = Case("small", "grouped", 0.2, 5).plan
    weights = build(plan, 0.2, 5)
    (layer, head), (_, twin) = plan.heads("redundant")
    model = as_model(weights, plan, "planted")
    tokens = torch.tensor([example.tokens for example in planted_examples(4, 0, plan.vocab, 4)])
    logits = []
    for closed in (head, twin):
        gates = torch.ones(plan.n_layers, plan.n_heads)
        gates[layer, closed] = 0
        with model.gated(gates):
            logits.append(model.logits(tokens))
    torch.testing.assert_close(*logits)
    assert not torch.equal(weights.W_Q[layer, head], build(plan).W_Q[layer, head])


def test_every_size_has_each_kind_once_and_the_pair_side_by_side() -> None:
    for case in cases(tuple(SIZES), (0.0,), seed=11):
        kinds = sorted(case.plan.kinds.values())
        assert kinds == ["against", "copier", "induction", "previous", "spare", "spare"]
        assert {ROLE_OF[kind] for kind in kinds} == {"needed", "harmful", "redundant"}
        (layer, head), (twin_layer, twin) = case.plan.heads("redundant")
        assert (layer, case.plan.group(head) if case.form == "grouped" else head + 1) == (
            twin_layer,
            case.plan.group(twin) if case.form == "grouped" else twin,
        )


def test_a_seed_gives_the_same_models_and_another_gives_others() -> None:
    first, again, other = (cases(("small",), (0.1,), seed)[0] for seed in (0, 0, 1))
    assert build(first.plan, 0.1, first.seed).W_Q.equal(build(again.plan, 0.1, again.seed).W_Q)
    assert first.plan.kinds != other.plan.kinds


def test_an_unknown_size_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Invalid, match="huge") as refused:
        sizes_named("huge", ())
    assert "small, medium, large" in refused.value.remedy


def test_noise_needs_no_mlp() -> None:
    plain = build(replace(PLAN, mlp=False), 0.1, 1)
    assert plain.W_in is None
    assert not plain.W_U.equal(build(PLAN).W_U)
